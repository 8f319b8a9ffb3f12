"""settle: send, commit and ask what is missing, until a collection has everything."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from neardup_solr.errors import SolrUnreachable
from neardup_solr.sizes import SIZES
from neardup_solr.solr.collection import Collection

ROUNDS = 8  # in a row that bring nothing, while Solr was not away
MOST_ROUNDS = 50  # in all; those of a cloud take a second each: by then it has chosen new leaders
LOST = "documents that Solr accepted are lost while a node is unavailable"
T = TypeVar("T")


def settle(
    collection: Collection,
    send: Callable[[T], object],
    missing: Callable[[], T],
    rest: T | None = None,
) -> T:
    """Send the rest, commit and ask what is missing, until nothing is, or no round brings anything.

    Returns what is missing in the end. Without a `rest`, a commit and that question come first.
    Until a SolrCloud notices that a node is away, that node leads its shards, and Solr accepts what
    they should get and drops it without a word. So a cloud gets a round a second until patience
    ends.

    Raises SolrUnreachable if anything is missing in the end, and a node of a cloud is away.
    """
    outages, is_cloud = collection.session.outages, collection.session.nodes.is_cloud is True
    began, idle, is_away = time.monotonic(), 0, False
    if rest is None:
        collection.commit()
        rest = missing()
    for _ in range(MOST_ROUNDS):
        if not rest or (idle >= ROUNDS and (is_away or not is_cloud)):
            break
        before, count = rest, outages.count
        send(rest)
        if outages.count > count:
            outages.until_ready()  # while it replays its log, a commit has no effect
        collection.commit()
        rest, was_away = missing(), outages.count > count
        idle = 0 if was_away or rest != before else idle + 1
        if is_cloud and rest:
            is_away = was_away or time.monotonic() - began >= outages.patience
            time.sleep(SIZES.settle_pause)
    if rest and is_away:
        step = "check that all nodes are running, then run this again (index with resume)"
        raise SolrUnreachable(collection.url, LOST, step)
    return rest
