"""The arguments of a verb, checked against its signature before any work begins.

The annotations of a verb are all that is needed: `Literal` lists choices, `int | None` wants a
whole number or nothing. So a wrong type is one clear line instead of an error from inside.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from functools import cache, wraps
from itertools import chain
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    ParamSpec,
    Protocol,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

from neardup_solr.errors import ArgumentError

# The words that arguments and options may be, as types: mypy, editors and the parser know them.
Kind = Literal["words", "chars", "stops", "stems"]  # what shingles are made of
Family = Literal["affine", "xor"]  # of hashes
MeasureName = Literal["words", "jaccard", "containment", "aligned", "estimate"]
# What the candidates of a search share with the text.
By = Literal["shingles", "bands", "signatures", "profile", "md5"]
# How the candidates of a whole collection are found.
Way = Literal["bands", "shingles", "words", "all"]
Per = Literal["similarity", "pair"]
Linkage = Literal["single", "complete"]
Action = Literal["allow", "tag", "hold", "reject"]  # of the gate, the mildest first
Which = Literal["needed", "missing", "all"]  # of the documents to annotate
OnRepeat = Literal["last", "first", "fail"]  # which record counts if an id comes again
OnRepeatOrKeep = Literal["keep", "last", "first", "fail"]  # where each may count
TableOf = Literal["pairs", "clusters"]  # what a table of duplicates has a row for
RowFormat = Literal["table", "tsv", "csv", "jsonl"]
TableOrJson = Literal["table", "json"]

UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}
SECONDS = {"s": 1, "m": 60, "h": 3600}
MAX_DOC_BYTES = "10M"  # of text in a document, unless another bound is given

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=str)
OneOrMore = str | Sequence[str]  # one, or several of them
Id = str | int  # a whole number is taken as its text

# Arguments and choices of earlier versions, with what to do instead.
GONE = {
    "native": "ask for Solr's own MinHashes by hand, as docs/native.md shows",
    "plot": "tune prints its histogram; draw `agreements` of --format json for a file",
}
RENAMED = {"rows": "candidates"}

_OPENED = 'open it first: nd.connect("http://host:8983/solr", "NAME")'


@runtime_checkable
class Frame(Protocol):
    """A DataFrame of pandas or polars."""

    def to_numpy(self) -> Any:
        """Its rows as an array."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source and how it is read, for each function that reads one.

    `source` is what these functions take, such as the path of a file; the others are their
    arguments, see `read`. What is None is as they have it by default. What a function does not
    read, such as columns to `keep`, it leaves alone.

    Raises ArgumentError if a value does not fit.
    """

    source: Any
    _: KW_ONLY
    id: str | None = None
    text: OneOrMore | None = None
    keep: OneOrMore | None = None
    source_format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    lossy: bool | None = None
    max_doc_bytes: int | str | None = None

    def __post_init__(self) -> None:
        check_fields(self, READING)

    def given(self) -> dict[str, Any]:
        """Return the arguments that say how it is read, without those that are None."""
        found = {name: getattr(self, name) for name in READING}
        return {name: value for name, value in found.items() if value is not None}


READING = tuple(each.name for each in fields(Source))[1:]


def checked(verb: Callable[P, R]) -> Callable[P, R]:
    """Make a verb raise ArgumentError if an argument does not fit its annotation.

    It takes a Source in place of a source and the arguments that say how that is read.
    """

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given = _unpack_source(verb, args, kwargs)
        _check(verb, *given)
        return verb(*given[0], **given[1])

    return call


def check_fields(record: Any, names: Iterable[str]) -> None:
    """Raise ArgumentError if one of these fields of a dataclass does not fit its annotation."""
    kind: Callable[..., Any] = type(record)
    hints = _known(kind)[1]
    for name in names:
        if not _fits(value := getattr(record, name), hints[name]):
            raise _refusal(name, value, hints[name], None)


def listed(given: T | Sequence[T]) -> tuple[T, ...]:
    """One text, or several, as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)


def require(condition: bool, reason: str, next_step: str) -> None:
    """Raise ArgumentError unless a condition holds."""
    if not condition:
        raise ArgumentError(reason, next_step)


