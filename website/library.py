"""The reference of the library, from the public names and their docstrings."""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import neardup_solr as nd
from neardup_solr.cli.options import BY_NAME
from neardup_solr.reports import Table

# A collection is opened and passed to functions, which are written with its methods; the base of
# results with tables has no use of its own.
NOT_FOR_USERS = {"Collection", "Graph", "Origin", "Prepared", "Table"}
# What belongs to a collection, beside the functions; results are all other classes.
OF_A_COLLECTION = ("connect", "Collection", "Settings")
LONGEST_DEFAULT = 40
LONGEST_SIGNATURE = 80
# The names on these pages: those of `nd`, and all errors, of which `nd` has the usual ones.
ERRORS = {
    name: kind
    for name, kind in vars(nd.errors).items()
    if inspect.isclass(kind) and issubclass(kind, nd.NeardupError)
}
PUBLIC = {name: getattr(nd, name) for name in nd.__all__} | ERRORS
OURS = {what.__module__ for what in PUBLIC.values()}
STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}

METAVAR = re.compile(r"^[A-Z_|]+: ")
# The parameters that are no options of the command, or are others there.
PARAMETERS = {
    "collection": "Collection, from `connect`.",
    "source": "Path or paths, an open file, DataFrame, Arrow table, iterable or `Source`.",
    "duplicates.source": "Collection, or a path, DataFrame, Arrow table, iterable or `Source`.",
    "id": 'Column of the id; ":row" numbers the records.',
    "text": "Column of the text, or several, which are joined.",
    "keep": "Further columns to keep.",
    "settings": "Settings of the signatures, as a mapping or `Settings`.",
    "on_error": "Called with each record that cannot be used.",
    "on_progress": "Called with the `Progress` of each stage.",
    "on_address": "Called with the address of the page as soon as it is known.",
    "on_ready": "Called with the address when requests are answered.",
    "on_started": "Called with the embedded server if `connect` starts it.",
    "answers": "File of answers to obey.",
    "create": "Create the collection if it does not exist.",
    "heap": 'Memory of the embedded Solr, such as "1g".',
    "ca": "File of certificates to trust.",
    "cert": "File of the client certificate, or (certificate, key).",
    "headers": "Headers of each request.",
    "proxy": "Address of a proxy.",
    "plain_http": "Send credentials over plain http to another machine.",
    "sample": "Documents to sample.",
    "threads": "Threads that compute and send.",
    "from_id": "First id.",
    "to_id": "Last id.",
    "later_only": "Report each pair once, with the later id.",
    "who": "Name that is noted with the answers.",
    "reach": "Distance from the threshold within which pairs are asked about.",
    "most": "Most matches that a decision names.",
    "by": "[Terms](../duplicates.md) that candidates share.",
    "search.by": "Terms that candidates share; by default the first that the collection has.",
    "report.by": "Terms that candidates share; by default the first that the collection has.",
    "measure": "[Measure](../measures.md) of similarity.",
    "equal": 'Near-duplicates also agree in "numbers", or in all matches of a regular expression.',
    "same": "Fields or columns that have to be equal, such as a tenant.",
    "fq": "Solr filter queries; other documents do not count.",
    "model": "File of a model, from `tune`.",
    "job": "Folder of the checkpoint and of the dead letters.",
    "fields": 'Columns compared apart, such as {"name": "text", "zip": "exact"}.',
    "max_documents": "Most documents of a request.",
    "concurrency": "Requests to Solr at the same time.",
    "found": "Result to compare: pairs, `Duplicates`, `Report` or a file.",
    "as_given": "Do not complete the known pairs by transitivity.",
    "clusters": "Clusters to mark; none removes all marks.",
    "miss": "Share of the pairs to catch that may be missed.",
    "load": "Share of the pairs to pass over that may be found.",
    "seed": "Seed of the sample.",
}

GROUPS = {
    "functions": "Functions",
    "collection": "Collections",
    "results": "Records and results",
    "errors": "Errors",
}


def group_of(name: str) -> str:
    """The page on which a public name is told."""
    what = PUBLIC[name]
    if name in OF_A_COLLECTION:
        return "collection"
    if inspect.isclass(what) and issubclass(what, BaseException):
        return "errors"
    return "results" if inspect.isclass(what) else "functions"


