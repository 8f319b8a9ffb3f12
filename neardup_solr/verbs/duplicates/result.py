"""The result of `duplicates`: pairs, clusters, what was compared, and the files of them."""

from __future__ import annotations

import math
import shlex
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from html import escape
from itertools import chain, islice, zip_longest
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from neardup_solr import arguments, records, reports, sources
from neardup_solr.answers.verdicts import Answered
from neardup_solr.arguments import Linkage, PairMeasure, Per, TableOf, Way
from neardup_solr.candidates import MOST_OF_ALL, Candidates
from neardup_solr.clusters.removal import remove_across, remove_within
from neardup_solr.errors import (
    ArgumentError,
    DataError,
    RecordError,
    SourceError,
    TemplateError,
    counted,
    without_password,
)
from neardup_solr.files import PathError, check_apart, check_place, write_lines
from neardup_solr.guard import (
    EQUAL,
    LOOK,
    NUMERIC,
    NUMERIC_OF_RECORDS,
    OTHERS,
    SYMBOLIC,
    Far,
    Linked,
    are_many,
    describe_far,
    list_far,
)
from neardup_solr.guard.template import FEWEST, Template
from neardup_solr.measures.equality import NUMBERS, SYMBOLS
from neardup_solr.progress import OnProgress, Progress, ignore
from neardup_solr.records import NOTHING, AnyId, Cluster, Duplicate, Member, Removed
from neardup_solr.reports import Beside
from neardup_solr.reports.pair import PairTable
from neardup_solr.reports.result_table import to_arrow, to_pandas, to_polars
from neardup_solr.reports.row_table import SUFFIXES
from neardup_solr.reports.row_table import check_output as check_rows
from neardup_solr.reports.rows import (
    ANSWER,
    Columns,
    beside,
    duplicate_rows,
    name_columns,
    of_clusters,
    of_pairs,
)
from neardup_solr.settings import CAP, WORD_CAP, Settings
from neardup_solr.sources import Reading, is_collection, paths_of, shown_name
from neardup_solr.sources.head import is_for_excel
from neardup_solr.sources.record_errors import step_for
from neardup_solr.verbs.duplicates import group
from neardup_solr.verbs.duplicates.compare import Comparison, Verified, make_joining
from neardup_solr.verbs.duplicates.doubts import Doubts
from neardup_solr.verbs.duplicates.group import (
    Graph,
    Grouped,
    Unlike,
    find_borderline,
    find_unlike,
)
from neardup_solr.verbs.duplicates.read import Compared, Corpus, Input, Work, read_pieces

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from neardup_solr.measures.frequencies import Frequencies
    from neardup_solr.measures.weights import Evidence, Weights
    from neardup_solr.verbs.duplicates.remember import Changes
    from neardup_solr.verbs.evaluate.id_pairs import KnownPairs
    from neardup_solr.verbs.evaluate.sample import AnswerSheet
    from neardup_solr.verbs.evaluate.sweep import Sweep

