"""Requests that are prepared once, and given the next body."""

from collections.abc import Iterator

import pytest
from requests import PreparedRequest, Request, Session
from requests.auth import AuthBase

from neardup_solr.solr.session import CheckedSession

URL = "http://127.0.0.1:8983/solr/name/select"


class Signature(AuthBase):
    """Credentials that are made of the body."""

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """Sign a request."""
        request.headers["Signature"] = f"of {request.body!r}"
        return request


@pytest.fixture
def session() -> Iterator[CheckedSession]:
    """A session, which sends nothing here."""
    with CheckedSession() as session:
        session.headers["X-Own"] = "1"
        yield session


def asked(body: bytes | str, **more: object) -> Request:
    """A request as the client makes it."""
    headers = {"Content-Type": "application/json"}
    return Request("POST", URL, headers=headers, data=body, params={"wt": "json"}, **more)


def as_sent(request: PreparedRequest) -> tuple[object, ...]:
    """All that goes over the line."""
    return request.method, request.url, dict(request.headers), request.body


@pytest.mark.parametrize("auth", [None, ("user", "pass word")])
def test_every_request_is_as_requests_prepares_it(
    session: CheckedSession, auth: tuple[str, str] | None
) -> None:
    """Only the body and its length differ from the first one; nothing is left of that."""
    for body in (b'{"query": "*:*"}', b"{}", b'{"query": "\xc3\xa9"}', b""):
        request = asked(body, auth=auth)
        made = session.prepare_request(request)
        assert as_sent(made) == as_sent(Session.prepare_request(session, request))


def test_what_else_differs_is_prepared_anew(session: CheckedSession) -> None:
    """Another header of the session, another password or parameter is never an older one's."""
    requested = [asked(b"{}"), asked(b"{}", auth=("a", "b")), asked(b"{}", auth=("a", "c"))]
    requested += [Request("POST", URL, data=b"{}", params={"wt": "xml"})]
    for value in ("1", "2"):
        session.headers["X-Own"] = value
        for request in requested:
            made = session.prepare_request(request)
            assert as_sent(made) == as_sent(Session.prepare_request(session, request))


def test_credentials_made_of_the_body_are_made_each_time(session: CheckedSession) -> None:
    """A signature is that of its own body."""
    for body in (b"1", b"2"):
        request = asked(body, auth=Signature())
        made = session.prepare_request(request)
        assert made.headers["Signature"] == f"of {body!r}"


def test_texts_and_forms_are_left_to_requests(session: CheckedSession) -> None:
    """What is not bytes has to be encoded, and says so in its headers."""
    for body in ("text", "more text"):
        made = session.prepare_request(asked(body))
        assert made.body is not None
        assert len(made.body) == int(made.headers["Content-Length"])
