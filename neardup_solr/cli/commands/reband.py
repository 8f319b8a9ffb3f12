"""The command reband: other bands from stored signatures."""

from __future__ import annotations

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.typed import Typed


def reband(typed: Typed) -> int:
    """Change the bands of a collection, computed from its stored signatures.

    No text is read.
    """
    target = typed.connect()
    show.compile_kernel()
    with show.watch() as watching, show.say_if_interrupted():
        changed = nd.reband(target, on_progress=watching["on_progress"], **typed.arguments)
    documents = show.counted(changed, "document")
    bands = f"{typed['bands']} bands of {typed['rows']} rows"
    show.say(f"{documents} of {target.url} changed to {bands}.")
    return 0