FIRST = 10  # members of a cluster whose texts are shown
AT_ONCE = 5_000  # texts that are read at once
LONGEST = 2  # pairs between the ends of a cluster that is not a chain
MOST_SHOWN, MOST_CHARACTERS = 10, 80  # clusters in a notebook, members of each; of a text there
PAGE, TABLE = ".html", ".parquet"
ROWS_AT_ONCE = 100_000  # of a table
V = TypeVar("V")
HOT_KEYS = {"bands": "band key", "shingles": "shingle"}  # by the way candidates were found


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The name of what was compared, and what a page and a review show of it.

    `texts` are those of the documents that a page lists, if none were asked for, `fields` the
    values of the fields that were compared, and `evidence` is what each of these says of a pair,
    by the keys of its documents; `table` makes the tables of pairs. A source that `is_for_excel`
    is a sheet, or begins with a byte order mark, and so does CSV that is written of it. `records`
    are those of a source, or the reason why they cannot be copied.
    """

    name: str = ""
    texts: Mapping[AnyId, str] = field(default_factory=dict)
    fields: Mapping[AnyId, Mapping[str, Any]] = field(default_factory=dict)
    evidence: Mapping[tuple[AnyId, AnyId], Sequence[Evidence]] = field(default_factory=dict)
    table: PairTable = field(default_factory=PairTable)
    is_for_excel: bool = False
    records: SourceRecords | ArgumentError | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Duplicates:
    """Near-duplicate pairs of a collection or a source, and their clusters.

    Attributes named after arguments of `duplicates` hold the values of these arguments.

    `documents`: documents read; `candidates`: candidate pairs compared; `hot_keys`: band keys,
    shingles or words that more documents than `cap` share; `beyond_cap`: estimated pairs missed
    because of `cap`; `enough`: cap that would find those pairs; `numeric`: pairs that differ only
    in numbers, about; `symbolic`: pairs that differ only in symbols; `separated`: pairs that
    `equal` "numbers" and "symbols" would separate, about; `chosen`: why the measure was chosen, or
    ""; `repeated`: records with an earlier id; `failed`: records that could not be used; `errors`:
    their first 1,000 errors; `gaps`: sentences about documents that were not compared; `texts`:
    texts by id, on the second side by (1, id); `kept`: kept columns, with the same keys;
    `frequencies`: word frequencies, for the measure aligned; `weights`: weights of the fields;
    `against`: True if two sides were compared; `since`: changes since the remembered run;
    `answered`: effect of the answers; `borderline`: pairs near the threshold; `templates`: clusters
    that may be templates instead of copies; `far`: removed documents that are not near to the one
    that is kept; `linked`: removed documents that only another one links; `remedy`: advice for
    these, which was tried; `unlike`: copies that differ in columns that were not compared.
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
    cap: int = 0
    enough: int = 0
    numeric: int = 0
    symbolic: int = 0
    separated: Mapping[str, int] = field(default_factory=dict)
    has_ids: bool = False
    chosen: str = ""
    repeated: int = 0
    failed: int = 0
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
    far: Far | None = field(default=None, compare=False)
    linked: Linked | None = field(default=None, compare=False)
    remedy: str = field(default="", compare=False)
    whole_ids: tuple[str, ...] = field(default=(), compare=False)
    origin: Origin = field(default_factory=lambda: Origin(), compare=False)
    graph: Graph | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        pairs, clusters = counted(len(self.pairs), "pair"), counted(len(self.clusters), "cluster")
        documents = counted(self.documents, "document")
        how = f"{self.measure} >= {self.min_similarity:g}"
        return f"<Duplicates: {pairs} in {clusters} among {documents} ({how})>"

    def _repr_html_(self) -> str:
        from neardup_solr.reports.html_table import make_html_table

        clusters = records.largest(self.clusters, MOST_SHOWN)
        heads = ("documents", "similarity", "keep", "near it")
        table = make_html_table(heads, map(self._show_cluster, clusters)) if clusters else ""
        more = len(self.clusters) - len(clusters)
        note = f"<p>… and {more:,} more: <code>.to_pandas('clusters')</code></p>" if more else ""
        chosen = f"<p>{escape(self.chosen)}</p>" if self.chosen else ""
        return f"<p>{escape(repr(self)[1:-1])}</p>{table}{note}{chosen}"

    def _show_cluster(self, cluster: Cluster) -> list[object]:
        from neardup_solr.reports.html_table import Markup

        kept, *others = map(self._show_member, cluster.members[: MOST_SHOWN + 1])
        more = ["…"] if len(cluster.members) > MOST_SHOWN + 1 else []
        least = min(member.similarity for member in cluster.members)
        near = Markup("<br>".join([*others, *more]))
        return [len(cluster.members), f"{least:.3f}", Markup(kept), near]

    def _show_member(self, member: Member) -> str:
        from neardup_solr.reports.html import show_invisibles

        text = self.texts.get(records.key_of(member.id, member.side), "")
        cut = f"{text[:MOST_CHARACTERS]}…" if len(text) > MOST_CHARACTERS else text
        side = " (other side)" if member.side else ""
        return f"<b>{show_invisibles(str(member.id), is_id=True)}</b>{side} {show_invisibles(cut)}"

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

        The columns are id, other_id, similarity, distance, measure, cluster and, with answers,
        answer. With of="clusters", they are cluster, id, canonical, similarity and distance (to the
        canonical document) and, with `against`, side. Texts and kept columns follow.

        Raises SettingsError if pyarrow is missing.
        """
        return to_arrow(self._columns(of), self.whole_ids)

    def to_pandas(self, of: TableOf = "pairs") -> pd.DataFrame:
        """Make a pandas DataFrame with the columns of `to_arrow`."""
        return to_pandas(self._columns(of), self.whole_ids)

    def to_polars(self, of: TableOf = "pairs") -> pl.DataFrame:
        """Make a polars DataFrame with the columns of `to_arrow`."""
        return to_polars(self._columns(of), self.whole_ids)

    def _columns(self, of: TableOf) -> Columns:
        arguments.require_choice("of", of, get_args(TableOf))
        if of == "pairs":
            return of_pairs(self.pairs, name_columns(self.pairs), self.texts, self.kept)
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
        return sum(cluster.copies for cluster in self.clusters)

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
        if self.symbolic >= max(1, SYMBOLIC * len(self.pairs)):
            return f"Possibly not copies: {self.describe_alike(SYMBOLS)}"
        are_records = self.measure in ("fields", "model")
        fewest, share = NUMERIC_OF_RECORDS if are_records else NUMERIC
        if are_many(self.numeric, len(self.pairs), share, fewest):
            return f"Possibly not copies: {self.describe_alike(NUMBERS)}"
        return ""

    def describe_alike(self, rule: str) -> str:
        """Describe the pairs that differ in "numbers" or "symbols" alone, and what to do."""
        pairs = counted(len(self.pairs), "pair")
        differ = {
            NUMBERS: f"about {self.numeric:,} of {pairs} differ only in numbers",
            SYMBOLS: f"{self.symbolic:,} of {pairs} differ only in symbols",
        }
        meant = {NUMBERS: self.numeric, SYMBOLS: self.symbolic}
        separated = self.separated.get(rule, 0)
        if separated > OTHERS * meant[rule]:  # what differs in words, too, may be copies
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
        apart: list[tuple[AnyId, AnyId]] = []
        if self.graph is not None and len(self.graph.different):
            keys = self.graph.keys
            apart = [(keys[left], keys[right]) for left, right in self.graph.different.tolist()]
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
        arguments.require(fits, reason, step)
        assert self.graph is not None
        grouped = group.group_again(self.graph, min_similarity)
        keys = self.graph.keys
        same = {keys[node] for node in np.unique(self.graph.same).tolist()}
        large = [each.members[0] for each in grouped.clusters if len(each.members) >= FEWEST]
        labels = self.labels if large else {}
        before = {labels[records.key_of(member.id, member.side)] for member in large}
        far = None
        if self.far is not None:
            removals = list_far(grouped.clusters, min_similarity, same)
            far = describe_far(removals, grouped.clusters, self.far.share)
        linked = self.linked
        if linked is not None:
            pair = {linked.id, linked.other_id}
            members = ({member.id for member in each.members} for each in grouped.clusters)
            linked = linked if any(pair <= ids for ids in members) else None
        result = replace(
            self,
            pairs=grouped.pairs,
            clusters=grouped.clusters,
            graph=grouped.graph,
            min_similarity=min_similarity,
            beyond_cap=0,  # it was judged by the lower threshold
            numeric=0,
            symbolic=grouped.graph.symbolic,
            separated={},
            templates=tuple(each for each in self.templates if each.cluster in before),
            far=far,
            linked=linked,
            remedy="",
            borderline=None,  # which pairs were compared is not kept
        )
        return result.mark_doubted()

    def mark_doubted(self) -> Duplicates:
        """Give each cluster the doubt, so that it is known of some of them, too."""
        if not (doubt := self.doubt):
            return self
        return replace(self, clusters=tuple(replace(each, doubt=doubt) for each in self.clusters))

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

        arguments.require_positive(size=size)
        arguments.require_choice("per", per, get_args(Per))
        arguments.require(
            bool(self.pairs),
            "there are no pairs to draw from",
            "use a lower `min_similarity`",
            DataError,
        )
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
            self._write_table(path)
        else:
            rows = duplicate_rows(self.pairs, self.texts, self.kept)
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
        files: _Files = {name: Path(each) if each else None for name, each in paths.items()}
        return records.write(files, self.removed, on_progress or ignore)

    def _write_table(self, path: Path) -> None:
        from neardup_solr.reports.parquet_files import write_parquet

        pairs, names = self.pairs, name_columns(self.pairs)
        # Beside our own columns, types are those of all values.
        at_once = len(pairs) if self.texts or self.kept or self.whole_ids else ROWS_AT_ONCE
        starts = range(0, max(len(pairs), 1), max(at_once, 1))

        def make_table(start: int) -> pa.Table:
            part = pairs[start : start + at_once]
            columns = of_pairs(part, names, self.texts, self.kept)
            return to_arrow(columns, self.whole_ids)

        first = make_table(0)
        parts = chain([first], map(make_table, starts[1:]))
        batches = chain.from_iterable(part.to_batches(ROWS_AT_ONCE) for part in parts)
        write_parquet(path, first.schema, batches)

    def _write_page(self, path: Path) -> None:
        from neardup_solr import __version__
        from neardup_solr.reports import html

        settings = self.settings
        members = sum(len(cluster.members) for cluster in self.clusters)
        answered = self.answered
        is_obeyed = answered is None or not (
            answered.set_aside or answered.changed or answered.gone
        )
        warning = self.borderline.warning if self.borderline else ""
        between = len(self.pairs) - sum(cluster.pairs for cluster in self.clusters)
        unlike = self.unlike.copies
        copies = self.copies - unlike
        ways = {
            "shingles": "share some of their shingles",
            "bands": f"share one of {settings.bands} bands of {settings.rows}",
            "words": "share a rare word",
            "all": "every pair",
        }
        parameters = {
            "Measure": self.measure,
            "At least": f"{self.min_similarity:g}",
            "At most": "" if self.max_distance is None else f"{self.max_distance} words apart",
            "Candidates": ways[self.by],
            "Linkage": self.linkage,
            "Filters": ", ".join(self.fq),
            "Same": ", ".join(self.same),
            "Canonical": self.canonical,
            "Settings": settings.fingerprint,
        }
        summary = {
            "Documents": f"{self.documents:,}",
            "Near-duplicate pairs": f"{len(self.pairs):,}",
            "Pairs between clusters": f"{between:,}" if between else "",  # of complete linkage
            "Clusters": f"{len(self.clusters):,}",
            "Documents in clusters": f"{members:,}",
            "Exact copies": f"{copies:,}" if copies else "",
            "Equal but for what was left out": f"{unlike:,}" if unlike else "",
            "Pairs compared": f"{self.candidates:,}",
            "Pairs judged by people": f"{len(answered.obeyed):,}" if answered else "",
        }
        page = html.Page(
            title=self.origin.name,
            pairs=self.pairs,
            clusters=self.clusters,
            parameters={name: value for name, value in parameters.items() if value},
            summary={name: value for name, value in summary.items() if value},
            texts=self.texts or self.origin.texts,
            kept=self.kept,
            by=self.by,
            table=replace(self.origin.table, least=self.min_similarity),
            fields=self.origin.fields,
            evidence=self.origin.evidence,
            curve=(settings.bands, settings.rows) if self.by_bands else None,
            complete=self.complete,
            borderline=self.borderline,
            notes=[f"{gap[0].upper()}{gap[1:]}." for gap in self.gaps]
            + [self.chosen] * bool(self.chosen)
            + [capped for capped in [self.capped] if capped]
            + [f"{answered}."] * (not is_obeyed)
            + [warning] * bool(warning),
            made=f"neardup_solr {__version__}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            command=_command(),
        )
        write_lines(path, html.page_lines(page))

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
        keys = counted(self.hot_keys, HOT_KEYS[self.by])
        step = f"; `cap` {self.enough} is enough" * self._can_be_compared
        return f"Not fully compared: {keys} shared by {than}{step}."

    @property
    def _can_be_compared(self) -> bool:
        """True unless a cap of `enough` would pair too many documents of a single key."""
        return self.enough * (self.enough - 1) // 2 <= MOST_OF_ALL


def make_result(
    comparison: Comparison, way: Way, candidates: Candidates, verified: Verified, grouped: Grouped,
    involved: NDArray[np.uint32], *, doubts: Doubts, remedy: str, since: Changes | None,
    state: str | None,
) -> Duplicates:  # fmt: skip
    """Make the result of what was compared and grouped. `involved` rows have a pair."""
    work, documents, sides = comparison.work, comparison.documents, comparison.documents.sides
    keys = dict(zip(involved.tolist(), grouped.graph.keys, strict=True))  # by row
    texts = _read_texts(documents, grouped, keys, work.texts) if work.texts else {}
    has_page_texts = work.texts is None and work.needs_texts
    page_texts = _read_page_texts(documents, grouped, keys) if has_page_texts else {}
    frequencies = _select_frequencies(comparison, texts or page_texts)
    name, columns = cast(PairMeasure, work.measure.name), work.readings[0].text
    table = PairTable(measure=name, kinds=work.kinds, texts=() if work.kinds else columns,
                      frequencies=frequencies, settings=documents.settings)  # fmt: skip
    are_whole = [side.are_whole() for side in sides]
    beyond_cap, enough = comparison.count_beyond(candidates)
    numeric, symbolic = comparison.count_numeric(verified), grouped.graph.symbolic
    whole = {"id": are_whole[0], "other_id": are_whole[-1], "cluster": all(are_whole)}
    return Duplicates(
        pairs=grouped.pairs,
        clusters=grouped.clusters,
        whole_ids=tuple(name for name, is_whole in whole.items() if is_whole),
        documents=sum(side.documents for side in sides),
        candidates=len(candidates.pairs),
        hot_keys=candidates.hot_keys,
        settings=documents.settings,
        measure=name,
        by=way,
        min_similarity=comparison.comparer.least,
        max_distance=work.limits.max_distance,
        linkage=work.linkage,
        canonical=work.canonical,
        fq=work.filters,
        same=work.same,
        beyond_cap=beyond_cap,
        cap=make_joining(work, documents, WORD_CAP if way == "words" else CAP).cap,
        enough=enough,
        numeric=numeric,
        symbolic=symbolic,
        separated={
            rule: comparison.count_separated(verified, rule)
            for rule, differing in ((NUMBERS, numeric), (SYMBOLS, symbolic))
            if differing
        },
        has_ids=work.has_ids,
        chosen=work.chosen,
        repeated=sum(side.repeated for side in sides),
        failed=sum(side.failures.count for side in sides),
        errors=tuple(error for side in sides for error in side.failures.first),
        gaps=tuple(_find_gaps(work.filters, documents, verified)),
        texts=texts,
        frequencies=frequencies,
        weights=None if comparison.matcher is None else comparison.matcher.weights,
        kept=_read_kept(documents, keys, work.keep),
        against=work.is_across,
        since=since,
        answered=None if comparison.answers is None else comparison.answers.answered,
        borderline=find_borderline(comparison, candidates.pairs, verified),
        templates=doubts.templates,
        far=doubts.far,
        linked=doubts.linked,
        remedy=remedy,
        unlike=find_unlike(work, documents, grouped, involved),
        graph=grouped.graph,
        origin=Origin(
            name=" against ".join(map(_name, work.sides)),
            texts=page_texts,
            **_explain(comparison, grouped, keys),
            table=table,
            is_for_excel=any(
                is_for_excel(source, reading=reading)
                for source, reading in zip(work.sides, work.readings, strict=True)
                if not is_collection(source)
            ),
            records=SourceRecords.of(work, sides[0], keys, state),
        ),
    )


def _name(source: Compared) -> str:
    if is_collection(source):
        return source.name
    paths = paths_of(source)
    return "documents" if paths is None else shown_name([Path(path).name for path in paths])


def _find_gaps(filters: Sequence[str], documents: Corpus, verified: Verified) -> Iterator[str]:
    """Say what may be missing from the result, and what to do about it."""
    step = "run this again"
    for side in documents.sides:
        if side.collection is not None:
            from neardup_solr.solr import schema, unsigned

            yield from unsigned.describe_unsigned(side.collection, side.unsigned)
            if filters and not (side.documents or side.unsigned):
                name, query = side.collection.name, " AND ".join(filters)
                yield f"no document in {name!r} matches {query}; check the filter"
        if side.failures.count:
            advice = step_for(side.failures.first, "")
            unusable = f"records that could not be used: {side.failures.count:,}"
            yield f"{unusable}{advice and f'; {advice}'}"
        if side.collection is not None:
            side.collection.commit_if_allowed()
            if side.collection.state() != side.state:
                yield schema.CHANGED
            step = unsigned.remedy(side.collection, "index them again", "renews their fields")
    if verified.vanished:
        yield f"documents deleted during the run: {len(verified.vanished):,}"
    if verified.stale:
        yield f"documents whose text has changed: {len(verified.stale):,}; {step}"
    groups = documents.numbers
    if groups is not None and groups.alone:
        names = " or ".join(groups.fields)
        yield f"documents without {names}: {groups.alone:,}, which were not compared"


def _read_kept(
    documents: Corpus, keys: Mapping[int, AnyId], names: Sequence[str]
) -> Mapping[AnyId, Mapping[str, Any]]:
    """Read the columns to keep of each document that has a pair, by its key and its id."""
    involved = sorted(keys)
    if not names:
        return {}
    columns = documents.values(involved, names)
    values = zip(*(columns[name] for name in names), strict=True)
    kept = {keys[row]: dict(zip(names, each, strict=True))
            for row, each in zip(involved, values, strict=True)}  # fmt: skip
    return _add_ids(kept, keys)


def _read_texts(
    documents: Corpus, grouped: Grouped, keys: Mapping[int, AnyId], wanted: bool | int
) -> Mapping[AnyId, str]:
    """Read the texts of all pairs, or of the first members of so many of the largest clusters."""
    involved = sorted(keys)
    if wanted is not True:
        members = [
            member
            for each in records.largest(grouped.clusters, wanted)
            for member in each.members[:FIRST]
        ]
        shown = {records.key_of(member.id, member.side) for member in members}
        involved = [row for row in involved if keys[row] in shown]
    return _read_rows(documents, keys, involved)


def _read_page_texts(
    documents: Corpus, grouped: Grouped, keys: Mapping[int, AnyId]
) -> Mapping[AnyId, str]:
    """Read the texts that a page shows, unless Solr has to be asked for them."""
    if any(side.collection is not None for side in documents.sides):
        return {}
    from neardup_solr.reports.html import embed

    row_of = {key: row for row, key in keys.items()}
    listed = embed.documents(embed.list_clusters(grouped.clusters, grouped.pairs))
    return _read_rows(documents, keys, (row_of[key] for key in listed), embed.MOST_TEXTS)


def _explain(comparison: Comparison, grouped: Grouped, keys: Mapping[int, AnyId]) -> dict[str, Any]:
    """Explain the pairs that a page lists, or all to review, by the fields that were compared."""
    work, matcher = comparison.work, comparison.matcher
    if matcher is None or not (work.texts is None or work.texts is True):
        return {}
    from neardup_solr.reports.html import embed

    listed = embed.list_clusters(grouped.clusters, grouped.pairs)
    pairs = grouped.pairs if work.reach else [pair for each in listed for pair in each.pairs]
    row_of = {key: row for row, key in keys.items()}
    ends = [embed.ends_of(pair) for pair in pairs]
    rows = np.array([[row_of[key] for key in both] for both in ends], dtype=np.uint32)
    explained = matcher.explain(np.sort(rows, axis=1)) if pairs else []
    shown = {row: keys[row] for row in np.unique(rows).tolist()}
    values = _read_kept(comparison.documents, shown, tuple(work.kinds))
    return {"fields": values, "evidence": dict(zip(ends, explained, strict=True))}


def _read_rows(
    documents: Corpus, keys: Mapping[int, AnyId], wanted: Iterable[int], most: float = math.inf
) -> Mapping[AnyId, str]:
    """Read the texts of rows, some at a time, until they have so many characters."""
    left, texts = iter(wanted), dict[AnyId, str]()
    while most > 0 and (part := sorted({*islice(left, AT_ONCE)})):
        read = zip(part, documents.texts(part), strict=True)
        texts |= {keys[row]: text for row, text in read if text is not None}
        most -= sum(len(texts.get(keys[row], "")) for row in part)
    return _add_ids(texts, keys)


def _add_ids(by_key: Mapping[AnyId, V], keys: Mapping[int, AnyId]) -> Mapping[AnyId, V]:
    """Add what is of the second side by its id alone, if no document of the first has that."""
    others = {key[1]: value for key, value in by_key.items() if isinstance(key, tuple)}
    if not others:
        return by_key
    firsts = {key for key in keys.values() if not isinstance(key, tuple)}
    return {**by_key, **{id: value for id, value in others.items() if id not in firsts}}


def _select_frequencies(comparison: Comparison, texts: Mapping[AnyId, str]) -> Frequencies | None:
    """Count the documents that have each word of these texts, if the measure weighs words."""
    frequencies = comparison.comparer.frequencies
    if frequencies is None:
        return None
    from neardup_solr.measures.frequencies import split_words

    normalization = comparison.documents.settings.normalization
    forms = comparison.work.measure.normalize([*texts.values()], normalization)
    words = {word for form in forms for word in split_words(form)}
    letters = frequencies.counts.keys() & {*ascii_lowercase}  # which tell if they are sizes
    counts = {word: frequencies.counts.get(word, 1) for word in words | letters}
    return replace(frequencies, counts=counts)


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written, before any work is done for it.

    Raises SourceError if its suffix is not known, no file can be created there, or pyarrow, which
    .parquet needs, is missing.
    """
    suffix = path.suffix.lower()
    if suffix == TABLE:
        reports.require_library(path, "Parquet", "pyarrow")
    if suffix in (PAGE, TABLE):
        check_place(path)
        return
    try:
        check_rows(path)
    except PathError as error:
        known = ", ".join((*SUFFIXES, PAGE, TABLE))
        raise PathError(str(path), error.reason, f"choose one of {known}") from None


