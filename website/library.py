"""The reference of the library, from the public names and their docstrings."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import neardup_solr as nd

# What belongs to a collection, beside the functions; results are all other classes.
OF_A_COLLECTION = ("connect", "Collection", "Settings")
LONGEST_DEFAULT = 40
OURS = {getattr(nd, name).__module__ for name in nd.__all__}
STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}

GROUPS = {
    "functions": "Functions",
    "collection": "Collections",
    "results": "Records and results",
    "errors": "Errors",
}


def group_of(name: str) -> str:
    """The page on which a public name is told."""
    what = getattr(nd, name)
    if name in OF_A_COLLECTION:
        return "collection"
    if inspect.isclass(what) and issubclass(what, BaseException):
        return "errors"
    return "results" if inspect.isclass(what) else "functions"


def names_of(group: str) -> list[str]:
    """The public names of a page: those of a collection as listed, all others by alphabet."""
    names = [name for name in nd.__all__ if group_of(name) == group]
    return [n for n in OF_A_COLLECTION if n in names] if group == "collection" else sorted(names)


def page(group: str) -> str:
    """A page of the reference: each name with its signature, its docstring and its parameters."""
    told = [told_of(name, getattr(nd, name)) for name in names_of(group)]
    return "\n\n".join([f"# {GROUPS[group]}", "```{py:currentmodule} neardup_solr\n```", *told, ""])


def overview(by_hand: str) -> str:
    """The page about the library: what is written by hand, then the names of each group."""
    parts = [by_hand.strip(), "```{py:module} neardup_solr\n```"]
    for group, title in GROUPS.items():
        rows = [f"| {_link(name)} | {_summary(name)} |" for name in names_of(group)]
        parts.append("\n".join([f"## {title}", "", "| name | |", "|---|---|", *rows]))
    pages = "\n".join(f"library/{group}" for group in GROUPS)
    return "\n\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{pages}\n```", ""])


def told_of(name: str, what: Any) -> str:
    """All about one public name, under a heading of its own."""
    inner = "\n\n".join(_body(what))
    kind = "class"
    if not inspect.isclass(what):
        kind = "function" if callable(what) else "data"
    elif issubclass(what, BaseException):
        kind = "exception"
    signature = signature_of(what) if kind != "data" else ""
    return f"## {name}\n\n``````{{py:{kind}}} {name}{signature}\n\n{inner}\n``````"


def _body(what: Any) -> Iterator[str]:
    if inspect.isclass(what) and what.__mro__[1] is not object:
        bases = ", ".join(_link(base.__name__) for base in what.__bases__)
        yield f"A subclass of {bases}."
    yield _told(what)
    rows = [_row(parameter, what) for parameter in parameters_of(what)]
    if rows:
        yield "\n".join(["| parameter | type | default |", "|---|---|---|", *rows])
    if inspect.isclass(what):
        yield from _members(what)


def _members(what: type) -> Iterator[str]:
    """The public properties and methods of a class that has them itself."""
    for name, member in vars(what).items():
        if name.startswith("_") or not inspect.getdoc(member):
            continue
        if isinstance(member, property):
            yield f"`````{{py:property}} {name}\n\n{_told(member)}\n`````"
        elif callable(inspect.unwrap(getattr(member, "__func__", member))) and not inspect.isclass(
            member
        ):
            plain = getattr(member, "__func__", member)
            signature = signature_of(plain, is_method=not isinstance(member, staticmethod))
            yield f"`````{{py:method}} {name}{signature}\n\n{_told(plain)}\n`````"


def parameters_of(what: Any) -> list[inspect.Parameter]:
    """The parameters of a function, or those that make an instance of a class."""
    if not callable(what) or (inspect.isclass(what) and issubclass(what, enum.Enum)):
        return []
    if inspect.isclass(what) and issubclass(what, BaseException) and not _is_made_by(what):
        return []
    found = list(inspect.signature(what).parameters.values())
    return [p for p in found if not p.name.startswith("_")]


def _is_made_by(error: type) -> bool:
    """Whether an error, or one that it is a kind of, says what it is made of."""
    return any("__init__" in vars(base) for base in error.__mro__ if base.__module__ in OURS)


def signature_of(what: Any, *, is_method: bool = False) -> str:
    """The signature as it is written, without types: a table beside it has those."""
    parts: list[str] = []
    is_named = False
    for parameter in parameters_of(what)[1 if is_method else 0 :]:
        if parameter.kind is parameter.KEYWORD_ONLY and not is_named:
            parts.append("*")
        is_named = is_named or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        default = "" if parameter.default is parameter.empty else f"={_default(parameter)}"
        parts.append(f"{STARS.get(parameter.kind, '')}{parameter.name}{default}")
    return f"({', '.join(parts)})"


def _row(parameter: inspect.Parameter, what: Any) -> str:
    default = "" if parameter.default is parameter.empty else f"`{_default(parameter)}`"
    kind = _escaped(_type(parameter.annotation, what))
    return f"| `{parameter.name}` | {kind} | {_escaped(default)} |"


def _default(parameter: inspect.Parameter) -> str:
    """A default in code; a factory's or a long one only by its type."""
    default = parameter.default
    if type(default).__name__ == "_HAS_DEFAULT_FACTORY_CLASS":
        return "..."
    if inspect.isfunction(default) or inspect.isclass(default):
        return str(default.__name__)
    if isinstance(default, enum.Enum):
        return str(default)
    text = repr(default)
    is_record = dataclasses.is_dataclass(default) or len(text) > LONGEST_DEFAULT
    return f"{type(default).__name__}(...)" if is_record or text.startswith("<") else text


