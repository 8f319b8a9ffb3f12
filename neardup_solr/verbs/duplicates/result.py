"""The result of `duplicates`: pairs and clusters, what was compared, and the doors to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from neardup_solr import arguments, checks, records
from neardup_solr.answers.verdicts import Answered
from neardup_solr.argument_types import ChartOf, Linkage, PairMeasure, Per, TableOf, Way
from neardup_solr.candidates import MOST_OF_ALL
from neardup_solr.clusters.removal import remove_across, remove_within
from neardup_solr.errors import ArgumentError, DataError, RecordError, TemplateError, counted
from neardup_solr.files import check_apart, write_lines
from neardup_solr.guard import (
    EQUAL,
    LOOK,
    NUMERIC,
    NUMERIC_OF_RECORDS,
    OTHERS,
    SYMBOLIC,
    Far,
    Linked,
    Unlikely,
    are_many,
)
from neardup_solr.guard.template import FEWEST, Template
from neardup_solr.measures import BY_PROBABILITY
from neardup_solr.measures.equality import NUMBERS, SYMBOLS
from neardup_solr.progress import OnProgress, ignore
from neardup_solr.records import AnyId, Cluster, Duplicate, Removed
from neardup_solr.reports.pair import PairTable
from neardup_solr.reports.result_table import to_arrow, to_pandas, to_polars
from neardup_solr.reports.rows import (
    ANSWER,
    Columns,
    beside,
    duplicate_rows,
    name_duplicate_columns,
    of_clusters,
    of_pairs,
)
from neardup_solr.settings import Settings
from neardup_solr.verbs.duplicates.far import describe_far, list_far
from neardup_solr.verbs.duplicates.graph import Grouped, group_again
from neardup_solr.verbs.duplicates.output import PAGE, TABLE, check_output, write_table
from neardup_solr.verbs.duplicates.page_facts import describe_command, list_counts, list_parameters
from neardup_solr.verbs.duplicates.placeholders import Placeholders
from neardup_solr.verbs.duplicates.uncompared_columns import Unlike
from neardup_solr.verbs.duplicates.unique import Files, SourceRecords, Unique
from neardup_solr.verbs.duplicates.unlikely import find_unlikely

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes

    from neardup_solr.measures.frequencies import Frequencies
    from neardup_solr.measures.weights import Evidence, Weights
    from neardup_solr.verbs.duplicates.merge import Merged, RecordStore
    from neardup_solr.verbs.duplicates.record_numbers import HeldRecords
    from neardup_solr.verbs.duplicates.remember import Changes
    from neardup_solr.verbs.evaluate.id_pairs import KnownPairs
    from neardup_solr.verbs.evaluate.sample import AnswerSheet
    from neardup_solr.verbs.evaluate.sweep import Sweep

LONGEST = 2  # pairs between the ends of a cluster that is not a chain
# What other modules take of a result, and users do not: no editor offers it.
INNER = {"describe_alike", "grouped", "has_ids", "mark_doubted", "origin", "whole_ids"}
HOT_KEYS = {
    "bands": ("band key",),
    "shingles": ("shingle",),
    "passages": ("run of letters", "runs of letters"),
}  # by the way candidates were found


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The name of what was compared, and what a page and a review show of it.

    `texts` are those of the documents that a page lists, if none were asked for, `fields` the
    values of the fields that were compared, and `evidence` is what each of these says of a pair,
    by the keys of its documents; `table` makes the tables of pairs. A source that `is_for_excel`
    is a sheet, or begins with a byte order mark, and so does CSV that is written of it. `records`
    are those of a source, or the reason why they cannot be copied, `held` those in memory.
    """

    name: str = ""
    texts: Mapping[AnyId, str] = field(default_factory=dict)
    fields: Mapping[AnyId, Mapping[str, Any]] = field(default_factory=dict)
    evidence: Mapping[tuple[AnyId, AnyId], Sequence[Evidence]] = field(default_factory=dict)
    table: PairTable = field(default_factory=PairTable)
    is_for_excel: bool = False
    records: SourceRecords | ArgumentError | None = None
    held: HeldRecords | None = None