def _command() -> str:
    """Tell the command line of this process, without passwords, or "" if it is not neardup."""
    program, *arguments = sys.argv or [""]
    is_ours = Path(program).name in ("neardup", "neardup.exe") or (
        Path(program).parts[-2:] == ("neardup_solr", "__main__.py")
    )
    return shlex.join(["neardup", *map(without_password, arguments)]) if is_ours else ""


# What comes to a removed record, beside its own columns.
DUPLICATE_OF: Final = "neardup_duplicate_of"
SIMILARITY: Final = "neardup_similarity"
ROW: Final = "neardup_row"
# What comes to a record that cannot be used; the last if it has no columns of its own.
REASON: Final = "neardup_reason"
POSITION: Final = "neardup_position"
RECORD: Final = "neardup_record"
ADDED: Final[Mapping[str, Beside]] = {
    "unique": NOTHING,
    "removed": {DUPLICATE_OF: str, SIMILARITY: float, ROW: int},
    "rejected": dict.fromkeys((REASON, POSITION, RECORD), str),
}
WRITING: Final = "writing"

_Files = Mapping[str, Path | None]  # by the names of ADDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Unique:
    """Counts of the records of a file that are kept, and of those that are not.

    `removed` are near-duplicates of a kept one, `repeated` are left out for another one of their
    id, `failed` could not be used, and are in no file but that of the rejected ones.
    """

    kept: int
    removed: int
    repeated: int
    failed: int

    @property
    def records(self) -> int:
        """All records of the file."""
        return self.kept + self.removed + self.repeated + self.failed


