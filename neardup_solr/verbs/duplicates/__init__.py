"""duplicates: all near-duplicate pairs of a collection or a file, verified and clustered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from neardup_solr.answers import Answer
from neardup_solr.arguments import (
    Linkage,
    OneOrMore,
    OnRepeatOrKeep,
    PairMeasure,
    StoredMeasure,
    Way,
    checked,
    in_bytes,
    listed,
    require,
    require_choice,
    require_positive,
)
from neardup_solr.clusters import ARRIVAL, LENGTH, LINKAGES, Rule, parse_rule
from neardup_solr.errors import SourceError, TemplateError
from neardup_solr.files import check_apart, check_place, is_inside
from neardup_solr.measures import AUTO, Limits, Measure, measure_named, measure_of
from neardup_solr.measures.equality import Equality, parse_equality
from neardup_solr.memory import Spill
from neardup_solr.progress import LOG, Callbacks, OnError, OnProgress
from neardup_solr.settings import Settings, refuse_settings, settings_of
from neardup_solr.sources import Reading, is_collection, paths_of, reading_of
from neardup_solr.verbs.columns import fill_in
from neardup_solr.verbs.duplicates.compare import FEW, Comparison, find_candidates
from neardup_solr.verbs.duplicates.group import group_verified
from neardup_solr.verbs.duplicates.inputs import Compared, Gathered, gather
from neardup_solr.verbs.duplicates.result import Duplicates, check_output, make_result

if TYPE_CHECKING:
    from neardup_solr.measures.fields import FieldKind
    from neardup_solr.measures.model import Model
    from neardup_solr.verbs.duplicates.clean_file import Outputs
    from neardup_solr.verbs.duplicates.previous_run import PreviousRun

WAYS: tuple[Way, ...] = get_args(Way)
LITTLE = 10**9  # documents × characters of their texts
ALIGNING = 10  # times as slow as other measures
# What becomes of records whose id came before; those that fail are told as such.
REPEATED = {
    "keep": "each counts, and its row comes to its id, as in 12@row7",
    "last": "the last one counts",
    "first": "the first one counts",
}
ROWS = '; to filter a table by `removed`, give id=":row", which numbers its rows from 1 on'

__all__ = ["Duplicates", "duplicates"]


@dataclass(slots=True, kw_only=True)
class Options:
    """The arguments of `duplicates`, checked together before any work begins.

    `readings` read the source and `against`; `room` is the `memory` in bytes. With `reach` pairs so
    far below the threshold are found as well. Raises ArgumentError
    if a value is not possible, or if two of them do not go together; SourceError if a file could
    not be written.
    """

    source: Compared
    against: Compared | None = None
    mutual_best: bool = False
    by: Way | None = None
    measure: PairMeasure = "auto"
    fields: OneOrMore | Mapping[str, str] | None = None
    max_distance: int | None = None
    min_similarity: float | None = None
    fq: OneOrMore = ()
    same: OneOrMore = ()
    equal: OneOrMore = ()
    answers: str | Path | None = None
    model: str | Path | None = None
    cap: int | None = None
    linkage: Linkage = "single"
    canonical: str = "first"
    id: str | None = None
    text: OneOrMore = "text"
    keep: OneOrMore = ()
    on_repeat: OnRepeatOrKeep = "keep"
    settings: Settings | Mapping[str, Any] | None = None
    limit: int | None = None
    memory: int | str | None = None
    spill: str | Path | None = None
    checkpoint: str | Path | None = None
    remember: str | Path | None = None
    texts: bool | int | None = None
    output: str | Path | Sequence[str | Path] | None = None
    unique: str | Path | None = None
    removed: str | Path | None = None
    rejected: str | Path | None = None
    yes: bool | Callable[[Duplicates], bool] = False
    without_common: bool | float = False
    on_error: OnError | None = None
    on_progress: OnProgress | None = None
    reach: float = 0.0
    compared_by: Measure = field(init=False)
    limits: Limits = field(init=False)
    equality: Equality = field(init=False)
    room: int | None = field(init=False, default=None)
    rule: Rule = field(init=False)
    readings: tuple[Reading, Reading] = field(init=False)
    files: dict[str, Path] = field(init=False)
    judged: list[Answer] = field(init=False, default_factory=list)
    trained: Model | None = field(init=False, default=None)
    kinds: dict[str, FieldKind] = field(init=False, default_factory=dict)
    chosen: str = field(init=False, default="")
    watching: Callbacks = field(init=False)

    def __post_init__(self) -> None:
        self._check_sides()
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        for name, value in fill_in(given).items():
            setattr(self, name, value)
        self._check_model()
        self._check_fields()
        if self.measure == AUTO and (self.max_distance is not None or self.by == "shingles"):
            self.measure = "jaccard" if self.max_distance is None else "words"
        self._compare_by(self.measure)
        if self.trained is not None:
            from neardup_solr.measures.model import make_measure

            self.measure, self.compared_by = "model", make_measure(self.trained)
        self._check_way()
        self._check_common()
        # The first record of a source is the one that came first, whatever its id is.
        comes_first = (
            self.canonical == "first" and self.against is None and not is_collection(self.source)
        )
        self.rule = parse_rule("oldest" if comes_first else self.canonical)
        self.fq, self.keep = listed(self.fq), listed(self.keep)
        self.same = tuple(dict.fromkeys(listed(self.same)))
        self.equality = parse_equality(self.equal)
        self.readings = self._read_by()
        settings_of(self.settings)  # refuses what is impossible
        is_count = self.texts is None or self.texts >= 0
        require(is_count, f"`texts` cannot be {self.texts}", "give 0 or more, or True")
        require_positive(limit=self.limit)
        if self.memory is not None:
            self.room = in_bytes(self.memory, "memory")
            reason = f"`memory` cannot be {self.room:,}, which is less than 1 MB"
            require(self.room >= 1 << 20, reason, 'give more, such as "64M"')
        self.watching = Callbacks.of(self.on_error, self.on_progress)
        self._check_files()

    def _check_sides(self) -> None:
        across = self.against is not None or not self.mutual_best
        require(across, "there is only one side to compare", "name the other by `against`")

    def _check_model(self) -> None:
        """Take the measure and the fields of a model, if one is named."""
        if self.model is None:
            require(self.measure != "model", "there is no model", "name its file by `model`")
            return
        from neardup_solr.verbs.duplicates.training import read_model

        is_alone = self.fields is None and self.measure in (AUTO, "model")
        require(is_alone, "a model has its own measure and fields", "leave `model` or these out")
        require(self.remember is None, "`remember` does not go with `model`", "leave one out")
        require(self.max_distance is None, "a model has no distance", "give `min_similarity`")
        self.trained = read_model(self.model)
        self.measure, self.fields = self.trained.measure, self.trained.fields or None

    def _check_fields(self) -> None:
        """Choose the measure if fields are named, and the text that candidates come from."""
        if self.fields is None:
            reason = "the measure fields compares named fields, and there are none"
            step = "name them by `fields`, such as name and zip:exact"
            require(self.measure != "fields", reason, step)
            return
        reason = f"`fields` does not go with the measure {self.measure}"
        require(self.measure in (AUTO, "fields"), reason, "leave one of them out")
        require(self.remember is None, "`remember` does not go with `fields`, whose weights come"
                " from all candidates", "leave one of them out")  # fmt: skip
        from neardup_solr.measures.fields import parse_fields

        self.measure, self.kinds = "fields", parse_fields(self.fields)
        if listed(self.text) == ("text",):
            self.text = tuple(self.kinds)

    def _check_way(self) -> None:
        if self.by is not None:
            require_choice("by", self.by, WAYS)
        reason = f"`by` shingles does not go with the measure {self.measure}"
        step = 'take the `measure` "containment" or "jaccard", or leave `by` out'
        require(self.by != "shingles" or self.compared_by.counts_shingles, reason, step)
        require(self.cap is None or self.cap > 1, f"`cap` cannot be {self.cap}", "give 2 or more")
        reason = "`cap` is not for `by` all, which compares every pair"
        require(self.by != "all" or self.cap is None, reason, "leave it out")
        require_choice("linkage", self.linkage, LINKAGES)

    def _check_common(self) -> None:
        share = float(self.without_common)
        require(0 <= share <= 1, f"`without_common` cannot be {share:g}", "give a share below 1")
        for name in ("remember", "fields", "model"):
            is_alone = not self.without_common or getattr(self, name) is None
            require(
                is_alone, f"`without_common` does not go with `{name}`", "leave one of them out"
            )

    def _read_by(self) -> tuple[Reading, Reading]:
        """Choose how either side is read, and replace a Source by what it holds."""
        of_rule = [name for name in self.rule.needs if name not in (LENGTH, ARRIVAL)]
        keep = tuple(dict.fromkeys((*self.keep, *of_rule, *self.same, *self.kinds)))
        columns: dict[str, Any] = {"id": self.id, "text": self.text, "keep": keep}
        self.source, first = reading_of(self.source, "number", **columns)
        self.against, second = reading_of(self.against, "number", **columns)
        return first, second

    def _check_files(self) -> None:
        """Refuse files that could not be written, before any work is done for them."""
        outputs = paths_of(self.output) or []
        names = ("unique", "removed", "rejected", "checkpoint", "remember", "answers", "model")
        given = {name: getattr(self, name) for name in names}
        self.files = {name: Path(path) for name, path in given.items() if path is not None}
        tables = {
            f"`output` {path}" if at else "`output`": Path(path) for at, path in enumerate(outputs)
        }
        if not (tables or self.files):
            return
        named = {f"`{name}`": path for name, path in self.files.items()}
        check_apart(tables | named)
        remember = self.files.get("remember")
        for name, side in (("source", self.source), ("against", self.against)):
            for path in paths_of(side) or ():
                own = {"`remember`": remember, "`answers`": self.files.get("answers"),
                       "`model`": self.files.get("model")}  # fmt: skip
                check_apart({f"`{name}`": Path(path), **own, **tables})
        for path in outputs:
            check_output(Path(path))
        if self.answers is not None:
            from neardup_solr.verbs.answer import read_from

            self.judged = read_from(self.answers)
        for name in self.files.keys() & {"checkpoint", "remember"}:
            check_place(self.files[name])
        if self.remember is not None:
            require(self.against is None, "`remember` is for one source",
                    "leave it or `against` out")  # fmt: skip
            for path in paths_of(self.source) or ():
                is_read = is_inside(self.files["remember"], Path(path))
                reason = "`remember` lies in the folder that is read"
                require(not is_read, reason, "name another place")

    def settle(self, measure: StoredMeasure, reason: str) -> None:
        """Compare by this measure if none was named, and note why it was chosen."""
        if self.measure == AUTO:
            self.chosen = reason
            self._compare_by(measure)

    def _compare_by(self, measure: PairMeasure) -> None:
        limits = Limits(max_distance=self.max_distance, min_similarity=self.min_similarity)
        self.measure, self.compared_by = measure, measure_of(measure, limits)
        if self.reach:
            least = max(0.0, self.compared_by.least(limits) - self.reach)
            limits = replace(limits, min_similarity=least)
        self.limits = limits

    @property
    def given(self) -> list[Compared]:
        """The sides that are compared: one, or two."""
        return [self.source] if self.against is None else [self.source, self.against]

    @property
    def needs_texts(self) -> bool:
        """True if texts have to be read to compare documents, or beside what is compared."""
        return (
            self.compared_by.needs_texts
            or self.by == "words"
            or bool(self.judged or self.equality or self.without_common)
        )

    @property
    def reads_texts(self) -> bool:
        """True if texts can be read: they have to be compared, or looked at for templates."""
        is_there = any(map(is_collection, self.given))
        return is_there or self.needs_texts or bool(self.files.keys() & {"unique", "removed"})

    @property
    def needs_sets(self) -> bool:
        """True if the shingles of all documents are needed, if they are many."""
        return (self.by or self.compared_by.way) == "shingles"


def choose_way(measure: Measure, documents: int, fits: Callable[[int], bool]) -> Way:
    """Choose how candidates are found among so many documents.

    `fits` tells whether their texts have at most so many characters together.
    """
    slow = ALIGNING if measure.needs_frequencies else 1
    most = LITTLE // slow // max(documents, 1)
    return "all" if measure.needs_texts and documents <= FEW and fits(most) else measure.way


def warn_of_bands(measure: PairMeasure) -> None:
    """Log that candidates by bands are few of those that a measure looks for, if they are."""
    if measure_named(measure).way == "shingles":
        LOG.warning("by bands most excerpts of longer texts are missed; by shingles they are found")


@checked
def duplicates(
    source: Compared,
    *,
    against: Compared | None = None,
    mutual_best: bool = False,
    by: Way | None = None,
    measure: PairMeasure = "auto",
    fields: OneOrMore | Mapping[str, str] | None = None,
    max_distance: int | None = None,
    min_similarity: float | None = None,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    equal: OneOrMore = (),
    answers: str | Path | None = None,
    model: str | Path | None = None,
    cap: int | None = None,
    linkage: Linkage = "single",
    canonical: str = "first",
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    on_repeat: OnRepeatOrKeep = "keep",
    settings: Settings | Mapping[str, Any] | None = None,
    limit: int | None = None,
    memory: int | str | None = None,
    spill: str | Path | None = None,
    checkpoint: str | Path | None = None,
    remember: str | Path | None = None,
    texts: bool | int | None = None,
    output: str | Path | Sequence[str | Path] | None = None,
    unique: str | Path | None = None,
    removed: str | Path | None = None,
    rejected: str | Path | None = None,
    yes: bool | Callable[[Duplicates], bool] = False,
    without_common: bool | float = False,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Duplicates:
    """Find all near-duplicate pairs of a collection, or of a source without any Solr, in clusters.

    For a collection, the stored signatures are read and its own settings apply; a source is signed
    with `settings` (a mapping, or Settings). `id`, `text` and `keep` name its columns, as for
    `read`; the id ":row" numbers its records, which is done if no id is named and nothing looks
    like one. If an id comes again in it, each of its records counts by `on_repeat` "keep", and the
    numbers of the records tell them apart: "12@row3", "12@row7". Or the "last" counts, or the
    "first", or by "fail" the later ones fail.

    With `against`, the documents of the source are compared with those of another collection or
    source, whose columns have the same names unless its `Source` names others. The first id of a
    pair is the source's. `mutual_best` keeps a pair if each document is the other's most similar
    one: for sides that list each thing once.

    Candidates are found `by` "bands" (they share an LSH band), "shingles" (a sample of one's
    shingles says that the other may have enough of all; the default for the measure "containment",
    and possible for "jaccard"), "words" (they share a word that few documents have; for short
    records, and the default for the measure "aligned") or "all" (every pair; the default up to
    2,000 documents). If more than `cap` documents have a band key, a shingle or a word, not all of
    them are paired. Candidates are compared by `measure`; they count if they are at most
    `max_distance` words apart and at least `min_similarity` (0..1) similar (default: the threshold
    of the measure).

    With `fields`, records are compared by their columns (in a collection, by fields that are kept
    there), apart from each other: {"name": "text", "zip": "exact"}, or "name", "zip:exact". A field
    is text (compared as by "aligned"), exact, a number or a date; a missing value is no evidence.
    What each field says is learnt from all candidates, without answers; the similarity is the
    probability that the two are the same, 0.5 or more by default. Candidates come from the fields
    of a source together, or from `text`; in a collection, from the text that was indexed. If a
    source has no column "text", and no other one is named, fields, or a text, and the id are chosen
    by the values of its columns; two lines are logged on what was chosen and left out.

    Of a collection only documents that match `fq`, Solr filter queries, are read. With `same`, the
    names of fields or columns (a tenant, a language), only documents with equal values of all of
    them are compared; one that lacks a value, or has an empty one, is compared with nothing.
    With `equal` near-duplicates also have to have in common the "numbers" (versions, years,
    amounts, "Part II"), or all that a regular expression finds, such as "not|never".

    `answers` names a file with the answers of people. A pair that was judged
    different is not found, and its documents are never in one cluster, by no chain; those of a pair
    that was judged same always are, however similar they are. Answers are not obeyed if newer ones
    contradict them, or if a text has changed since; a line tells how many.

    `model` names a file that `tune` has written: what people answered about such documents. It has
    its own measure and fields; the similarity is the probability that two documents are the same.

    With `linkage` "single", pairs connect the documents of a cluster; with "complete", any two of
    them are a pair. `canonical` is the rule for the document to keep: "first" (record of the
    source, or id in natural order, of a collection or two sides), "longest", "shortest", "oldest",
    "oldest:FIELD" (its least value), or trusted values, "FIELD=wire,agency". Pairs are
    sorted by their clusters, then by their ids; a cluster is named by its first id in natural
    order.

    Texts that are equal in their normal form are always compared, whatever `by` and `cap` are, and
    `cap` counts them once for a word; `copies` of the result counts them.

    With `without_common`, texts are compared without the runs of words that many documents share:
    boilerplate of pages, footers of mails, templates. How many documents that are is chosen by the
    texts, or given as a share of them (0..1). A text of which nothing is left counts only with its
    exact copies. Texts that are shown and written stay whole.

    Only the first `limit` documents of each side are read. About `memory` bytes at most are used
    (a number, or "4G"; default: half of the machine's); the rest goes to files in the folder
    `spill`. `checkpoint` names a file that keeps what is verified until all files are there:
    after an interruption the same call goes on there. `remember` names a file that keeps what was
    compared: the next call compares only documents that came or changed since, and gives what a
    full one would. With `texts` the result has the texts of its
    pairs; a number asks for those of so many of the largest clusters. Without it the result of a
    source still has those that a page shows, for `write`; False leaves them out. `on_error` is told
    of each record that cannot be used, `on_progress` how far a stage is: "reading", "joining",
    "texts", "comparing", "writing".

    `output` names a file for the result, or several, see `Duplicates.write`.

    `unique` names a file for the records of the source that stay if its near-duplicates are
    removed, `removed` one for the others (see `Duplicates.removed`), which get the columns
    neardup_duplicate_of, an id, neardup_similarity, and neardup_row, the number of the record;
    `rejected` one for those that cannot be used, with neardup_reason and neardup_position, and
    neardup_record if they cannot be taken apart. So each record is in one of the three. Their
    suffixes select the formats; columns and order are those of the source. All files are written
    completely, or none is. If clusters may be templates instead of copies (`templates` of the
    result), nothing is written without `yes`: True, or a function that is given the result and
    tells whether to go on. A result without `unique` and `removed` is only warned of.

    Raises SettingsError if a collection lacks the signatures, SourceError if a source cannot be
    read as a whole or a file cannot be written, SolrError if Solr does not answer; ArgumentError
    if the source cannot be read twice, which `unique`, `removed` and `rejected` need; TemplateError
    if records may be removed that are no copies.
    """
    options = Options(**locals())  # which has a field for each argument
    if by == "bands":
        warn_of_bands(options.measure)
    return find_duplicates(options)


def find_duplicates(options: Options) -> Duplicates:
    """Find all near-duplicates by these options. See `duplicates`."""
    copies = previous = None
    if options.files.keys() & {"unique", "removed", "rejected"}:
        from neardup_solr.verbs.duplicates.clean_file import Outputs

        copies = Outputs(options)
    has_collection = any(map(is_collection, options.given))
    require(has_collection or not options.fq, "`fq` is for a collection", "leave it out")
    if has_collection:
        refuse_settings(options.settings, "leave `settings` out")
    if "remember" in options.files:
        from neardup_solr.verbs.duplicates.previous_run import PreviousRun

        previous = PreviousRun(options=options)
    with Spill(memory=options.room, folder=options.spill) as spilled:
        result = _find(options, spilled, previous, copies)
    if options.checkpoint is not None:
        options.files["checkpoint"].unlink(missing_ok=True)
    return result


def _require_copies(result: Duplicates, options: Options) -> None:
    """Tell of what may be no copies, and raise TemplateError if it would be removed."""
    yes, removes = options.yes, options.files.keys() & {"unique", "removed"}
    if not result.doubt:
        return
    is_sure = False
    try:
        is_sure = yes if isinstance(yes, bool) else yes(result)
    finally:
        if removes and not is_sure and "checkpoint" in options.files:
            options.files["checkpoint"].unlink(missing_ok=True)
    if removes and not is_sure:
        raise TemplateError(result.templates, result.doubt)
    if isinstance(yes, bool):
        LOG.warning("%s", result.doubt)


def _find(
    options: Options, spill: Spill, previous: PreviousRun | None, copies: Outputs | None
) -> Duplicates:
    gathered = gather(options, spill, previous)
    comparison = Comparison.of(gathered)
    equal = comparison.copies
    documents = len(gathered if equal is None else equal.distinct) - len(gathered.dead)
    way = options.by or choose_way(options.compared_by, documents, gathered.fits)
    found = find_candidates(gathered, way, equal)
    if options.answers is not None:
        from neardup_solr.verbs.duplicates.answers import find_answered

        comparison = replace(comparison, answers=find_answered(gathered))
    checkpoint = options.files.get("checkpoint")
    verified = comparison.verify(found.pairs, checkpoint=checkpoint, copies=found.copies)
    if options.mutual_best:
        from neardup_solr.measures.aligned import mutual_best

        verified.keep(mutual_best(verified.pairs, verified.similarities))
    comparison.add_same(verified)
    grouped, involved = group_verified(comparison, verified)
    _warn(gathered)
    result = make_result(comparison, way, found, verified, grouped, involved)
    _require_copies(result, options)
    if copies is not None:
        result = replace(result, unique=copies.write(gathered.sides[0], result.removed))
    for path in paths_of(options.output) or ():
        result.write(Path(path))
    if previous is not None and previous.is_kept:
        try:
            previous.write()
        except SourceError as error:
            LOG.warning("the next run will compare all of this again: %s", error)
    return result


def _warn(gathered: Gathered) -> None:
    """Log how many records could not be used, and how many repeat an id."""
    options = gathered.options
    for side in gathered.sides:
        side.failures.warn()
    repeated = sum(side.repeated for side in gathered.sides)
    if repeated:
        records = "1 record repeats" if repeated == 1 else f"{repeated:,} records repeat"
        is_table = paths_of(options.source) is None and not is_collection(options.source)
        advice = ROWS if is_table and options.on_repeat == "keep" else ""
        LOG.warning("%s an id: %s%s", records, REPEATED[options.on_repeat], advice)
