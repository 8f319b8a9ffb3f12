"""The command serve: a collection over HTTP."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.typed import Typed
from neardup_solr.log import unblocked


@unblocked()
def serve(typed: Typed) -> int:
    """Serve a collection over HTTP: decisions, searches and fields."""
    target = typed.connect()

    def tell(address: str) -> None:
        show.compile_kernel()
        if not sys.stdout.isatty():  # for programs, and whoever reads it later
            with suppress(OSError):  # of a full disk, or a reader that is gone; no buffer keeps it
                os.write(sys.stdout.fileno(), f"{address}\n".encode())
        show.say(f"Serving {target.name!r} at {address}; press Ctrl-C to stop.")

    nd.serve(target, on_ready=tell, **typed.arguments)
    return 0
