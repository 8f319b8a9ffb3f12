"""A collection of which a test may be sure that nothing is asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import neardup_solr as nd
from tests.faults.scripted import EMPTY, Answer, answering


@pytest.fixture
def unasked() -> Iterator[nd.Collection]:
    """A collection that was opened, and is not asked anything in the test."""
    with answering(Answer(body=EMPTY)) as (
        address,
        requests,
    ):
        collection = nd.connect(address, "ads")
        requests.clear()
        yield collection
        assert requests == []
