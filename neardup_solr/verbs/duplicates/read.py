"""The arguments of `duplicates`, checked, and its documents, signed or with stored signatures."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, compress, islice
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr import measures, sources
from neardup_solr.answers import Answer
from neardup_solr.answers.format import read_answers
from neardup_solr.arguments import (
    Linkage,
    OnRepeat,
    PairMeasure,
    StoredMeasure,
    Way,
    in_seconds,
    listed,
    require,
    require_choice,
)
from neardup_solr.candidates import FEW, ONE_GROUP
from neardup_solr.clusters.canonical import ARRIVAL, LENGTH, Rule, parse_rule
from neardup_solr.clusters.linkage import LINKAGES
from neardup_solr.errors import RecordError, SettingsError, SolrAnswerError, SourceError
from neardup_solr.files import check_apart, check_place
from neardup_solr.measures import AUTO, Flat, Limits, Measure
from neardup_solr.measures.auto import choose_measure, read_measure
from neardup_solr.measures.common_runs import Common, find_common
from neardup_solr.measures.equality import Equality, parse_equality
from neardup_solr.measures.pairs import take_evenly
from neardup_solr.memory import Column, Lists, Rows, Spill, Strings, release_unused
from neardup_solr.minhash import sign, signature
from neardup_solr.minhash.sign import Signed, hash_texts
from neardup_solr.progress import LOG, Callbacks, Failures, Progress, ignore, prefetch, thread_pool
from neardup_solr.records import NOTHING, AnyId, Document, Number, Run, check_documents
from neardup_solr.settings import (
    DEFAULT_SETTINGS,
    Settings,
    fit_shingles,
    refuse_settings,
    settings_of,
)
from neardup_solr.sources import Reading, is_collection, reading_of
from neardup_solr.sources.choice import fill_in
from neardup_solr.sources.column import matches
from neardup_solr.sources.reading import ROW
from neardup_solr.sources.record_errors import came_before
from neardup_solr.sources.sides import name_of
from neardup_solr.sources.table import Piece
from neardup_solr.sources.values import plain
from neardup_solr.text.numbers import join_numbers
from neardup_solr.text.packed import Packed, size_of

if TYPE_CHECKING:
    from neardup_solr.measures.columns import FieldKind
    from neardup_solr.measures.model import Model
    from neardup_solr.solr.collection import Collection, CollectionState
    from neardup_solr.solr.schema import Schema

    Compared: TypeAlias = sources.SourceLike | Collection
else:
    Compared = Any

WAYS: tuple[Way, ...] = get_args(Way)
LITTLE = 10**9  # documents × characters of their texts
ALIGNING = 10  # times as slow as other measures
ONCE = "Each record has its best match in the other source alone; `linkage` single finds all."
LISTS = (
    "The records look like two lists ({}): each has its best match in the other list alone;"
    " `linkage` single finds all."
)
OMIT_ONE = "omit one of them"
# Arguments, and others that they cannot be combined with. The weights of fields and models depend
# on all candidates.
EXCLUDED = {
    "without_common": ("remember", "fields", "model"),
    "remember": ("against", "fields", "model"),
}
TUNE = "create a model with: neardup tune FILE --answers answers.jsonl -o model.json"


@dataclass(slots=True, kw_only=True)
class Work:
    """The checked arguments of `duplicates`: the sides to compare, and how.

    `sides` are the source and what it is compared with, if anything, `readings` how they are read.
    `kinds` are those of the fields that are compared, `judged` the answers of people, `reads` the
    files beside the sources; `chosen` says why the measure or the linkage is this one, if none was
    named. The columns `beside` are left out of the comparison, but may tell copies apart. Of each
    source the `columns` are kept; `others` has the names of those that are named otherwise in the
    second one.
    """

    sides: Sequence[Compared]
    readings: Sequence[Reading]
    settings: Settings
    measure: Measure
    bounds: Limits  # as they were named
    reach: float  # below the threshold, down to which pairs count
    is_open: bool  # no measure was named
    chosen: str = ""
    may_be_lists: bool  # no linkage was named
    by: Way | None
    cap: int | None
    filters: tuple[str, ...]
    same: tuple[str, ...]
    equality: Equality
    kinds: dict[str, FieldKind]
    model: Model | None
    judged: Sequence[Answer] | None
    linkage: Linkage
    canonical: str
    rule: Rule
    keep: tuple[str, ...]
    columns: tuple[str, ...]
    others: Mapping[str, str]
    beside: tuple[str, ...]
    has_ids: bool
    memory: int | None = None
    remember: Path | None
    checkpoint: Path | None
    texts: bool | int | None
    without_common: bool | float
    patience: float
    watching: Callbacks
    arguments: Mapping[str, Any]

    @property
    def limits(self) -> Limits:
        """The limits of pairs that count, lower by `reach`, if there is any."""
        if not self.reach:
            return self.bounds
        least = max(0.0, self.measure.least(self.bounds) - self.reach)
        return replace(self.bounds, min_similarity=least)

    @property
    def is_across(self) -> bool:
        """True if documents of one side are compared with those of another one."""
        return len(self.sides) > 1

    @property
    def needs_texts(self) -> bool:
        """True if texts have to be read to compare documents, or beside what is compared."""
        others = (self.by == "words", self.judged, self.equality, self.without_common)
        return self.measure.needs_texts or any(map(bool, others))

    @property
    def needs_sets(self) -> bool:
        """True if the shingles of all documents are needed, if they are many."""
        return (self.by or self.measure.way) == "shingles"

    def choose_measure(self, name: StoredMeasure, reason: str) -> None:
        """Compare by this measure if none was named, and note why it was chosen."""
        if self.is_open:
            self.measure, self.chosen = measures.measure_named(name), reason
            self.is_open = False

    def note_lists(self, border: str) -> None:
        """Note that the records are two lists, and what parts them."""
        self.chosen = LISTS.format(border)

    def choose_way(self, documents: int, fits: Callable[[int], bool]) -> Way:
        """Choose how candidates are found among so many documents, unless it was named."""
        return self.by or choose_way(self.measure, documents, fits)


def choose_way(measure: Measure, documents: int, fits: Callable[[int], bool]) -> Way:
    """Choose how candidates are found among so many documents.

    `fits` tells whether their texts have at most so many characters together.
    """
    slow = ALIGNING if measure.needs_frequencies else 1
    most = LITTLE // slow // max(documents, 1)
    return "all" if measure.needs_texts and documents <= FEW and fits(most) else measure.way


def make_work(
    values: Mapping[str, Any], reach: float = 0.0, checkpoint: Path | None = None
) -> Work:
    """Check the arguments of `duplicates`, and those of `plan`.

    Raises ArgumentError if a value is not possible, or if two of them do not go together;
    SourceError if a file could not be read or written.
    """
    check_values(values)
    arguments = SimpleNamespace(**{"beside": (), **values})
    model = _take_model(arguments)
    # A model without fields compares texts, whose columns are chosen as for a measure of texts.
    chosen = fill_in({**vars(arguments), "model": None}, by_fields=model is None)
    vars(arguments).update(chosen)
    others, kinds = _take_apart(arguments), _take_fields(arguments)
    # Each of two sources of records has a thing once.
    is_open = arguments.linkage is None and bool(kinds)
    is_once = is_open and arguments.against is not None
    arguments.linkage = "mutual_best" if is_once else arguments.linkage or "single"
    if arguments.measure == AUTO and (
        arguments.max_distance is not None or arguments.by == "shingles"
    ):
        arguments.measure = "jaccard" if arguments.max_distance is None else "words"
    limits = Limits(max_distance=arguments.max_distance, min_similarity=arguments.min_similarity)
    measure = measures.measure_of(arguments.measure, limits)
    if model is not None:
        from neardup_solr.measures.model import make_measure

        measure = make_measure(model)
    _check_way(arguments, arguments.measure if model is None else "model", measure)
    # The first record of a source is the one that came first, whatever its id is.
    comes_first = (
        arguments.canonical == "first"
        and arguments.against is None
        and not is_collection(arguments.source)
    )
    rule = parse_rule("oldest" if comes_first else arguments.canonical)
    same = tuple(dict.fromkeys(listed(arguments.same)))
    of_rule = [name for name in rule.needs if name not in (LENGTH, ARRIVAL)]
    keep = tuple(dict.fromkeys((*listed(arguments.keep), *of_rule, *same, *kinds)))
    left_out = () if arguments.against is not None else arguments.beside
    read = tuple(dict.fromkeys((*keep, *left_out)))
    beside = tuple(name for name in read if name in left_out)
    named = [arguments.source, *([] if arguments.against is None else [arguments.against])]
    sides, readings = zip(
        *(
            reading_of(
                side, "number",
                id=arguments.id and names.get(arguments.id, arguments.id),
                text=[names.get(each, each) for each in listed(arguments.text)],
                keep=[*dict.fromkeys(names.get(each, each) for each in read)],
            )
            for side, names in zip(named, ({}, others), strict=False)
        ),
        strict=True,
    )  # fmt: skip
    equality = parse_equality(arguments.equal)
    settings = settings_of(arguments.settings)
    watching = Callbacks(on_error=arguments.on_error, on_progress=arguments.on_progress or ignore)
    by_argument = dict(zip(("source", "against"), sides, strict=False))
    files = _check_files(arguments, by_argument, checkpoint)
    has_collection = any(map(is_collection, sides))
    require(has_collection or not arguments.fq, "`fq` needs a collection", "omit it")
    if has_collection:
        refuse_settings(arguments.settings, "omit `settings`")
    judged = None if arguments.answers is None else read_answers(arguments.answers)
    names = ("by", "cap", "linkage", "canonical", "texts", "without_common")
    return Work(
        sides=sides, readings=readings, settings=settings, measure=measure, bounds=limits,
        reach=reach, is_open=arguments.measure == AUTO, chosen=ONCE if is_once else "",
        may_be_lists=is_open and not is_once,
        filters=listed(arguments.fq), same=same,
        equality=equality, kinds=kinds, model=model, judged=judged, rule=rule,
        keep=listed(arguments.keep), columns=read, others=others, beside=beside,
        has_ids=arguments.id != ROW, remember=files["remember"],
        checkpoint=checkpoint, watching=watching,
        patience=in_seconds(arguments.patience, "patience"), arguments=vars(arguments),
        **{name: getattr(arguments, name) for name in names},
    )  # fmt: skip


def check_values(values: Mapping[str, Any]) -> None:
    """Refuse values of arguments that are possible with no source, before any is looked at.

    Raises ArgumentError. An argument that is missing has its default.
    """
    limits = {name: values.get(name) for name in ("max_distance", "min_similarity")}
    Limits(**limits)
    by, cap, texts = (values.get(name) for name in ("by", "cap", "texts"))
    if by is not None:
        require_choice("by", by, WAYS)
    require(cap is None or cap > 1, f"`cap` cannot be {cap}", "give 2 or more")
    reason = "`cap` cannot be used with `by` all, which compares every pair"
    require(by != "all" or cap is None, reason, "omit it")
    linkage = values.get("linkage")
    if linkage is not None:
        require_choice("linkage", linkage, LINKAGES)
    is_across = values.get("against") is not None
    reason = "`linkage` mutual_best needs two sources"
    require(is_across or linkage != "mutual_best", reason, "name the second with `against`")
    share = float(values.get("without_common") or 0)
    require(0 <= share <= 1, f"`without_common` cannot be {share:g}", "give a share from 0 to 1")
    for name, others in EXCLUDED.items():
        for other in others if values.get(name) not in (None, False) else ():
            reason = f"`{name}` cannot be combined with `{other}`"
            require(values.get(other) is None, reason, OMIT_ONE)
    parse_rule(values.get("canonical", "first"))
    parse_equality(values.get("equal", ()))
    settings_of(values.get("settings"))
    require(texts is None or texts >= 0, f"`texts` cannot be {texts}", "give 0 or more, or True")
    in_seconds(values.get("patience", 0), "patience")


def _take_apart(arguments: SimpleNamespace) -> dict[str, str]:
    """Take names of columns of two sides apart, as in title=headline.

    The first are left in the arguments; the second are returned by these.
    """
    others: dict[str, str] = {}
    if arguments.against is None:
        return others

    def take(name: str) -> str:
        first, second = name_of(name, 0), name_of(name, 1)
        if first != second and _has_column(arguments, name):
            return name
        if first != second:
            require(others.setdefault(first, second) == second,
                    f"the column {first!r} is paired twice", "pair it once")  # fmt: skip
        return first

    if arguments.fields is not None:
        from neardup_solr.measures.columns import parse_fields

        arguments.fields = {take(name): kind for name, kind in
                            parse_fields(arguments.fields).items()}  # fmt: skip
    for each in ("text", "same", "keep"):
        setattr(arguments, each, tuple(map(take, listed(getattr(arguments, each)))))
    arguments.id = arguments.id and take(arguments.id)
    return others


def _has_column(arguments: SimpleNamespace, name: str) -> bool:
    """Tell whether a source has a column of that very name."""
    sides = (each for each in (arguments.source, arguments.against) if not is_collection(each))
    read = (reading_of(side, "number", text=name) for side in sides)
    try:
        return any(matches(name, sources.column_names(side, reading=how)) for side, how in read)
    except SourceError:  # which those tell who read it
        return False


def read_model(path: str | Path) -> Model:
    """Read a model that `tune` has written.

    Raises SourceError if the file cannot be read, or is not such a model.
    """
    from neardup_solr.measures.model import parse_model

    try:
        return parse_model(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
    except ValueError as error:
        reason = "is not UTF-8" if isinstance(error, UnicodeError) else str(error)[:200]
    raise SourceError(str(path), reason, TUNE)


def _take_model(arguments: SimpleNamespace) -> Model | None:
    """Take the measure and the fields of a model, if one is named."""
    if arguments.model is None:
        require(arguments.measure != "model", "`model` is missing", "set it to the model's file")
        return None
    is_alone = arguments.fields is None and arguments.measure in (AUTO, "model")
    require(is_alone, "a model has its own measure and fields", "omit them or `model`")
    require(arguments.max_distance is None, "a model has no distance", "use `min_similarity`")
    model = read_model(arguments.model)
    arguments.measure, arguments.fields = model.measure, model.fields or None
    return model


def _take_fields(arguments: SimpleNamespace) -> dict[str, FieldKind]:
    """Choose the measure if fields are named, and the text that candidates come from."""
    if arguments.fields is None:
        reason = 'the measure "fields" needs the names of the fields to compare'
        step = "name them with `fields`, such as name and zip:exact"
        require(arguments.measure != "fields", reason, step)
        return {}
    reason = f"`fields` cannot be combined with the measure {arguments.measure}"
    require(arguments.measure in (AUTO, "fields"), reason, OMIT_ONE)
    from neardup_solr.measures.columns import parse_fields

    arguments.measure, kinds = "fields", parse_fields(arguments.fields)
    if listed(arguments.text) == ("text",):
        arguments.text = tuple(kinds)
    return kinds


def _check_way(arguments: SimpleNamespace, name: PairMeasure, measure: Measure) -> None:
    reason = f"`by` shingles cannot be combined with the measure {name}"
    step = 'use the `measure` "containment" or "jaccard", or omit `by`'
    require(arguments.by != "shingles" or measure.counts_shingles, reason, step)


def _check_files(
    arguments: SimpleNamespace, sides: Mapping[str, Compared], checkpoint: Path | None
) -> dict[str, Path | None]:
    """Refuse files that could not be written, before any work is done for them."""
    names = ("remember", "answers", "model")
    files = {name: Path(path) for name in names if (path := getattr(arguments, name))}
    if checkpoint is not None:
        files["checkpoint"] = checkpoint
    check_apart({f"`{name}`": path for name, path in files.items()}, **sides)
    for name in files.keys() & {"checkpoint", "remember"}:
        check_place(files[name])
    return {name: files.get(name) for name in names}


Key: TypeAlias = str | tuple[str, ...]
Hashes: TypeAlias = NDArray[np.uint64]
T = TypeVar("T")
READING = "reading"
AT_ONCE = 20_000  # texts that are read or signed at once,
SIGNED = 1 << 23  # or so many that they have more characters than this
SIGNERS = 2  # batches that are signed at the same time, so that no core waits for the end of one
SAMPLED = 50_000  # documents, for what many have in common, and for templates
LOOKED_AT = 1_000  # documents whose numbers of words choose the measure, about
PAGE, PAGES = 500, 4  # documents that are requested at once, and pages at the same time
EXPORTS, MANY = 2, 20_000  # exports at the same time, if there are so many documents: each a thread
FIRST, MOST = 100, 10_000  # texts that are read while others are worked on: the first, and at most
CHARACTERS = 1 << 24  # that those have, about
THREADS = os.cpu_count() or 1  # that compare


@dataclass(slots=True, kw_only=True)
class Input:
    """The documents of one source that have words: ids and texts by row, and what was left out.

    `unsigned` documents have text but no signature; `repeated` records had an id that others have;
    `dead` rows do not count beside those. `state` is the state of a collection when it was read.
    Of a source, `are_documents` has 1 for each record that makes a document, `have_words` 1 for
    each document that has words, and `words` their number in each row. `are_whole` tells whether
    all ids are whole numbers. `contents` are hashes of the texts of a source or the versions in a
    collection, by row, if they are needed and there are such. `readable` rows have texts. `beside`
    are hashes of the values that are left out of the comparison, by row and column.
    """

    ids: Column[Any]
    texts: Callable[[Sequence[int]], Sequence[str | None]]
    values: Callable[[Sequence[int], Sequence[str]], Mapping[str, list[Any]]]
    documents: int = 0
    failures: Failures = field(default_factory=lambda: Failures(ignore))
    unsigned: int = 0
    repeated: int = 0
    dead: list[int] = field(default_factory=list)
    collection: Collection | None = None
    state: CollectionState | None = None
    are_documents: bytearray = field(default_factory=bytearray)
    have_words: bytearray = field(default_factory=bytearray)
    words: Rows | None = None
    are_whole: Callable[[], bool] = lambda: False
    contents: Rows | None = None
    beside: Rows | None = None
    readable: float = math.inf

    def numbers(self) -> NDArray[np.intp]:
        """The numbers of the records of all rows, from 1 on."""
        documents = np.flatnonzero(np.frombuffer(self.are_documents, np.uint8))
        return 1 + documents[: len(self.have_words)][np.frombuffer(self.have_words, np.bool_)]


@dataclass(slots=True)
class Groups:
    """Numbers of documents by row, equal for those that have equal values in all `fields`.

    `alone` documents lack one of the values: each has a number of its own, and so is compared with
    nothing.
    """

    fields: Sequence[str]
    rows: Rows
    alone: int = 0
    _numbers: dict[tuple[Key, ...], int] = field(default_factory=dict)

    def add(self, columns: Sequence[Sequence[Any]]) -> None:
        """Number the next documents. `columns` has their values of each field."""
        numbers = [self._number_value(values) for values in zip(*columns, strict=True)]
        self.rows.append(np.array(numbers, dtype=np.uint32)[:, None])

    def table(self) -> NDArray[np.uint32]:
        """The numbers of all documents.

        Raises SettingsError if none has all values.
        """
        table = self.rows.table()[:, 0]
        if len(table) and self.alone == len(table):
            reason = f"no document has a value in {' and '.join(self.fields)}"
            raise SettingsError(reason, "check the names in `same`")
        return table

    def _number_value(self, values: Sequence[Any]) -> int:
        new = len(self._numbers) + self.alone
        keys = tuple(_key(plain(value)) for value in values)
        if not all(keys):
            self.alone += 1
            return new
        return self._numbers.setdefault(keys, new)


def _key(value: Any) -> Key:
    """Make a key of a value, or of several in any order, that is "" or () for none.

    A field of Solr that takes several values may have one.
    """
    if not isinstance(value, list):
        return _as_text(value)
    texts = sorted({_as_text(each) for each in value} - {""})
    return texts[0] if len(texts) == 1 else tuple(texts)


def _as_text(value: Any) -> str:
    """A value as a text, "" for none: 2024 is a text in CSV, a number in JSON, in pandas 2024.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or isinstance(value, str):
        return value or ""
    return orjson.dumps(value, default=str).decode()


