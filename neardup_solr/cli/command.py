"""The command of the parser: its help under headings, and what it says of a wrong option."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from inspect import Parameter
from itertools import filterfalse, takewhile
from operator import attrgetter
from os.path import isfile
from pathlib import Path
from shlex import quote

import click

import neardup_solr as nd
from neardup_solr.errors import without_password
from neardup_solr.option_table import OPTIONS, OTHER
from neardup_solr.settings import Settings
from neardup_solr.suggestions import read_words, suggest


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


def list_parameters(verb: str | None) -> list[Parameter]:
    """List the parameters of a function of the library, none for a command without one."""
    return [] if verb is None else [*inspect.signature(getattr(nd, verb)).parameters.values()]


class Command(click.Command):
    """A command whose help lists its options under headings.

    In plain text, as rich takes longer to load than most commands to run.
    """

    headings: Mapping[str, str]  # of its parameters, by name
    seldom: Collection[str]  # the names of those that only --help-all shows
    verb: str | None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what was typed, and show no password of an address among it in an error."""
        self._refuse_file_as_id(ctx, args)
        try:
            return super().parse_args(ctx, [*args])
        except click.NoSuchOption as error:
            name = error.option_name  # click takes -threshold for -t with others behind it
            if file := next((each for each in args if each[:2] == name[:2] and isfile(each)), ""):
                reason = f"{file} looks like an option"
                step = f"if you mean the file, name it ./{quote(file)}"
                raise click.UsageError(add_step(reason, step), ctx) from None
            long = (each for each in args if each[:2] == name and each[2:3].isalpha())
            raise self.refuse_option(next(long, name).partition("=")[0], ctx) from None
        except click.UsageError as error:
            raise click.UsageError(without_password(error.format_message()), ctx) from None

    def _refuse_file_as_id(self, ctx: click.Context, args: Sequence[str]) -> None:
        """Refuse a file where an id is meant, if the command takes files by an option."""
        flags = {flag for param in self.params for flag in param.opts}
        if "--source" not in flags or {"--source", "-c", "--collection"} & {*args}:
            return
        first, *others = [*takewhile(lambda word: not word.startswith("-"), args)] or [""]
        if others and Path(first).is_file() and not Path(others[0]).exists():
            reason = f"{first} is a file, not an id"
            raise click.UsageError(add_step(reason, f"name it with --source {quote(first)}"), ctx)

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
        spelled |= {param.name or "": _type_name(param) for param in self.params}
        # What a result writes in Python is an option of the command.
        return spelled | {"write": spelled["output"]} if "output" in spelled else spelled


def _type_name(param: click.Parameter) -> str:
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name


def add_step(problem: str, step: str) -> str:
    """Put a problem and a step, or a question, in a line."""
    return f"{problem}. D{step[1:]}" if step.startswith("did you mean") else f"{problem}; {step}"
