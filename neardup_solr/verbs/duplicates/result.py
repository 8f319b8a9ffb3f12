"""What `duplicates` finds: pairs, clusters, and what was compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from neardup_solr.arguments import (
    Linkage,
    MeasureName,
    Per,
    TableOf,
    Way,
    checked,
    require,
    require_choice,
    require_positive,
)
from neardup_solr.clusters import remove_across, remove_within
from neardup_solr.errors import ArgumentError, RecordError, counted
from neardup_solr.records import AnyId, Cluster, Duplicate, Removed, key_of
from neardup_solr.reports import rows, tables
from neardup_solr.settings import Settings
from neardup_solr.verbs.duplicates.group import DocumentKey, regroup
from neardup_solr.verbs.duplicates.options import TWICE
from neardup_solr.verbs.duplicates.write import write_duplicates

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from neardup_solr.measures.aligned import Frequencies
    from neardup_solr.verbs.duplicates.clean_file import Unique
    from neardup_solr.verbs.duplicates.previous_run import Changes
    from neardup_solr.verbs.evaluate import KnownPairs, Sweep
    from neardup_solr.verbs.evaluate.answers import AnswerSheet

SHORT, MANY = 20, 100  # words of a short document; documents of which not all pairs are looked at
LONGEST = 2  # pairs between the ends of a cluster that is not a chain


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Duplicates:
    """The near-duplicate pairs of a collection or a source, and their clusters.

    `documents` counts what was read, `candidates` the pairs that were compared. `repeated` counts
    records whose id came before, `failed` those that could not be used; `errors` says why for
    the first 1,000 of them. `hot_keys` counts the band keys, shingles or words that more
    documents have than the cap, `beyond_cap` the pairs that share only such words, about, judged by
    a sample.
    `median_words` is the median number of words of a sample of the documents, None if texts were
    not compared. `settings` shaped the signatures. `measure`, `by` (how candidates are found),
    `min_similarity`, `max_distance`, `linkage`, `canonical`, `fq` and `same` are those that were
    used. `gaps` says what may be missing, such as documents that changed while they were read.
    `texts` has the texts of the pairs by id, if they were asked for, `shown` those that a page
    shows if they were not, and `kept` the columns to keep; for the measure aligned, `frequencies`
    has those of their words. With `against`, those of the second side are there by (1, id), and by
    their id if the first side has no document of that id in a pair. `about` names what was
    compared, `against` tells whether it had two sides, and `within` whether each side was also
    compared with itself. `unique` counts the records of the files that were asked for: `kept`,
    `removed`, `repeated` and `failed`. `since` says what has changed since the run that
    the file `remembered` held, if one was named. `values` are those that the rule `canonical`
    compares, by side and id, for `at`. `whole_ids` names the columns of ids that are all whole
    numbers. A source that is `for_excel` is a sheet, or begins with a byte order mark, and so does
    CSV that is written of it.
    """

    pairs: tuple[Duplicate, ...]
    clusters: tuple[Cluster, ...]
    documents: int
    candidates: int
    hot_keys: int
    settings: Settings
    measure: MeasureName
    by: Way
    min_similarity: float
    max_distance: int | None
    linkage: Linkage
    canonical: str
    fq: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    beyond_cap: int = 0
    median_words: int | None = None
    repeated: int = 0
    failed: int = 0
    errors: tuple[RecordError, ...] = ()
    gaps: tuple[str, ...] = ()
    texts: Mapping[AnyId, str] = field(default_factory=dict)
    shown: Mapping[AnyId, str] = field(default_factory=dict, compare=False)
    kept: Mapping[AnyId, Mapping[str, Any]] = field(default_factory=dict)
    frequencies: Frequencies | None = field(default=None, compare=False)
    about: str = field(default="", compare=False)
    against: bool = False
    within: bool = False
    unique: Unique | None = None
    since: Changes | None = None
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
        from neardup_solr.verbs.duplicates import notebook

        return notebook.page(self)

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
            return tables.of_pairs(self.pairs, rows.DUPLICATE_COLUMNS, self.texts, self.kept)
        columns = tables.of_clusters(self.clusters, has_sides=self.against)
        keys = [key_of(one.id, one.side) for each in self.clusters for one in each.members]
        return tables.beside(columns, self.texts, self.kept, {"id": keys})

    @property
    def are_short(self) -> bool:
        """True if many documents have so few words that the measure aligned suits them better."""
        is_few = self.median_words is not None and self.median_words < SHORT
        return self.measure == "words" and is_few and self.documents >= MANY

    @property
    def by_bands(self) -> bool:
        """True if candidates had to share an LSH band."""
        return self.by == "bands"

    @property
    def chained(self) -> tuple[Cluster, ...]:
        """Clusters whose ends may be unrelated: more than two pairs lie between them.

        Clusters that are too large to measure (`diameter` 0) are included.
        """
        return tuple(one for one in self.clusters if one.diameter > LONGEST or one.diameter == 0)

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

        Raises ArgumentError for two sides that were compared `within` as well.
        """
        if not self.against:
            return remove_within(self.pairs, self.clusters)
        if self.within:
            raise ArgumentError("`removed` does not go with `within`", TWICE)
        return remove_across(self.pairs)

    @checked
    def at(self, min_similarity: float) -> Duplicates:
        """The same result with a higher threshold: its pairs, grouped anew.

        A member's similarity to the canonical document is NaN if the two were never compared.

        Raises ArgumentError if the threshold is lower than that of the result, or for two sides
        that were compared `within` as well.
        """
        fits = self.min_similarity <= min_similarity <= 1
        reason = f"`min_similarity` cannot be {min_similarity:g}"
        step = f"give {self.min_similarity:g} to 1, or compare again with a lower one"
        require(fits, reason, step)
        require(not self.within, "`at` does not go with `within`", TWICE)
        pairs, clusters = regroup(self, min_similarity)
        return replace(
            self,
            pairs=pairs,
            clusters=clusters,
            min_similarity=min_similarity,
            beyond_cap=0,  # it was judged by the lower threshold
            unique=None,
        )

    def sweep(self, known: KnownPairs) -> Sweep:
        """Precision, recall and F1 at each threshold from that of the result upwards.

        `known` is as for `evaluate`: known pairs, or answers to a `sample`. A notebook shows the
        sweep as a picture; `best` is the point of the highest F1.

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
        from neardup_solr.verbs.evaluate.answers import ANSWER, AnswerSheet, draw

        require_positive(size=size)
        require_choice("per", per, get_args(Per))
        require(bool(self.pairs), "there is no pair to draw", "ask for a lower `min_similarity`")
        drawn = draw(self.pairs, size, per, seed)
        names, texts = ("id", "other_id", "similarity"), self.texts or self.shown
        columns = tables.of_pairs(drawn, names, texts, self.kept)
        return AnswerSheet(table=columns | {ANSWER: [""] * len(drawn)}, whole_ids=self.whole_ids)

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
