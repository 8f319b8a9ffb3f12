"""The command of the parser: its options under headings, and what it says of a wrong one.

A command is a function of `neardup_solr.cli.commands`. Its options are the arguments of a function
of `neardup_solr.api`, its verb, and its own keywords.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from inspect import Parameter
from itertools import filterfalse
from operator import attrgetter
from typing import Any

import click

import neardup_solr as nd
from neardup_solr import arguments
from neardup_solr.arguments import DIALECT, Source
from neardup_solr.checks import resolve_hints
from neardup_solr.cli.parameters import make_parameter
from neardup_solr.cli.typed import Place, Typed, check_files, choose_settings
from neardup_solr.errors import CoreMissing, NeardupError, without_password
from neardup_solr.option_table import LIBRARY, OPTIONS, OTHER, PLACED, ROWS
from neardup_solr.settings import Settings
from neardup_solr.suggestions import nearest, read_words, suggest

Function = Callable[..., int]  # of a command; it returns the exit code

# Options that the help of a command lists first.
FIRST = {
    "index": "id text keep address collection resume",
    "search": "id text measure min_similarity address collection",
    "report": "output measure min_similarity query address collection",
    "duplicates": "output unique measure by min_similarity fields id text against",
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


def list_parameters(verb: str | None) -> list[Parameter]:
    """List the parameters of a function of the library, none for a command without one."""
    return [] if verb is None else [*inspect.signature(getattr(nd, verb)).parameters.values()]


def _find_type(name: str) -> Any:
    """Return a type for which no work is loaded: options are words, numbers, paths and flags."""
    return getattr(arguments, name, Any)


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


class Command(click.Command):
    """A command whose help lists its options under headings.

    In plain text, as rich takes longer to load than most commands to run.
    """

    headings: Mapping[str, str]  # of its parameters, by name
    seldom: Collection[str]  # the names of those that only --help-all shows
    verb: str | None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what was typed, and show no password of an address among it in an error."""
        try:
            return super().parse_args(ctx, [*args])
        except click.NoSuchOption as error:
            name = error.option_name  # click takes -threshold for -t with others behind it
            long = (each for each in args if each[:2] == name and each[2:3].isalpha())
            raise self.refuse_option(next(long, name).partition("=")[0], ctx) from None
        except click.UsageError as error:
            raise click.UsageError(without_password(error.format_message()), ctx) from None

    def refuse_option(self, option: str, ctx: click.Context) -> click.UsageError:
        """Make the error about an option that does not exist, or stands before the command."""
        usual = "--help-all" if HELP_ALL in self.get_params(ctx) else "--help"
        path = ctx.command_path if ctx.command is self else f"{ctx.command_path} {self.name}"
        step = suggest(option, "options", self._list_names(ctx), "neardup")
        if ctx.command is not self and any(option in param.opts for param in self.params):
            step = f"it goes after the command: {path} {option} ..."
        reason = without_password(f"No such option '{option}'")
        return click.UsageError(add_step(reason, step or f"see {path} {usual}"), ctx)

    def _list_names(self, ctx: click.Context) -> dict[str, str]:
        """Say of each name that the command takes, or took, how it is typed, for `suggest`."""
        of_verb = [each.name for each in list_parameters(self.verb)]
        of_settings = fields(Settings) if "settings" in of_verb else ()
        python = {each.name: f"settings={{'{each.name}': ...}}" for each in of_settings}
        python |= {each: f"{each}=..." for each in of_verb if each != "settings"}
        names = {each: f"use nd.{self.verb}(..., {typed})" for each, typed in python.items()}
        for param in ctx.find_root().command.params:
            step = f"it goes before the command: neardup {param.opts[0]} ..."
            names[param.name or ""] = step
        names |= read_words("gone").get(self.name or "", {})
        for param in filterfalse(attrgetter("is_eager"), self.get_params(ctx)):
            typed = _type_name(param)
            choices = param.type.choices if isinstance(param.type, click.Choice) else ()
            names |= {f"{param.name} {each}": f"'{typed} {each}'" for each in choices}
            text = f"'{typed}'" if typed[0] == "-" else f"give {typed} without an option name"
            names |= {flag.lstrip("-"): text for flag in (param.name or "", *param.opts)}
        return names

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """List the parameters, with --quiet, and --help-all if --help leaves some out."""
        params = super().get_params(ctx)
        has_more = any(self.is_seldom(param) for param in params)
        return [*params[:-1], QUIET, *([HELP_ALL] if has_more else []), params[-1]]

    def is_seldom(self, param: click.Parameter) -> bool:
        """Return True for an option that only --help-all shows."""
        return param.name in self.seldom and not param.required

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments and options, by heading."""
        every = self.get_params(ctx)
        if not ctx.meta.get(HELP_ALL.name):
            every = [param for param in every if not self.is_seldom(param)]
        for heading in OPTIONS:
            shown = [each for each in every if self.headings.get(each.name or "", OTHER) == heading]
            records = [param.get_help_record(ctx) for param in shown]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(list(filter(None, records)))

    def spell(self) -> dict[str, str]:
        """Spell each argument of the library as it is typed, or by its name if none is."""
        verbs = ["connect", self.verb] if self.verb else ["connect"]
        spelled = {param.name: param.name for verb in verbs for param in list_parameters(verb)}
        return spelled | {param.name or "": _type_name(param) for param in self.params}


def _type_name(param: click.Parameter) -> str:
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name


def add_step(problem: str, step: str) -> str:
    """Put a problem and a step, or a question, in a line."""
    return f"{problem}. D{step[1:]}" if step.startswith("did you mean") else f"{problem}; {step}"


def _print_all_help(ctx: click.Context, param: click.Parameter, is_set: bool) -> None:
    if is_set:
        ctx.meta[HELP_ALL.name or ""] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


QUIET = click.Option(["--quiet"], is_flag=True, help="Print only results, warnings and errors.")
HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_print_all_help,
    help="Show all options and exit.",
)  # fmt: skip


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
        paths = values.get("source") or ()
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
