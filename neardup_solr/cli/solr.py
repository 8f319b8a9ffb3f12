"""`neardup solr`: control the embedded Solr; other commands start it by themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup_solr.errors import ServerError

if TYPE_CHECKING:
    from neardup_solr.embedded import Server

app = typer.Typer(
    help="Start, stop and look at the embedded Solr.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Heap = Annotated[
    str | None, typer.Option(help="Java's memory, such as 512m or 2g.", show_default="1g")
]
Port = Annotated[
    int | None,
    typer.Option(help="Port on 127.0.0.1.", show_default="the last one, else a free one"),
]
Password = Annotated[
    bool | None,
    typer.Option(
        "--password/--no-password",
        help="Ask for a user and a password, generated and kept in a file.",
        show_default="as before, at first none",
    ),
]


@app.command()
def start(heap: Heap = None, port: Port = None, password: Password = None) -> None:
    """Start Solr, if it does not run already."""
    from neardup_solr import embedded

    found = embedded.start(heap=heap, port=port, password=password)
    verb = "runs" if found.started_now else "runs already"
    typer.echo(
        f"Solr {embedded.SOLR_VERSION} {verb} at {found.url} "
        f"(pid {found.pid}, heap {found.heap}, data in {found.home})"
    )
    if found.password is not None:
        typer.echo(f"It asks for a user and a password: {_user(found.password)}")
    if not found.started_now:
        _say_what_was_not_done(found, heap, port, password)


def _user(password: Path) -> str:
    """The user that an embedded Solr asks for, and where the password is."""
    from neardup_solr.embedded.password import USER

    return f"{USER}, and that in {password}"


def _say_what_was_not_done(
    found: Server, heap: str | None, port: int | None, password: bool | None
) -> None:
    """Refuse options for a running Solr instead of ignoring them."""
    is_other = (heap and heap.lower() != found.heap) or (port and port != found.port)
    if is_other or password not in (None, found.password is not None):
        raise ServerError(
            "--heap, --port and --password do not change a running Solr",
            "stop it first with: neardup solr stop",
        )


@app.command()
def status() -> None:
    """Show where Solr runs and what it holds.

    The exit code is 0 if it runs and 1 if it does not.
    """
    from neardup_solr import embedded

    found = embedded.running()
    if found is None:
        if begun := embedded.starting():
            typer.echo(f"Solr is starting (pid {begun.pid}); wait for it with: neardup solr start")
        else:
            typer.echo("Solr does not run; start it with: neardup solr start")
        raise typer.Exit(1)
    for name, value in _facts(found):
        typer.echo(f"{name:8}{value}")


def _facts(found: Server) -> Iterator[tuple[str, str]]:
    from neardup_solr import embedded

    yield "url", found.url
    yield "pid", str(found.pid)
    yield "port", str(found.port)
    yield "heap", found.heap
    yield "since", found.started
    if found.password is not None:
        yield "user", _user(found.password)
    yield "data", f"{found.home} ({_megabytes(found.home)})"
    cores = embedded.cores(found)
    if cores is None:
        yield "cores", "unknown: Solr does not answer; see neardup solr logs"
    elif not cores:
        yield "cores", "none yet"
    else:
        listed = (f"{name} ({count:,} documents)" for name, count in cores.items())
        yield "cores", ", ".join(listed)


def _megabytes(folder: Path) -> str:
    from neardup_solr import embedded

    return f"{embedded.size_on_disk(folder) / 1e6:,.0f} MB"


@app.command()
def stop() -> None:
    """Stop Solr; what is indexed stays."""
    from neardup_solr import embedded

    typer.echo("Solr is stopped" if embedded.stop() else "Solr was not running")


@app.command()
def logs(
    lines: Annotated[int, typer.Option("-n", "--lines", min=1, help="How many lines.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more.")] = False,
) -> None:
    """Print the last lines of Solr's log."""
    from neardup_solr import embedded

    last = embedded.logs(lines)
    if not last and not follow:
        typer.echo("There is no log yet; start Solr with: neardup solr start", err=True)
    typer.echo(last, nl=False)
    if follow:
        _follow()


def _follow() -> None:
    from neardup_solr import embedded

    try:
        for line in embedded.follow():
            typer.echo(line, nl=False)
    except KeyboardInterrupt:
        pass  # the usual way to leave


@app.command()
def reset(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Stop Solr and delete everything that is indexed in it."""
    from neardup_solr import embedded

    folder = embedded.data()
    if not yes:
        _ask(f"Delete all cores in {folder} ({_megabytes(folder)})?")
    embedded.reset()
    typer.echo(f"Deleted the cores in {folder}; the next start begins empty")


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise ServerError("nothing is deleted without being asked", "add --yes")
    if not typer.confirm(question):
        typer.echo("Nothing deleted")
        raise typer.Exit(1)
