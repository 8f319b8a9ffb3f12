"""The commands on the embedded Solr, which other commands start by themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup_solr.cli.options import Function, ParsedOptions
from neardup_solr.errors import ServerError

if TYPE_CHECKING:
    from neardup_solr.embedded import Server

HELP = "Start, stop and look at the embedded Solr."


def start(parsed: ParsedOptions, *, port: int | None = None) -> int:
    """Start Solr, if it does not run already."""
    from neardup_solr import embedded

    server = embedded.start(port=port)
    verb = "runs" if server.started_now else "runs already"
    click.echo(
        f"Solr {server.version} {verb} at {server.url} "
        f"(pid {server.pid}, heap {server.heap}, data in {server.home})"
    )
    if server.password is not None:
        click.echo(f"It asks for a user and a password: {_user(server.password)}")
    if port not in (None, server.port):
        step = "stop it first with: neardup solr stop"
        raise ServerError("--port does not change a running Solr", step)
    return 0


def _user(password: Path) -> str:
    """The user that an embedded Solr asks for, and where the password is."""
    from neardup_solr.embedded.layout import USER

    return f"{USER}, and that in {password}"


def status(parsed: ParsedOptions) -> int:
    """Show where Solr runs and what it holds.

    The exit code is 0 if it runs and 1 if it does not.
    """
    from neardup_solr import embedded

    server = embedded.running()
    if server is None:
        if begun := embedded.starting():
            click.echo(f"Solr is starting (pid {begun.pid}); wait for it with: neardup solr start")
        else:
            click.echo("Solr does not run; start it with: neardup solr start")
        return 1
    for name, value in _facts(server):
        click.echo(f"{name:8}{value}")
    return 0


def _facts(server: Server) -> Iterator[tuple[str, str]]:
    from neardup_solr import embedded
    from neardup_solr.errors import counted

    yield "url", server.url
    yield "pid", str(server.pid)
    yield "port", str(server.port)
    yield "heap", server.heap
    yield "since", server.started
    yield "version", server.version
    if server.password is not None:
        yield "user", _user(server.password)
    yield "data", str(server.home)
    cores = embedded.cores(server)
    if cores is None:
        yield "cores", "unknown: Solr does not answer; see neardup solr logs"
    else:
        counts = (f"{name} ({counted(count, 'document')})" for name, count in cores.items())
        yield "cores", ", ".join(counts) or "none yet"


def stop(parsed: ParsedOptions) -> int:
    """Stop Solr, and keep what is indexed."""
    from neardup_solr import embedded

    click.echo("Solr is stopped" if embedded.stop() else "Solr was not running")
    return 0


def logs(parsed: ParsedOptions) -> int:
    """Print the last lines of Solr's log."""
    from neardup_solr import embedded

    last = embedded.logs()
    if not last:
        click.echo("There is no log yet; start Solr with: neardup solr start", err=True)
    click.echo(last, nl=False)
    return 0


def reset(parsed: ParsedOptions, *, yes: bool = False) -> int:
    """Stop Solr and delete everything that is indexed in it."""
    from neardup_solr import embedded
    from neardup_solr.embedded.layout import layout

    folder = layout().cores
    if not yes and not _ask(f"Delete all that is indexed in {folder}?"):
        click.echo("Nothing deleted")
        return 1
    embedded.reset()
    click.echo(f"Deleted all that was indexed in {folder}")
    return 0


def _ask(question: str) -> bool:
    if not sys.stdin.isatty():
        raise ServerError("nothing is deleted without being asked", "add --yes")
    return click.confirm(question)


COMMANDS: dict[str, Function] = {
    "start": start, "status": status, "stop": stop, "logs": logs, "reset": reset,
}  # fmt: skip