def require_positive(**given: int | None) -> None:
    """Refuse numbers below 1, by ArgumentError."""
    for name, number in given.items():
        require(number is None or number >= 1, f"`{name}` cannot be {number}", "give 1 or more")


def require_choice(name: str, given: object, choices: Collection[str]) -> None:
    """Refuse what is not one of the choices, and name the one that was probably meant."""
    if not isinstance(given, str) or given not in choices:
        raise _no_choice(name, given, choices)


def _no_choice(name: str, given: object, choices: Collection[str]) -> ArgumentError:
    if isinstance(given, str) and given in GONE:
        return ArgumentError(f"`{name}` cannot be {given!r} any more", GONE[given])
    near = _nearest(str(given), choices)
    meant = f"did you mean {near!r}? Choose one of" if near else "choose one of"
    said = repr(given) if isinstance(given, str) else shown(given)
    return ArgumentError(f"`{name}` cannot be {said}", f"{meant} {', '.join(choices)}")


def _nearest(given: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches  # only for an error

    return next(iter(get_close_matches(given, list(known), n=1)), None)


def _unpack_source(
    verb: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Give a verb what its Source holds, and make a second side to compare a Source of its own."""
    known = _known(verb)[0].parameters
    if "source" not in known:
        return args, kwargs
    first = args[0] if args else kwargs.get("source")
    against = kwargs.get("against")
    if not isinstance(first, Source) and not isinstance(against, Source):
        return args, kwargs
    if twice := [name for name in READING if name in kwargs]:
        reason = f"`{twice[0]}` does not go with nd.Source"
        raise ArgumentError(reason, f"give it to that: nd.Source(..., {twice[0]}=...)")
    kwargs = dict(kwargs)
    if against is not None and not isinstance(against, Source):
        kwargs["against"] = Source(against)
    if isinstance(first, Source):
        kwargs |= {name: value for name, value in first.given().items() if name in known}
        if args:
            args = (first.source, *args[1:])
        else:
            kwargs["source"] = first.source
    return args, kwargs


def _check(verb: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    signature, hints = _known(verb)
    place = "spark" if verb.__module__.startswith("neardup_solr.spark.") else "nd"
    called, about = f"{place}.{verb.__name__}()", f"see help({place}.{verb.__name__})"
    parameters = signature.parameters.values()
    further = next((one.name for one in parameters if one.kind is one.VAR_KEYWORD), "")
    for name in kwargs:
        if name not in signature.parameters and not further:
            near = _nearest(name, signature.parameters)
            step = GONE.get(name) or (f"did you mean `{near}`?" if near else about)
            if RENAMED.get(name) in signature.parameters:
                step = f"it is `{RENAMED[name]}` now"
            raise ArgumentError(f"{called} has no argument `{name}`", step)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        reason = re.sub(r"'(\w+)'", r"`\1`", str(error))
        placed = [f"`{one.name}`" for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
        order = f"give {', '.join(placed)} in this order, and the rest by name"
        raise ArgumentError(f"{called}: {reason}", order if placed else about) from None
    given |= given.pop(further, {})
    for name, value in given.items():
        hint = hints.get(name, hints.get(further, Any))
        if not _fits(value, hint):
            swapped = (
                other
                for other, its in given.items()
                if "Collection" in _names(hint)
                and "Collection" not in _names(hints.get(other, Any))
                and type(its).__name__ == "Collection"
            )
            raise _refusal(name, value, hint, next(swapped, None))


@cache
def _known(verb: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    return inspect.signature(verb), get_type_hints(verb)


def _kinds(hint: Any) -> tuple[Any, ...]:
    """Return the alternatives of an annotation."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(kind for each in get_args(hint) for kind in _kinds(each))
    return (hint,)


def _names(hint: Any) -> tuple[str, ...]:
    """Return the names of the types that an annotation has as alternatives."""
    return tuple(getattr(get_origin(kind) or kind, "__name__", "") for kind in _kinds(hint))


def _fits(value: object, hint: Any) -> bool:
    if isinstance(value, str) and "Path" in _names(hint):
        return "\0" not in value  # names of files may hold bytes that are not text
    for kind in _kinds(hint):
        origin = get_origin(kind) or kind
        rule = _RULES.get(origin)
        if rule is None and (not isinstance(origin, type) or isinstance(value, origin)):
            return True
        if rule is not None and rule(value, get_args(kind)):
            return True
    return False


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


def _is_several(value: object) -> TypeGuard[Collection[object]]:
    """Return True for a value that has several items, and can be iterated twice."""
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _are(values: Sequence[object], kinds: Sequence[Any]) -> bool:
    return len(values) == len(kinds) and all(map(_fits, values, kinds))


# Whether a value fits an annotation with such arguments; another type has to be its class.
_RULES: dict[Any, Callable[[Any, tuple[Any, ...]], bool]] = {
    Any: lambda value, args: True,
    Literal: lambda value, args: isinstance(value, str) and value in args,
    int: lambda value, args: _is_number(value, Integral),
    float: lambda value, args: _is_number(value, Real),
    str: lambda value, args: isinstance(value, str) and _is_text(value),
    Sequence: lambda value, args: _is_several(value) and all(_fits(one, args[0]) for one in value),
    tuple: lambda value, args: isinstance(value, tuple) and _are(value, args),
    Mapping: lambda value, args: (
        isinstance(value, Mapping) and all(_are(item, args) for item in value.items())
    ),
}
# By the name of a type: how it is called, and how one is given.
_WORDS = {
    "str": ("a text", "give a text"),
    "int": ("a whole number", "give a whole number, such as {name}={number}"),
    "float": ("a number", "give a number, such as {name}={number}"),
    "bool": ("True or False", "give {name}=True or {name}=False"),
    "Mapping": ("a mapping", "give names and values, such as {name}={entries}"),
    "Callable": ("a function", "give a function, such as {name}=print"),
    "Duplicates": ("what nd.duplicates gives", "give what nd.duplicates gives"),
    "Connection": ("a pysolr.Solr", ""),
    "Path": ("a path", ""),
    "Settings": ("nd.Settings", ""),
    "Frame": ("a DataFrame", ""),
}
_ENTRIES = {"settings": '{"hashes": 256}', "headers": '{"X-Api-Key": "..."}'}


def _refusal(name: str, value: object, hint: Any, swapped: str | None) -> ArgumentError:
    """Say what is wrong with a value, and what to give instead."""
    kinds = [kind for kind in _kinds(hint) if kind is not NoneType]
    inner = next((get_args(kind)[0] for kind in kinds if get_origin(kind) is Sequence), None)
    wrong: object = value
    if inner is not None and _is_several(value):
        wrong = next((one for one in value if not _fits(one, inner)), value)
    listed = [get_args(kind) for kind in (*kinds, *_kinds(inner)) if get_origin(kind) is Literal]
    if listed and isinstance(wrong, str):
        return _no_choice(name, wrong, list(dict.fromkeys(chain.from_iterable(listed))))
    wanted = " or ".join(dict.fromkeys(map(_describe_kind, kinds)))
    given = shown(value) if wrong is value else f"{shown(value)} with {shown(wrong)}"
    step = f"swap it and `{swapped}`" if swapped else _next_step(name, value, kinds)
    return ArgumentError(f"`{name}` has to be {wanted}, not {given}", step)


def _describe_kind(kind: Any) -> str:
    origin, (name,) = get_origin(kind), _names(kind)
    if origin is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if origin is not Sequence:
        return _WORDS.get(name, (f"a {name}", ""))[0]
    inner = get_args(kind)[0]
    if "str" in _names(inner):
        return "a list of paths" if "Path" in _names(inner) else "a list of texts"
    several = {Literal: "them", tuple: "pairs of ids"}.get(get_origin(inner) or inner)
    return f"a list of {several or f'{inner.__name__}s'}"


def shown(value: object) -> str:
    """Describe a value in a message."""
    if value is None:
        return "None"
    if isinstance(value, bool | Real):
        return repr(value)[:40]
    if isinstance(value, str):
        return f"the text {value[:40]!r}{'' if _is_text(value) else ', which is not valid Unicode'}"
    kind = type(value)
    name = kind.__name__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__.partition('.')[0]}.{name}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _next_step(name: str, value: object, kinds: Sequence[Any]) -> str:
    """Say how to give a value of one of these kinds, the one that was probably meant."""
    inner = next((get_args(kind)[0] for kind in kinds if get_origin(kind) is Sequence), None)
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    names = [one for kind in kinds for one in _names(kind)]
    if "Collection" in names and inner is None:
        is_pysolr = type(value).__module__.partition(".")[0] == "pysolr"
        return "wrap it: nd.connect(it)" if is_pysolr else _OPENED
    if isinstance(value, str) and "\0" in value:
        return "take the NUL character out"
    if isinstance(value, str) and not _is_text(value):
        return "take the surrogates out"
    if type(value).__name__ == "Column":
        return "give the name of the column"
    if int in kinds or float in kinds:
        return _suggest_number(name, value, "int" if int in kinds else "float")
    if inner in (str, Id):
        if isinstance(value, str):
            return f"give {name}=[{value[:40]!r}]"
        is_whole = isinstance(value, Integral) and is_number
        text = f'give a text, {name}=["{value}"]'[:80]
        return text if is_whole else f'give texts, such as {name}=["one", "other"]'
    for kind, one in zip(kinds, names, strict=True):
        if get_origin(kind) is Literal:
            return f'give one, such as {name}="{get_args(kind)[0]}"'
        if one == "str" and is_number:
            return f'give a text, {name}="{value}"'[:80]
        if one == "Sequence" and get_origin(inner) is tuple:
            return f'give pairs, such as {name}=[("1", "2")]'
        if step := _WORDS.get(one, ("", ""))[1]:
            return step.format(name=name, entries=_ENTRIES.get(name, "{}"))
    return f"leave `{name}` out"


def _suggest_number(name: str, value: object, kind: str) -> str:
    """Suggest the number that was probably meant, or say how one is given."""
    try:
        meant = float(value) if isinstance(value, str | Real) else math.nan
    except (ValueError, OverflowError):
        meant = math.nan
    if isinstance(value, str) and math.isfinite(meant) and (kind == "float" or meant.is_integer()):
        return f"give the number, {name}={value.strip()}"
    is_near = math.isfinite(meant) and not isinstance(value, bool)
    usual = 1 if kind == "int" else 0.5
    return _WORDS[kind][1].format(name=name, number=round(meant) if is_near else usual)


def in_bytes(size: int | str, name: str | None = None) -> int:
    """Parse a size such as 512m, 1.5G or 4GB, in powers of 1024; without a unit, bytes.

    Raises ArgumentError, about the argument of that name, if it is not a size.
    """
    if not isinstance(size, str):
        return size
    try:
        return int(_parse(size.strip().lower().removesuffix("b"), UNITS))
    except (ValueError, OverflowError):
        about = f"{size} is not a size" if name is None else f"`{name}` {size} is not a size"
        raise ArgumentError(about, "give one such as 512M or 4G") from None


def in_seconds(time: float | str, name: str) -> float:
    """Parse a time such as 90s, 5m or 1h; without a unit, seconds.

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
    require(is_time, f"`{name}` {time} is not a time", "give one such as 90s or 5m")
    return seconds


def _parse(given: str, units: Mapping[str, int]) -> float:
    number = given.strip().lower()
    unit = units.get(number[-1:])
    return float(number if unit is None else number[:-1]) * (unit or 1)


def most_failed(given: str, records: int) -> float:
    """Parse how many records may fail: "20", or a share of them, "0.1%" or "0.001".

    Raises ArgumentError if it is neither.
    """
    try:
        number = float(given.removesuffix("%"))
    except ValueError:
        number = -1.0
    is_share = "%" in given or "." in given
    share = number / 100 if "%" in given else number
    if not number >= 0 or (is_share and share > 1):
        step = "give a number such as 20, or a share such as 0.1%"
        raise ArgumentError(f"`max_failed` cannot be {given!r}", step)
    return share * records if is_share else number
