"""The arguments of a verb, checked against its signature before any work begins.

The annotations of a verb are all that is needed: `Literal` lists choices, `int | None` wants a
whole number or nothing. So a wrong type is one clear line instead of an error from inside.
"""

from __future__ import annotations

import builtins
import inspect
import math
import re
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass
from functools import cache, wraps
from itertools import chain
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, get_args, get_origin

from neardup_solr.errors import ArgumentError, without_password

# The words that arguments and options may be, as types: mypy, editors and the parser know them.
Kind = Literal["words", "chars", "stops", "stems"]  # what shingles are made of
Family = Literal["affine", "xor"]  # of hashes
MeasureName = Literal["auto", "words", "jaccard", "containment", "aligned", "records", "estimate"]
# What a collection keeps as its own.
StoredMeasure = Literal["words", "jaccard", "containment", "aligned", "records"]
# What pairs of `duplicates` may be compared by, too: records by their fields.
PairMeasure = Literal[
    "auto", "words", "jaccard", "containment", "aligned", "records", "estimate", "fields", "model"
]
# What the candidates of a search share with the text.
By = Literal["shingles", "bands", "signatures", "profile", "md5"]
# How the candidates of a whole collection are found.
Way = Literal["bands", "shingles", "words", "all"]
Per = Literal["similarity", "pair"]
Linkage = Literal["single", "complete", "mutual_best"]
Action = Literal["allow", "tag", "hold", "reject"]  # of the gate, the mildest first
Which = Literal["needed", "missing", "all"]  # of the documents to annotate
OnRepeat = Literal["keep", "last", "first", "fail"]  # which record counts if an id comes again
Judgement = Literal["same", "different", "unsure"]  # of a pair, by a person
TableOf = Literal["pairs", "clusters"]  # what a table of duplicates has a row for
RowFormat = Literal["table", "tsv", "csv", "jsonl"]
TableOrJson = Literal["table", "json"]

UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}
SECONDS = {"s": 1, "m": 60, "h": 3600}
MAX_DOC_BYTES = "10M"  # of text in a document, unless another bound is given

_FURTHER = inspect.Parameter.VAR_KEYWORD
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=str)
C = TypeVar("C")
OneOrMore = str | Sequence[str]  # one, or several of them
Id = str | int  # a whole number is taken as its text


@typing.runtime_checkable
class Frame(Protocol):
    """A pandas or polars DataFrame."""

    def to_numpy(self) -> Any:
        """Its rows as an array."""


def checked_class(kind: type[C]) -> type[C]:
    """Make a class raise ArgumentError for an argument that it does not have."""
    create: Callable[..., None] = vars(kind)["__init__"]
    hints = dict.fromkeys(list(inspect.signature(create).parameters)[1:])

    @wraps(create)
    def check(self: C, *args: Any, **kwargs: Any) -> None:
        _check_names(f"nd.{kind.__name__}()", hints, kwargs)
        create(self, *args, **kwargs)

    type.__setattr__(kind, "__init__", check)
    return kind


@checked_class
@dataclass(frozen=True, slots=True)
class Source:
    """Source and its format, for functions that read a source.

    `source`: file, folder, "-" for standard input, list of files that form one table, DataFrame,
    Arrow table, or iterable of dicts, tuples or documents; `id`: column of the id; `text`: column
    or columns of the text; `source_format`: format, if the suffix is misleading; `delimiter`:
    character between the columns of a CSV; `encoding`: encoding, by default UTF-8, or UTF-16 with a
    byte order mark; `skip_rows`: rows above the header of a CSV or sheet; `sheet`: sheet of an
    Excel file, by default the first; `lossy`: replace invalid characters instead of refusing the
    record; `max_doc_bytes`: refuse records with more text, such as "100M"; `on_repeat`: which
    records count if an id is repeated: "keep" (each), "last", "first" or "fail" (the first; later
    records fail); by default keep for `duplicates`, last for `index`.

    Raises ArgumentError if a value is invalid.
    """

    source: Any
    _: KW_ONLY
    id: str | None = None
    text: OneOrMore | None = None
    source_format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    skip_rows: int = 0
    sheet: str | None = None
    lossy: bool = False
    max_doc_bytes: int | str = MAX_DOC_BYTES
    on_repeat: OnRepeat | None = None

    def __post_init__(self) -> None:
        check_fields(self, ("id", "text", *DIALECT))
        object.__setattr__(self, "text", _split_text("text", self.text, OneOrMore))
        kind = type(self.source).__name__
        require(kind not in ("Collection", "Source"), f"`source` is a {kind}", "pass it directly")


