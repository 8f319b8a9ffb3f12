"""The work of `duplicates`: its arguments, checked together before any of it begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from neardup_solr import sources
from neardup_solr.answers import Answer
from neardup_solr.arguments import (
    Linkage,
    OnRepeatOrKeep,
    PairMeasure,
    StoredMeasure,
    Way,
    in_bytes,
    listed,
    require,
    require_choice,
    require_positive,
)
from neardup_solr.candidates import FEW
from neardup_solr.clusters import ARRIVAL, LENGTH, LINKAGES, Rule, parse_rule
from neardup_solr.errors import SourceError
from neardup_solr.files import check_apart, check_place, is_inside
from neardup_solr.measures import AUTO, Limits, Measure, measure_named, measure_of
from neardup_solr.measures.equality import Equality, parse_equality
from neardup_solr.progress import Callbacks
from neardup_solr.settings import Settings, refuse_settings, settings_of
from neardup_solr.sources import Reading, is_collection, paths_of, reading_of
from neardup_solr.sources.record import ROW
from neardup_solr.verbs.columns import fill_in

if TYPE_CHECKING:
    from neardup_solr.measures.fields import FieldKind
    from neardup_solr.measures.model import Model
    from neardup_solr.solr.collection import Collection

    Compared: TypeAlias = sources.SourceLike | Collection
else:
    Compared = Any

WAYS: tuple[Way, ...] = get_args(Way)
LITTLE = 10**9  # documents × characters of their texts
ALIGNING = 10  # times as slow as other measures
TUNE = "make one with: neardup tune FILE --answers answers.jsonl -o model.json"


@dataclass(slots=True, kw_only=True)
class Work:
    """What is compared, and how; see the arguments of `duplicates`.

    `sides` are the source and what it is compared with, if anything, `readings` how they are read.
    `kinds` are those of the fields that are compared, `judged` the answers of people, `reads` the
    files beside the sources; `chosen` says why the measure is this one, if none was named.
    """

    sides: Sequence[Compared]
    readings: Sequence[Reading]
    settings: Settings
    measure: Measure
    limits: Limits
    is_open: bool  # no measure was named
    chosen: str = ""
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
    has_ids: bool
    on_repeat: OnRepeatOrKeep
    limit: int | None
    memory: int | None
    remember: Path | None
    checkpoint: Path | None
    texts: bool | int | None
    mutual_best: bool
    without_common: bool | float
    watching: Callbacks
    arguments: Mapping[str, Any]

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
    def reads_texts(self) -> bool:
        """True if texts can be read: they are compared, or records may be removed."""
        return self.needs_texts or any(
            is_collection(side) or paths_of(side) is not None for side in self.sides
        )

    @property
    def needs_sets(self) -> bool:
        """True if the shingles of all documents are needed, if they are many."""
        return (self.by or self.measure.way) == "shingles"

    def choose_measure(self, name: StoredMeasure, reason: str) -> None:
        """Compare by this measure if none was named, and note why it was chosen."""
        if self.is_open:
            self.measure, self.chosen = measure_named(name), reason
            self.is_open = False

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


def make_work(values: Mapping[str, Any], reach: float = 0.0) -> Work:
    """Check the arguments of `duplicates`. With `reach` pairs so far below the threshold count.

    Raises ArgumentError if a value is not possible, or if two of them do not go together;
    SourceError if a file could not be read or written.
    """
    arguments = SimpleNamespace(**{**values, **fill_in(values)})
    across = arguments.against is not None or not arguments.mutual_best
    require(across, "there is only one side to compare", "name the other by `against`")
    model, kinds = _take_model(arguments), _take_fields(arguments)
    if arguments.measure == AUTO and (
        arguments.max_distance is not None or arguments.by == "shingles"
    ):
        arguments.measure = "jaccard" if arguments.max_distance is None else "words"
    limits = Limits(max_distance=arguments.max_distance, min_similarity=arguments.min_similarity)
    measure = measure_of(arguments.measure, limits)
    if model is not None:
        from neardup_solr.measures.model import make_measure

        measure = make_measure(model)
    if reach:
        limits = replace(limits, min_similarity=max(0.0, measure.least(limits) - reach))
    _check_way(arguments, arguments.measure if model is None else "model", measure)
    _check_common(arguments)
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
    columns: dict[str, Any] = {"id": arguments.id, "text": arguments.text, "keep": keep}
    named = [arguments.source, *([] if arguments.against is None else [arguments.against])]
    sides, readings = zip(*(reading_of(side, "number", **columns) for side in named), strict=True)
    equality = parse_equality(arguments.equal)
    settings = settings_of(arguments.settings)  # refuses what is impossible
    is_count = arguments.texts is None or arguments.texts >= 0
    require(is_count, f"`texts` cannot be {arguments.texts}", "give 0 or more, or True")
    require_positive(limit=arguments.limit)
    memory = None if arguments.memory is None else in_bytes(arguments.memory, "memory")
    if memory is not None:
        reason = f"`memory` cannot be {memory:,}, which is less than 1 MB"
        require(memory >= 1 << 20, reason, 'give more, such as "64M"')
    watching = Callbacks.of(arguments.on_error, arguments.on_progress)
    files = _check_files(arguments, sides)
    has_collection = any(map(is_collection, sides))
    require(has_collection or not arguments.fq, "`fq` is for a collection", "leave it out")
    if has_collection:
        refuse_settings(arguments.settings, "leave `settings` out")
    judged = None
    if arguments.answers is not None:
        from neardup_solr.verbs.answer import read_from

        judged = read_from(arguments.answers)
    names = ("by", "cap", "linkage", "canonical", "on_repeat", "limit", "texts", "mutual_best",
             "without_common")  # fmt: skip
    return Work(
        sides=sides,
        readings=readings,
        settings=settings,
        measure=measure,
        limits=limits,
        is_open=arguments.measure == AUTO,
        filters=listed(arguments.fq),
        same=same,
        equality=equality,
        kinds=kinds,
        model=model,
        judged=judged,
        rule=rule,
        keep=listed(arguments.keep),
        has_ids=arguments.id != ROW,
        memory=memory,
        remember=files["remember"],
        checkpoint=files["checkpoint"],
        watching=watching,
        arguments=vars(arguments),
        **{name: getattr(arguments, name) for name in names},
    )


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
        require(arguments.measure != "model", "there is no model", "name its file by `model`")
        return None
    is_alone = arguments.fields is None and arguments.measure in (AUTO, "model")
    require(is_alone, "a model has its own measure and fields", "leave `model` or these out")
    require(arguments.remember is None, "`remember` does not go with `model`", "leave one out")
    require(arguments.max_distance is None, "a model has no distance", "give `min_similarity`")
    model = read_model(arguments.model)
    arguments.measure, arguments.fields = model.measure, model.fields or None
    return model


def _take_fields(arguments: SimpleNamespace) -> dict[str, FieldKind]:
    """Choose the measure if fields are named, and the text that candidates come from."""
    if arguments.fields is None:
        reason = "the measure fields compares named fields, and there are none"
        step = "name them by `fields`, such as name and zip:exact"
        require(arguments.measure != "fields", reason, step)
        return {}
    reason = f"`fields` does not go with the measure {arguments.measure}"
    require(arguments.measure in (AUTO, "fields"), reason, "leave one of them out")
    require(arguments.remember is None, "`remember` does not go with `fields`, whose weights come"
            " from all candidates", "leave one of them out")  # fmt: skip
    from neardup_solr.measures.fields import parse_fields

    arguments.measure, kinds = "fields", parse_fields(arguments.fields)
    if listed(arguments.text) == ("text",):
        arguments.text = tuple(kinds)
    return kinds


def _check_way(arguments: SimpleNamespace, name: PairMeasure, measure: Measure) -> None:
    if arguments.by is not None:
        require_choice("by", arguments.by, WAYS)
    reason = f"`by` shingles does not go with the measure {name}"
    step = 'take the `measure` "containment" or "jaccard", or leave `by` out'
    require(arguments.by != "shingles" or measure.counts_shingles, reason, step)
    is_cap = arguments.cap is None or arguments.cap > 1
    require(is_cap, f"`cap` cannot be {arguments.cap}", "give 2 or more")
    reason = "`cap` is not for `by` all, which compares every pair"
    require(arguments.by != "all" or arguments.cap is None, reason, "leave it out")
    require_choice("linkage", arguments.linkage, LINKAGES)


def _check_common(arguments: SimpleNamespace) -> None:
    share = float(arguments.without_common)
    require(0 <= share <= 1, f"`without_common` cannot be {share:g}", "give a share below 1")
    for name in ("remember", "fields", "model"):
        is_alone = not arguments.without_common or getattr(arguments, name) is None
        require(is_alone, f"`without_common` does not go with `{name}`", "leave one of them out")


def _check_files(arguments: SimpleNamespace, sides: Sequence[Compared]) -> dict[str, Path | None]:
    """Refuse files that could not be written, before any work is done for them."""
    names = ("checkpoint", "remember", "answers", "model")
    files = {
        name: path and Path(path) for name in names if (path := getattr(arguments, name, None))
    }
    check_apart({f"`{name}`": path for name, path in files.items()})
    for name, side in zip(("source", "against"), sides, strict=False):
        for path in map(Path, paths_of(side) or ()):
            others = {f"`{other}`": files.get(other) for other in names[1:]}
            check_apart({f"`{name}`": path, **others})
    for name in files.keys() & {"checkpoint", "remember"}:
        check_place(files[name])
    if "remember" in files:
        is_alone = arguments.against is None
        require(is_alone, "`remember` is for one source", "leave it or `against` out")
        for path in map(Path, paths_of(sides[0]) or ()):
            reason = "`remember` lies in the folder that is read"
            require(not is_inside(files["remember"], path), reason, "name another place")
    return {name: files.get(name) for name in names}