def _are_joined(grouped: Grouped, *ids: AnyId) -> bool:
    """Tell whether documents are in one cluster."""
    return any({*ids} <= {member.id for member in each.members} for each in grouped.clusters)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Duplicates:
    """Near-duplicate pairs of a collection or a source, and their clusters.

    Its length is the number of its pairs, and it iterates over them. Attributes named after
    arguments of `duplicates` hold the values of these arguments.

    `documents`: documents read; `candidates`: candidate pairs compared; `hot_keys`: band keys,
    shingles or words that more documents than `cap` share; `beyond_cap`: estimated pairs missed
    because of `cap`; `enough`: cap that would find those pairs; `numeric`: pairs that differ only
    in numbers, about; `symbolic`: pairs that differ only in symbols; `separated`: pairs that
    `equal` "numbers" and "symbols" would separate, about; `chosen`: why the measure was chosen, or
    ""; `repeated`: records with an earlier id; `failed`: records that could not be used; `errors`:
    their first 1,000 errors; `damaged`: files among them that end too early, whose number of
    missing records is unknown; `gaps`: sentences about documents that were not compared; `texts`:
    texts by id, on the second side by (1, id); `kept`: kept columns, with the same keys;
    `frequencies`: word frequencies, for the measure aligned; `weights`: weights of the fields;
    `against`: True if two sides were compared; `since`: changes since the remembered run;
    `answered`: effect of the answers; `borderline`: pairs near the threshold; `templates`: clusters
    that may be templates instead of copies; `far`: removed documents that are not near to the one
    that is kept; `linked`: removed documents that only another one links; `unlikely`: pairs of
    records that are expected to be wrong; `remedy`: advice for these, which was tried; `parting`:
    columns in which pairs differ that may be no copies; `placeholders`: documents whose texts, such
    as "n/a", say nothing; `unlike`: copies that differ in columns that were not compared; `fuller`:
    removed records that have more of the fields than the one that is kept.
    """

    grouped: Grouped
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
    cap: int = 0
    enough: int = 0
    numeric: int = 0
    symbolic: int = 0
    separated: Mapping[str, int] = field(default_factory=dict)
    has_ids: bool = False
    chosen: str = ""
    repeated: int = 0
    failed: int = 0
    damaged: int = 0
    errors: tuple[RecordError, ...] = ()
    gaps: tuple[str, ...] = ()
    texts: Mapping[AnyId, str] = field(default_factory=dict)
    kept: Mapping[AnyId, Mapping[str, Any]] = field(default_factory=dict)
    frequencies: Frequencies | None = field(default=None, compare=False)
    weights: Weights | None = field(default=None, compare=False)
    against: bool = False
    since: Changes | None = None
    answered: Answered | None = None
    borderline: records.Borderline | None = field(default=None, compare=False)
    templates: tuple[Template, ...] = field(default=(), compare=False)
    unlike: Unlike = field(default_factory=Unlike)
    fuller: int = 0
    far: Far | None = field(default=None, compare=False)
    linked: Linked | None = field(default=None, compare=False)
    unlikely: Unlikely | None = field(default=None, compare=False)
    parting: str = field(default="", compare=False)
    placeholders: Placeholders | None = field(default=None, compare=False)
    remedy: str = field(default="", compare=False)
    whole_ids: tuple[str, ...] = field(default=(), compare=False)
    origin: Origin = field(default_factory=lambda: Origin(), compare=False)

    @property
    def pairs(self) -> tuple[Duplicate, ...]:
        """Near-duplicate pairs, in the order of their clusters and ids."""
        return self.grouped.pairs

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """Clusters of the pairs, in the natural order of their first ids."""
        return self.grouped.clusters

    def __len__(self) -> int:
        return len(self.grouped.graph.pairs)

    def __iter__(self) -> Iterator[Duplicate]:
        return iter(self.grouped.pairs)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self)} - INNER)

    def __repr__(self) -> str:
        pairs = counted(len(self), "pair")
        clusters = counted(len(self.grouped.rows), "cluster")
        documents = counted(self.documents, "document")
        how = f"{self.measure} >= {self.min_similarity:g}"
        return f"<Duplicates: {pairs} in {clusters} among {documents} ({how})>"

    def _repr_html_(self) -> str:
        from html import escape  # of which only notebooks make use

        from neardup_solr.verbs.duplicates.notebook import make_table

        chosen = f"<p>{escape(self.chosen)}</p>" if self.chosen else ""
        return f"<p>{escape(repr(self)[1:-1])}</p>{make_table(self.grouped, self.texts)}{chosen}"

    @property
    def labels(self) -> dict[AnyId, AnyId]:
        """Cluster ids by document id, for `df["id"].map(found.labels)`.

        The keys of the second side are as in `texts`.
        """
        by_key = {
            records.key_of(member.id, member.side): cluster.id
            for cluster in self.clusters
            for member in cluster.members
        }
        return {key[1]: name for key, name in by_key.items() if isinstance(key, tuple)} | by_key

    def to_arrow(self, of: TableOf = "pairs") -> pa.Table:
        """Make an Arrow table of the pairs, or of the cluster members.

        The columns are id, other_id, similarity, distance, measure, cluster, relation (for measures
        of texts) and, with answers, answer. With of="clusters", they are cluster, id, canonical,
        similarity and distance (to the canonical document) and, with `against`, side. Texts and
        kept columns follow.

        Raises SettingsError if pyarrow is missing.
        """
        return to_arrow(self._columns(of), self.whole_ids)

    def to_pandas(self, of: TableOf = "pairs") -> pd.DataFrame:
        """Make a pandas DataFrame with the columns of `to_arrow`."""
        return to_pandas(self._columns(of), self.whole_ids)

    def to_polars(self, of: TableOf = "pairs") -> pl.DataFrame:
        """Make a polars DataFrame with the columns of `to_arrow`."""
        return to_polars(self._columns(of), self.whole_ids)

    def plot(self, of: ChartOf = "similarities", axes: Axes | None = None) -> Axes:
        """Draw a chart with matplotlib, and return its axes.

        "similarities" draws how many pairs have which similarity, with the threshold;
        "clusters" how the clusters change with a higher threshold; "weights" how many bits each
        level of each field speaks for a match or against it, after a run with `fields`. `axes` are
        drawn on instead of new ones.

        Raises SettingsError if matplotlib is missing, DataError if there are no weights.
        """
        from neardup_solr.verbs.duplicates import charts

        return charts.draw(
            of, axes, graph=self.grouped.graph, least=self.min_similarity,
            below=None if self.borderline is None else self.borderline.below, weights=self.weights,
        )  # fmt: skip

    def _columns(self, of: TableOf) -> Columns:
        checks.require_choice("of", of, get_args(TableOf))
        if of == "pairs":
            names = name_duplicate_columns(self.pairs, self.measure)
            return of_pairs(self.pairs, names, self.texts, self.kept)
        columns = of_clusters(self.clusters, has_sides=self.against)
        keys = [
            records.key_of(member.id, member.side)
            for each in self.clusters
            for member in each.members
        ]
        return beside(columns, self.texts, self.kept, {"id": keys})

    @property
    def by_bands(self) -> bool:
        """True if candidate pairs had to share an LSH band."""
        return self.by == "bands"

    @property
    def copies(self) -> int:
        """Number of exact copies of earlier documents (measure estimate: equal signatures)."""
        return self.grouped.rows.copies

    @property
    def chained(self) -> tuple[Cluster, ...]:
        """Clusters with a `diameter` above 2 or not computed: their ends may be unrelated."""
        return tuple(each for each in self.clusters if not 0 < each.diameter <= LONGEST)

    @property
    def doubt(self) -> str:
        """Warning that removed documents may not be copies, with advice that was tried, or ""."""
        if self.templates:
            first, more = self.templates[0], len(self.templates) - 1
            others = f"; {counted(more, 'more is', 'more are')} like it" if more else ""
            what = "Probably a template, not copies" if first.is_regular else "Possibly not copies"
            return f"{what}: {first}{others}; {self.remedy or LOOK}"
        weak = [each for each in (self.far, self.linked) if each is not None and each.is_much]
        if weak:
            most = max(weak, key=lambda each: each.count)
            return f"Possibly not copies: {most}; {self.remedy or LOOK}"
        if self.unlikely is not None and self.unlikely.is_much:
            return f"Possibly not copies: {self.unlikely}; {self.remedy or LOOK}"
        if self.parting:
            return f"Possibly not copies: {self.parting}"
        if self.placeholders is not None:
            step = "to keep them, use `same` with a column that tells them apart"
            return f"Possibly not copies: {self.placeholders}; {step}"
        if self.unlike.telling or self._are_many(self.unlike.copies):
            step = f"to keep them, use `same` {self.unlike.column}"
            if not self.unlike.is_filled:  # without a value, no document is near to others
                step = LOOK
            return f"Possibly not copies: {self.unlike}; {step}"
        by_fields = self.measure == "fields" and self.has_ids and not self.against
        if by_fields and self._are_many(self.copies):
            records = f"{self.copies:,} of {counted(self.documents, 'record')}"
            step = "to keep them, add a distinguishing column to `fields`, such as a serial number"
            return f"Possibly not copies: {records} with ids are equal in all fields; {step}"
        pairs = len(self.grouped.graph.pairs)
        if self.symbolic >= max(1, SYMBOLIC * pairs):
            return f"Possibly not copies: {self.describe_alike(SYMBOLS)}"
        are_records = self.measure in BY_PROBABILITY
        fewest, share = NUMERIC_OF_RECORDS if are_records else NUMERIC
        if are_many(self.numeric, pairs, share, fewest):
            return f"Possibly not copies: {self.describe_alike(NUMBERS)}"
        return ""

    def describe_alike(self, rule: str) -> str:
        """Describe the pairs that differ in "numbers" or "symbols" alone, and what to do."""
        pairs = counted(len(self.grouped.graph.pairs), "pair")
        differ = {
            NUMBERS: f"about {self.numeric:,} of {pairs} differ only in numbers",
            SYMBOLS: f"{self.symbolic:,} of {pairs} differ only in symbols",
        }
        meant = {NUMBERS: self.numeric, SYMBOLS: self.symbolic}
        if (separated := self.separated.get(rule)) is None:  # not counted at a higher threshold
            return f"{differ[rule]}; use `equal` {rule} to separate them"
        # It separates too few, or what differs in words, too, and may be copies.
        if not meant[rule] / OTHERS <= separated <= OTHERS * meant[rule]:
            return f"{differ[rule]}; {LOOK}"
        return f"{differ[rule]}; use `equal` {rule} to separate them (about {separated:,})"

    def _are_many(self, copies: int) -> bool:
        """Tell whether so many copies of others, of all documents, are more than slips."""
        return any(copies >= max(fewest, share * self.documents) for fewest, share in EQUAL)

    @property
    def complete(self) -> bool:
        """True if all documents were compared in their present state."""
        return not self.gaps

    @property
    def removed(self) -> dict[AnyId, Removed]:
        """Documents to remove, by id, each with `duplicate_of` (an id) and `similarity`.

        These are all documents of each cluster but the canonical one; if two canonical documents
        are near-duplicates, also one of these; with `against`, the documents of the first side that
        have a near-duplicate.
        """
        graph = self.grouped.graph
        if graph.linkage == "single" and not self.against and not len(graph.different):
            return self.grouped.remove_others()
        apart: list[tuple[AnyId, AnyId]] = []
        if len(graph.different):
            keys = graph.keys
            apart = [(keys[left], keys[right]) for left, right in graph.different.tolist()]
        if self.against:
            return remove_across(self.pairs, apart)
        return remove_within(self.pairs, self.clusters, apart)

    @arguments.checked
    def at(self, min_similarity: float) -> Duplicates:
        """Return the result at a higher threshold, with new clusters.

        The similarity of a member is NaN if it was not compared with the canonical document.

        Raises ArgumentError if the threshold is lower than the result's threshold.
        """
        fits = self.min_similarity <= min_similarity <= 1
        reason = f"`min_similarity` cannot be {min_similarity:g}"
        step = f"give {self.min_similarity:g} to 1, or compare again with a lower threshold"
        checks.require(fits, reason, step, code="argument-out-of-range")
        grouped = group_again(self.grouped.graph, min_similarity)
        before = dict[AnyId, int]()  # documents of the largest cluster that is part of one
        labels = self.labels if self.templates else {}
        for each in grouped.clusters if self.templates else ():
            first = each.members[0]
            cluster = labels[records.key_of(first.id, first.side)]
            before[cluster] = max(before.get(cluster, 0), len(each.members))
        far = None
        if self.far is not None:
            far = describe_far(grouped, list_far(grouped, min_similarity), self.far.share)
            # What was left without the parts that many have in common is alike, however short.
            if far is None and _are_joined(grouped, self.far.id, self.far.kept):
                far = self.far
        linked = self.linked
        if linked is not None and not _are_joined(grouped, linked.id, linked.other_id):
            linked = None
        result = replace(
            self,
            grouped=grouped,
            min_similarity=min_similarity,
            beyond_cap=0,  # it was judged by the lower threshold
            numeric=min(self.numeric, int((grouped.graph.similarities < 1.0).sum())),
            symbolic=grouped.graph.symbolic,
            separated={},
            templates=tuple(
                each
                for each in self.templates
                if before.get(each.cluster, 0) >= min(FEWEST, each.texts)
            ),
            far=far,
            linked=linked,
            unlikely=find_unlikely(grouped.graph),
            remedy="",
            borderline=None,  # which pairs were compared is not kept
        )
        return result.mark_doubted()

    def mark_doubted(self) -> Duplicates:
        """Give each cluster the doubt, so that it is known of some of them, too."""
        return replace(self, grouped=replace(self.grouped, doubt=self.doubt))

    def sweep(self, known: KnownPairs) -> Sweep:
        """Compute precision, recall and F1 at the result's threshold and all higher ones.

        `known` is as in `evaluate`. The sweep's `best` point has the highest F1.

        Raises ArgumentError and SourceError as `evaluate` does.
        """
        from neardup_solr.verbs.evaluate.sweep import sweep

        return sweep(self, known, self.min_similarity, in_order=self.against)

    def sample(self, size: int = 100, *, per: Per = "similarity", seed: int = 1) -> AnswerSheet:
        """Draw pairs for people to judge, with an empty column named answer.

        With `per` "similarity", each stratum of similarity (0.05 wide) has the same number of
        pairs; with "pair", each pair has the same chance. Fill the column with same, different or
        unsure, and pass the table to `evaluate` or `sweep`.

        Raises ArgumentError if there is no pair, or `size` is below 1.
        """
        from neardup_solr.verbs.evaluate.sample import AnswerSheet, draw

        checks.require_positive(size=size)
        checks.require_choice("per", per, get_args(Per))
        reason = "there are no pairs to draw from"
        step = "use a lower `min_similarity`"
        checks.require(bool(self.pairs), reason, step, DataError, code="no-pairs")
        drawn = draw(self.pairs, size, per, seed)
        names, texts = ("id", "other_id", "similarity"), self.texts or self.origin.texts
        columns = of_pairs(drawn, names, texts, self.kept)
        answers = [pair.answer or "" for pair in drawn]
        return AnswerSheet(table=columns | {ANSWER: answers}, whole_ids=self.whole_ids)

    @arguments.checked
    def write(self, path: str | Path) -> None:
        """Write the pairs to a .tsv, .csv, .jsonl, .xlsx or .parquet file, or to an .html page.

        Tables have the columns of `to_arrow`. Formulas are escaped with a backslash in TSV and an
        apostrophe in CSV and .xlsx; `evaluate` removes both. The page shows the texts of pairs. For
        a collection or the measure "estimate", it requires `duplicates(..., texts=True)`. If
        writing fails, an existing file is left as it was.

        Raises SourceError if the suffix is unknown or the file cannot be written.
        """
        path, records = Path(path), self.origin.records
        if isinstance(records, SourceRecords):
            check_apart({"`path`": path}, source=records.paths, against=records.against)
        check_output(path)
        suffix = path.suffix.lower()
        if suffix == PAGE:
            self._write_page(path)
        elif suffix == TABLE:
            write_table(path, self.pairs, self.measure, self.texts, self.kept, self.whole_ids)
        else:
            rows = duplicate_rows(self.pairs, self.measure, self.texts, self.kept)
            rows.write(path, for_excel=self.origin.is_for_excel)

    @arguments.checked
    def write_unique(
        self, path: str | Path | None = None, *, removed: str | Path | None = None,
        rejected: str | Path | None = None, yes: bool = False,
        on_progress: OnProgress | None = None,
    ) -> Unique:  # fmt: skip
        """Write the records of the source without its near-duplicates.

        `removed` is a file for the removed records, with the columns neardup_duplicate_of,
        neardup_similarity and neardup_row; `rejected` is a file for unusable records, with
        neardup_reason, neardup_position and neardup_record. Suffixes select the formats. If writing
        fails, no file changes.

        Raises TemplateError if `doubt` is set and `yes` is False, ArgumentError if the source
        cannot be read twice, SourceError if the source has changed or a file cannot be written.
        """
        records = self.origin.records
        if isinstance(records, ArgumentError):
            raise records
        assert records is not None
        if self.doubt and not yes and not (path is None and removed is None):
            raise TemplateError(self.templates, self.doubt)
        paths = {"unique": path, "removed": removed, "rejected": rejected}
        files: Files = {name: Path(each) if each else None for name, each in paths.items()}
        return records.write(files, self.removed, on_progress or ignore)

    @partial(arguments.checked, find_type=lambda _: Any)  # of results that are seldom loaded
    def merge(
        self, rules: Mapping[str, str] | None = None, *, yes: bool = False,
        on_progress: OnProgress | None = None,
    ) -> Merged:  # fmt: skip
        """Merge each cluster into one record, the one that is kept, with the values of all.

        Values that it lacks are filled. Where records have several, `rules` says by column which
        counts: "kept", "frequent", "longest", "newest" or "newest:COLUMN" (of the record with the
        latest date), "first:COLUMN" (of the record with the lowest value) or "joined" (all). "*" is
        the rule of all other columns. Without a rule, the value of the kept record stays, and the
        conflict is counted.

        Example: `found.merge({"phone": "newest", "tags": "joined"}).write("people.csv")`

        Raises TemplateError if `doubt` is set and `yes` is False, ArgumentError if a rule is none,
        its column is missing, or the source has two sides or cannot be read twice, DataError if
        answers call records of a cluster different, SourceError if the source has changed.
        """
        from neardup_solr.verbs.duplicates.merge import merge_records

        if self.doubt and not yes:
            raise TemplateError(self.templates, self.doubt)
        reason = "`merge` needs one source: the records of two have other columns"
        step = "give both as one source, such as a list of files"
        checks.require(not self.against, reason, step, code="arguments-conflict")
        store = self._open_store()
        return merge_records(store, self.removed, rules or {}, self.answered, on_progress or ignore)

    def _open_store(self) -> RecordStore:
        """Open the records that are merged once more."""
        if self.origin.held is not None:
            from neardup_solr.verbs.duplicates.merged_frames import FrameStore

            return FrameStore.of(self.origin.held)
        from neardup_solr.verbs.duplicates.merged_files import FileStore

        if isinstance(self.origin.records, ArgumentError):
            raise self.origin.records
        assert self.origin.records is not None
        return FileStore.of(self.origin.records)

    def _write_page(self, path: Path) -> None:
        from neardup_solr import __version__
        from neardup_solr.reports.html.page import Page, page_lines

        answered = self.answered
        is_obeyed = answered is None or not (
            answered.set_aside or answered.changed or answered.gone
        )
        warning = self.borderline.warning if self.borderline else ""
        parameters = list_parameters(
            measure=self.measure, min_similarity=self.min_similarity,
            max_distance=self.max_distance, by=self.by, linkage=self.linkage, fq=self.fq,
            same=self.same, canonical=self.canonical, settings=self.settings,
        )  # fmt: skip
        counts = list_counts(
            documents=self.documents, pairs=self.pairs, clusters=self.clusters, copies=self.copies,
            unlike=self.unlike.copies, candidates=self.candidates, answered=answered,
        )  # fmt: skip
        page = Page(
            title=self.origin.name,
            pairs=self.pairs,
            clusters=self.clusters,
            parameters=parameters,
            summary=counts,
            texts=self.texts or self.origin.texts,
            kept=self.kept,
            by=self.by,
            table=replace(self.origin.table, least=self.min_similarity),
            fields=self.origin.fields,
            evidence=self.origin.evidence,
            curve=(self.settings.bands, self.settings.rows) if self.by_bands else None,
            complete=self.complete,
            borderline=self.borderline,
            notes=[f"{gap[0].upper()}{gap[1:]}." for gap in self.gaps]
            + [self.chosen] * bool(self.chosen)
            + [capped for capped in [self.capped] if capped]
            + [f"{answered}."] * (not is_obeyed)
            + [warning] * bool(warning),
            made=f"neardup_solr {__version__}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            command=describe_command(),
        )
        write_lines(path, page_lines(page))

    @property
    def capped(self) -> str | None:
        """Sentence about pairs missed because of `cap`, None without any."""
        than = f"more documents than `cap` ({self.cap:,})"
        if self.beyond_cap:
            pairs = counted(self.beyond_cap, "more pair")
            only = f"whose shared words all occur in {than}"
            step = f"; use `cap` {self.enough} to find them" * self._can_be_compared
            return f"Estimated: {pairs} {only}{step}."
        if not (self.hot_keys and self.by in HOT_KEYS):
            return None
        keys = counted(self.hot_keys, *HOT_KEYS[self.by])
        step = f"; `cap` {self.enough} is enough" * self._can_be_compared
        return f"Not fully compared: {keys} shared by {than}{step}."

    @property
    def _can_be_compared(self) -> bool:
        """True unless a cap of `enough` would pair too many documents of a single key."""
        return self.enough * (self.enough - 1) // 2 <= MOST_OF_ALL
