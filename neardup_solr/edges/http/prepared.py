"""Requests that differ by their body only: prepared once, then given the next body.

What requests does with address, headers, parameters and credentials takes it longer than Solr
takes to answer a small query.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from requests import PreparedRequest, Request, Session

Prepare = Callable[[Request], PreparedRequest]


class Prepared:
    """The requests that were prepared so far, by all that they are made of but the body."""

    def __init__(self) -> None:
        self._known: dict[Any, PreparedRequest] = {}

    def prepared(self, request: Request, session: Session, prepare: Prepare) -> PreparedRequest:
        """A request of this session with its own body.

        `prepare` makes those that were not met before, and those that may differ by more.
        """
        has_body = isinstance(request.data, bytes) and bool(request.data)
        # Credentials of another kind may be made of the body.
        if not has_body or not isinstance(request.auth, tuple | None):
            return prepare(request)
        params = tuple(request.params.items())
        own = tuple(request.headers.items())
        key = (
            request.method,
            request.url,
            params,
            own,
            request.auth,
            tuple(session.headers.items()),
        )
        if key not in self._known:
            self._known[key] = prepare(request).copy()
            self._known[key].body = None  # which may be large
        again = self._known[key].copy()
        again.prepare_body(request.data, None)
        return again
