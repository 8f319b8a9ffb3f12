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
from collections.abc import Collection, Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import neardup_solr as nd
from neardup_solr.option_rows import find_row
from neardup_solr.reports.result_table import Table
from website import escape_stars

# A collection is opened and passed to functions, which are written with its methods; the base of
# results with tables has no use of its own.
NOT_FOR_USERS = {"Collection", "Grouped", "Origin", "Prepared", "Table"}
# What modules take of results, and users do not.
INNER = {"endpoint", *import_module("neardup_solr.verbs.duplicates.result").INNER}
# The properties of a collection that users read.
OF_COLLECTIONS = ("base", "name", "session", "names")
# With arguments, whose defaults are told.
MADE_BY_USERS = ("Settings", "Source")
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

# The functions whose tables are complete, then others that a further function may refer to.
WHOLE = ("duplicates", "index", "search")
REFERRED_TO = (*WHOLE, "annotate", "gate")
# A docstring's list of attributes: a paragraph such as "`id`: its id; `text`: its text".
ATTRIBUTE = re.compile(r"(?:^|;\s+)`(\w+)`: ")
INTRODUCTIONS = {
    "functions": "Functions of `nd` (`import neardup_solr as nd`), with defaults as in Python. For"
    " types without a link, see the [library page](../library.md).",
    "errors": "Errors of `nd.errors`; the most common ones are also in `nd`.",
    "types": "Types in `nd.types`, for annotations. The last table lists types that only appear as"
    " attributes or parameters.",
}
CODES = (
    "The `code` of an error says what is wrong in a word that stays the same when a message is"
    " reworded. Several classes may have the same code."
)
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
    introduction = [INTRODUCTIONS[group]] if group in INTRODUCTIONS else []
    introduction += [codes()] if group == "errors" else []
    return "\n\n".join([f"# {GROUPS[group]}", *introduction, *told]) + "\n"


def codes() -> str:
    """The table of the codes of errors."""
    rows = [f"| `{code}` | {sentence} |" for code, sentence in nd.errors.CODES.items()]
    return "\n".join(["## Codes", "", CODES, "", "| code | |", "|---|---|", *rows])


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
    return "\n\n".join(["# Types", INTRODUCTIONS["types"], listed, *sections, inner]) + "\n"


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
                    held[name] = getattr(place, name)
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
    if inspect.isfunction(what):
        kind = _escaped(_written(inspect.signature(what).return_annotation, what))
        told = _told(what)
        is_told = kind == "`None`" or "\nReturns " in told
        returns = r"\g<0>" if is_told else rf"\g<0>\n\nReturns {kind}."
        yield re.sub(r"^Example: .*$", returns, told, flags=re.MULTILINE)
        yield from _tables_of_parameters(name, what)
        return
    if issubclass(what, BaseException):
        yield f"Subclass of {', '.join(_link(base.__name__) for base in what.__bases__)}."
    told, _ = _attributes_of(what)
    if told:
        yield told
    rows = [*_rows_of_attributes(name, what)]
    if rows:
        yield "\n".join(["| attribute | type | |", "|---|---|---|", *rows])
    if name not in NOT_FOR_USERS:
        yield from _methods(name, what)


def _tables_of_parameters(name: str, what: Any) -> Iterator[str]:
    """The table of parameters, and links to the functions whose tables have the same ones."""
    own = rows_of_parameters(name)
    if own:
        yield "\n".join(["| parameter | type | |", "|---|---|---|", *own.values()])
    elsewhere: dict[str, list[str]] = {}
    for parameter in parameters_of(what):
        if parameter.name not in own:
            elsewhere.setdefault(place_of(name, parameter), []).append(f"`{parameter.name}`")
    if elsewhere:
        yield " ".join(
            f"As in {_link(other)}: {', '.join(elsewhere[other])}."
            for other in REFERRED_TO
            if other in elsewhere
        )


@cache
def rows_of_parameters(name: str) -> dict[str, str]:
    """The rows of a function's table, by parameter."""
    what = PUBLIC[name]
    found = parameters_of(what)
    return {p.name: _row(p, what, name) for p in found if place_of(name, p) == name}


def place_of(name: str, parameter: inspect.Parameter) -> str:
    """The function whose table has this parameter of a function: itself, or one it refers to."""
    if name in WHOLE or parameter.default is parameter.empty:
        return name
    row = _row(parameter, PUBLIC[name], name)
    others = REFERRED_TO[: REFERRED_TO.index(name)] if name in REFERRED_TO else REFERRED_TO
    return next((o for o in others if rows_of_parameters(o).get(parameter.name) == row), name)


def _attributes_of(what: type) -> tuple[str, dict[str, str]]:
    """The docstring of a class without its lists of attributes, and the phrase of each of them."""
    told: list[str] = []
    phrases: dict[str, str] = {}
    names = {p.name for p in parameters_of(what)}
    for paragraph in _told(what, names).split("\n\n"):
        first, *found = ATTRIBUTE.split(" ".join(paragraph.split()))
        if found and not first:
            each_told = (each[:1].upper() + each[1:].rstrip(".") for each in found[1::2])
            phrases |= dict(zip(found[::2], each_told, strict=True))
        else:
            told.append(paragraph)
    return "\n\n".join(told), phrases