def names_of(group: str) -> list[str]:
    """The public names of a page: those of a collection as listed, all others by alphabet."""
    names = [name for name in PUBLIC if group_of(name) == group]
    return [n for n in OF_A_COLLECTION if n in names] if group == "collection" else sorted(names)


def pages() -> dict[str, str]:
    """The pages by their names."""
    return {group: page(group) for group in GROUPS} | {"types": types_page()}


def page(group: str) -> str:
    """A page of the reference: a section for each of its names."""
    names = names_of(group)
    told = [told_of(name, PUBLIC[name]) for name in names]
    return "\n\n".join([f"# {GROUPS[group]}", *told]) + "\n"


def types_page() -> str:
    """A page of the reference: choices, then the classes of `nd.types`."""
    kinds = held_types()
    rows = [
        f"| `{name}` | {', '.join(f'`{choice!r}`' for choice in typing.get_args(kind))} |"
        for name, kind in sorted(kinds.items())
        if typing.get_origin(kind) is typing.Literal
    ]
    listed = "\n".join(["| choice | |", "|---|---|", *rows])
    classes = {name: getattr(nd.types, name) for name in sorted(nd.types.__all__)}
    sections = [
        told_of(name, kind)
        for name, kind in classes.items()
        if inspect.isclass(kind) and kind is not Any
    ]
    others = [
        f"| `{name}` | {_first_sentence(kind)} |"
        for name, kind in sorted(kinds.items())
        if inspect.isclass(kind) and kind is not Any and name not in classes
    ]
    inner = "\n".join(["## Other types", "", "| class | |", "|---|---|", *others])
    return "\n\n".join(["# Types", listed, *sections, inner]) + "\n"


def held_types() -> dict[str, Any]:
    """The types of ours in annotations of what is public, and of what these types hold in turn."""
    held = dict(PUBLIC)
    held |= {name: getattr(nd.signature, name) for name in ("decode", "estimate_jaccard")}
    waiting = [what for name, what in held.items() if name not in NOT_FOR_USERS]
    public = {*held}
    held |= {name: getattr(nd.types, name) for name in nd.types.__all__}
    while waiting:
        for annotation, module in _annotations_of(waiting.pop()):
            for node in ast.walk(ast.parse(annotation)):
                name = getattr(node, "id", getattr(node, "attr", ""))
                place = _place_of(module, name)
                if place is not None and name not in held:
                    held[name] = vars(place)[name]
                    if name not in NOT_FOR_USERS:
                        waiting.append(held[name])
    return {name: kind for name, kind in held.items() if name not in public | NOT_FOR_USERS}


def _annotations_of(what: Any) -> Iterator[tuple[str, types.ModuleType]]:
    """The annotations of a function, or of a class's fields, properties and methods."""
    if inspect.isclass(what):
        for base in what.__mro__:
            if base.__module__.startswith("neardup_solr"):
                for name, kind in vars(base).get("__annotations__", {}).items():
                    if not name.startswith("_"):
                        yield getattr(kind, "__forward_arg__", kind), sys.modules[base.__module__]
                for name, member in vars(base).items():
                    if not name.startswith("_") or name in ("__next__", "__iter__"):
                        ways = ("fget", "func", "__func__")  # of properties and class methods
                        inner = (getattr(member, way) for way in ways if hasattr(member, way))
                        plain = next(inner, member)
                        yield from _annotations_of(None if inspect.isclass(plain) else plain)
    elif inspect.isfunction(what):
        function = inspect.unwrap(what)
        for kind in function.__annotations__.values():
            yield kind, sys.modules[function.__module__]


def _place_of(module: types.ModuleType, name: str) -> types.ModuleType | None:
    """The module of ours that defines a name; None if it is not ours."""
    if name not in _imported(module):
        return module if not inspect.ismodule(getattr(module, name, module)) else None
    place, original = _imported(module)[name]
    if not place.startswith("neardup_solr") or f"{place}.{original}" in sys.modules:
        return None
    return _place_of(import_module(place), original)


@cache
def _imported(module: types.ModuleType) -> dict[str, tuple[str, str]]:
    """The names that a module imports, also for type checkers alone: their module and name."""
    tree = ast.parse(inspect.getsource(module))
    imports = [one for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)]
    return {
        alias.asname or alias.name: (one.module or "", alias.name)
        for one in imports
        for alias in one.names
    }


