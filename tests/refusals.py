"""Errors as a test expects them: their class, their code, and what they name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import neardup_solr as nd


@contextmanager
def refusal(
    kind: type[nd.NeardupError], code: str, *names: object
) -> Iterator[pytest.ExceptionInfo[nd.NeardupError]]:
    """Fail unless the block raises an error of this class and code that names all of these."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.code == code, str(caught.value)
    line = str(caught.value)
    assert [str(name) for name in names if str(name) not in line] == [], line
