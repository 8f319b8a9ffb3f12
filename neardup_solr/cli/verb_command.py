"""Make the command of a function, with the options of its verb.

A command is a function of `neardup_solr.cli.commands`. Its options are the arguments of a function
of `neardup_solr.api`, its verb, and its own keywords.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

import click

import neardup_solr as nd
from neardup_solr import argument_types
from neardup_solr.arguments import DIALECT, Source
from neardup_solr.checks import resolve_hints
from neardup_solr.cli.command import Command, list_parameters
from neardup_solr.cli.parameters import make_parameter
from neardup_solr.cli.typed import Place, Typed, check_files, choose_settings
from neardup_solr.errors import CoreMissing, NeardupError
from neardup_solr.files import TypedPaths
from neardup_solr.option_rows import ROWS
from neardup_solr.option_table import LIBRARY, OTHER, PLACED
from neardup_solr.settings import Settings
from neardup_solr.suggestions import nearest

Function = Callable[..., int]  # of a command; it returns the exit code

# Options that the help of a command lists first.
FIRST = {
    "index": "id text keep address collection resume",
    "search": "id text measure min_similarity address collection",
    "report": "output measure min_similarity query address collection",
    "duplicates": "output unique merge measure by min_similarity fields id text against",
    "annotate": "text query which address collection",
    "gate": "reject hold tag index held output measure",
    "serve": "address collection host port tokens",
    "explain": "source measure fields min_similarity",
    "review": "answers measure fields min_similarity against by",
    "tune": "answers output fields measure against",
}
# The options of the argument `settings`. Signatures know nothing of fields in Solr, and `tune` is
# asked for bands and rows.
SIGNING = ("kind", "shingle_size", "language", "family", "hashes", "bands", "rows")
SETTINGS = {
    "annotate": ("fields", *SIGNING, "measure"),
    "index": ("fields", *SIGNING, "measure"),
    "tune": ("kind", "shingle_size", "language", "family"),
}
MOST_NAMES = 8  # of collections, in a message


@dataclass(frozen=True, slots=True)
class Argument:
    """Argument of a command: the scope of its row, its parameter in Python, and its type."""

    scope: str
    parameter: Parameter
    hint: Any

    @property
    def key(self) -> str:
        """Key of its row in the table of options, "" if the command does not take it."""
        key = f"{self.scope}.{self.parameter.name}"
        key = key if key in ROWS else self.parameter.name
        return "" if ROWS.get(key, (LIBRARY,))[0] == LIBRARY else key


def _find_type(name: str) -> Any:
    """Return a type for which no work is loaded: options are words, numbers, paths and flags."""
    return getattr(argument_types, name, Any)


def _list_arguments(name: str, function: Function, verb: str | None) -> Iterator[Argument]:
    """List the arguments of a command: its own, those of its verb, a place, and of a source."""
    own = list(inspect.signature(function).parameters.values())[1:]
    hints = resolve_hints(function, _find_type)
    yield from (Argument(name, each, hints[each.name]) for each in own)
    of_verb = list_parameters(verb)
    hints = resolve_hints(inspect.unwrap(getattr(nd, verb)), _find_type) if verb else {}
    for each in of_verb:
        # A source, or a collection.
        is_any = each.name == "source" and each.annotation != "SourceLike"
        if is_any or each.name == "collection":
            yield from (_make_optional("connect", word, str) for word in ("address", "collection"))
        if each.name != "collection" and each.name not in [e.name for e in own]:
            yield Argument(name, each.replace(default=None) if is_any else each, hints[each.name])
    words = [each.name for each in of_verb]
    if "source" in words:
        parameters, hints = inspect.signature(Source).parameters, resolve_hints(Source)
        yield from (Argument(name, parameters[word], hints[word]) for word in DIALECT)
    if "settings" in words:
        hints = resolve_hints(Settings)
        shaping = SETTINGS.get(name, SIGNING)
        yield from (_make_optional("settings", word, hints[word]) for word in shaping)


def _make_optional(scope: str, name: str, hint: Any) -> Argument:
    return Argument(scope, Parameter(name, Parameter.KEYWORD_ONLY, default=None), hint)


def make_command(name: str, function: Function, verb: str | None) -> Command:
    """Make the command of a function, by its own keywords and the arguments of a verb."""
    listed = {each.key: each for each in _list_arguments(name, function, verb) if each.key}
    own = [each.name for each in inspect.signature(function).parameters.values()][1:]
    words = FIRST.get(name, "").split()
    first = [key for word in words for key in listed if listed[key].parameter.name == word]
    keys = sorted(dict.fromkeys([*first, *ROWS]), key=lambda key: ROWS[key][0] != PLACED)
    in_order = {key: listed[key] for key in keys if key in listed}
    params = {
        each.parameter.name: make_parameter(each.scope, each.parameter, each.hint, *ROWS[key])
        for key, each in in_order.items()
    }
    headings = {
        each.parameter.name: OTHER if key in first else ROWS[key][0]
        for key, each in in_order.items()
    }
    of_verb = [each.name for each in list_parameters(verb) if each.name not in own]
    shaping = SETTINGS.get(name, SIGNING) if "settings" in of_verb else ()

    def call(**typed: Any) -> None:
        def pick(names: Iterable[str]) -> dict[str, Any]:
            return {each: typed[each] for each in names if each in params}

        check_files(params.values(), typed)
        place = Place(typed.get("address"), typed.get("collection"))
        dialect = pick(DIALECT) if "source" in of_verb else {}
        values = pick(each for each in of_verb if each != "collection")
        paths = TypedPaths(values.get("source") or ())
        if paths and "source" in of_verb:
            values["source"] = Source(paths, **dialect)
        if "settings" in of_verb:
            values["settings"] = choose_settings(**pick(shaping))
        try:
            code = function(Typed(values, place, paths, dialect), **pick(own))
        except CoreMissing as error:
            _suggest_names(error, place, may_create=verb in ("index", "gate"))
            raise
        if code:
            raise click.exceptions.Exit(code)

    made = Command(name, callback=call, params=[*params.values()], help=inspect.getdoc(function))
    made.verb = verb
    made.headings = headings
    made.seldom = {each.parameter.name for key, each in in_order.items() if ROWS[key][1].seldom}
    return made


def _suggest_names(error: CoreMissing, place: Place, *, may_create: bool) -> None:
    """Name in an error the collections that may be meant, if their server tells of them."""
    from neardup_solr.solr import admin

    try:
        names = sorted(admin.names(place.connect()))
    except NeardupError:
        return
    if near := nearest(error.name, names):
        create = error.next_step.removeprefix("check the name, or ")
        meant = f"did you mean {near[0]!r}?"
        error.next_step = f"{meant} If not, {create}" if may_create else meant
    elif names and not may_create:
        error.next_step = f"available: {', '.join(names[:MOST_NAMES])}"
