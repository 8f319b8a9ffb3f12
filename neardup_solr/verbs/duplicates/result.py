"""The result of `duplicates`: pairs, clusters, and what was compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from neardup_solr.answers import Answered, DocumentKey
from neardup_solr.arguments import (
    Linkage,
    PairMeasure,
    Per,
    TableOf,
    Way,
    checked,
    listed,
    require,
    require_choice,
    require_positive,
)
from neardup_solr.candidates import Candidates
from neardup_solr.clusters import remove_across, remove_within
from neardup_solr.errors import RecordError, counted
from neardup_solr.records import (
    AnyId,
    Borderline,
    Cluster,
    Duplicate,
    Removed,
    key_of,
    largest,
)
from neardup_solr.reports import tables
from neardup_solr.settings import Settings
from neardup_solr.sources import is_collection, is_for_excel, paths_of, shown_name
from neardup_solr.sources.record import ROW, step_for
from neardup_solr.templates import FEWEST, Template
from neardup_solr.text.normalize import normalize
from neardup_solr.verbs.duplicates.compare import Comparison, Verified
from neardup_solr.verbs.duplicates.group import (
    Grouped,
    find_borderline,
    find_templates,
    regroup,
)
from neardup_solr.verbs.duplicates.inputs import Compared, Gathered
from neardup_solr.verbs.duplicates.write import write_duplicates

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from neardup_solr.measures.arrays import Frequencies
    from neardup_solr.measures.fields import Weights
    from neardup_solr.verbs.duplicates.clean_file import Unique
    from neardup_solr.verbs.duplicates.previous_run import Changes
    from neardup_solr.verbs.evaluate import KnownPairs, Sweep
    from neardup_solr.verbs.evaluate.answers import AnswerSheet

V = TypeVar("V")
FIRST = 10  # members of a cluster whose texts are shown
AT_ONCE = 5_000  # texts that are read at once
FEWEST_NUMERIC, NUMERIC = 8, 0.5  # pairs that differ in numbers alone, and their share, to ask
FEWEST_EQUAL, EQUAL = 8, 0.2  # records with ids that are equal in their fields, and share, to ask
LONGEST = 2  # pairs between the ends of a cluster that is not a chain


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Duplicates:
    """The near-duplicate pairs of a collection or a source, and their clusters.

    `documents` counts what was read, `candidates` the pairs that were compared. `repeated` counts
    records whose id came before, `failed` those that could not be used; `errors` says why for the
    first 1,000 of them. `hot_keys` counts the band keys, shingles or words that more documents have
    than the cap, `beyond_cap` the pairs that share only such words, about, judged by a sample.
    `numeric` counts, about, the pairs whose texts differ in numbers alone. Documents that
    `has_ids` have ids of their own, and no numbers instead.
    `chosen` says why they are not compared by words, if no measure was named.
    `settings` shaped the signatures. `measure`, `by` (how candidates are found),
    `min_similarity`, `max_distance`, `linkage`, `canonical`, `fq` and `same` are those that were
    used. `gaps` says what may be missing, such as documents that changed while they were read.
    `texts` has the texts of the pairs by id, if they were asked for, `shown` those that a page
    shows if they were not, and `kept` the columns to keep; for the measure fields, `weights` say
    what each field was found to tell; for the measure aligned, `frequencies` has those of their
    words. With `against`, those of the second side are there by (1, id), and by their id if the
    first side has no document of that id in a pair. `about` names what was compared, `against`
    tells whether it had two sides. `unique` counts the records of the files that were asked for:
    `kept`, `removed`, `repeated` and `failed`. `since` says what has changed since the run that the
    file `remembered` held, if one was named. `values` are those that the rule `canonical` compares,
    by side and id, for `at`. `whole_ids` names the columns of ids that are all whole numbers.
    `answered` says what became of the answers of people, if a file of them was named. `borderline`
    says how much depends on the threshold, None if distances or `equal` count as well, and in
    the result of `at`. `templates` are clusters that may be no copies: most of their pairs differ
    in the same places, or they are a large part of all; `doubt` says so in a sentence. A source
    that is `for_excel` is a sheet, or begins with a byte order mark, and so does CSV that is
    written of it.
    """

    pairs: tuple[Duplicate, ...]
    clusters: tuple[Cluster, ...]
    documents: int
    candidates: int
    hot_keys: int
    settings: Settings
    measure: PairMeasure
    by: Way
    min_similarity: float
    max_distance: int | None
    linkage: Linkage
    canonical: str
    fq: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    beyond_cap: int = 0
    numeric: int = 0
    has_ids: bool = False
    chosen: str = ""
    repeated: int = 0
    failed: int = 0
    errors: tuple[RecordError, ...] = ()
    gaps: tuple[str, ...] = ()
    texts: Mapping[AnyId, str] = field(default_factory=dict)
    shown: Mapping[AnyId, str] = field(default_factory=dict, compare=False)
    kept: Mapping[AnyId, Mapping[str, Any]] = field(default_factory=dict)
    frequencies: Frequencies | None = field(default=None, compare=False)
    weights: Weights | None = field(default=None, compare=False)
    about: str = field(default="", compare=False)
    against: bool = False
    unique: Unique | None = None
    since: Changes | None = None
    answered: Answered | None = None
    borderline: Borderline | None = field(default=None, compare=False)
    templates: tuple[Template, ...] = field(default=(), compare=False)
    remembered: Path | None = field(default=None, compare=False)
    values: Mapping[DocumentKey, object] = field(default_factory=dict, compare=False)
    whole_ids: tuple[str, ...] = field(default=(), compare=False)
    for_excel: bool = field(default=False, compare=False)

    def __repr__(self) -> str:
        pairs, clusters = counted(len(self.pairs), "pair"), counted(len(self.clusters), "cluster")
        documents = counted(self.documents, "document")
        how = f"{self.measure} >= {self.min_similarity:g}"
        return f"<Duplicates: {pairs} in {clusters} among {documents} ({how})>"

    def _repr_html_(self) -> str:
        from neardup_solr.verbs.duplicates.write import show_in_notebook

        return show_in_notebook(self)

    @property
    def labels(self) -> dict[AnyId, AnyId]:
        """The cluster of each document that is in one, by id. Its first id is its name.

        Here and elsewhere ids of a DataFrame, or of dicts, are whole numbers if they were, and
        those of files and collections are texts: `df["id"].map(found.labels)`. With `against`,
        documents of the second side are there as in `texts`.
        """
        by_key = {
            key_of(each.id, each.side): one.id for one in self.clusters for each in one.members
        }
        return {key[1]: name for key, name in by_key.items() if isinstance(key, tuple)} | by_key

    def to_arrow(self, of: TableOf = "pairs") -> pa.Table:
        """The pairs, or the members of the clusters, as an Arrow table.

        A pair has the columns id, other_id, similarity, distance, measure and cluster; a member has
        cluster, id, canonical, and similarity and distance to the canonical document; with
        `against` also side, 0 for the source and 1 for what it was compared with. The texts
        (`texts=True`) and columns (`keep`) that were asked for come with the ids. Ids are whole
        numbers if all of a DataFrame, or of dicts, are; if some are, or if they have more than 64
        bits, all are texts here.

        Raises SettingsError if pyarrow is missing.
        """
        return tables.to_arrow(self._columns(of), self.whole_ids)

    def to_pandas(self, of: TableOf = "pairs") -> pd.DataFrame:
        """As `to_arrow`, as a pandas DataFrame."""
        return tables.to_pandas(self._columns(of), self.whole_ids)

    def to_polars(self, of: TableOf = "pairs") -> pl.DataFrame:
        """As `to_arrow`, as a polars DataFrame."""
        return tables.to_polars(self._columns(of), self.whole_ids)

    def _columns(self, of: TableOf) -> tables.Columns:
        require_choice("of", of, get_args(TableOf))
        if of == "pairs":
            return tables.of_pairs(
                self.pairs, tables.name_columns(self.pairs), self.texts, self.kept
            )
        columns = tables.of_clusters(self.clusters, has_sides=self.against)
        keys = [key_of(one.id, one.side) for each in self.clusters for one in each.members]
        return tables.beside(columns, self.texts, self.kept, {"id": keys})

    @property
    def by_bands(self) -> bool:
        """True if candidates had to share an LSH band."""
        return self.by == "bands"

    @property
    def copies(self) -> int:
        """Number of exact copies: documents whose normal form another one has, less one of each.

        For the measure estimate, documents of equal signatures.
        """
        return sum(cluster.copies for cluster in self.clusters)

    @property
    def chained(self) -> tuple[Cluster, ...]:
        """Clusters whose ends may be unrelated: more than two pairs lie between them.

        Clusters that are too large to measure (`diameter` 0) are included.
        """
        return tuple(one for one in self.clusters if one.diameter > LONGEST or one.diameter == 0)

    @property
    def doubt(self) -> str:
        """Why documents may be removed that are no copies, and what to do, "" if none may."""
        if not self.templates:
            by_fields = self.measure == "fields" and self.has_ids and not self.against
            if by_fields and self.copies >= max(FEWEST_EQUAL, EQUAL * self.documents):
                records = f"{self.copies:,} of {counted(self.documents, 'record')}"
                step = "`fields` with what tells such things apart, as a serial number, keeps them"
                return f"Hardly copies: {records} have ids and are equal in all fields; {step}"
            if self.numeric < max(FEWEST_NUMERIC, NUMERIC * len(self.pairs)):
                return ""
            pairs = counted(len(self.pairs), "pair")
            numeric = f"about {self.numeric:,} of {pairs} differ in numbers alone"
            return f"Hardly copies: {numeric}; `equal` numbers keeps such apart"
        first, more = self.templates[0], len(self.templates) - 1
        others = f"; {counted(more, 'more cluster is', 'more clusters are')} such" if more else ""
        ids = {one.cluster for one in self.templates}
        has_chain = any(one.diameter != 1 for one in self.clusters if one.id in ids)
        steps = [
            "`without_common` compares without what they share" * (self.measure != "fields"),
            "`linkage` complete joins only documents that are all near to each other" * has_chain,
            "`equal` numbers keeps apart what has other numbers" * first.has_numbers,
        ]
        what = "A template, not copies, it seems" if first.is_regular else "Hardly copies"
        return f"{what}: {first}{others}{''.join(f'; {step}' for step in steps if step)}"

    @property
    def complete(self) -> bool:
        """True if all documents were compared, in their present state."""
        return not self.gaps

    @property
    def removed(self) -> dict[AnyId, Removed]:
        """The documents that others make superfluous, by id: `duplicate_of`, and its `similarity`.

        In each cluster these are all but the canonical document. After complete linkage two
        canonical documents may be near-duplicates; then one of them is removed too. With
        `against`, they are the documents of the first side with a near-duplicate in the other.
        """
        different = self.answered.different if self.answered else ()
        if not self.against:
            apart = [(one[1], other[1]) for one, other in different]
            return remove_within(self.pairs, self.clusters, apart)
        return remove_across(
            self.pairs,
            [(key_of(one[1], one[0]), key_of(other[1], other[0])) for one, other in different],
        )

    @checked
    def at(self, min_similarity: float) -> Duplicates:
        """The same result with a higher threshold: its pairs, grouped anew.

        A member's similarity to the canonical document is NaN if the two were never compared.

        Raises ArgumentError if the threshold is lower than that of the result.
        """
        fits = self.min_similarity <= min_similarity <= 1
        reason = f"`min_similarity` cannot be {min_similarity:g}"
        step = f"give {self.min_similarity:g} to 1, or compare again with a lower one"
        require(fits, reason, step)
        pairs, clusters = regroup(self, min_similarity)
        large = [one.members[0] for one in clusters if len(one.members) >= FEWEST]
        before = {self.labels[key_of(one.id, one.side)] for one in large}
        return replace(
            self,
            pairs=pairs,
            clusters=clusters,
            min_similarity=min_similarity,
            beyond_cap=0,  # it was judged by the lower threshold
            numeric=0,
            unique=None,
            templates=tuple(one for one in self.templates if one.cluster in before),
            borderline=None,  # which pairs were compared is not kept
        )

    def sweep(self, known: KnownPairs) -> Sweep:
        """Precision, recall and F1 at each threshold from that of the result upwards.

        `known` is as for `evaluate`: known pairs, or answers to a `sample`. A notebook shows the
        sweep as a table; `best` is the point of the highest F1.

        Raises ArgumentError and SourceError as `evaluate` does.
        """
        from neardup_solr.verbs.evaluate import sweep

        return sweep(self, known)

    def sample(self, size: int = 100, *, per: Per = "similarity", seed: int = 1) -> AnswerSheet:
        """Draw pairs for people to judge, with an empty column `answer`.

        With `per` "similarity" as many come from each stratum of similarity (0.05 wide), so that
        borderline pairs are not lost among clear ones; with "pair" each has the same chance. Fill
        the column with same, different or unsure, and give the table to `evaluate` or `sweep`. The
        texts come along if the result has them (`texts=True`; those of a file's page are enough).

        Raises ArgumentError if there is no pair, or `size` is below 1.
        """
        from neardup_solr.verbs.evaluate.answers import AnswerSheet, draw

        require_positive(size=size)
        require_choice("per", per, get_args(Per))
        require(bool(self.pairs), "there is no pair to draw", "ask for a lower `min_similarity`")
        drawn = draw(self.pairs, size, per, seed)
        names, texts = ("id", "other_id", "similarity"), self.texts or self.shown
        columns = tables.of_pairs(drawn, names, texts, self.kept)
        answers = [pair.answer or "" for pair in drawn]
        return AnswerSheet(table=columns | {tables.ANSWER: answers}, whole_ids=self.whole_ids)

    @checked
    def write(self, path: str | Path) -> None:
        """Write the pairs to a file, or a page to look at. The suffix selects the format.

        .tsv, .csv, .jsonl, .xlsx and .parquet have the columns id, other_id, similarity, distance
        (empty if it was not measured), measure, cluster, then the texts and the kept columns of
        both documents if they were asked for, as in `to_arrow`. In TSV, backslash, tab and line
        breaks inside ids are escaped with a backslash, and are blanks in texts; what a spreadsheet
        would run as a formula gets a backslash in TSV, an apostrophe in CSV and .xlsx;
        `read_pairs` undoes the marks in TSV and CSV. .html is a page that needs no other
        file, with the texts of the pairs it lists; for a collection, and for the measure
        "estimate", only with `texts=True`. The file is written completely or not at all.

        Raises SourceError if the suffix is not known or the file cannot be written; an older file
        of that name then stays as it is.
        """
        write_duplicates(self, path)


def make_result(
    comparison: Comparison, way: Way, found: Candidates, verified: Verified, clustered: Grouped
) -> Duplicates:
    """Make the result of what was gathered, compared and grouped, with the texts that it has."""
    gathered = comparison.gathered
    options, sides, previous = gathered.options, gathered.sides, gathered.previous
    texts = _read_texts(gathered, clustered, options.texts) if options.texts else {}
    has_shown = options.texts is None and options.needs_texts
    shown = _read_texts(gathered, clustered, None) if has_shown else {}
    are_whole = [side.are_whole() for side in sides]
    whole = {"id": are_whole[0], "other_id": are_whole[-1], "cluster": all(are_whole)}
    may_remember = previous is not None and previous.is_kept
    return Duplicates(
        pairs=clustered.pairs,
        clusters=clustered.clusters,
        whole_ids=tuple(name for name, is_whole in whole.items() if is_whole),
        documents=sum(side.documents for side in sides),
        candidates=len(found.pairs),
        hot_keys=found.hot_keys,
        settings=gathered.settings,
        measure=options.measure,
        by=way,
        min_similarity=comparison.comparer.least,
        max_distance=options.max_distance,
        linkage=options.linkage,
        canonical=options.canonical,
        fq=listed(options.fq),
        same=listed(options.same),
        beyond_cap=comparison.count_beyond(found),
        numeric=comparison.count_numeric(verified),
        has_ids=options.id != ROW,
        chosen=options.chosen,
        repeated=sum(side.repeated for side in sides),
        failed=sum(side.failures.count for side in sides),
        errors=tuple(error for side in sides for error in side.failures.first),
        gaps=tuple(_find_gaps(gathered, verified)),
        texts=texts,
        shown=shown,
        frequencies=_select_frequencies(comparison, texts or shown),
        weights=None if comparison.matcher is None else comparison.matcher.weights,
        kept=_read_kept(gathered, clustered),
        values=clustered.values,
        answered=clustered.answered,
        borderline=find_borderline(comparison, found.pairs, verified),
        templates=find_templates(gathered, clustered),
        for_excel=any(
            is_for_excel(each, reading=own)
            for each, own in zip(options.given, options.readings, strict=False)
            if not is_collection(each)
        ),
        about=" against ".join(map(_name, options.given)),
        against=options.against is not None,
        since=None if previous is None else previous.changes,
        remembered=options.files["remember"] if may_remember else None,
    )


def _name(source: Compared) -> str:
    if is_collection(source):
        return source.name
    paths = paths_of(source)
    return "documents" if paths is None else shown_name([Path(path).name for path in paths])


def _find_gaps(gathered: Gathered, verified: Verified) -> Iterator[str]:
    """Say what may be missing from the result, and what to do about it."""
    fq, step = gathered.options.fq, "run it again"
    for side in gathered.sides:
        if side.is_cut:
            yield f"only the first {side.documents:,} documents were read"
        if side.collection is not None:
            from neardup_solr.solr import schema

            yield from schema.describe_unsigned(side.collection, side.unsigned)
            if fq and not (side.documents or side.unsigned):
                name, filters = side.collection.name, " AND ".join(fq)
                yield f"no document of {name!r} matches {filters}; check the filter"
        if side.failures.count:
            step = step_for((error.reason for error in side.failures.first), "").replace("`", "")
            yield f"records that could not be used: {side.failures.count:,}{step and f'; {step}'}"
        if side.collection is not None:
            side.collection.commit_if_allowed()
            if side.collection.state() != side.state:
                yield schema.CHANGED
            step = schema.remedy(side.collection, "index them again", "renews their fields")
    if verified.vanished:
        yield f"documents deleted meanwhile: {len(verified.vanished):,}"
    if verified.stale:
        yield f"documents whose text has changed: {len(verified.stale):,}; {step}"
    groups = gathered.numbers
    if groups is not None and groups.alone:
        names = " or ".join(groups.fields)
        yield f"documents without {names}: {groups.alone:,}, which were compared with nothing"


def _read_kept(gathered: Gathered, clustered: Grouped) -> Mapping[AnyId, Mapping[str, Any]]:
    """Read the columns to keep of each document that has a pair, by its key and its id."""
    names = gathered.options.keep
    if not names:
        return {}
    rows = sorted(clustered.keys)
    columns = gathered.values(rows, names)
    return _add_ids(
        clustered,
        {
            clustered.keys[row]: {name: columns[name][at] for name in names}
            for at, row in enumerate(rows)
        },
    )


def _read_texts(
    gathered: Gathered, clustered: Grouped, wanted: bool | int | None
) -> Mapping[AnyId, str]:
    """Read the texts of all pairs, or of the first members of so many of the largest clusters.

    None is for those that a page shows, if they need not be asked of a Solr.
    """
    row_of = {key: row for row, key in clustered.keys.items()}
    most: float = math.inf
    rows: Iterator[int]
    if wanted is None:
        if any(side.collection is not None for side in gathered.sides):
            return {}
        from neardup_solr.reports.html.embed import MOST_TEXTS, documents, list_clusters

        most = MOST_TEXTS
        listed = list_clusters(clustered.clusters, clustered.pairs)
        rows = (row_of[key] for key in documents(listed))
    elif wanted is True:
        rows = iter(sorted(clustered.keys))
    else:
        shown = largest(clustered.clusters, wanted)
        members = [member for one in shown for member in one.members[:FIRST]]
        rows = iter(sorted({row_of[key_of(member.id, member.side)] for member in members}))
    found: dict[AnyId, str] = {}
    while most > 0 and (some := sorted(set(islice(rows, AT_ONCE)))):
        texts = dict(zip(some, gathered.texts(some), strict=True))
        found |= {clustered.keys[row]: text for row, text in texts.items() if text is not None}
        most -= sum(map(len, filter(None, texts.values())))
    return _add_ids(clustered, found)


def _add_ids(clustered: Grouped, by_key: Mapping[AnyId, V]) -> Mapping[AnyId, V]:
    """Add what is of the second side by its id alone, if no document of the first has that."""
    others = {key[1]: value for key, value in by_key.items() if isinstance(key, tuple)}
    if not others:
        return by_key
    firsts = {key for key in clustered.keys.values() if not isinstance(key, tuple)}
    return {**by_key, **{id: value for id, value in others.items() if id not in firsts}}


def _select_frequencies(comparison: Comparison, texts: Mapping[AnyId, str]) -> Frequencies | None:
    """Count the documents that have each word of these texts, if the measure weighs words."""
    known = comparison.comparer.frequencies
    if known is None:
        return None
    from neardup_solr.measures.aligned import split_words

    normalization = comparison.gathered.settings.normalization
    forms = (normalize(text, normalization) for text in texts.values())
    words = {word for form in forms for word in split_words(form)}
    return replace(known, counts={word: known.counts.get(word, 1) for word in words})