def _rows_of_attributes(name: str, what: type) -> Iterator[str]:
    """Rows of fields, but for those that an error has of its base, then of properties."""
    _, phrases = _attributes_of(what)
    bases = [base for base in what.__mro__[1:] if base.__name__ in ERRORS]
    known = {p.name for base in bases for p in parameters_of(base)} - phrases.keys()
    for parameter in parameters_of(what):
        if parameter.name not in known:
            spelled = _spelled(parameter) if name in MADE_BY_USERS else f"`{parameter.name}`"
            told = _escaped(phrases.get(parameter.name, ""))
            yield f"| {spelled} | {_type(parameter, what)} | {told} |"
    members = _members(what)
    if name == "Collection":
        members = {member: getattr(what, member) for member in OF_COLLECTIONS}
    elif name in NOT_FOR_USERS:
        return
    for member, value in members.items():
        if isinstance(value, property | cached_property):
            getter: Any = value.fget if isinstance(value, property) else value.func
            kind = _escaped(_written(inspect.signature(getter).return_annotation, getter))
            told = " ".join(_told(value, _members(what)).split())
            yield f"| `{member}` | {kind} | {_escaped(told.rstrip('.'))} |"


def _members(what: type) -> dict[str, Any]:
    """The documented members of a class, also those of bases that are told nowhere else."""
    bases = [base for base in what.__mro__ if base is what or base.__name__ in NOT_FOR_USERS]
    members = {name: m for base in reversed(bases) for name, m in vars(base).items()}
    names = (n for n in members if not n.startswith("_") and n not in INNER)
    return {n: members[n] for n in names if inspect.getdoc(members[n])}


def _methods(of: str, what: type) -> Iterator[str]:
    """Each method of a class under a heading; those of `Table` have a line in every class."""
    if issubclass(what, Table):
        yield "Tables: `write(path)`, `to_pandas()`, `to_polars()`, `to_arrow()`."
    for name, member in _members(what).items():
        plain = inspect.unwrap(getattr(member, "__func__", member))
        if callable(plain) and not inspect.isclass(plain) and vars(Table).get(name) is not member:
            signature = signature_of(plain, is_method=not isinstance(member, staticmethod))
            yield f"### {of}.{name}{signature}\n\n{_told(plain, _members(what))}"


def parameters_of(what: Any) -> list[inspect.Parameter]:
    """The parameters of a function, or those that make an instance of a class."""
    if not callable(what) or (inspect.isclass(what) and issubclass(what, enum.Enum)):
        return []
    if inspect.isclass(what) and issubclass(what, BaseException) and not _is_made_by(what):
        return []
    found = list(inspect.signature(what).parameters.values())
    return [p for p in found if not p.name.startswith("_") and p.name not in INNER]


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
    told = find_row(name, parameter.name)[1].text
    names = {p.name for p in parameters_of(what)}
    cells = (_spelled(parameter), _type(parameter, what), _escaped(_linked(told, names)))
    return f"| {' | '.join(cells)} |"


def _spelled(parameter: inspect.Parameter) -> str:
    """A parameter with its default, as code."""
    default = "" if parameter.default is parameter.empty else f"={_default(parameter)}"
    return f"`{STARS.get(parameter.kind, '')}{parameter.name}{default}`"


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


def _type(parameter: inspect.Parameter, what: Any) -> str:
    """The type of a parameter, without the None that is its default."""
    written = _written(parameter.annotation, what)
    is_left_out = parameter.default is None and (
        inspect.isfunction(what) or what.__name__ in MADE_BY_USERS
    )
    return _escaped(written.removesuffix(", `None`") if is_left_out else written)


def _written(annotation: Any, what: Any) -> str:
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


def _told(what: Any, names: Collection[str] = ()) -> str:
    """A docstring as Markdown, with links to pages and public names but for `names` of its own."""
    plain = inspect.unwrap(what) if inspect.isfunction(what) else what  # without its arguments
    text = escape_stars(inspect.getdoc(plain) or "")
    text = re.sub(r"\bdocs/([a-z]+)\.md\b", r"[\1](../\1.md)", text)
    text = re.sub(r"\bRaises\b", "**Raises**", text)
    of_function = {p.name for p in parameters_of(what)} if inspect.isfunction(what) else {*names}
    return _linked(text, of_function)


def _linked(text: str, names: Collection[str] = ()) -> str:
    """A text with links to public names, but for `names`, and to errors."""
    text = re.sub(
        r"`([A-Za-z_]+)`", lambda found: found[0] if found[1] in names else _link(found[1]), text
    )
    errors = "|".join(ERRORS)
    return re.sub(rf"(?<![\w`<.])({errors})(?![\w`>])", lambda found: _link(found[1]), text)


def _first_sentence(what: Any) -> str:
    first = escape_stars(inspect.getdoc(what) or "").partition("\n\n")[0]
    return _escaped(" ".join(first.split()))


def _link(text: str) -> str:
    """Code, with a link if it is a public name, or a list or the like of one."""
    inner = re.fullmatch(r"\w+\[(\w+)(?:, \.\.\.)?\]", text)
    name = inner[1] if inner else text
    kind = getattr(nd.types, name, Any)
    if name not in PUBLIC and (kind is Any or not inspect.isclass(kind)):
        return f"`{text}`"
    page = group_of(name) if name in PUBLIC else "types"
    return f"[`{text}`]({page}.md#{name.lower()})"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
