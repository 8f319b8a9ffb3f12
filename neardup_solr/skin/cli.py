"""The command `neardup`: it parses, makes one library call, and prints.

Exit codes: 0 all done; 1 something failed, and a line says what; 2 wrong usage; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from neardup_solr.skin import fill, find, show, solr_commands

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Near-duplicate text detection for Apache Solr.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    find.demo,
    fill.init,
    fill.index,
    find.search,
    find.report,
    find.evaluate,
    fill.delete,
):
    app.command()(command)
app.add_typer(solr_commands.app, name="solr")


def main() -> None:
    """Run the command; an error of ours is one line on standard error and exit code 1."""
    from neardup_solr.pure.errors import NeardupError

    try:
        app()
    except NeardupError as error:
        show.say(f"neardup: {show.printable(str(error))}")
        sys.exit(1)
    except KeyboardInterrupt:
        show.say("neardup: interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of a pipe went away: nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


@app.callback(invoke_without_command=True)
def version(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)
    ] = False,
) -> None:
    """Near-duplicate text detection for Apache Solr."""
    if show_version:
        from neardup_solr import __version__

        print(__version__)
        raise typer.Exit