DIALECT = tuple(each.name for each in fields(Source))[3:]
# Of arguments that are names, or one of them: as in an option, a text has several between commas.
NAMES = {"text", "keep", "fields", "same", "allow_host"}
QUERIES = {"fq", "query"}  # arguments in Solr's syntax


def split_names(typed: Iterable[str]) -> tuple[str, ...]:
    """Split names that were given one by one, or as a line of CSV: those with a comma in quotes.

    Raises ArgumentError if a quote has no end, or if there is no name in one, such as a variable
    of the shell that is not set.
    """
    import csv

    names: list[str] = []
    for each in typed:
        try:
            cells = [cell.strip() for row in csv.reader([each], strict=True) for cell in row]
        except csv.Error:
            why = "names with commas or quotes must be written as in CSV"
            raise ArgumentError(why, "for example '\"Surname, name\",city'") from None
        require(any(cells), f"{each!r} is no name", "omit it, or give a name")
        names += filter(None, cells)
    return tuple(names)


def check_queries(name: str, queries: OneOrMore) -> None:
    """Refuse a query with nothing in it, which Solr takes for all documents, by ArgumentError."""
    for query in listed(queries):
        step = "omit it, or write *:* for all documents"
        require(bool(query.strip()), f"`{name}` cannot be {query!r}", step)


def join_names(names: Iterable[str]) -> str:
    """Join names to what `split_names` splits."""
    quoted = ((name, name.replace('"', '""')) for name in names)
    return ",".join(f'"{each}"' if {*name} & {*',"\r\n'} else name for name, each in quoted)


def _split_text(name: str, value: Any, hint: Any) -> Any:
    """Return names for a text that has several of them, and any other value as it is."""
    has_comma = name in NAMES and isinstance(value, str) and "," in value
    is_split = has_comma and any(get_origin(kind) is Sequence for kind in _kinds(hint))
    return split_names([value]) if is_split else value


def checked(verb: Callable[P, R], find_type: Callable[[str], Any] | None = None) -> Callable[P, R]:
    """Make a function raise ArgumentError if an argument does not fit its annotation.

    `find_type` finds a type that its module imports for type checkers alone.
    """

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        signature, hints = _inspect(verb, find_type)
        _check(verb, signature, hints, args, kwargs)
        for name, value in kwargs.items():
            kwargs[name] = _split_text(name, value, hints.get(name))
        return verb(*args, **kwargs)

    return call


def check_fields(record: Any, names: Iterable[str]) -> None:
    """Raise ArgumentError if one of these fields of a dataclass does not fit its annotation."""
    kind: Callable[..., Any] = type(record)
    hints = _inspect(kind)[1]
    for name in names:
        if not _fits(value := getattr(record, name), hints[name]):
            raise _refuse(name, value, hints[name])


def listed(values: T | Sequence[T]) -> tuple[T, ...]:
    """One text, or several, as a tuple."""
    return (values,) if isinstance(values, str) else tuple(values)


def require(
    condition: bool, reason: str, next_step: str, kind: type[ArgumentError] = ArgumentError
) -> None:
    """Raise ArgumentError, or another `kind` of it, unless a condition holds."""
    if not condition:
        raise kind(reason, next_step)


def require_positive(**numbers: int | None) -> None:
    """Refuse numbers below 1, by ArgumentError."""
    for name, number in numbers.items():
        require(number is None or number >= 1, f"`{name}` cannot be {number}", "give 1 or more")