def require_copied(source: Compared, reading: Reading, *, are_numbered: bool = False) -> list[Path]:
    """Return the paths of a source whose records can be copied, or raise ArgumentError.

    Its ids `are_numbered` if they are the numbers of rows.
    """
    if is_collection(source):
        raise ArgumentError(
            "a collection cannot be written to a file without its near-duplicates",
            "mark them in the collection (`mark`, nd.mark), then exclude them with the filter query"
            f" fq={source.names.canonical_filter}",
        )
    named = sources.paths_of(source)
    rest = f'df[~df["{reading.id}"].isin(found.removed)]'
    if are_numbered:
        rest = "df.drop(df.index[[row - 1 for row in found.removed]])"
    step = f"to filter a DataFrame by the result: {rest}"
    arguments.require(named is not None, "`unique` needs a file or a folder as `source`", step)
    paths = [Path(path) for path in named or ()]
    try:
        kinds = [path.stat().st_mode for path in paths]
        is_stream = not all(stat.S_ISREG(kind) or stat.S_ISDIR(kind) for kind in kinds)
    except (OSError, ValueError):
        is_stream = Path("-") in paths  # what else is wrong is told by those who read it
    reason = "standard input and pipes cannot be read twice, as `unique` requires"
    arguments.require(not is_stream, reason, "save the input to a file first")
    return paths


