"""The patience with which a verb waits for a Solr that is away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from neardup_solr.solr.collection import Collection
from neardup_solr.units import in_seconds


@contextmanager
def keep_patience(sources: Iterable[object], patience: float | str) -> Iterator[None]:
    """Within the block, wait for the Solr of each collection among sources while it is away.

    `patience` is in seconds, or a time such as "5m"; see `Outages.waited_for`.
    """
    seconds = in_seconds(patience, "patience")
    with ExitStack() as blocks:
        for source in sources:
            if isinstance(source, Collection):
                blocks.enter_context(source.session.outages.waited_for(seconds))
        yield
