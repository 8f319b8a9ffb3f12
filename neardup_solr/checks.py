"""Checks of values: what an annotation allows, and the error that says what fits."""

from __future__ import annotations

import builtins
import inspect
import math
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin

from neardup_solr.errors import ArgumentError, without_password
from neardup_solr.suggestions import suggest

T = TypeVar("T", bound=str)
QUERIES = {"fq", "query"}  # arguments in Solr's syntax
# By the name of a type: how it is called, and an example.
_WORDS = {
    "str": ("a string", '"12"'),
    "int": ("a whole number", "5"),
    "float": ("a number", "0.5"),
    "bool": ("True or False", "True"),
    "tuple": ("a pair of ids", '("1", "2")'),
    "Callable": ("a function", "print"),
    "Mapping": ("a mapping", '{"NAME": "..."}'),
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


def check_queries(name: str, queries: str | Sequence[str]) -> None:
    """Refuse a query with nothing in it, which Solr takes for all documents, by ArgumentError."""
    for query in listed(queries):
        step = "omit it, or write *:* for all documents"
        require(bool(query.strip()), f"`{name}` cannot be {query!r}", step, code="argument-invalid")


def check_fields(record: Any, names: Iterable[str]) -> None:
    """Raise ArgumentError if one of these fields of a dataclass does not fit its annotation."""
    kind: Callable[..., Any] = type(record)
    hints = inspect_function(kind)[1]
    for name in names:
        if not fits(value := getattr(record, name), hints[name]):
            raise refuse_value(name, value, hints[name])


def listed(values: T | Sequence[T]) -> tuple[T, ...]:
    """One text, or several, as a tuple."""
    return (values,) if isinstance(values, str) else tuple(values)


def require(
    condition: bool,
    reason: str,
    next_step: str,
    kind: type[ArgumentError] = ArgumentError,
    *,
    code: str,
) -> None:
    """Raise ArgumentError, or another `kind` of it, unless a condition holds."""
    if not condition:
        raise kind(reason, next_step, code=code)


def require_positive(**numbers: int | None) -> None:
    """Refuse numbers below 1, by ArgumentError."""
    for name, number in numbers.items():
        reason = f"`{name}` cannot be {number}"
        step = "give 1 or more"
        require(number is None or number >= 1, reason, step, code="argument-out-of-range")


def require_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse what is not one of the choices, and name the one that was probably meant."""
    if not isinstance(value, str) or value not in choices:
        raise refuse_choice(name, value, choices)


def refuse_choice(name: str, value: object, choices: Collection[str]) -> ArgumentError:
    """Make the error about a value that is not one of the choices."""
    meant = suggest(str(value), "choices", {each: repr(each) for each in choices})
    step = f"{meant} Choose one of" if meant else "choose one of"
    described = repr(value) if isinstance(value, str) else describe(value)
    reason = f"`{name}` cannot be {described}"
    return ArgumentError(reason, f"{step} {', '.join(choices)}", code="argument-invalid")


@cache
def inspect_function(
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


def list_kinds(hint: Any) -> tuple[Any, ...]:
    """Return the alternatives of an annotation."""
    return get_args(hint) if get_origin(hint) in (typing.Union, UnionType) else (hint,)


def _names(hint: Any) -> tuple[str, ...]:
    """Return the names of the types that an annotation has as alternatives."""
    return tuple(getattr(get_origin(kind) or kind, "__name__", "") for kind in list_kinds(hint))


def fits(value: object, hint: Any) -> bool:
    if isinstance(value, str) and "Path" in _names(hint):
        return is_path(value)  # which may hold bytes that are not text
    return any(_is_of(value, get_origin(kind) or kind, get_args(kind)) for kind in list_kinds(hint))


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
        return _is_several(value) and all(fits(one, args[0]) for one in value)
    if not isinstance(value, kind):
        return False
    if kind is tuple:
        return len(value) == len(args) and all(map(fits, value, args))
    if kind is not Mapping:
        return True
    # Who reads the values tells which key has one that is no choice.
    args = [str if get_origin(each) is Literal else each for each in args]
    return all(all(map(fits, item, args)) for item in value.items())


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


def refuse_value(name: str, value: object, hint: Any) -> ArgumentError:
    """Make the error that says what a value has to be, with an example."""
    kinds = [kind for kind in list_kinds(hint) if kind is not NoneType]
    inner = next((get_args(kind)[0] for kind in kinds if get_origin(kind) is Sequence), None)
    wrong: object = value
    if inner is not None and _is_several(value):
        wrong = next((item for item in value if not fits(item, inner)), value)
    if isinstance(value, str) and "Path" in _names(hint):
        reason = f"`{name}` cannot be {without_password(value)!r}"
        return ArgumentError(reason, "give a path", code="argument-invalid")
    choices = [
        get_args(kind) for kind in (*kinds, *list_kinds(inner)) if get_origin(kind) is Literal
    ]
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
    return ArgumentError(f"`{name}` must be {wanted}, not {described}", step, code="argument-type")


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
        return f"[{_example(list_kinds(get_args(kind)[0])[0])}]"
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
