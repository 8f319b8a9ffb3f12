"""Generate the reference of the commands from their parser.

The part that is written by hand, with examples, is docs/commands.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import groupby

import click

from neardup_solr.cli import main
from neardup_solr.cli.command import Command
from neardup_solr.cli.exit_codes import MEANINGS
from neardup_solr.cli.main import COMMANDS, GROUPS
from neardup_solr.cli.parameters import Placed
from neardup_solr.option_table import OPTIONS, OTHER
from website import escape_stars


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
    """The page about all commands: a list as in `--help`, exit codes, shared options, commands."""
    parts = ["# Options of the commands"]
    for heading, names in GROUPS.items():
        rows = [
            f"| [`neardup {words}`](#neardup-{page_name(words)}) | {_first(command)} |"
            for words, command in commands().items()
            if words.split()[0] in names
        ]
        parts.append("\n".join([f"## {heading}", "", "| command | |", "|---|---|", *rows]))
    sections = [section(words, command) for words, command in commands().items()]
    return "\n\n".join([*parts, _codes(), _shared_options(), *sections]) + "\n"


def section(words: str, command: Command) -> str:
    """The help of a command under a heading, with the options that it does not share."""
    summary, _, more = (command.help or "").partition("\n\n")
    link = f"[Examples](../commands.md#neardup-{page_name(words)})."
    has_places = any(isinstance(each, Placed) for each in command.params)
    usage = f"```text\n{usage_of(words, command)}\n```" if has_places else ""
    rows = [*_rows(words, command)]
    own = "\n".join(f"- {spelled}: {text}" for _, spelled, text, shared in rows if not shared)
    names = [
        ", ".join(re.findall(r"^`[A-Z_]+`|`--?[a-z].*?`", spelled))
        for _, spelled, _, shared in rows
        if shared
    ]
    parts = [f"## neardup {words}", f"{_plain(summary)} {link}", usage, _plain(more)]
    parts.append(own)
    parts.append(f"[Shared](#shared-options): {', '.join(names)}." if names else "")
    return "\n\n".join(part for part in parts if part)


def _shared_options() -> str:
    """The options that mean the same in several commands, in the groups of `--help`."""
    headings: dict[str, str] = {}  # of rows; a command may list an option under OTHER
    for words, command in commands().items():
        for heading, spelled, text, shared in _rows(words, command):
            row = f"- {spelled}: {text}"
            if shared and (heading != OTHER or row not in headings):
                headings[row] = heading
    groups = {each: [row for row in headings if headings[row] == each] for each in OPTIONS}
    parts = ["## Shared options", "These options mean the same in all commands that share them."]
    for heading, rows in groups.items():
        parts += [f"### {heading}", "\n".join(rows)] if rows else []
    return "\n\n".join(parts)


def _rows(words: str, command: Command) -> Iterator[tuple[str, str, str, bool]]:
    """Yield heading, spelling and help of each parameter, and True if other commands share it."""
    context = _context(words, command)
    for heading, parameters in groupby(
        command.params, lambda each: command.headings.get(each.name or "", OTHER)
    ):
        for parameter in parameters:
            row = _spelled(parameter, context), _told(parameter)
            yield heading, *row, row in _shared()


@cache
def _shared() -> set[tuple[str, str]]:
    """The spelling and help of parameters of several commands, the most frequent one of a name."""
    rows = Counter(
        (_spelled(parameter, _context(words, command)), _told(parameter))
        for words, command in commands().items()
        for parameter in command.params
    )
    by_name = {_name(row[0]): row for row, count in reversed(rows.most_common()) if count > 1}
    return set(by_name.values())


def _name(spelled: str) -> str:
    """The first spelling of an option, as code."""
    return f"`{spelled.split('`')[1]}`"


def usage_of(words: str, command: Command) -> str:
    """The line that `--help` begins with."""
    return command.get_usage(_context(words, command)).removeprefix("Usage: ")


def _context(words: str, command: Command) -> click.Context:
    return click.Context(command, info_name=f"neardup {words}")


def _first(command: Command) -> str:
    return _plain((command.help or "").partition("\n\n")[0])


def _plain(text: str) -> str:
    text = escape_stars(text)
    return " ".join(text.split()) if "\n\n" not in text else text


def _spelled(parameter: click.Parameter, context: click.Context) -> str:
    """How an option is typed, with what it takes, as `--help` says."""
    if isinstance(parameter, Placed):
        return f"`{parameter.human_readable_name}`"
    names = ", ".join(f"`{name}`" for name in parameter.opts)
    takes = parameter.make_metavar(context)
    return names if getattr(parameter, "is_flag", False) else f"{names} `{takes}`"


def _told(parameter: click.Parameter) -> str:
    """The help of an option, and its default."""
    if not isinstance(parameter, click.Option):
        return getattr(parameter, "text", "")
    facts = []
    if parameter.multiple:
        facts.append("repeatable")
    default = _default(parameter)
    if default:
        facts.append(f"default {default}")
    if parameter.required:
        facts.append("required")
    told = escape_stars(parameter.help or "")
    facts = [fact for fact in facts if fact not in told.lower()]
    return f"{told} ({'; '.join(facts)})" if facts else told


def _default(parameter: click.Option) -> str:
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    value = "" if parameter.required else parameter.default
    value = ", ".join(value) if isinstance(value, tuple) else value
    return "" if value in (None, False, "") else f"`{value}`"


def _codes() -> str:
    """The table of exit codes."""
    rows = "\n".join(f"| {code} | {meaning} |" for code, meaning in MEANINGS.items())
    return f"## Exit codes\n\n| code | meaning |\n|---|---|\n{rows}"
