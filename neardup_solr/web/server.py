"""The server of a local page: its port, and how it ends."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from neardup_solr.checks import require
from neardup_solr.errors import DataError
from neardup_solr.web.connection import IDLE_SECONDS, PageServer, TimedConnection

END_SECONDS = 30  # for requests under way when a signal comes
CONNECTIONS = 4096  # that are open, and as many that wait to be taken
LOGGERS = (logging.getLogger("uvicorn.error"), logging.getLogger("asyncio"))
FILES = 2 * CONNECTIONS  # that may be open, if the system allows it: each connection is one


def require_port(port: int) -> None:
    """Refuse a number that no port has, by ArgumentError."""
    step = "use 1 to 65535, or 0 for a free port"
    require(0 <= port < 1 << 16, f"`port` cannot be {port}", step, code="argument-out-of-range")


def bind(host: str, port: int, next_step: str) -> socket.socket:
    """Take a port of an address. Raises ArgumentError with `next_step` if that cannot be.

    It is a DataError if this machine does not allow it now.
    """
    require_port(port)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once only on sockets that say they are of TCP; others wait for 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(CONNECTIONS)  # who comes before the server has started, waits
    except (OSError, UnicodeError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or error
        problem = f"port {port} on {host!r} cannot be used ({reason})"
        raise DataError(problem, next_step, code="port-taken") from None
    return bound


def run(app: ASGIApp, bound: socket.socket, on_hangup: Callable[[], object] | None = None) -> None:
    """Answer requests until SIGINT or SIGTERM comes. A second signal ends at once.

    SIGHUP calls `on_hangup`. Without it, and if the terminal has gone, it ends as SIGTERM does.
    """
    config = uvicorn.Config(
        app, loop="asyncio", http=TimedConnection, ws="none", lifespan="off", log_config=None,
        access_log=False, proxy_headers=False, server_header=False, backlog=CONNECTIONS,
        limit_concurrency=CONNECTIONS, timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=END_SECONDS,
    )  # fmt: skip
    _allow_files()
    PageServer(config, on_hangup).run(sockets=[bound])


def _allow_files() -> None:
    """Let the process have as many files open as a thousand connections need."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < FILES:
            wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
