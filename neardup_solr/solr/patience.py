"""The patience with which a verb waits for a Solr that is away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from neardup_solr.errors import Passes, SolrError
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.faults import is_of_solr
from neardup_solr.units import in_seconds


@contextmanager
def keep_patience(
    sources: Iterable[object], patience: float | str, fq: Sequence[str] = ()
) -> Iterator[None]:
    """Within the block, wait for the Solr of each collection among sources while it is away.

    `patience` is in seconds, or a time such as "5m"; see `Outages.waited_for`. Filters (`fq`) that
    Solr cannot read are refused before: its status is often 500, as if that might pass.
    """
    seconds = in_seconds(patience, "patience")
    for source in sources:
        if fq and isinstance(source, Collection):
            try:
                source.count(fq)
            except SolrError as error:
                if is_of_solr(error) and error.passes is not Passes.ALWAYS:
                    raise
    with ExitStack() as blocks:
        for source in sources:
            if isinstance(source, Collection):
                blocks.enter_context(source.session.outages.waited_for(seconds))
        yield