def check_files(
    paths: Sequence[Path], reading: Reading, files: _Files, against: Sequence[Path] = ()
) -> None:
    """Refuse files that the records of a source could not be written to, by SourceError."""
    from neardup_solr.reports.copies import check_added, check_copy
    from neardup_solr.reports.parquet_files import check_types

    shown = {f"`{name}`": path for name, path in files.items()}
    check_apart(shown, source=[*paths], against=[*against])
    format, columns, schema = _find_layout(paths, reading)
    for name, output in files.items():
        if output is not None:
            check_copy(output, format, adds=bool(ADDED[name]))
            check_added(sources.shown_name(paths), columns, ADDED[name])
            if schema is not None and output.suffix.lower() == TABLE:
                check_types(output, schema)


def _find_layout(paths: Sequence[Path], reading: Reading) -> tuple[str, Collection[str], Any]:
    """Find the format of a source, its columns, or those of its first record, and its schema.

    Without the latter, if they cannot be read: that is told later.
    """
    try:
        source = sources.open([*paths], reading=reading)
        _, first = (0, None) if source.names else next(source.records, (0, None))
        columns = source.row(first) if source.is_apart(first) else source.names or ()
        return source.format, columns, source.schema
    except (RecordError, ValueError, StopIteration, RuntimeError):
        return sources.format_of([*paths], reading=reading), (), None


