"""The command signatures: of a source, to a Parquet file."""

from __future__ import annotations

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import INCOMPLETE
from neardup_solr.cli.typed import Typed


def signatures(typed: Typed) -> int:
    """Write the signatures of a source to a Parquet file.

    The file includes the bands. No Solr is needed.
    """
    settings = nd.Settings(**typed["settings"])
    typed = typed.replace(settings=settings)
    show.say_if_typed(typed.paths, "documents")
    show.compile_kernel()
    with show.watch() as watching:
        written = nd.signatures(**watching, **typed.arguments)
    show.say(
        f"Read {show.counted(written.read, 'record')} = {written.written:,} written"
        f" + {written.failed:,} failed [{settings.fingerprint}]. Wrote {typed['output']}."
    )
    return INCOMPLETE if written.failed else 0
