"""The plan of `duplicates`: what is compared and how, from a request whose arguments fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr import measures, sources
from neardup_solr.answers import Answer
from neardup_solr.answers.format import read_answers
from neardup_solr.argument_types import Linkage
from neardup_solr.checks import listed
from neardup_solr.clusters.canonical import ARRIVAL, FILLED, LENGTH, Rule, parse_rule
from neardup_solr.errors import ArgumentError, DataError, SourceError, code_of_reading
from neardup_solr.files import check_apart, check_place
from neardup_solr.measures import AUTO, Limits, Measure
from neardup_solr.measures.equality import Equality
from neardup_solr.progress import OnProgress, ignore
from neardup_solr.settings import Settings, refuse_settings
from neardup_solr.sources.column import matches
from neardup_solr.sources.reading import ROW, Reading, reading_of
from neardup_solr.sources.sides import name_of
from neardup_solr.sources.source import is_collection
from neardup_solr.verbs.duplicates.recall import recall_columns
from neardup_solr.verbs.duplicates.request import OMIT_ONE, Compared, DuplicatesRequest

if TYPE_CHECKING:
    from neardup_solr.measures.columns import FieldKind
    from neardup_solr.measures.model import Model
    from neardup_solr.sources.source import SourceLike

ONCE = "Each record has its best match in the other source alone; `linkage` single finds all."
TUNE = "create a model with: neardup tune FILE --answers answers.jsonl -o model.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """Plan of a run: the arguments of a `request`, checked and parsed.

    `source` and `against` are without the `Source` around them, `readings` how they are read. The
    `measure` is what texts are compared by unless it `is_auto`: reading then chooses one. `chosen`
    says why the linkage is this one, if none was named; the records then `may_be_lists`. Of each
    source the `columns` are kept; `second_names` has the names of those that are named otherwise
    in the second one. The columns `beside` are left out of the comparison, but may tell copies
    apart.
    """

    request: DuplicatesRequest
    source: Compared
    against: Compared | None
    readings: Sequence[Reading]
    settings: Settings
    limits: Limits
    measure: Measure
    is_auto: bool
    fields: Mapping[str, FieldKind]
    model: Model | None
    fq: tuple[str, ...]
    same: tuple[str, ...]
    equal: Equality
    answers: Sequence[Answer] | None
    linkage: Linkage
    chosen: str
    may_be_lists: bool
    rule: Rule  # for the canonical document
    keep: tuple[str, ...]
    columns: tuple[str, ...]
    second_names: Mapping[str, str]
    beside: tuple[str, ...]
    remember: Path | None
    checkpoint: Path | None
    memory: int | None
    patience: float
    on_progress: OnProgress

    @property
    def sources(self) -> tuple[Compared, ...]:
        """The source, and what it is compared with, if anything."""
        return (self.source,) if self.against is None else (self.source, self.against)

    @property
    def has_ids(self) -> bool:
        """True unless the records are numbered."""
        return self.request.id != ROW

    @property
    def needs_texts(self) -> bool:
        """True if texts have to be read to compare documents, or beside what is compared."""
        others = (self.request.looks_at_words, self.answers, self.equal)
        return self.measure.needs_texts or any(map(bool, others))

    @property
    def needs_sets(self) -> bool:
        """True if the shingles of all documents are needed, if they are many."""
        return (self.request.by or self.measure.way) == "shingles"

    def limits_by(self, measure: Measure) -> Limits:
        """The limits of pairs that count by this measure, lower by the `reach`, if there is any."""
        reach = self.request.reach
        if not reach:
            return self.limits
        least = max(0.0, measure.least(self.limits) - reach)
        return replace(self.limits, min_similarity=least)

    def names_of(self, side: int) -> Mapping[str, str]:
        """The names of columns that are named otherwise in a side."""
        return self.second_names if side else {}


def make_plan(request: DuplicatesRequest) -> RunPlan:
    """Check a request, and parse its arguments.

    Raises ArgumentError if a value is not possible, or if two of them do not go together;
    SourceError if a file could not be read or written.
    """
    values = request.parse()
    request, model = _take_model(request)
    # A model without fields compares texts, whose columns are chosen as for a measure of texts.
    request = recall_columns(request).choose_columns(by_fields=model is None)
    request, second_names = _take_apart(request)
    request, kinds = _take_fields(request)
    # Each of two sources of records has a thing once.
    is_open, is_across = request.linkage is None and bool(kinds), request.against is not None
    is_once = is_open and is_across
    is_auto = request.measure == AUTO
    if is_auto and (request.max_distance is not None or request.by == "shingles"):
        is_auto = False
        request = replace(request, measure="jaccard" if request.max_distance is None else "words")
    measure = measures.measure_of(request.measure, values.limits)
    if model is not None:
        from neardup_solr.measures.model import make_measure

        measure = make_measure(model)
    if request.by == "shingles" and not measure.counts_shingles:
        name = request.measure if model is None else "model"
        reason = f"`by` shingles cannot be combined with the measure {name}"
        step = 'use the `measure` "containment" or "jaccard", or omit `by`'
        raise ArgumentError(reason, step, code="arguments-conflict")
    # The first record of a source is the one that came first, whatever its id is.
    comes_first = request.canonical == "first" and not is_across
    comes_first = comes_first and not is_collection(request.source)
    rule = parse_rule("oldest") if comes_first else values.rule
    if request.canonical == "newest" and not is_collection(request.source):
        rule = parse_rule(f"newest:{_find_change_column(request.source)}")
    same = tuple(dict.fromkeys(listed(request.same)))
    of_rule = [name for name in rule.needs if name not in (LENGTH, FILLED, ARRIVAL)]
    reason = "`canonical` fullest is for records whose columns are compared"
    step = "name them with `fields`, or use longest"
    if FILLED in rule.needs and not kinds:
        raise DataError(reason, step, code="values-unfit")
    kept = tuple(dict.fromkeys((*listed(request.keep), *of_rule, *same, *kinds)))
    left_out = () if is_across else request.beside
    columns = tuple(dict.fromkeys((*kept, *left_out)))
    source, reading = _unwrap(request, request.source, columns, {})
    against, readings, by_argument = None, [reading], {"source": source}
    if request.against is not None:
        against, second = _unwrap(request, request.against, columns, second_names)
        readings.append(second)
        by_argument["against"] = against
    files = _check_files(request, by_argument)
    has_collection = any(map(is_collection, by_argument.values()))
    if request.fq and not has_collection:
        raise ArgumentError("`fq` needs a collection", "omit it", code="arguments-conflict")
    if has_collection:
        refuse_settings(request.settings, "omit `settings`")
    return RunPlan(
        request=request,
        source=source,
        against=against,
        readings=readings,
        settings=values.settings,
        limits=values.limits,
        measure=measure,
        is_auto=is_auto,
        fields=kinds,
        model=model,
        fq=listed(request.fq),
        same=same,
        equal=values.equal,
        answers=None if request.answers is None else read_answers(request.answers),
        linkage=request.linkage or ("mutual_best" if is_once else "single"),
        chosen=ONCE if is_once else "",
        may_be_lists=is_open and not is_once,
        rule=rule,
        keep=listed(request.keep),
        columns=columns,
        second_names=second_names,
        beside=tuple(name for name in columns if name in left_out),
        remember=files.get("remember"),
        checkpoint=files.get("checkpoint"),
        memory=values.memory,
        patience=values.patience,
        on_progress=request.on_progress or ignore,
    )


def _find_change_column(source: SourceLike) -> str:
    """Find the column of the source with the date of the last change."""
    from neardup_solr.sources.change_column import find_change_column

    opened, reading = reading_of(source, "number")
    return find_change_column(sources.open_source(opened, reading))


def _unwrap(
    request: DuplicatesRequest, side: Compared, columns: Sequence[str], names: Mapping[str, str]
) -> tuple[Compared, Reading]:
    """Take a side out of its `Source`, and say how it is read, by the names of its columns."""
    id = request.id and names.get(request.id, request.id)
    text = [names.get(each, each) for each in listed(request.text)]
    keep = [*dict.fromkeys(names.get(each, each) for each in columns)]
    return reading_of(side, "number", id=id, text=text, keep=keep)


def _take_apart(request: DuplicatesRequest) -> tuple[DuplicatesRequest, dict[str, str]]:
    """Take names of columns of two sides apart, as in title=headline.

    The first are left in the request; the second are returned by these.
    """
    seconds: dict[str, str] = {}
    if request.against is None:
        return request, seconds

    def take(name: str) -> str:
        first, second = name_of(name, 0), name_of(name, 1)
        if first != second and _has_column(request, name):
            return name
        if first != second and seconds.setdefault(first, second) != second:
            reason = f"the column {first!r} is paired twice"
            raise ArgumentError(reason, "pair it once", code="arguments-conflict")
        return first

    fields = request.fields
    if fields is not None:
        from neardup_solr.measures.columns import parse_fields

        fields = {take(name): kind for name, kind in parse_fields(fields).items()}
    text, same, keep = (
        tuple(map(take, listed(names))) for names in (request.text, request.same, request.keep)
    )
    id = request.id and take(request.id)
    return replace(request, fields=fields, text=text, same=same, keep=keep, id=id), seconds


def _has_column(request: DuplicatesRequest, name: str) -> bool:
    """Tell whether a source has a column of that very name."""
    sides = (each for each in (request.source, request.against) if not is_collection(each))
    read = (reading_of(side, "number", text=name) for side in sides)
    opened = (sources.open_source(side, reading, on_notice=ignore) for side, reading in read)
    try:
        return any(matches(name, each.column_names()) for each in opened)
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
        reason, code = f"cannot be read ({error.strerror or error})", code_of_reading(error)
    except ValueError as error:
        reason = "is not UTF-8" if isinstance(error, UnicodeError) else str(error)[:200]
        code = "file-kind"
    raise SourceError(str(path), reason, TUNE, code=code)


def _take_model(request: DuplicatesRequest) -> tuple[DuplicatesRequest, Model | None]:
    """Take the measure and the fields of a model, if one is named."""
    if request.model is None:
        if request.measure == "model":
            step = "set it to the model's file"
            raise ArgumentError("`model` is missing", step, code="argument-missing")
        return request, None
    if request.fields is not None or request.measure not in (AUTO, "model"):
        reason = "a model has its own measure and fields"
        raise ArgumentError(reason, "omit them or `model`", code="arguments-conflict")
    if request.max_distance is not None:
        reason = "a model has no distance"
        raise ArgumentError(reason, "use `min_similarity`", code="arguments-conflict")
    model = read_model(request.model)
    return replace(request, measure=model.measure, fields=model.fields or None), model


def _take_fields(request: DuplicatesRequest) -> tuple[DuplicatesRequest, dict[str, FieldKind]]:
    """Choose the measure if fields are named, and the text that candidates come from."""
    if request.fields is None:
        if request.measure == "fields":
            reason = 'the measure "fields" needs the names of the fields to compare'
            step = "name them with `fields`, such as name and zip:exact"
            raise ArgumentError(reason, step, code="argument-missing")
        return request, {}
    if request.measure not in (AUTO, "fields"):
        reason = f"`fields` cannot be combined with the measure {request.measure}"
        raise ArgumentError(reason, OMIT_ONE, code="arguments-conflict")
    from neardup_solr.measures.columns import parse_fields

    kinds = parse_fields(request.fields)
    text = tuple(kinds) if listed(request.text) == ("text",) else request.text
    return replace(request, measure="fields", text=text), kinds


def _check_files(request: DuplicatesRequest, sides: Mapping[str, Compared]) -> dict[str, Path]:
    """Refuse files that could not be written, before any work is done for them."""
    named = {
        name: getattr(request, name) for name in ("remember", "answers", "model", "checkpoint")
    }
    files = {name: Path(path) for name, path in named.items() if path}
    check_apart({f"`{name}`": path for name, path in files.items()}, **sides)
    for name in ("remember", "checkpoint"):
        if name in files:
            check_place(files[name])
    return files