def told_of(name: str, what: Any) -> str:
    """All about one public name, under a heading of its own."""
    return "\n\n".join([f"## {name}", *_body(name, what)])


def _body(name: str, what: Any) -> Iterator[str]:
    if inspect.isclass(what) and what.__mro__[1] is not object:
        bases = ", ".join(_link(base.__name__) for base in what.__bases__)
        yield f"A subclass of {bases}."
    yield _told(what)
    rows = [_row(parameter, what, name) for parameter in parameters_of(what)]
    if rows and inspect.isfunction(what):
        yield "\n".join(["| parameter | type | default | |", "|---|---|---|---|", *rows])
    elif rows:
        yield "\n".join(["| attribute | type |", "|---|---|", *rows])
    if inspect.isclass(what) and name not in NOT_FOR_USERS:
        yield from _members(name, what)


def _members(of: str, what: type) -> Iterator[str]:
    """The public properties of a class in a table, and each of its methods under a heading.

    Those of `Table` are the same in every class, and have a line.
    """
    bases = [base for base in what.__mro__ if base is what or base.__name__ in NOT_FOR_USERS]
    members = {name: m for base in reversed(bases) for name, m in vars(base).items()}
    documented = {n: m for n, m in members.items() if not n.startswith("_") and inspect.getdoc(m)}
    values = [
        f"| `{name}` | {_escaped(' '.join(_told(member).split()))} |"
        for name, member in documented.items()
        if isinstance(member, property | cached_property)
    ]
    if values:
        yield "\n".join(["| property | |", "|---|---|", *values])
    if issubclass(what, Table):
        yield "Tables: `write(path)`, `to_pandas()`, `to_polars()`, `to_arrow()`."
    for name, member in documented.items():
        plain = inspect.unwrap(getattr(member, "__func__", member))
        if callable(plain) and not inspect.isclass(plain) and vars(Table).get(name) is not member:
            signature = signature_of(plain, is_method=not isinstance(member, staticmethod))
            yield f"### {of}.{name}{signature}\n\n{_told(plain)}"


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
    line = f"({', '.join(parts)})"
    return line if len(line) <= LONGEST_SIGNATURE else "(\n    " + ",\n    ".join(parts) + ",\n)"


def _row(parameter: inspect.Parameter, what: Any, name: str) -> str:
    kind = _escaped(_type(parameter.annotation, what))
    spelled = f"`{STARS.get(parameter.kind, '')}{parameter.name}`"
    if not inspect.isfunction(what):
        return f"| {spelled} | {kind} |"
    default = "" if parameter.default is parameter.empty else f"`{_default(parameter)}`"
    return f"| {spelled} | {kind} | {_escaped(default)} | {_described(name, parameter.name)} |"


def _described(function: str, parameter: str) -> str:
    """The help of the option that a parameter is, in the words of Python."""
    text = PARAMETERS.get(f"{function}.{parameter}") or PARAMETERS.get(parameter)
    if text is None:
        options = BY_NAME.get(f"{function}.{parameter}") or BY_NAME[parameter]
        text = METAVAR.sub("", options[1])
        text = re.sub(r" (?:\(repeatable\b[^)]*\)|\[.*?\]|\(default[^)]*\))", "", text)
        text = re.sub(r"--([a-z-]+)", lambda option: f"`{option[1].replace('-', '_')}`", text)
    return _escaped(text)


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
        return [f"[`{part}`](types.md#types)"]
    inner = typing.get_args(value)
    is_union = isinstance(value, types.UnionType) or typing.get_origin(value) is typing.Union
    is_numpys = any("numpy" in str(each) for each in inner)  # each version spells them otherwise
    if is_union and typing.Any not in inner and not is_numpys:
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
    names = "|".join(ERRORS)
    return re.sub(rf"(?<![\w`<.])({names})(?![\w`>])", lambda found: _link(found[1]), text)


def _first_sentence(what: Any) -> str:
    first = (inspect.getdoc(what) or "").partition("\n\n")[0]
    return _escaped(" ".join(first.split()))


def _link(name: str) -> str:
    return f"[`{name}`]({group_of(name)}.md#{name.lower()})" if name in PUBLIC else f"`{name}`"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