def fitting_parts(count: int, read: Callable[[], tuple[int, int]]) -> Iterator[slice]:
    """Split so many texts into parts to read at once, by the length of those before.

    `read` gives how many have been read by then, and how many characters they have.
    """
    at = 0
    while at < count:
        done, characters = read()
        fitting = CHARACTERS * done // max(characters, 1) if done else FIRST
        last = min(at + max(1, min(MOST, fitting)), count)
        yield slice(at, last)
        at = last


@dataclass(slots=True, kw_only=True)
class Corpus:
    """The documents that are compared, by row: those of the second side come after the first's.

    What is read is added to `rows` (signatures), `sets` (the shingles of each document, None if
    they are not wanted), `numbers` (of groups, if there are such) and `sides`. `spill` holds it.

    Only documents of the same of `groups` are compared; it is empty if all are. The rows that are
    `dead`, because another record of their id counts, have groups of their own. If it
    `joins_numbers`, its measure does.
    """

    spill: Spill
    settings: Settings
    rows: Rows
    sets: Lists | None = None
    numbers: Groups | None = None
    sides: list[Input] = field(default_factory=list)
    signatures: NDArray[np.uint32] = field(default_factory=lambda: np.empty((0, 0), np.uint32))
    groups: NDArray[np.uint32] = field(default_factory=lambda: ONE_GROUP)
    common: Common | None = None
    dead: list[int] = field(default_factory=list)
    joins_numbers: bool = False
    _forms: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.signatures)

    @property
    def may_change(self) -> bool:
        """True if others may change the texts meanwhile, as those of a collection."""
        return any(side.collection is not None for side in self.sides)

    @property
    def bounds(self) -> list[int]:
        """The first row of each side, and the number of all rows."""
        return list(accumulate((len(side.ids) for side in self.sides), initial=0))

    def by_side(self, rows: Sequence[int]) -> Iterator[tuple[Input, list[int]]]:
        """Split ascending rows by their sides, in which they begin at 0."""
        for side, first, last in zip(self.sides, self.bounds, self.bounds[1:], strict=False):
            yield side, [row - first for row in rows if first <= row < last]

    def ids(self, rows: Sequence[int]) -> list[AnyId]:
        """The ids of rows, in ascending order."""
        return [id for side, part in self.by_side(rows) for id in side.ids.take(part)]

    def are_readable(self, rows: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Tell which rows have texts: all, unless these are neither compared nor shown."""
        ends = [first + side.readable for first, side in zip(self.bounds, self.sides, strict=False)]
        sides = np.searchsorted(self.bounds, rows, side="right") - 1
        return np.asarray(rows < np.array(ends)[sides])

    def texts(self, rows: Sequence[int]) -> Sequence[str | None]:
        """The texts of rows, in ascending order, or None if a document is no longer there."""
        if len(self.sides) == 1:
            return self.sides[0].texts(rows)
        return [text for side, part in self.by_side(rows) for text in side.texts(part)]

    def normalize(self, texts: Sequence[str | None]) -> Packed:
        """Make the normal forms of texts, "" for one that is no longer there."""
        present = [text or "" for text in texts]
        return sign.normal_forms(present, self.settings.normalization, threads=THREADS)

    def compared(self, rows: Sequence[int]) -> Sequence[str | None]:
        """The texts of rows as they are compared: without what is `common`."""
        texts = self.texts(rows)
        if self.common is None:
            return texts
        rest = self.common.strip(self.normalize(texts))
        return [text and form for text, form in zip(texts, rest, strict=True)]

    def leave_out_common(self, share: float | None) -> None:
        """Find what many documents have in common, and sign all of them anew without it."""
        living = self.living()
        some = take_evenly(living, SAMPLED)
        texts = (
            self.texts(some[at : at + AT_ONCE].tolist()) for at in range(0, len(some), AT_ONCE)
        )
        forms = [form for part in texts for form in self.normalize(part)]
        self.common = find_common(forms, share)
        rows = self.spill.rows(self.settings.hashes, np.uint32)
        for at in range(0, len(self), AT_ONCE):
            rest = [text or "" for text in self.compared(range(at, min(at + AT_ONCE, len(self))))]
            signed = sign.sign(rest, self.settings, threads=THREADS, keep_keys=False)
            rows.append(signed.signatures)
        self.signatures = rows.table()
        LOG.warning("%s", self.common)

    def living(self) -> NDArray[np.intp]:
        """The rows that count, in ascending order."""
        return np.delete(np.arange(len(self)), self.dead)

    def fits(self, most: int) -> bool:
        """Tell whether texts that count have at most `most` characters, reading few of them."""
        total, rows = 0, self.living()
        for at in range(0, len(rows), PAGE):
            texts = self.compared(rows[at : at + PAGE].tolist())
            total += sum(len(text or "") for text in texts)
            if total > most:
                return False
        return True

    def forms(self) -> list[str]:
        """Normalise the texts of all documents once, "" for one that is no longer there."""
        for at in range(len(self._forms), len(self), AT_ONCE):
            texts = self.compared(range(at, min(at + AT_ONCE, len(self))))
            if self.joins_numbers:
                texts = [text and join_numbers(text) for text in texts]
            self._forms.extend(self.normalize(texts))
        return self._forms

    def read_sets(self, tell: Callable[[int], None]) -> Flat:
        """Read the shingles of all documents, if they were not kept while these were signed.

        `tell` gets how many are done.
        """
        if self.sets is not None:
            return self.sets.flat()
        from neardup_solr.measures.sets import hash_sets

        sets, every, characters = self.spill.lists(), range(len(self)), 0
        parts = (every[part] for part in fitting_parts(len(self), lambda: (len(sets), characters)))
        with thread_pool(1) as reader:
            for texts in prefetch(reader, self.compared, parts):
                forms = self.normalize(texts)
                sets.extend(hash_sets(forms, self.settings))
                characters += size_of(forms)
                tell(len(sets))
        return sets.flat()

    def values(self, rows: Sequence[int], fields: Sequence[str]) -> dict[str, list[Any]]:
        """The values of fields of rows, in ascending order, or None if there is no value."""
        if not fields:
            return {}
        columns = [side.values(part, fields) for side, part in self.by_side(rows)]
        return {name: [value for side in columns for value in side[name]] for name in fields}

    def record(self, row: int, fields: Sequence[str]) -> dict[str, Any]:
        """The values of fields of a row."""
        return {name: values[0] for name, values in self.values([row], fields).items()}


def read_documents(work: Work, spill: Spill) -> Corpus:
    """Read one source, or two sides, and sign those that are not collections.

    The stored settings of a collection apply to both sides.

    Raises SettingsError if two collections have different settings.
    """
    stored = [_read_settings(side) for side in work.sides if is_collection(side)]
    # Not by their fields: those that are read are there, and others do not shape signatures.
    if len({replace(each, fields=frozenset()) for each in stored}) == 2:
        shown = " and ".join(f"[{each.fingerprint}]" for each in stored)
        reason = f"the two collections were indexed with different settings: {shown}"
        raise SettingsError(reason, "index one of them again with the settings of the other")
    settings = stored[0] if stored else work.settings
    if stored:
        work.choose_measure(*read_measure(settings))
    keeps_sets = work.needs_sets and not (stored or work.without_common)
    documents = Corpus(
        spill=spill,
        settings=settings,
        rows=spill.rows(settings.hashes, np.uint32),
        sets=spill.lists() if keeps_sets else None,
        numbers=Groups(work.same, spill.rows(1, np.uint32)) if work.same else None,
    )
    for source, reading in zip(work.sides, work.readings, strict=True):
        if is_collection(source):
            side = _read_collection(source, work, documents)
        else:
            side = _sign_source(source, reading, work, documents)
        documents.dead += [documents.bounds[-1] + row for row in side.dead]
        documents.sides.append(side)
    words = [side.words.table()[:, 0] for side in documents.sides if side.words is not None]
    if words:
        every = np.concatenate(words)
        some = every[:: len(every) // LOOKED_AT or 1].tolist()
        work.choose_measure(*choose_measure(settings, some))
    documents.joins_numbers = work.measure.joins_numbers
    release_unused()
    documents.signatures = documents.rows.table()
    if documents.numbers is not None:
        documents.groups = documents.numbers.table()
    if dead := documents.dead:
        groups = documents.groups.copy()
        groups = groups if len(groups) else np.zeros(len(documents), dtype=np.uint32)
        groups[dead] = int(groups.max()) + 1 + np.arange(len(dead), dtype=np.uint32)
        documents.groups = groups
    if work.without_common:
        share = work.without_common
        documents.leave_out_common(None if share is True else share)
    return documents


def _read_settings(collection: Collection) -> Settings:
    if not collection.commit_if_allowed():
        LOG.warning("%s: this user cannot commit; reading only committed documents", collection.url)
    settings = collection.needed_settings()
    settings.require("signature", "content")
    return settings


def _read_collection(collection: Collection, work: Work, documents: Corpus) -> Input:
    """Read the documents of a collection that have a signature, which is added to `documents`."""
    from neardup_solr.solr.faults import LOG_AGAIN
    from neardup_solr.solr.names import VERSION
    from neardup_solr.solr.schema import read_schema
    from neardup_solr.solr.unsigned import count_unsigned

    others = work.others if documents.sides else {}
    state, same = collection.state(), tuple(others.get(name, name) for name in work.same)
    count = collection.count(work.filters) if work.filters else state.documents
    ids = documents.spill.strings()
    schema = read_schema(collection)
    are_exported = [_require_readable(collection, schema, name, "same") for name in same]
    for name in work.keep:
        _require_readable(collection, schema, others.get(name, name), "keep")
    for name in work.kinds:
        _require_readable(collection, schema, others.get(name, name), "fields")
    version = schema.field(VERSION) if work.remember else None
    has_versions = version is not None and version.is_exported
    side = Input(
        ids=ids, texts=lambda rows: _read_texts(collection, ids.take(rows)),
        values=lambda rows, fields: _read_values(collection, ids.take(rows), fields, others),
        collection=collection, state=state,
        unsigned=count_unsigned(collection, schema, work.filters),
        contents=documents.spill.rows(1, np.uint64) if has_versions else None,
    )  # fmt: skip
    fields = ["id", "signature", *[VERSION] * has_versions, *same * all(are_exported)]
    parts = EXPORTS if count >= MANY else 1
    for block in collection.exported(fields, filters=work.filters, parts=parts):
        signed = [row for row in block if row.get("signature")]
        names = [row["id"] for row in signed]
        ids.extend(names)
        encoded = [row["signature"] for row in signed]
        documents.rows.append(signature.decode_all(encoded, documents.settings))
        if documents.numbers is not None:
            columns = (
                [[row.get(name) for row in signed] for name in same]
                if all(are_exported)
                else [*_read_values(collection, names, same).values()]
            )
            documents.numbers.add(columns)
        if side.contents is not None:
            versions = np.fromiter((row.get(VERSION, 0) for row in signed), np.int64, len(signed))
            side.contents.append(versions.view(np.uint64)[:, None])
        side.documents += len(block)
        work.watching.on_progress(Progress(READING, side.documents, count))
    if side.documents != count and collection.state() == state:
        reason = f"the export returned {side.documents:,} of {count:,} documents"
        raise SolrAnswerError(collection.url, 200, reason, LOG_AGAIN)
    return side


def _require_readable(collection: Collection, schema: Schema, name: str, argument: str) -> bool:
    """Return True if the values of a field can be exported.

    Raises SettingsError if there is no such field, or its values cannot be read.
    """
    place = collection.names.of(name)
    field, is_exported = schema.field(place), schema.can_export(place)
    if field is None or not (is_exported or field.is_kept):
        lacks = f"the field {name!r} is not stored and has no docValues"
        missing = f"the collection {collection.name!r} has no field {name!r}"
        raise SettingsError(lacks if field else missing, f"name a different field in `{argument}`")
    return is_exported


def _read_texts(collection: Collection, ids: Sequence[str]) -> list[str | None]:
    texts = _read_pages(ids, collection.texts)
    return [texts.get(id) for id in ids]


def _read_values(
    collection: Collection, ids: Sequence[str], fields: Sequence[str],
    others: Mapping[str, str] = NOTHING,
) -> dict[str, list[Any]]:  # fmt: skip
    """Read the values of fields by their names, which may be `others` in the collection."""
    names = {name: others.get(name, name) for name in fields}
    rows = _by_id(collection, ids, [*dict.fromkeys(names.values())])
    return {name: _unbox([rows.get(id, {}).get(own) for id in ids]) for name, own in names.items()}


def _unbox(values: list[Any]) -> list[Any]:
    """Take values out of their lists if no document has several, as in a column that was kept."""
    if all(value is None or (isinstance(value, list) and len(value) == 1) for value in values):
        return [value and value[0] for value in values]
    return values


def _by_id(
    collection: Collection, ids: Sequence[str], fields: Sequence[str]
) -> dict[str, dict[str, Any]]:
    return _read_pages(
        ids, lambda page: {row["id"]: row for row in collection.stored(page, fields)}
    )


def _read_pages(ids: Sequence[str], read: Callable[[Sequence[str]], dict[str, T]]) -> dict[str, T]:
    """Read by ids, some pages at the same time."""
    pages = [ids[at : at + PAGE] for at in range(0, len(ids), PAGE)]
    with thread_pool(PAGES) as pool:
        return {id: value for page in pool.map(read, pages) for id, value in page.items()}


class Ids(Column[AnyId]):
    """Ids by row, with the number of its record for one that others have, if all are kept.

    `are_numbers` has 1 for each row whose id is given back as a whole number, or is empty.
    """

    def __init__(self, plain: Strings) -> None:
        self.plain = plain  # without numbers of records
        self.are_numbers = bytearray()
        self._are_shared: NDArray[np.bool_] | None = None
        self._numbers = np.empty(0, dtype=np.intp)
        self._taken: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.plain)

    def extend(self, ids: Iterable[str]) -> None:
        """Add ids."""
        self.plain.extend(list(ids))

    def take(self, rows: Sequence[int]) -> list[AnyId]:
        """Take the ids of rows."""
        plain = self.plain.take(rows)
        ids: list[AnyId] = [*plain]
        if self.are_numbers:
            pairs = zip(rows, plain, strict=True)
            ids = [int(id) if self.are_numbers[row] else id for row, id in pairs]
        if self._are_shared is not None:
            for at in np.flatnonzero(self._are_shared[rows]).tolist():
                row = rows[at]
                ids[at] = self._taken.get(row) or f"{plain[at]}@row{self._numbers[row]}"
        return ids

    @property
    def are_whole(self) -> bool:
        """True if all ids are given back as whole numbers."""
        return self._are_shared is None and 0 not in self.are_numbers and bool(self.are_numbers)

    def tell_apart(
        self, are_shared: NDArray[np.bool_], numbers: NDArray[np.intp], hashes: NDArray[np.int64]
    ) -> None:
        """Give rows whose ids are shared the `numbers` of their records. `hashes` are of all ids.

        The number comes twice if an id of the source looks like that already.
        """
        self._are_shared, self._numbers = are_shared, numbers
        rows = np.flatnonzero(are_shared)
        while len(rows):
            names = self.take(rows.tolist())
            taken = np.isin(np.fromiter(map(hash, names), np.int64, len(names)), hashes)
            rows = rows[taken]
            for row, name in zip(rows.tolist(), compress(names, taken.tolist()), strict=True):
                self._taken[row] = f"{name}@row{numbers[row]}"


def _sign_source(
    source: sources.SourceLike, reading: Reading, work: Work, documents: Corpus
) -> Input:
    """Sign the documents of a source that have words, and add the signatures to `documents`."""
    spill, settings, sets = documents.spill, documents.settings, documents.sets
    ids, words, texts = Ids(spill.strings()), spill.rows(1, np.int64), spill.strings()
    beside, wanted = work.beside, {*work.keep, *work.same, *work.rule.needs}
    others = work.others if documents.sides else {}
    columns: dict[str, list[Any]] = {
        name: [] for name in work.columns if name not in beside or name in wanted
    }
    in_memory = sources.paths_of(source) is None
    # Unless texts are compared or shown, some are enough to tell templates.
    kept_texts = math.inf if work.needs_texts or work.texts else SAMPLED
    side = Input(
        ids=ids, texts=texts.pack,
        values=lambda rows, fields: _take_values(words, columns, rows, fields),
        failures=Failures(work.watching.on_error), words=words, are_whole=lambda: ids.are_whole,
        contents=spill.rows(1, np.uint64) if work.remember or work.checkpoint else None,
        beside=spill.rows(len(beside), np.int64) if beside else None,
    )  # fmt: skip
    signers = min(SIGNERS, THREADS)

    def sign_batch(batch: _Batch) -> tuple[_Batch, Signed, Flat | None]:
        signed = sign.sign_parts(
            batch.texts, settings, threads=-(-THREADS // signers), keep_normal=sets is not None,
            keep_keys=False,
        )  # fmt: skip
        if sets is None:
            return batch, signed, None
        from neardup_solr.measures.sets import hash_sets

        return batch, signed, hash_sets(signed.normal, settings)

    hashes: list[NDArray[np.int64]] = []  # of all ids
    progress = sources.make_progress(READING, source, work.watching.on_progress)
    batches = _make_batches(read_pieces(source, reading, progress.count_bytes), side)
    if not documents.sides and not any(map(is_collection, work.sides)):
        first = list(islice(batches, 1))
        lengths = (len(text) for batch in first for part in batch.texts for text in part)
        given = work.arguments["settings"]
        base = fit_shingles(given, DEFAULT_SETTINGS, lengths)
        settings = documents.settings = settings_of(given, base)
        batches = chain(first, batches)
    with thread_pool(signers) as pool:
        for batch, signed, batch_sets in prefetch(pool, sign_batch, batches, at_once=signers):
            has_words = signed.words > 0
            kept = has_words.tolist()
            side.have_words.extend(has_words.tobytes())
            side.documents += len(batch.ids)
            hashes.append(np.fromiter(map(hash, batch.ids), np.int64, len(batch.ids)))
            if documents.numbers is not None:
                rows = [*compress(batch.kept, kept)]
                documents.numbers.add(
                    [[row.get(others.get(name, name)) for row in rows] for name in work.same]
                )
            if side.beside is not None:
                rows = [*compress(batch.kept, kept)]
                left_out = [hash(_key(plain(row.get(name)))) for row in rows for name in beside]
                side.beside.append(np.array(left_out, np.int64).reshape(len(rows), len(beside)))
            for name, column in columns.items():
                name = others.get(name, name)
                column.extend(row.get(name) for row in compress(batch.kept, kept))
            ids.extend(compress(batch.ids, kept))
            if in_memory:
                ids.are_numbers.extend(compress(batch.are_numbers, kept))
            # If all have words, without a copy, which takes a tenth as long as signing.
            documents.rows.append(
                signed.signatures if has_words.all() else signed.signatures[has_words]
            )
            words.append(signed.words[has_words][:, None])
            if len(texts) < kept_texts:
                batch.add_to(texts, has_words)
            if sets is not None and batch_sets is not None:
                ends = batch_sets.bounds[1:][has_words]  # the sets of the others are empty
                sets.extend(batch_sets._replace(bounds=np.concatenate([[0], ends])))
            if side.contents is not None:
                contents = np.concatenate([hash_texts(part) for part in batch.texts])
                side.contents.append(contents[has_words][:, None])
            progress.report(side.documents, side.documents)
    side.readable = len(texts)
    of_all = np.concatenate([np.empty(0, np.int64), *hashes])
    _note_repeats(side, ids, of_all, reading.on_repeat or "keep")
    return side


def read_pieces(
    source: sources.SourceLike, reading: Reading, on_progress: Callable[[int], None] = ignore
) -> Iterator[Piece]:
    """Read a source, with an error in place of each record that cannot be used."""
    pieces = check_documents(sources.pieces(source, reading=reading, on_progress=on_progress))
    return _fail_repeated(pieces) if reading.on_repeat == "fail" else pieces


def _fail_repeated(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Put an error in place of each record whose id came before."""
    seen: set[str] = set()
    for piece in pieces:
        if isinstance(piece, RecordError):
            yield piece
            continue
        ids = [piece.id] if isinstance(piece, Document) else piece.ids
        if len({*ids}) == len(ids) and seen.isdisjoint(ids):
            yield piece
        else:
            for each in [piece] if isinstance(piece, Document) else piece.documents():
                yield came_before(each) if each.id in seen else each
                seen.add(each.id)
        seen.update(ids)


@dataclass(slots=True, kw_only=True)
class _Batch:
    """Documents that are signed at once, column by column, with texts in parts."""

    ids: list[str] = field(default_factory=list)
    are_numbers: bytearray = field(default_factory=bytearray)
    texts: list[Sequence[str]] = field(default_factory=list)
    kept: list[Mapping[str, Any]] = field(default_factory=list)
    _open: list[str] | None = None  # the last part, if more texts may come to it

    def add(self, piece: Document | Run) -> int:
        """Add what follows, and return the number of its characters."""
        if isinstance(piece, Run):
            self.ids += piece.ids
            self.are_numbers += bytes([piece.are_numbers]) * len(piece)
            self.texts.append(piece.texts)
            self._open = None
            return size_of(piece.texts)
        self.ids.append(piece.id)
        self.are_numbers.append(type(piece.id) is Number)
        self.kept.append(piece.kept)
        if self._open is None:
            self._open = list[str]()
            self.texts.append(self._open)
        self._open.append(piece.text)
        return len(piece.text)

    def add_to(self, texts: Strings, are_wanted: NDArray[np.bool_]) -> None:
        """Add the texts of the documents that are wanted."""
        for part in self.texts:
            of_part, are_wanted = are_wanted[: len(part)], are_wanted[len(part) :]
            texts.extend(part if of_part.all() else list(compress(part, of_part.tolist())))


def _make_batches(pieces: Iterable[Piece], side: Input) -> Iterator[_Batch]:
    """Collect documents to batches, and note in `side` which records make none."""
    batch, characters = _Batch(), 0
    for piece in pieces:
        if isinstance(piece, RecordError):
            side.are_documents.append(0)
            side.failures.add(piece)
            continue
        size = len(piece) if isinstance(piece, Run) else 1
        side.are_documents.extend(b"\1" * size)
        characters += batch.add(piece)
        if len(batch.ids) >= AT_ONCE or characters > SIGNED:
            yield batch
            batch, characters = _Batch(), 0
    if batch.ids:
        yield batch


def _take_values(
    words: Rows, columns: Mapping[str, list[Any]], rows: Sequence[int], fields: Sequence[str]
) -> dict[str, list[Any]]:
    """Take the values of fields by row: of kept columns, and what is known of any text."""
    values: dict[str, list[Any]] = {}
    for name in fields:
        if name == LENGTH:
            values[name] = words.table()[rows, 0].tolist()
        elif name == ARRIVAL:
            values[name] = list(rows)
        elif name in columns:
            values[name] = [columns[name][row] for row in rows]
        else:
            reason = f"the source's column {name!r} is not kept"
            raise SettingsError(reason, f"add {name!r} to `keep`")
    return values


def _note_repeats(side: Input, ids: Ids, hashes: NDArray[np.int64], on_repeat: OnRepeat) -> None:
    """Note which records share their ids, and which of these count, by hashes of all ids."""
    ordered = np.sort(hashes)
    # Not by `np.unique`, which imports masked arrays without need.
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    side.repeated = len(shared)
    if not side.repeated:
        return
    with_words = hashes[np.frombuffer(side.have_words, np.bool_)]
    if on_repeat == "keep":
        ids.tell_apart(np.isin(with_words, shared), side.numbers(), ordered)
    else:
        side.documents -= side.repeated
        side.dead = _find_dead(ids, with_words, last_counts=on_repeat == "last")


def _find_dead(ids: Ids, hashes: NDArray[np.int64], *, last_counts: bool) -> list[int]:
    """Find the rows whose id, of which there are hashes, others have, but for that which counts."""
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    pairs = ((int(order[at]), int(order[at + 1])) for at in same.tolist())
    return [
        row if last_counts else later for row, later in pairs if str(ids[row]) == str(ids[later])
    ]
