"""The commands on the embedded Solr, which other commands start by themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup_solr.arguments import require_positive
from neardup_solr.cli.options import Function, Given
from neardup_solr.errors import ServerError

if TYPE_CHECKING:
    from neardup_solr.embedded import Server

HELP = "Start, stop and look at the embedded Solr."


def start(
    given: Given,
    *,
    heap: str | None = None,
    port: int | None = None,
    password: bool | None = None,
    cloud: int | None = None,
    version: str | None = None,
) -> int:
    """Start Solr, if it does not run already."""
    from neardup_solr import embedded

    found = embedded.start(heap=heap, port=port, password=password, cloud=cloud, version=version)
    verb = "runs" if found.started_now else "runs already"
    if found.nodes:
        click.echo(
            f"SolrCloud {found.version} {verb} with {_nodes(found)} at {found.url} "
            f"(heap {found.heap} each, data in {embedded.data()})"
        )
    else:
        click.echo(
            f"Solr {found.version} {verb} at {found.url} "
            f"(pid {found.pid}, heap {found.heap}, data in {found.home})"
        )
    if found.password is not None:
        click.echo(f"It asks for a user and a password: {_user(found.password)}")
    if not found.started_now:
        _say_what_was_not_done(found, heap, port, password)
    return 0


def _nodes(found: Server) -> str:
    from neardup_solr.errors import counted

    return counted(len(found.nodes), "node")


def _user(password: Path) -> str:
    """The user that an embedded Solr asks for, and where the password is."""
    from neardup_solr.embedded.layout import USER

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


def status(given: Given) -> int:
    """Show where Solr runs and what it holds.

    The exit code is 0 if it runs and 1 if it does not.
    """
    from neardup_solr import embedded

    found = embedded.running()
    if found is None:
        if begun := embedded.starting():
            click.echo(f"Solr is starting (pid {begun.pid}); wait for it with: neardup solr start")
        else:
            click.echo("Solr does not run; start it with: neardup solr start")
        return 1
    for name, value in _facts(found):
        click.echo(f"{name:{13 if found.nodes else 8}}{value}")
    return 0


def _facts(found: Server) -> Iterator[tuple[str, str]]:
    from neardup_solr import embedded

    yield "url", found.url
    if found.nodes:
        yield "nodes", ", ".join(found.nodes)
        if away := [one for one in embedded.addresses() if one not in found.nodes]:
            yield "not running", f"{', '.join(away)}; start with: neardup solr start"
        yield "zookeeper", embedded.zookeeper()
        yield "heap", f"{found.heap} each"
    else:
        yield "pid", str(found.pid)
        yield "port", str(found.port)
        yield "heap", found.heap
    yield "since", found.started
    yield "version", found.version
    if found.password is not None:
        yield "user", _user(found.password)
    folder = embedded.data() if found.nodes else found.home
    yield "data", f"{folder} ({_megabytes(folder)})"
    cores, named = embedded.cores(found), "collections" if found.nodes else "cores"
    if cores is None:
        yield named, "unknown: Solr does not answer; see neardup solr logs"
    elif not cores:
        yield named, "none yet"
    else:
        yield named, ", ".join(f"{name} ({_documents(count)})" for name, count in cores.items())


def _documents(count: int) -> str:
    from neardup_solr.errors import counted

    return "cannot be searched now" if count < 0 else counted(count, "document")


def _megabytes(folder: Path) -> str:
    from neardup_solr import embedded

    return f"{embedded.size_on_disk(folder) / 1e6:,.0f} MB"


def stop(given: Given) -> int:
    """Stop Solr, and keep what is indexed."""
    from neardup_solr import embedded

    click.echo("Solr is stopped" if embedded.stop() else "Solr was not running")
    return 0


def logs(given: Given, *, lines: int = 50, follow: bool = False, node: int = 1) -> int:
    """Print the last lines of Solr's log."""
    from neardup_solr import embedded

    require_positive(lines=lines)
    last = embedded.logs(lines, node=node)
    if not last and not follow:
        click.echo("There is no log yet; start Solr with: neardup solr start", err=True)
    click.echo(last, nl=False)
    if follow:
        _follow(node)
    return 0


def _follow(node: int) -> None:
    from neardup_solr import embedded

    try:
        for line in embedded.follow(node=node):
            click.echo(line, nl=False)
    except KeyboardInterrupt:
        pass  # the usual way to leave


def reset(given: Given, *, yes: bool = False) -> int:
    """Stop Solr and delete everything that is indexed in it."""
    from neardup_solr import embedded

    folder = embedded.data()
    if not yes and not _ask(f"Delete all that is indexed in {folder} ({_megabytes(folder)})?"):
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
