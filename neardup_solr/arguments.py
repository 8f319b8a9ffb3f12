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
        hints = get_type_hints(Source)
        for name in READING:
            if not _fits(value := getattr(self, name), kinds := _kinds(hints[name])):
                raise _refusal(name, value, kinds, None)

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
        given = _taken_apart(verb, args, kwargs)
        _check(verb, *given)
        return verb(*given[0], **given[1])

    return call


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


def _taken_apart(
    verb: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Give a verb what its Source holds; a second side to compare becomes a Source of its own."""
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
    further = next((one.name for one in parameters if one.kind is one.VAR_KEYWORD), None)
    for name in kwargs:
        if name not in signature.parameters and further is None:
            near = _nearest(name, signature.parameters)
            step = GONE.get(name) or (f"did you mean `{near}`?" if near else about)
            if RENAMED.get(name) in signature.parameters:
                step = f"it is `{RENAMED[name]}` now"
            raise ArgumentError(f"{called} has no argument `{name}`", step)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        reason = re.sub(r"'(\w+)'", r"`\1`", str(error))
        raise ArgumentError(f"{called}: {reason}", _by_name(signature) or about) from None
    others = bound.arguments.pop(further, {}) if further else {}
    kinds = {name: _kinds(hints.get(name, Any)) for name in bound.arguments}
    kinds |= {name: _kinds(hints.get(further or "", Any)) for name in others}
    given = bound.arguments | others
    for name, value in given.items():
        if not _fits(value, kinds[name]):
            raise _refusal(name, value, kinds[name], _swapped(name, given, kinds))


@cache
def _known(verb: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    return inspect.signature(verb), get_type_hints(verb)


def _by_name(signature: inspect.Signature) -> str | None:
    """How to give arguments by position; None if all have to be named."""
    given = list(signature.parameters.values())
    placed = [one.name for one in given if one.kind is one.POSITIONAL_OR_KEYWORD]
    if not placed:
        return None
    return f"give {', '.join(f'`{name}`' for name in placed)} in this order, and the rest by name"


def _swapped(name: str, given: Mapping[str, Any], kinds: Mapping[str, Sequence[Any]]) -> str | None:
    """The argument that was given the collection meant for another argument."""
    if not _wants_collection(kinds[name]):
        return None
    others = (other for other in given if not _wants_collection(kinds[other]))
    return next((other for other in others if type(given[other]).__name__ == "Collection"), None)


def _wants_collection(kinds: Sequence[Any]) -> bool:
    return any(getattr(kind, "__name__", "") == "Collection" for kind in kinds)


def _refusal(name: str, value: object, kinds: Sequence[Any], swapped: str | None) -> ArgumentError:
    """What is wrong with a value, and what to give instead."""
    inner = next((get_args(kind)[0] for kind in kinds if get_origin(kind) is Sequence), None)
    choices = _choices([*kinds, *_kinds(inner)])
    wrong: object = value
    if inner is not None and _is_several(value):
        wrong = next((one for one in value if not _fits(one, _kinds(inner))), value)
    if choices and isinstance(wrong, str):
        return _no_choice(name, wrong, choices)
    wanted = [_named(kind) for kind in kinds if kind is not NoneType]
    found = shown(value) if wrong is value else f"{shown(value)} with {shown(wrong)}"
    reason = f"`{name}` has to be {' or '.join(dict.fromkeys(wanted))}, not {found}"
    step = f"swap it and `{swapped}`" if swapped else _next_step(name, value, kinds)
    return ArgumentError(reason, step)


def _choices(kinds: Iterable[Any]) -> list[str]:
    given = (get_args(kind) for kind in kinds if get_origin(kind) is Literal)
    return list(dict.fromkeys(chain.from_iterable(given)))


def _kinds(hint: Any) -> tuple[Any, ...]:
    """The alternatives of an annotation."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(kind for each in get_args(hint) for kind in _kinds(each))
    return (hint,)


def _fits(value: object, kinds: Sequence[Any]) -> bool:
    if isinstance(value, str) and any(getattr(kind, "__name__", "") == "Path" for kind in kinds):
        return "\0" not in value  # names of files may hold bytes that are not text
    return any(_is(value, kind) for kind in kinds)


def _is(value: object, kind: Any) -> bool:
    origin = get_origin(kind) or kind
    if origin is Literal:
        return value in get_args(kind) if isinstance(value, str) else False
    if origin in (int, float):
        is_number = isinstance(value, Integral if origin is int else Real)
        return is_number and not isinstance(value, bool) and _is_usual(value)
    if origin is str:
        return isinstance(value, str) and _is_text(value)
    if origin is Sequence:
        inner = _kinds(get_args(kind)[0])
        return _is_several(value) and all(_fits(one, inner) for one in value)
    if origin is tuple:
        return isinstance(value, tuple) and _are(value, get_args(kind))
    if origin is Mapping and isinstance(value, Mapping):
        return all(_are(item, get_args(kind)) for item in value.items())
    return origin is Any or not isinstance(origin, type) or isinstance(value, origin)


def _are(values: Sequence[object], kinds: Sequence[Any]) -> bool:
    if len(values) != len(kinds):
        return False
    return all(_fits(value, _kinds(kind)) for value, kind in zip(values, kinds, strict=True))


def _is_usual(number: Any) -> bool:
    """Whether files, JSON and Solr can hold a number."""
    if isinstance(number, Integral):
        return abs(int(number)) < 2**63
    return math.isfinite(number)


def _is_text(value: str) -> bool:
    """Whether it can be sent and written, unlike half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_several(value: object) -> TypeGuard[Collection[object]]:
    """Whether a value has several items, and can be iterated twice."""
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


_NAMES = {
    str: "a text", int: "a whole number", float: "a number", bool: "True or False",
    Mapping: "a mapping",
}  # fmt: skip
_OF_OTHERS = {
    "Connection": "a pysolr.Solr", "Path": "a path", "Duplicates": "what nd.duplicates gives",
    "Settings": "nd.Settings", "Frame": "a DataFrame",
}  # fmt: skip


def _named(kind: Any) -> str:
    origin = get_origin(kind) or kind
    if origin is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if origin is Sequence:
        return f"a list of {_several(get_args(kind)[0])}"
    if origin is get_origin(Callable[[], None]):
        return "a function"
    name = getattr(origin, "__name__", str(origin))
    return _NAMES.get(origin) or _OF_OTHERS.get(name, f"a {name}")


def _several(kind: Any) -> str:
    if kind in (str, Id):
        return "texts"
    origin = get_origin(kind) or kind
    return {Literal: "them", tuple: "pairs of ids"}.get(origin) or f"{origin.__name__}s"


def shown(value: object) -> str:
    """What a value is, for a message."""
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
    if _wants_collection(kinds) and not any(get_origin(kind) is Sequence for kind in kinds):
        is_pysolr = type(value).__module__.partition(".")[0] == "pysolr"
        return "wrap it: nd.connect(it)" if is_pysolr else _OPENED
    if isinstance(value, str) and "\0" in value:
        return "take the NUL character out"
    if isinstance(value, str) and not _is_text(value):
        return "take the surrogates out"
    if type(value).__name__ == "Column":
        return "give the name of the column"
    if int in kinds or float in kinds:
        return _number(name, value, int if int in kinds else float)
    several = [kind for kind in kinds if get_origin(kind) is Sequence]
    if several and get_args(several[0])[0] in (str, Id):
        return _texts(name, value)
    return next(
        filter(None, (_example(name, value, kind) for kind in kinds)), f"leave `{name}` out"
    )


def _number(name: str, value: object, kind: type) -> str:
    """The number that was probably meant, or how one is given."""
    words = "a whole number" if kind is int else "a number"
    try:
        meant = float(value) if isinstance(value, str | Real) else math.nan
    except (ValueError, OverflowError):
        meant = math.nan
    if isinstance(value, bool) or not math.isfinite(meant):
        return f"give {words}, such as {name}={1 if kind is int else 0.5}"
    if isinstance(value, str) and (kind is float or meant.is_integer()):
        return f"give the number, {name}={value.strip()}"
    return f"give {words}, such as {name}={round(meant)}"


def _texts(name: str, value: object) -> str:
    if isinstance(value, str):
        return f"give {name}=[{value[:40]!r}]"
    if isinstance(value, Integral) and not isinstance(value, bool):
        return f'give a text, {name}=["{value}"]'[:80]
    return f'give texts, such as {name}=["one", "other"]'


def _example(name: str, value: object, kind: Any) -> str | None:
    """How to give a value of a kind; None if there is no example."""
    origin = get_origin(kind) or kind
    if origin is Literal:
        return f'give one, such as {name}="{get_args(kind)[0]}"'
    if origin is str and isinstance(value, Real) and not isinstance(value, bool):
        return f'give a text, {name}="{value}"'[:80]
    if origin is Sequence and get_origin(get_args(kind)[0]) is tuple:
        return f'give pairs, such as {name}=[("1", "2")]'
    if origin is Mapping:
        return f"give names and values, such as {name}={_ENTRIES.get(name, '{}')}"
    if origin is get_origin(Callable[[], None]):
        return f"give a function, such as {name}=print"
    if getattr(origin, "__name__", "") == "Duplicates":
        return f"give {_named(kind)}"
    return {str: "give a text", bool: f"give {name}=True or {name}=False"}.get(origin)


_ENTRIES = {"settings": '{"hashes": 256}', "headers": '{"X-Api-Key": "..."}'}


def in_bytes(size: str, name: str | None = None) -> int:
    """The bytes of a size such as 512m, 1.5G or 4GB, in powers of 1024; without a unit, itself.

    Raises ArgumentError, about the argument of that name, if it is not a size.
    """
    number = size.strip().lower().removesuffix("b")
    unit = UNITS.get(number[-1:])
    try:
        return int(float(number if unit is None else number[:-1]) * (unit or 1))
    except (ValueError, OverflowError):
        about = f"{size} is not a size" if name is None else f"`{name}` {size} is not a size"
        raise ArgumentError(about, "give one such as 512M or 4G") from None


def as_bytes(given: int | str, name: str) -> int:
    """The bytes of a size, or of their number; raises ArgumentError as `in_bytes` does."""
    return in_bytes(given, name) if isinstance(given, str) else given


def in_seconds(time: str, name: str) -> float:
    """The seconds of a time such as 90s, 5m or 1h; without a unit, seconds.

    Raises ArgumentError, about the argument of that name, if it is not a time.
    """
    number = time.strip().lower()
    unit = SECONDS.get(number[-1:])
    try:
        seconds = float(number if unit is None else number[:-1]) * (unit or 1)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ArgumentError(f"`{name}` {time} is not a time", "give one such as 90s or 5m")
    return seconds


def as_seconds(given: float | str, name: str) -> float:
    """The seconds of a time, or of their number; raises ArgumentError as `in_seconds` does."""
    if isinstance(given, str):
        return in_seconds(given, name)
    if given < 0:
        raise ArgumentError(f"`{name}` cannot be {given:g}", "give 0 or more")
    return given


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