def _type(annotation: Any, what: Any) -> str:
    """A type as it is written in the code; names that stand for others are written out."""
    if annotation is inspect.Parameter.empty:
        return ""
    if not isinstance(annotation, str):
        return f"`{inspect.formatannotation(annotation)}`"
    names = vars(sys.modules[inspect.unwrap(what).__module__])
    parts = [_written_out(part, names) for part in re.split(r" \| (?![^\[]*\])", annotation)]
    return ", ".join(dict.fromkeys(each for part in parts for each in part))


def _written_out(part: str, names: Mapping[str, Any]) -> list[str]:
    """What a part of a type allows: for a name of several types or values, each of them."""
    value = names.get(part)
    if typing.get_origin(value) is typing.Literal:
        return [f"`{choice!r}`" for choice in typing.get_args(value)]
    inner = typing.get_args(value)
    is_union = isinstance(value, types.UnionType) or typing.get_origin(value) is typing.Union
    if is_union and typing.Any not in inner:
        return [_link(_plain(each)) for each in inner]
    return [_link(part)]


def _plain(inner: Any) -> str:
    """A type without the modules of its parts."""
    text = inner.__name__ if inspect.isclass(inner) and not typing.get_args(inner) else str(inner)
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text)


def _told(what: Any) -> str:
    """A docstring as Markdown, with links to other public names and to pages."""
    text = inspect.getdoc(what) or ""
    text = re.sub(r"\bdocs/([a-z]+)\.md\b", r"[\1](../\1.md)", text)
    text = re.sub(r"\bRaises\b", "**Raises**", text)
    text = re.sub(r"`([A-Za-z_]+)`", lambda found: _link(found[1]), text)
    names = "|".join(name for name in nd.__all__ if name.endswith(("Error", "Missing", "NotFound")))
    return re.sub(rf"(?<![\w`<.])({names})(?![\w`>])", lambda found: _link(found[1]), text)


def _summary(name: str) -> str:
    first = (inspect.getdoc(getattr(nd, name)) or "").partition("\n\n")[0]
    return _escaped(" ".join(first.split()))


def _link(name: str) -> str:
    return f"{{py:obj}}`{name} <neardup_solr.{name}>`" if name in nd.__all__ else f"`{name}`"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
