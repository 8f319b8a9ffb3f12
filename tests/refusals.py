"""Errors as a test expects them: their class, their code, and what they name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

import neardup_solr as nd

E = TypeVar("E", bound=nd.NeardupError)


@contextmanager
def refusal(kind: type[E], code: str, *names: object) -> Iterator[pytest.ExceptionInfo[E]]:
    """Fail unless the block raises an error of this class and code that names all of these."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.code == code, str(caught.value)
    line = str(caught.value)
    assert [str(name) for name in names if str(name) not in line] == [], line
