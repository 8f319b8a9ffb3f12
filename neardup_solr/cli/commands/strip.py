"""The command strip: the fields of neardup away from documents."""

from __future__ import annotations

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import INCOMPLETE
from neardup_solr.cli.typed import Typed


def strip(typed: Typed) -> int:
    """Remove the neardup fields from all documents.

    Marks are also removed. All other fields stay unchanged.
    """
    target = typed.connect()
    with show.watch() as watching, show.say_if_interrupted():
        done = nd.strip(target, **watching, **typed.arguments)
    failed = f", {done.failed:,} failed" if done.failed else ""
    show.say(f"{show.counted(done.stripped, 'document')} stripped{failed} ({done.seconds:.1f} s).")
    return INCOMPLETE if done.failed else 0