def identify(source: Compared, reading: Reading) -> str | None:
    """Write a line that differs if the files of a source have changed, None if it has none."""
    if is_collection(source) or sources.paths_of(source) is None:
        return None
    try:
        return sources.identity(source, reading)
    except SourceError:  # told by those who read it
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecords:
    """The records of a source that was read, in its order.

    `are_documents` has 1 for each record that makes a document. By their numbers, from 1 on, `ids`
    are those of records that have a near-duplicate, and `dead` those of records that another one
    of their id stands for. `state` is that of the source before it was read.
    """

    paths: list[Path]
    against: list[Path]
    reading: Reading
    state: str | None
    are_documents: bytes
    ids: Mapping[int, AnyId]
    dead: Mapping[int, AnyId]

    @classmethod
    def of(
        cls, work: Work, side: Input, ids: Mapping[int, AnyId], state: str | None
    ) -> SourceRecords | ArgumentError:
        """Note the records of the first side, with `ids` by row, or why they are not copied."""
        source, reading = work.sides[0], work.readings[0]
        try:
            are_numbered = not work.has_ids or bool(side.repeated)
            paths = require_copied(source, reading, are_numbered=are_numbered)
        except ArgumentError as error:
            return error
        numbers = side.numbers()
        rows = [row for row in ids if row < len(numbers)]
        return cls(
            paths=paths,
            against=[*map(Path, chain(*(sources.paths_of(each) or () for each in work.sides[1:])))],
            reading=reading,
            state=state,
            are_documents=bytes(side.are_documents),
            ids=dict(zip(numbers[rows].tolist(), (ids[row] for row in rows), strict=True)),
            dead=dict(zip(numbers[side.dead].tolist(), side.ids.take(side.dead), strict=True)),
        )

    def write(
        self, files: _Files, removed: Mapping[AnyId, Removed], on_progress: OnProgress = ignore
    ) -> Unique:
        """Read the source once more, and write each record to the file that it belongs to.

        Raises SourceError if the source has changed, or a file cannot be written.
        """
        from neardup_solr.reports.copies import open_copy

        check_files(self.paths, self.reading, files, self.against)
        source = sources.open(self.paths, reading=self.reading)
        counts = {"kept": 0, "removed": 0, "repeated": 0, "failed": 0}
        with ExitStack() as opened:
            keep, remove, reject = [
                opened.enter_context(
                    nullcontext(_discard) if path is None else open_copy(path, source, ADDED[name])
                )
                for name, path in files.items()
            ]
            failures = self._read_failures() if files["rejected"] is not None else None
            records = zip_longest(self.are_documents, (record for _, record in source.records))
            for number, (is_document, record) in enumerate(records, 1):
                if is_document is None or (record is None and is_document):
                    raise self._make_error()
                if number % AT_ONCE == 1:
                    on_progress(Progress(WRITING, number - 1, len(self.are_documents)))
                if not is_document:
                    counts["failed"] += 1
                    if failures is not None:
                        error, is_apart = next(failures), source.is_apart(record)
                        text = None if is_apart else source.text_of(record)
                        added = {REASON: error.reason, POSITION: error.position, RECORD: text}
                        reject(record if is_apart else None, added)
                    continue
                kept = removed.get(self.ids.get(number))
                if (id := self.dead.get(number)) is not None:
                    # Another record of its id counts, which may itself be removed for a third one.
                    other = removed.get(id)
                    kept = Removed(
                        id=id, duplicate_of=other.duplicate_of if other else id, similarity=None
                    )
                if kept is None:
                    counts["kept"] += 1
                    keep(record, NOTHING)
                    continue
                counts["removed" if id is None else "repeated"] += 1
                similarity = None if kept.similarity is None else round(kept.similarity, 4)
                remove(
                    record,
                    {DUPLICATE_OF: kept.duplicate_of, SIMILARITY: similarity, ROW: number},
                )
            if sources.identity(self.paths, self.reading) != self.state:
                raise self._make_error()
        return Unique(**counts)

    def _read_failures(self) -> Iterator[RecordError]:
        """Read why records cannot be used, in their order."""
        for piece in read_pieces(self.paths, self.reading):
            if isinstance(piece, RecordError):
                yield piece
        raise self._make_error()

    def _make_error(self) -> SourceError:
        name = sources.shown_name(self.paths)
        return SourceError(name, "changed while it was being read", "run this again")


def _discard(_: Any, __: Any) -> None:
    """Discard a record: no file was asked for."""
