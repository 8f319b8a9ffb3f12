"""The command `neardup`: it parses, makes one library call, and prints.

Exit codes: 0 all done; 1 something failed, and a line says what; 2 wrong usage; 3 the answer is
no (lint, gate --strict); 4 stopped before the end, and --resume goes on; 130 interrupted.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Annotated, TextIO, cast

import typer

from neardup_solr.cli import show
from neardup_solr.cli.grouped import START, Command, Group
from neardup_solr.cli.interrupts import INTERRUPTED, say_interrupted

if TYPE_CHECKING:
    from neardup_solr.errors import NeardupError

WRONG_USAGE = 2
STOPPED = 4  # before the end, and --resume goes on
CA = "REQUESTS_CA_BUNDLE"  # the variable that `solr.session` looks at first
PLAIN_HTTP = "NEARDUP_SOLR_PLAIN_HTTP"  # the variable that `solr.credentials` looks at

# Each is a function in the module of its name; `dead-letters` and `solr` have commands of their
# own.
COMMANDS = (
    "demo", "init", "lint", "annotate", "strip", "doctor", "index", "search", "report",
    "duplicates", "gate", "explain", "evaluate", "delete", "signatures", "tune", "reband",
    "dead-letters", "solr",
)  # fmt: skip


def parser(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The parser of the commands of these names; each of them takes time to build."""
    app = typer.Typer(
        cls=Group,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # whose import takes longer than the help
        help="Near-duplicate text detection for Apache Solr.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(version)
    for name in names:
        module = import_module(f"neardup_solr.cli.{name.replace('-', '_')}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(cls=Command)(getattr(module, name))
    return app


def main() -> None:
    """Run the command; an error of ours is one line on standard error, and an exit code."""
    _open_streams()
    errors = sys.stderr
    code = _run(sys.argv[1:])
    if code == INTERRUPTED:
        say_interrupted(errors)
    _flush()
    if code:
        os._exit(code)  # at once: threads may still wait for a Solr that hangs


def _open_streams() -> None:
    """Open the null device for a closed standard stream; escape what output cannot encode.

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
    """Write what is buffered; what cannot be written is dropped, as the error is told by now."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(words: Sequence[str]) -> int:
    """The exit code of a command whose errors are told."""
    from neardup_solr.errors import ArgumentError, NeardupError

    try:
        return _usage(words) or _call(words)
    except NeardupError as error:
        command = next((word for word in words if word in COMMANDS), "")  # after --ca FILE
        show.say(f"neardup: {show.printable(_told(error, command))}")
        if isinstance(error, ArgumentError):
            return WRONG_USAGE
        return STOPPED if _say_notes(error, command) else 1
    except KeyboardInterrupt as interrupt:
        _say_notes(interrupt, next((word for word in words if word in COMMANDS), ""))
        return INTERRUPTED
    except BrokenPipeError:
        pass  # The reader of a pipe is gone: nobody is there to tell.
    except OSError as error:
        place = show.printable(str(error.filename or "standard output"))
        show.say(f"neardup: {place}: {error.strerror or error}; check free space and permissions")
    return 1


def _say_notes(error: BaseException, command: str) -> bool:
    """Say how to go on after an error, if it tells; whether it does."""
    notes = getattr(error, "__notes__", ())
    for note in notes:
        show.say(show.printable(in_options(note, command)))
    return bool(notes)


def _told(error: NeardupError, command: str) -> str:
    """An error in the command's words, but for the name of the file or address it is about."""
    message = str(error)
    about = getattr(error, "source", None) or getattr(error, "url", None)
    if about is None or not message.startswith(about):
        about = ""
    return about + in_options(message.removeprefix(about), command)


# What the library calls otherwise than the command.
_FLAGS = {
    "id": "--id-field", "text": "--text-field", "address": "--solr",
    "source": "SOURCE", "rows": "--band-rows", "found": "--report", "known": "KNOWN", "ids": "IDS",
}  # fmt: skip
# An argument in backticks; first what a message quotes, in which nothing is an argument.
_ARGUMENT = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)|`(\w+)`""")


def in_options(message: str, command: str) -> str:
    """A message of the library in the command's words: `min_similarity` is --min-similarity."""
    known, arguments = _options_of(command), _arguments_of(command)

    def flag(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return found[0]
        own = f"--{name.replace('_', '-')}"
        flags = [each for each in (own, _FLAGS.get(name)) if each in known]
        if flags:
            return str(flags[0])
        return name if name in arguments else found[0]

    return _ARGUMENT.sub(flag, message)


def _options_of(command: str) -> set[str]:
    """The options of a command, and its arguments in capitals."""
    if command not in COMMANDS:
        return set()
    found = typer.main.get_command(parser([command]))
    inner = getattr(found, "commands", {}).get(command, found)
    inners = [inner, *getattr(inner, "commands", {}).values()]  # the latter of groups
    named = {option for one in inners for each in one.params for option in each.opts}
    return {
        "--ca",
        "--plain-http",
        *(each if each.startswith("-") else each.upper() for each in named),
    }


def _arguments_of(command: str) -> set[str]:
    """What the library's function for a command takes."""
    import neardup_solr as nd

    verbs = [nd.connect, getattr(nd, command.replace("-", "_"), None)]
    return {name for verb in verbs if callable(verb) for name in signature(verb).parameters}


def _usage(words: Sequence[str]) -> int:
    """2 if an argument is not text: Solr and its client take nothing else."""
    odd = next((word for word in words if not _is_text(word)), None)
    if odd is None:
        return 0
    show.say(
        f"neardup: {show.printable(odd)} is not valid in this locale's encoding; use UTF-8 for both"
    )
    return WRONG_USAGE


def _is_text(word: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in word)


def _call(words: Sequence[str]) -> int:
    named = [word for word in words[:1] if word in COMMANDS]
    try:
        parser(named or COMMANDS)()
    except SystemExit as left:
        sys.stdout.flush()
        return left.code if isinstance(left.code, int) else 0
    return 0


def version(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
    ca: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="PEM file of the CA of your Solr; goes before the command."
        ),
    ] = None,
    plain_http: Annotated[
        bool,
        typer.Option(
            "--plain-http",
            help="Send a password over http:// to another machine; goes before the command.",
        ),
    ] = False,
) -> None:
    """Near-duplicate text detection for Apache Solr."""
    if ca is not None:
        os.environ[CA] = ca
    if plain_http:
        os.environ[PLAIN_HTTP] = "1"
    if show_version:
        from neardup_solr import __version__

        print(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(START, end="")
        raise typer.Exit
