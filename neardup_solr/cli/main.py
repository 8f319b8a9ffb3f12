"""The command `neardup`: it parses, makes one library call, and prints."""

from __future__ import annotations

import inspect
import io
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.command import QUIET, Command, add_step
from neardup_solr.cli.exit_codes import INCOMPLETE, INTERRUPTED, STOPPED, WRONG_USAGE, code_of
from neardup_solr.cli.parameters import FilePath
from neardup_solr.cli.verb_command import make_command
from neardup_solr.suggestions import read_words, suggest

if TYPE_CHECKING:
    from neardup_solr.errors import NeardupError

# The variables that `solr.access` and `solr.credentials` look at, and the options that set them.
VARIABLES = {
    "REQUESTS_CA_BUNDLE": ("--ca", "PEM file of the certificate authority of your Solr"),
    "NEARDUP_SOLR_CERT": ("--cert", "PEM file of a client certificate and its key"),
    "NEARDUP_SOLR_PLAIN_HTTP": ("--plain-http", "Allow a password over http:// to another machine"),
}

START = """\
Find the near-duplicates in a file, without Solr:
  neardup duplicates ads.csv --id-field ad --text-field title,body

Index a file into a collection, then find the near-duplicates of one document, or of all:
  neardup index ads.csv --id-field ad --text-field title,body
  neardup search --id 17
  neardup duplicates -o report.html

Check your own Solr, before anything is changed:
  neardup lint -c articles --solr http://localhost:8983/solr --text-field body

Try it on sample listings: neardup demo. List all commands: neardup --help
"""
# The commands by heading.
GROUPS = {
    "A file or a collection": (
        "duplicates",
        "passages",
        "explain",
        "review",
        "answer",
        "tune",
        "signatures",
    ),
    "Solr collections": ("demo", "index", "search", "report", "evaluate", "delete", "dead-letters"),
    "New documents": ("gate", "serve"),
    "Your own Solr": ("lint", "init", "annotate", "doctor", "reband", "strip"),
    "The embedded Solr": ("solr",),
}
COMMANDS = [name for names in GROUPS.values() for name in names]
# The commands with commands of their own: `COMMANDS` of their module has the functions.
INNER = {
    "solr": "Start, stop or inspect the embedded Solr.",
    "dead-letters": "Show the records that could not be indexed, or index them again.",
}
# The function of the library, if it has another name than the command.
VERBS = {
    "demo": None, "evaluate": "report", "dead-letters show": "dead_letters",
    "dead-letters retry": "retry",
}  # fmt: skip


class Group(click.Group):
    """Commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of the commands."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what is typed before the command, where none of its options may be."""
        try:
            return super().parse_args(ctx, [*args])
        except click.NoSuchOption as error:
            names = (each for each in args if each in self.list_commands(ctx))
            made = self.get_command(ctx, next(names, "-"))
            if isinstance(made, Command):
                raise made.refuse_option(error.option_name, ctx) from None
            raise

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name."""
        made = self.commands.get(cmd_name)
        if made or cmd_name.startswith("-") or ctx.resilient_parsing:
            return made
        names = self.list_commands(ctx)
        step = suggest_command(cmd_name, names) or f"choose one of {', '.join(names)}"
        raise click.UsageError(add_step(f"No such command {cmd_name!r}", step), ctx)


def suggest_command(word: str, names: Sequence[str]) -> str:
    """Say which of these commands is meant, or "" if none is near."""
    if Path(word).exists() or word.endswith((".csv", ".tsv", ".txt", ".jsonl", ".json", ".gz")):
        return f"did you mean 'duplicates {word}'?"
    inner = {each: f"'{group} {each}'" for group in INNER for each in _module(group).COMMANDS}
    outer = (*COMMANDS, "--help", "--version")
    for each in (*outer, *"|".join(read_words("commands").values()).split("|")):
        if each.split()[0] in outer:
            inner[each] = f"'neardup {each}'"
    return suggest(word, "commands", inner | {each: f"'{each}'" for each in names})


class Neardup(Group):
    """The command itself: alone it shows how to begin, and its help lists commands in groups."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of all commands."""
        return COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name, and load only its module."""
        return command(cmd_name) if cmd_name in COMMANDS else super().get_command(ctx, cmd_name)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the options."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings."""
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, summarize(name)) for name in names])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and tell of an interrupt, of which click would say "Aborted!"."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            _say_notes(interrupt, ctx.invoked_subcommand or "")
            ctx.exit(INTERRUPTED)


def _module(name: str) -> ModuleType:
    return import_module(f"neardup_solr.cli.commands.{name.replace('-', '_')}")


def summarize(name: str) -> str:
    """Summarize a command in a line."""
    help = INNER.get(name) or inspect.getdoc(getattr(_module(name), name)) or ""
    return help.partition("\n")[0]


