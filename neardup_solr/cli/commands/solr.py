"""The command solr: start, stop and inspect the embedded Solr."""

from __future__ import annotations

from pathlib import Path

import click

from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import REFUSED
from neardup_solr.cli.typed import Typed
from neardup_solr.errors import ServerError


def start(typed: Typed, *, port: int | None = None) -> int:
    """Start Solr, unless it is running."""
    from neardup_solr import embedded

    server = embedded.start(port=port, tell=show.say)
    verb = "is running" if server.started_now else "is already running"
    click.echo(
        f"Solr {server.version} {verb} at {server.url} "
        f"(pid {server.pid}, heap {server.heap}, data in {server.home})"
    )
    if server.password is not None:
        click.echo(f"It requires a login: {_user(server.password)}")
    if port not in (None, server.port):
        step = "stop it first with: neardup solr stop"
        raise ServerError("--port has no effect on a running Solr", step, code="arguments-conflict")
    return 0


def _user(password: Path) -> str:
    """The user that an embedded Solr asks for, and where the password is."""
    from neardup_solr.embedded.password import USER

    return f"{USER}, with the password in {password}"


def status(typed: Typed) -> int:
    """Show the address and the collections of Solr.

    The exit code is 3 if Solr is not running.
    """
    from neardup_solr import embedded

    server = embedded.running()
    if server is None:
        if begun := embedded.starting():
            click.echo(f"Solr is starting (pid {begun.pid}); wait for it with: neardup solr start")
        else:
            click.echo("Solr is not running; start it with: neardup solr start")
        return REFUSED
    cores = embedded.cores(server)
    counts = [f"{name} ({show.counted(size, 'document')})" for name, size in (cores or {}).items()]
    unknown = "unknown: Solr does not answer; see neardup solr logs"
    user = {} if server.password is None else {"user": _user(server.password)}
    facts = {
        "url": server.url, "pid": server.pid, "port": server.port, "heap": server.heap,
        "since": server.started, "version": server.version, **user, "data": server.home,
        "cores": unknown if cores is None else ", ".join(counts) or "none yet",
    }  # fmt: skip
    for name, value in facts.items():
        click.echo(f"{name:8}{value}")
    return 0


def stop(typed: Typed) -> int:
    """Stop Solr, and keep the index."""
    from neardup_solr import embedded

    click.echo("Solr has been stopped" if embedded.stop(tell=show.say) else "Solr was not running")
    return 0


def logs(typed: Typed) -> int:
    """Print the last lines of Solr's log."""
    from neardup_solr import embedded

    last = embedded.logs()
    if not last:
        click.echo("There is no log yet; start Solr with: neardup solr start", err=True)
    click.echo(last, nl=False)
    return 0


def reset(typed: Typed, *, yes: bool = False) -> int:
    """Stop Solr, and delete everything indexed in it."""
    from neardup_solr import embedded
    from neardup_solr.embedded.layout import find_layout

    folder = find_layout().cores
    if not yes:
        show.confirm(
            f"Delete everything indexed in {folder}?",
            unasked="nothing was deleted; add --yes to delete everything",
            declined="Nothing was deleted.",
        )
    embedded.reset(tell=show.say)
    click.echo(f"Deleted everything indexed in {folder}")
    return 0


COMMANDS = {"start": start, "status": status, "stop": stop, "logs": logs, "reset": reset}
