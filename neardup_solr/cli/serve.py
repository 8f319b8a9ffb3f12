"""The command serve: the gate, the search and the fields of a text over HTTP."""

from __future__ import annotations

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.options import ParsedOptions


def serve(parsed: ParsedOptions) -> int:
    """Serve a collection over HTTP: decisions about new documents, searches, fields of texts."""
    target = parsed.connect()

    def tell(address: str) -> None:
        show.compile_kernel()
        show.say(f"Serving {target.name!r} at {address}; Ctrl-C ends it.")

    nd.serve(target, on_ready=tell, **parsed)
    return 0