@cache
def command(name: str) -> click.Command:
    """Make the command of a name, or the group of commands."""
    module = _module(name)
    if name not in INNER:
        return make_command(name, getattr(module, name), VERBS.get(name, name))
    inner = [
        make_command(word, function, VERBS.get(f"{name} {word}"))
        for word, function in module.COMMANDS.items()
    ]
    return Group(name, commands=inner, help=INNER[name])


def parser() -> click.Group:
    """Make the parser of all commands."""
    made = Neardup(
        "neardup",
        callback=_prepare,
        help="Find near-duplicate texts in files and in Apache Solr.",
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    version = "Print the version and exit."
    click.version_option(nd.__version__, message="%(version)s", help=version)(made)
    for flag, text in VARIABLES.values():
        is_file = flag != "--plain-http"
        kind = {"type": FilePath(), "metavar": "FILE"} if is_file else {"is_flag": True}
        made.params.append(click.Option([flag], help=f"{text} (before the command).", **kind))
    made.params.append(QUIET)
    return made


def _prepare(**typed: str | bool | None) -> None:
    """Set the variables that the options ask for, and show how to begin without a command."""
    for variable, (flag, _) in VARIABLES.items():
        value = typed[flag[2:].replace("-", "_")]
        if value not in (None, False):
            os.environ[variable] = "1" if value is True else str(value)
    if click.get_current_context().invoked_subcommand is None:
        print(START, end="")


def main() -> int:
    """Run the command, tell an error of ours by one line, and return the exit code.

    Raises KeyboardInterrupt if it was interrupted.
    """
    _open_streams()
    code = _run(sys.argv[1:])
    if code == INTERRUPTED:
        raise KeyboardInterrupt  # of which `__main__` tells
    _flush()
    return code


def _open_streams() -> None:
    """Open the null device for a closed standard stream, and escape what output cannot encode.

    In the order of their numbers, so that no file or connection opened later gets one of them.
    """
    sys.stdin = sys.stdin or _nothing("r")
    sys.stdout = sys.stdout or _nothing("w")
    sys.stderr = sys.stderr or _nothing("w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _nothing(mode: str) -> TextIO:
    return cast(TextIO, open(os.devnull, mode, encoding="utf-8"))


def _flush() -> None:
    """Write what is buffered, and drop what cannot be written, as the error is told by now."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(words: Sequence[str]) -> int:
    """Run a command, tell of its error, and return the exit code."""
    import logging

    from neardup_solr.errors import NeardupError

    name = next((word for word in words if word in COMMANDS), "")  # after --ca FILE

    def spell(record: logging.LogRecord) -> bool:
        record.msg, record.args = in_options(record.getMessage(), name), ()
        return True

    (log := logging.getLogger("neardup_solr")).addFilter(spell)
    try:
        return _check_words(words) or _call(words)
    except NeardupError as error:
        show.warn(f"neardup: {show.printable(_describe_error(error, name))}")
        _say_notes(error, name)
        return code_of(error)
    except BrokenPipeError:
        return INCOMPLETE  # The reader of a pipe is gone: nobody is there to tell.
    except OSError as error:
        place = show.printable(str(error.filename or "standard output"))
        show.warn(f"neardup: {place}: {error.strerror or error}; check free space and permissions")
        return STOPPED
    finally:
        log.removeFilter(spell)


def _say_notes(error: BaseException, name: str) -> None:
    """Say how to go on after an error, if it tells."""
    for note in getattr(error, "__notes__", ()):
        show.warn(show.printable(in_options(note, name)))


def _describe_error(error: NeardupError, name: str) -> str:
    """Put an error in the command's words, but for the file or address it is about."""
    message = str(error)
    about = getattr(error, "source", None) or getattr(error, "url", None)
    if about is None or not message.startswith(about):
        about = ""
    return about + in_options(message.removeprefix(about), name)


def in_options(message: str, name: str) -> str:
    """Put a message of the library in a command's words: `min_similarity` is --min-similarity."""
    spelled: dict[str, str] = {}
    if name in COMMANDS:
        made = command(name)
        for each in made.commands.values() if isinstance(made, click.Group) else [made]:
            spelled |= each.spell() if isinstance(each, Command) else {}
        spelled |= {flag[2:].replace("-", "_"): flag for flag, _ in VARIABLES.values()}
    return show.spell(message, spelled)


def _check_words(words: Sequence[str]) -> int:
    """Refuse an argument that is not text, as Solr and its client take nothing else."""
    try:
        " ".join(words).encode()
    except UnicodeEncodeError as error:
        odd = f"neardup: {show.printable(error.object[error.start : error.end])}"
        show.warn(f"{odd} is not valid in this locale's encoding; use UTF-8 for text and locale")
        return WRONG_USAGE
    return 0


def _call(words: Sequence[str]) -> int:
    try:
        parser().main(list(words), prog_name="neardup")
    except SystemExit as left:
        sys.stdout.flush()
        return left.code if isinstance(left.code, int) else 0
    return 0