def require_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse what is not one of the choices, and name the one that was probably meant."""
    if not isinstance(value, str) or value not in choices:
        raise refuse_choice(name, value, choices)


def refuse_choice(name: str, value: object, choices: Collection[str]) -> ArgumentError:
    """Make the error about a value that is not one of the choices."""
    meant = suggest(str(value), "choices", {each: repr(each) for each in choices})
    step = f"{meant} Choose one of" if meant else "choose one of"
    described = repr(value) if isinstance(value, str) else describe(value)
    return ArgumentError(f"`{name}` cannot be {described}", f"{step} {', '.join(choices)}")


@cache
def read_words(table: str) -> dict[str, Any]:
    """Read a table of words.toml, which says what its words are."""
    import tomllib
    from importlib.resources import files

    text = files("neardup_solr").joinpath("words.toml").read_text("utf-8")
    return dict(tomllib.loads(text)[table])


def suggest(word: str, table: str, existing: Mapping[str, str], place: str = "") -> str:
    """Name the equivalent of an unknown word, or the step instead, or "" if nothing is near.

    `existing` says how each name is typed, in quotes, or what to do instead of it. The table of
    words.toml has the words of other tools; only other words are taken for typing errors.
    """
    parts, near = _split(word), list[str]()
    while parts and not near:
        near = [name for name in existing if _split(name) == parts]
        words = (key for key in read_words(table) if "".join(parts) in key.split())
        if not near and (key := next(words, "")):
            forms = [existing[name] for name in existing if _is_form(_split(word), _split(name))]
            answers = _choose_answers(read_words(table)[key], existing, place)
            return _join([*forms, *(each for each in answers if not forms or each[0] in QUOTES)])
        parts = _shorten(parts)
    near = near or nearest(word, existing)
    if not near and len(word) >= LONG:  # maybe a word of another tool, mistyped
        keys = {each: key for key in read_words(table) for each in key.split()}
        of_others = nearest(word, (each for each in keys if len(each) >= LONG))
        answers = [read_words(table)[keys[each]] for each in of_others]
        return _join(chain.from_iterable(_choose_answers(a, existing, place) for a in answers))
    return _join(existing[name] for name in near)


def _is_form(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return True if names are the same but for the ends of words: field and fields, removed."""
    pairs = [sorted(pair, key=len) for pair in zip(one, other, strict=False)]
    ends = {long.removeprefix(short) for short, long in pairs}
    return len(one) == len(other) and ends <= {"", "s", "es", "d", "ed"}


def _shorten(parts: list[str]) -> list[str]:
    """Take away a word, or the end of one, that other tools add to a name, or all if none does."""
    *rest, last = parts
    if rest and parts[0] in _COUNTS:
        return parts[1:]
    if last in _SUFFIXES:
        return rest
    shorter = [last.removesuffix(end) for end in _SUFFIXES if last.endswith(end)]
    return [*rest, min(shorter, key=len)] if shorter else []


QUOTES = "'", "`"  # before what is typed, unlike a step
LONG = 6  # letters of a word that is looked for among those of other tools in spite of an error
# What other tools put before or behind the name of an option: `--num-hashes`, `--output-file`.
_COUNTS = ("n", "num", "number", "of")
_SUFFIXES = ("file", "path", "name", "column", "columns", "col", "field", "fields", "dir", "url")


def _split(name: str) -> list[str]:
    """Split a name into its words in lower case: --min-size, min_size and minSize are the same."""
    return re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())


def _choose_answers(answers: str, existing: Mapping[str, str], place: str) -> list[str]:
    for answer in answers.split("|"):
        names = re.findall(r"`([^`]+)`", answer)
        only, step = re.findall(r"(?:(neardup|nd): )?(.+)", answer)[0]
        if answer in existing or (names and answer[0] == "`" and all(map(existing.get, names))):
            return [existing[name] for name in names or [answer]]
        if " " in step and only in ("", place) and all(map(existing.get, names)):
            return [re.sub(r"`([^`]+)`", lambda name: existing[name[1]], step)]
    return []


def _join(texts: Iterable[str]) -> str:
    """Ask whether one of these was meant, or say what to do if one is a step."""
    *others, last = dict.fromkeys(texts) or [""]
    steps = [text for text in (*others, last) if text[:1] not in QUOTES]
    return steps[0] if steps else f"did you mean {', '.join(others)}{' or ' * bool(others)}{last}?"


