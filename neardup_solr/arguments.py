"""The arguments of a verb, checked against its signature before any work begins.

The annotations of a verb are all that is needed: `Literal` lists choices, `int | None` wants a
whole number or nothing. So a wrong type is one clear line instead of an error from inside.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass
from functools import wraps
from itertools import chain
from typing import Any, Literal, ParamSpec, TypeVar, get_args, get_origin

from neardup_solr.argument_types import OneOrMore, OnRepeat
from neardup_solr.checks import (
    QUERIES,
    check_fields,
    check_queries,
    fits,
    inspect_function,
    list_kinds,
    listed,
    refuse_value,
    require,
)
from neardup_solr.comma_names import split_names
from neardup_solr.errors import ArgumentError
from neardup_solr.suggestions import read_words, suggest

MAX_DOC_BYTES = "10M"  # of text in a document, unless another bound is given
_FURTHER = inspect.Parameter.VAR_KEYWORD
P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")
# Of arguments that are names, or one of them: as in an option, a text has several between commas.
NAMES = {"text", "keep", "fields", "same", "allow_host"}


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
    Series, Arrow table, list of texts, or iterable of dicts, tuples or documents; `id`: column of
    the id; `text`: column or columns of the text; `source_format`: format, if the suffix is
    misleading; `delimiter`: character between the columns of a CSV; `encoding`: encoding, by
    default UTF-8, or UTF-16 with a byte order mark; `skip_rows`: rows above the header of a CSV or
    sheet; `sheet`: sheet of an Excel file, by default the first; `lossy`: replace invalid
    characters instead of refusing the record; `strip_html`: read texts in HTML as a browser shows
    them; `max_doc_bytes`: refuse records with more text, such as "100M"; `on_repeat`: which records
    count if an id is repeated: "keep" (each), "last", "first" or "fail" (the first; later records
    fail); by default keep for `duplicates`, last for `index`.

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
    strip_html: bool = False
    max_doc_bytes: int | str = MAX_DOC_BYTES
    on_repeat: OnRepeat | None = None

    def __post_init__(self) -> None:
        check_fields(self, ("id", "text", *DIALECT))
        list_text_columns(self)  # which may be written wrong
        kind = type(self.source).__name__
        reason = f"`source` is a {kind}"
        step = "pass it directly"
        require(kind not in ("Collection", "Source"), reason, step, code="argument-type")


DIALECT = tuple(each.name for each in fields(Source))[3:]


def list_text_columns(source: Source) -> tuple[str, ...] | None:
    """List the columns of the text of a source, None if it names none.

    Raises ArgumentError if a line of names has a quote without an end.
    """
    names = _split_text("text", source.text, OneOrMore)
    return None if names is None else listed(names)


def _split_text(name: str, value: Any, hint: Any) -> Any:
    """Return names for a text that has several of them, and any other value as it is."""
    has_comma = name in NAMES and isinstance(value, str) and "," in value
    is_split = has_comma and any(get_origin(kind) is Sequence for kind in list_kinds(hint))
    return split_names([value]) if is_split else value


def checked(verb: Callable[P, R], find_type: Callable[[str], Any] | None = None) -> Callable[P, R]:
    """Make a function raise ArgumentError if an argument does not fit its annotation.

    `find_type` finds a type that its module imports for type checkers alone.
    """

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        signature, hints = inspect_function(verb, find_type)
        _check(verb, signature, hints, args, kwargs)
        for name, value in kwargs.items():
            kwargs[name] = _split_text(name, value, hints.get(name))
        return verb(*args, **kwargs)

    return call


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
        raise ArgumentError(
            f"{called}: {reason}",
            about,
            code="argument-missing" if "missing" in reason else "argument-unknown",
        ) from None
    bound |= bound.pop(further, {})
    if isinstance(source := bound.get("source"), Source):
        for name in ("id", "text"):
            is_once = name not in bound or getattr(source, name) is None
            reason = f"`{name}` is also in nd.Source"
            require(is_once, reason, "remove one of the two", code="arguments-conflict")
    for name, value in bound.items():
        hint = hints.get(name, hints.get(further, Any))
        if not fits(value, hint):
            raise refuse_value(name, value, hint)
        if name in QUERIES and value is not None:
            check_queries(name, value)


def _check_names(called: str, hints: Mapping[str, Any], names: Iterable[str]) -> None:
    """Refuse an argument that what is called does not have, and name the one that is meant."""
    for name in names:
        if name not in hints:
            step = suggest(name, "options", _list_names(called[:-2], hints), "nd")
            reason = f"{called} has no argument `{name}`"
            raise ArgumentError(reason, step or f"see help({called[:-2]})", code="argument-unknown")


def _list_names(verb: str, hints: Mapping[str, Any]) -> dict[str, str]:
    """Say of each name that a function takes, or took, how it is typed, for `suggest`."""
    existing = {name: f"`{name}`" for name in hints}
    for name, hint in hints.items():
        choices = [get_args(kind) for kind in list_kinds(hint) if get_origin(kind) is Literal]
        for each in chain.from_iterable(choices):
            existing[f"{name} {each}"] = f"`{name}={each!r}`"
    of_source = ("id", "text", *DIALECT) if "source" in hints else ()
    settings = next(
        (kind for kind in list_kinds(hints.get("settings")) if is_dataclass(kind)), None
    )
    of_settings = [each.name for each in fields(settings)] if settings else []
    others = {name: f"`settings={{'{name}': ...}}`" for name in of_settings}
    others |= {name: f"`nd.Source(PATH, {name}=...)`" for name in of_source}
    gone = read_words("gone")
    others |= gone.get(verb.rpartition(".")[2], {}) | gone.get(verb, {})
    return others | existing
