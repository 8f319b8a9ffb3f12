"""Machine code is linked by ourselves, or by LLVM if there is anything else in it."""

from __future__ import annotations

import platform
import sys

import numpy as np
import pytest

from neardup_solr import kernel
from neardup_solr.kernel import MEMORY, Compiled, build, joins, object_file
from neardup_solr.kernel.store import open_store

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="LLVM links there"
)


def call_anew() -> list[float]:
    """Load an entry point once more, and call it."""
    signatures = np.array([[1, 2, 3, 4], [1, 2, 3, 5]], dtype=np.uint32)
    shares = np.empty(1)
    entry = Compiled(joins.equal_values.function, joins.equal_values.kinds)
    entry(signatures, np.array([[0, 1]], dtype=np.uint32), shares)
    return list(shares)


@pytest.fixture(autouse=True, scope="module")
def _compiled() -> None:
    """A first call compiles all entry points."""
    call_anew()


def test_either_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both run the same code."""
    assert call_anew() == [0.75]
    assert kernel._link_memory()
    monkeypatch.setattr(object_file, "link", lambda machine, known: None)
    kernel._link_memory.cache_clear()
    assert call_anew() == [0.75]
    assert not kernel._link_memory()
    kernel._link_memory.cache_clear()


def test_what_is_not_expected_is_left_to_llvm() -> None:
    """Other files, other processors, unknown functions and relocations."""
    code = open_store().read(*MEMORY)
    assert code is not None
    known = object_file.find_c()
    assert set(object_file.link(code.machine, known) or ()) == {
        "NRT_MemInfo_alloc_aligned",
        "NRT_MemInfo_call_dtor",
    }
    assert object_file.link(b"", known) is None
    assert object_file.link(b"#!/bin/sh\n", known) is None
    assert object_file.link(code.machine[:18] + b"\xb7" + code.machine[19:], known) is None
    assert object_file.link(code.machine, {}) is None


@pytest.mark.parametrize("module", build.MODULES)
def test_each_entry_point_is_linked(module: str) -> None:
    """None needs LLVM."""
    known = object_file.find_c() | kernel._link_memory()
    for entry in build.list_entries(module):
        code = open_store().read(entry.name, repr(entry.kinds))
        assert code is not None
        assert code.symbol in (object_file.link(code.machine, known) or {})
