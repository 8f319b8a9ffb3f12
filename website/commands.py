"""The pages of the commands, from the parser that parses them.

What is written by hand about a command, with its examples, is docs/commands/WORD.md.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer.main

from neardup_solr.cli import main
from neardup_solr.cli.grouped import GROUPS

OTHER = "Options"  # those that stand in no group of their own

Command = Any  # typer brings a parser of its own, whose classes are not public


def commands() -> dict[str, Command]:
    """Every command by its words, those of `neardup solr` included."""
    found: dict[str, Command] = {}
    group: Any = typer.main.get_command(main.parser())
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        found |= {f"{name} {word}": each for word, each in inner.items()} if inner else {}
        if not inner:
            found[name] = command
    return found


def page_name(words: str) -> str:
    """The page of a command, without its suffix: `solr start` is told in solr-start.md."""
    return words.replace(" ", "-")


def page(words: str, command: Command, by_hand: str) -> str:
    """A command's page: help and usage, what is written by hand, options, exit codes."""
    title, _, told = by_hand.partition("\n")
    summary, _, more = inspect.cleandoc(command.help).partition("\n\n")
    usage = f"```text\n{usage_of(words, command)}\n```"
    parts = [
        title,
        _plain(summary),
        usage,
        _plain(more),
        told.strip(),
        *_tables(words, command),
        _codes(),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def overview(by_hand: str) -> str:
    """The page about all commands: what is written by hand, then the groups that `--help` has."""
    parts = [by_hand.strip()]
    for heading, names in GROUPS.items():
        rows = [
            f"| [`neardup {words}`](commands/{page_name(words)}.md) | {_first(command)} |"
            for words, command in commands().items()
            if words.split()[0] in names
        ]
        parts.append("\n".join([f"## {heading}", "", "| command | |", "|---|---|", *rows]))
    pages = "\n".join(f"commands/{page_name(words)}" for words in commands())
    return "\n\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{pages}\n```", ""])


def usage_of(words: str, command: Command) -> str:
    """The line that `--help` begins with."""
    usage: str = command.get_usage(_context(words, command))
    return usage.removeprefix("Usage: ")


def _context(words: str, command: Command) -> Any:
    return command.context_class(command, info_name=f"neardup {words}")


def _first(command: Command) -> str:
    return _plain(inspect.cleandoc(command.help).partition("\n\n")[0])


def _plain(text: str) -> str:
    """A help text as Markdown; click's mark for "leave as it is" goes."""
    return " ".join(text.replace("\b", "").split()) if "\n\n" not in text else text


def _tables(words: str, command: Command) -> Iterator[str]:
    """A table of the arguments, and one for each group of options as `--help` has them."""
    context = _context(words, command)
    groups: dict[str, list[str]] = {"Arguments": [], OTHER: []}
    for parameter in command.params:
        if not _is_help(parameter):
            row = f"| {_spelled(parameter, context)} | {_told(parameter)} |"
            groups.setdefault(_heading(parameter), []).append(row)
    for heading, rows in groups.items():
        if rows:
            yield "\n".join([f"## {heading}", "", "| | meaning |", "|---|---|", *rows])


def _heading(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    return getattr(parameter, "rich_help_panel", None) or OTHER


def _is_help(parameter: Any) -> bool:
    return "--help" in parameter.opts


def _spelled(parameter: Any, context: Any) -> str:
    """How an option is typed, with what it takes, as `--help` says."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.human_readable_name}`"
    names = ", ".join(f"`{name}`" for name in parameter.opts)
    takes = str(parameter.make_metavar(context)).replace("|", "\\|")
    return names if parameter.is_flag else f"{names} `{takes}`"


def _told(parameter: Any) -> str:
    """The help of an option, its choices and its default."""
    facts = []
    choices = getattr(parameter.type, "choices", ())
    if choices:
        facts.append("one of " + ", ".join(f"`{_value(choice)}`" for choice in choices))
    if getattr(parameter, "multiple", False):
        facts.append("repeatable")
    default = _default(parameter)
    if default:
        facts.append(f"default {default}")
    if parameter.param_type_name == "option" and parameter.required:
        facts.append("required")
    told = (parameter.help or "").replace("|", "\\|")
    facts = [fact for fact in facts if fact not in told.lower()]
    return f"{told} ({'; '.join(facts)})" if facts else told


def _default(parameter: Any) -> str:
    shown = getattr(parameter, "show_default", True)
    if isinstance(shown, str):
        return shown
    value = _value(parameter.default)
    if value in (None, False, (), [], "") or callable(value) or parameter.required:
        return ""
    return f"`{value}`"


def _value(value: Any) -> Any:
    """A choice or a default as it is typed: of an enumeration, its value."""
    return getattr(value, "value", value)


def _codes() -> str:
    """The exit codes, as the module of the command line tells them."""
    told = re.search(r"Exit codes: (.*?)\.\n", main.__doc__ or "", flags=re.DOTALL)
    if told is None:
        raise ValueError("neardup_solr/cli/main.py does not tell the exit codes")
    codes = [code.split(maxsplit=1) for code in " ".join(told[1].split()).split("; ")]
    rows = "\n".join(f"| {code} | {meaning} |" for code, meaning in codes)
    return f"## Exit codes\n\n| code | meaning |\n|---|---|\n{rows}"
