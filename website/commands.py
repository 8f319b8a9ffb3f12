"""The reference of the commands, from the parser that parses them.

What is written by hand about a command, with its examples, is docs/commands/WORD.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import groupby

import click

from neardup_solr import cli
from neardup_solr.cli import main
from neardup_solr.cli.main import COMMANDS, GROUPS
from neardup_solr.cli.options import Command, Placed


def commands() -> dict[str, Command]:
    """Every command by its words, those of `neardup solr` included."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = main.command(name)
        inner = command.commands if isinstance(command, click.Group) else {}
        found |= {f"{name} {word}": each for word, each in inner.items()} or {name: command}
    return {words: each for words, each in found.items() if isinstance(each, Command)}


def page_name(words: str) -> str:
    """The page of a command, without its suffix: `solr start` is told in solr-start.md."""
    return words.replace(" ", "-")


def page() -> str:
    """The page about all commands: a list in the groups of `--help`, exit codes, each command."""
    parts = ["# Options of the commands"]
    for heading, names in GROUPS.items():
        rows = [
            f"| [`neardup {words}`](#neardup-{page_name(words)}) | {_first(command)} |"
            for words, command in commands().items()
            if words.split()[0] in names
        ]
        parts.append("\n".join([f"## {heading}", "", "| command | |", "|---|---|", *rows]))
    told = [told_of(words, command) for words, command in commands().items()]
    return "\n\n".join([*parts, _codes(), *told]) + "\n"


def told_of(words: str, command: Command) -> str:
    """All that `--help` says of a command, under a heading of its own."""
    summary, _, more = (command.help or "").partition("\n\n")
    link = f"[Explanations and examples](../commands/{page_name(words)}.md)."
    usage = f"```text\n{usage_of(words, command)}\n```"
    parts = [f"## neardup {words}", f"{_plain(summary)} {link}", usage, _plain(more)]
    return "\n\n".join(part for part in [*parts, *_tables(words, command)] if part)


def usage_of(words: str, command: Command) -> str:
    """The line that `--help` begins with."""
    return command.get_usage(_context(words, command)).removeprefix("Usage: ")


def _context(words: str, command: Command) -> click.Context:
    return click.Context(command, info_name=f"neardup {words}")


def _first(command: Command) -> str:
    return _plain((command.help or "").partition("\n\n")[0])


def _plain(text: str) -> str:
    return " ".join(text.split()) if "\n\n" not in text else text


def _tables(words: str, command: Command) -> Iterator[str]:
    """A table of the arguments, and one for each group of options as `--help` has them."""
    context = _context(words, command)
    for heading, parameters in groupby(command.params, command.heading):
        rows = [f"| {_spelled(one, context)} | {_told(one)} |" for one in parameters]
        yield "\n".join([f"| {heading} | |", "|---|---|", *rows])


def _spelled(parameter: click.Parameter, context: click.Context) -> str:
    """How an option is typed, with what it takes, as `--help` says."""
    if isinstance(parameter, Placed):
        return f"`{parameter.human_readable_name}`"
    names = ", ".join(f"`{name}`" for name in parameter.opts)
    takes = parameter.make_metavar(context).replace("|", "\\|")
    return names if getattr(parameter, "is_flag", False) else f"{names} `{takes}`"


def _told(parameter: click.Parameter) -> str:
    """The help of an option, and its default."""
    if not isinstance(parameter, click.Option):
        return getattr(parameter, "text", "").replace("|", "\\|")
    facts = []
    if parameter.multiple:
        facts.append("repeatable")
    default = _default(parameter)
    if default:
        facts.append(f"default {default}")
    if parameter.required:
        facts.append("required")
    told = (parameter.help or "").replace("|", "\\|")
    facts = [fact for fact in facts if fact not in told.lower()]
    return f"{told} ({'; '.join(facts)})" if facts else told


def _default(parameter: click.Option) -> str:
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    value = "" if parameter.required else parameter.default
    value = ", ".join(value) if isinstance(value, tuple) else value
    return "" if value in (None, False, "") else f"`{value}`"


def _codes() -> str:
    """The exit codes, as the package of the command tells them."""
    _, _, told = inspect.cleandoc(cli.__doc__ or "").partition("\n\n")
    codes = [code.split(maxsplit=1) for code in " ".join(told.split()).rstrip(".").split("; ")]
    rows = "\n".join(f"| {code} | {meaning} |" for code, meaning in codes)
    return f"## Exit codes\n\n| code | meaning |\n|---|---|\n{rows}"