def nearest(word: str, names: Iterable[str]) -> list[str]:
    """List the names that are a typing error or two away from a word, or that it abbreviates."""
    from rapidfuzz.distance import OSA  # only for an error

    def differ(name: str) -> float:
        """Return how much a name differs, infinitely if it means something else."""
        typed, other, parts = "".join(_split(word)), "".join(_split(name)), iter(_split(name))
        least = 1 if len(typed) > 3 else len(typed)  # of the letters of an abbreviated part
        if all(any(p[: max(least, len(t))] == t for p in parts) for t in _split(word)):
            return 1
        edits, longest = OSA.distance(typed, other), max(len(typed), len(other))
        begins = typed[:1] == other[:1] or typed[:2] == other[1::-1]
        is_other = longest < 7 and len(typed) == len(other) and sorted(typed) != sorted(other)
        is_near = begins and not is_other and edits <= (longest + 1) // 4
        return edits + 0.5 * (word[:1].isupper() != name[:1].isupper()) if is_near else math.inf

    by_name = {name: differ(name) for name in names if " " not in name}
    least = min(by_name.values(), default=math.inf)
    return [name for name, edits in by_name.items() if edits == least < math.inf]


def _check(
    verb: Callable[..., Any],
    signature: inspect.Signature,
    hints: Mapping[str, Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    place = "spark" if verb.__module__.startswith("neardup_solr.spark.") else "nd"
    verb_name = verb.__qualname__.removesuffix(".__init__")
    called, about = f"{place}.{verb_name}()", f"see help({place}.{verb_name})"
    names = [name for name in signature.parameters if name != "self"]
    further = next((name for name in names if signature.parameters[name].kind is _FURTHER), "")
    if not further:
        _check_names(called, {each: hints.get(each) for each in names}, kwargs)
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        reason = re.sub(r"'(\w+)'", r"`\1`", str(error))
        raise ArgumentError(f"{called}: {reason}", about) from None
    bound |= bound.pop(further, {})
    if isinstance(source := bound.get("source"), Source):
        for name in ("id", "text"):
            is_once = name not in bound or getattr(source, name) is None
            require(is_once, f"`{name}` is also in nd.Source", "remove one of the two")
    for name, value in bound.items():
        hint = hints.get(name, hints.get(further, Any))
        if not _fits(value, hint):
            raise _refuse(name, value, hint)
        if name in QUERIES and value is not None:
            check_queries(name, value)


def _check_names(called: str, hints: Mapping[str, Any], names: Iterable[str]) -> None:
    """Refuse an argument that what is called does not have, and name the one that is meant."""
    for name in names:
        if name not in hints:
            step = suggest(name, "options", _list_names(called[:-2], hints), "nd")
            reason = f"{called} has no argument `{name}`"
            raise ArgumentError(reason, step or f"see help({called[:-2]})")


def _list_names(verb: str, hints: Mapping[str, Any]) -> dict[str, str]:
    """Say of each name that a function takes, or took, how it is typed, for `suggest`."""
    existing = {name: f"`{name}`" for name in hints}
    for name, hint in hints.items():
        choices = [get_args(kind) for kind in _kinds(hint) if get_origin(kind) is Literal]
        for each in chain.from_iterable(choices):
            existing[f"{name} {each}"] = f"`{name}={each!r}`"
    of_source = ("id", "text", *DIALECT) if "source" in hints else ()
    settings = next((kind for kind in _kinds(hints.get("settings")) if is_dataclass(kind)), None)
    of_settings = [each.name for each in fields(settings)] if settings else []
    others = {name: f"`settings={{'{name}': ...}}`" for name in of_settings}
    others |= {name: f"`nd.Source(PATH, {name}=...)`" for name in of_source}
    gone = read_words("gone")
    others |= gone.get(verb.rpartition(".")[2], {}) | gone.get(verb, {})
    return others | existing


@cache
def _inspect(
    verb: Callable[..., Any], find_type: Callable[[str], Any] | None = None
) -> tuple[inspect.Signature, dict[str, Any]]:
    return inspect.signature(verb), resolve_hints(verb, find_type)


class _Names(dict[str, Any]):
    """The names of a module, and those that only its annotations have."""

    def __init__(self, names: Mapping[str, Any], find_type: Callable[[str], Any]) -> None:
        super().__init__(names)
        self.find_type = find_type

    def __missing__(self, name: str) -> Any:
        return vars(builtins)[name] if hasattr(builtins, name) else self.find_type(name)


def resolve_hints(
    function: Callable[..., Any], find_type: Callable[[str], Any] | None = None
) -> dict[str, Any]:
    """Return the types of the arguments of a function, by name.

    `find_type` finds a type that its module imports for type checkers alone.
    """
    if find_type is None:
        return typing.get_type_hints(function)
    names = _Names(function.__globals__, find_type)
    annotations = {k: v for k, v in function.__annotations__.items() if k != "return"}
    # As typing.get_type_hints does it, which takes no mapping that finds names by itself.
    return {name: eval(annotation, {}, names) for name, annotation in annotations.items()}


def _kinds(hint: Any) -> tuple[Any, ...]:
    """Return the alternatives of an annotation."""
    return get_args(hint) if get_origin(hint) in (typing.Union, UnionType) else (hint,)


def _names(hint: Any) -> tuple[str, ...]:
    """Return the names of the types that an annotation has as alternatives."""
    return tuple(getattr(get_origin(kind) or kind, "__name__", "") for kind in _kinds(hint))


def _fits(value: object, hint: Any) -> bool:
    if isinstance(value, str) and "Path" in _names(hint):
        return is_path(value)  # which may hold bytes that are not text
    return any(_is_of(value, get_origin(kind) or kind, get_args(kind)) for kind in _kinds(hint))


def is_path(typed: str) -> bool:
    """Return True if a text can be the path of a file: it is neither empty nor an address.

    A `Path` of these would be the current folder, or lack a slash.
    """
    return bool(typed) and "://" not in typed and "\0" not in typed


def _is_of(value: Any, kind: Any, args: Sequence[Any]) -> bool:
    """Tell whether a value is of a kind with such arguments, as annotations have them."""
    if kind is Any:
        return True
    if kind is Literal:
        return isinstance(value, str) and value in args
    if kind in (int, float):
        return _is_number(value, Integral if kind is int else Real)
    if kind is str:
        return isinstance(value, str) and _is_text(value)
    if kind is Sequence:
        return _is_several(value) and all(_fits(one, args[0]) for one in value)
    if not isinstance(value, kind):
        return False
    if kind is tuple:
        return len(value) == len(args) and all(map(_fits, value, args))
    return kind is not Mapping or all(all(map(_fits, item, args)) for item in value.items())


def _is_number(value: Any, kind: type[Any]) -> bool:
    """Return True for a number that files, JSON and Solr can hold."""
    if not isinstance(value, kind) or isinstance(value, bool):
        return False
    if isinstance(value, Integral):
        return abs(int(value)) < 2**63
    return math.isfinite(value)


def _is_text(value: str) -> bool:
    """Return True for a text that can be sent, unlike half of a surrogate pair."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _is_several(value: object) -> typing.TypeGuard[Collection[object]]:
    """Return True for a value that has several items, and can be iterated twice."""
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


# By the name of a type: how it is called, and an example.
_WORDS = {
    "str": ("a string", '"12"'),
    "int": ("a whole number", "5"),
    "float": ("a number", "0.5"),
    "bool": ("True or False", "True"),
    "tuple": ("a pair of ids", '("1", "2")'),
    "Callable": ("a function", "print"),
    "Mapping": ("a mapping", '{"X-Api-Key": "..."}'),
    "Settings": ("nd.Settings", "nd.Settings(hashes=256)"),
    "Collection": ("a Collection", 'nd.connect("http://host:8983/solr", "NAME")'),
    "Duplicates": ("the result of nd.duplicates", "nd.duplicates(...)"),
    "Connection": ("a pysolr.Solr", ""),
    "Path": ("a path", '"pairs.csv"'),
    "Frame": ("a DataFrame", ""),
    "DataFrame": ("a Spark DataFrame", "session.createDataFrame(df)"),
    "SparkSession": ("a SparkSession", "spark.local()"),
}
_SEVERAL = {"str": "strings", "Literal": "them", "tuple": "pairs of ids"}


def _refuse(name: str, value: object, hint: Any) -> ArgumentError:
    """Make the error that says what a value has to be, with an example."""
    kinds = [kind for kind in _kinds(hint) if kind is not NoneType]
    inner = next((get_args(kind)[0] for kind in kinds if get_origin(kind) is Sequence), None)
    wrong: object = value
    if inner is not None and _is_several(value):
        wrong = next((item for item in value if not _fits(item, inner)), value)
    if isinstance(value, str) and "Path" in _names(hint):
        return ArgumentError(f"`{name}` cannot be {without_password(value)!r}", "give a path")
    choices = [get_args(kind) for kind in (*kinds, *_kinds(inner)) if get_origin(kind) is Literal]
    if choices and isinstance(wrong, str):
        return refuse_choice(name, wrong, list(dict.fromkeys(chain.from_iterable(choices))))
    wanted = " or ".join(dict.fromkeys(map(_describe_kind, kinds)))
    described = describe(value) if wrong is value else f"{describe(value)} with {describe(wrong)}"
    package, kind = type(wrong).__module__.partition(".")[0], type(wrong).__name__
    if package == "pysolr":
        step = "wrap it: nd.connect(it)"
    elif kind == "Column":
        step = "give the name of the column"
    else:
        step = f"give one such as {name}={next(filter(None, map(_example, kinds)), '...')}"
    return ArgumentError(f"`{name}` must be {wanted}, not {described}", step)


def _describe_kind(kind: Any) -> str:
    (name,) = _names(kind)
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if get_origin(kind) is not Sequence:
        return _WORDS.get(name, (f"a {name}", ""))[0]
    names = _names(get_args(kind)[0])
    return f"a list of {'paths' if 'Path' in names else _SEVERAL.get(names[0], f'{names[0]}s')}"


def _example(kind: Any) -> str:
    (name,) = _names(kind)
    if get_origin(kind) is Literal:
        return repr(get_args(kind)[0])
    if get_origin(kind) is Sequence:
        return f"[{_example(_kinds(get_args(kind)[0])[0])}]"
    return _WORDS.get(name, ("", ""))[1]


def describe(value: object) -> str:
    """Describe a value in a message."""
    if value is None:
        return "None"
    if isinstance(value, bool | Real):
        return repr(value)[:40]
    if isinstance(value, str):
        problem = "" if _is_text(value) else ", which is not valid Unicode"
        return f"the string {value[:40]!r}{problem}"
    kind = type(value)
    name = kind.__name__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__.partition('.')[0]}.{name}"
    return with_article(name)


def with_article(name: str) -> str:
    """Put "a" or "an" before the name of a class."""
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def in_bytes(size: int | str, name: str | None = None) -> int:
    """Parse a size such as 512m, 1.5G or 4GB, in powers of 1024, without a unit in bytes.

    Raises ArgumentError, about the argument of that name, if it is not a size.
    """
    if not isinstance(size, str):
        return size
    try:
        return int(_parse(size.strip().lower().removesuffix("b"), UNITS))
    except (ValueError, OverflowError):
        of = size if name is None else f"`{name}` {size}"
        raise ArgumentError(f"{of} is not a valid size", "give one such as 512M or 4G") from None


def in_seconds(time: float | str, name: str) -> float:
    """Parse a time such as 90s, 5m or 1h, without a unit in seconds.

    Raises ArgumentError, about the argument of that name, if it is not a time.
    """
    if not isinstance(time, str):
        require(time >= 0, f"`{name}` cannot be {time:g}", "give 0 or more")
        return time
    try:
        seconds = _parse(time, SECONDS)
    except ValueError:
        seconds = -1.0
    is_time = 0 <= seconds < math.inf
    require(is_time, f"`{name}` {time} is not a valid time", "give one such as 90s or 5m")
    return seconds


def _parse(text: str, units: Mapping[str, int]) -> float:
    number = text.strip().lower()
    unit = units.get(number[-1:])
    return float(number if unit is None else number[:-1]) * (unit or 1)


def most_failed(limit: str, records: int) -> float:
    """Parse how many records may fail: "20", or a share of them, "0.1%" or "0.001".

    Raises ArgumentError if it is neither.
    """
    try:
        number = float(limit.removesuffix("%"))
    except ValueError:
        number = -1.0
    is_share = "%" in limit or "." in limit
    share = number / 100 if "%" in limit else number
    if not number >= 0 or (is_share and share > 1):
        step = "give a number such as 20, or a share such as 0.1%"
        raise ArgumentError(f"`max_failed` cannot be {limit!r}", step)
    return share * records if is_share else number
