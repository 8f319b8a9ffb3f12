"""Requests that are sent again in halves, if Solr or a server in front of it refuses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from neardup_solr import errors
from neardup_solr.errors import SolrAnswerError
from neardup_solr.solr.refusals import Sent, refuse_alone

T = TypeVar("T")
_OF_A_DOCUMENT = (400, 409, 413)  # which may be wrong, have changed, or be too large


def in_halves(
    items: Sequence[T], send: Callable[[Sequence[T]], Sent], id_of: Callable[[T], str]
) -> Sent:
    """Send items, in halves if Solr refuses them because of a single item.

    One that Solr does not take even alone is refused; `id_of` names it.
    """
    try:
        return send(items)
    except SolrAnswerError as error:
        may_be_of_one = error.status in _OF_A_DOCUMENT and error.passes is errors.Passes.NEVER
        if not (items and may_be_of_one):
            raise
        if len(items) == 1:
            return Sent(refused=(refuse_alone(id_of(items[0]), error),))
    middle = len(items) // 2
    return in_halves(items[:middle], send, id_of) | in_halves(items[middle:], send, id_of)


def ask_by_halves(ids: Sequence[str], ask: Callable[[Sequence[str]], list[T]]) -> list[T]:
    """Ask for documents by their ids, in halves if a server in front refuses so large a request."""
    try:
        return ask(ids)
    except SolrAnswerError as error:
        if error.status != 413 or len(ids) < 2:
            raise
    middle = len(ids) // 2
    return [*ask_by_halves(ids[:middle], ask), *ask_by_halves(ids[middle:], ask)]
