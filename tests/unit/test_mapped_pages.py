"""Pages of arrays that lie in files."""

from __future__ import annotations

import mmap
import sys
import tempfile

import numpy as np
import pytest

from neardup_solr.mapped_pages import release_pages
from neardup_solr.testing import SIZES

ROWS = 1 << 14


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of small files are released, too."""
    monkeypatch.setattr(SIZES, "kept_pages", 0)


def test_values_are_the_same_after_they_left_memory() -> None:
    """Of the whole array, of a part that begins within a page, and of an empty one."""
    values = np.arange(ROWS * 8, dtype=np.uint32).reshape(ROWS, 8)
    with tempfile.TemporaryFile() as file:
        file.write(values.data)
        file.flush()
        mapped = np.asarray(np.memmap(file, np.uint32, "r")).reshape(ROWS, 8)
        for part in (slice(None), slice(3, 5), slice(1000, ROWS), slice(0, 0), slice(ROWS, ROWS)):
            assert mapped[part].sum() == values[part].sum()
            release_pages(mapped[part])
            assert (mapped == values).all()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted as Linux does it")
def test_memory_is_given_back() -> None:
    """What is looked at counts as memory of the process, and no longer once it is released."""

    def read_resident() -> int:
        with open("/proc/self/statm") as counts:
            return int(counts.read().split()[1]) * mmap.PAGESIZE

    with tempfile.TemporaryFile() as file:
        file.truncate(64 << 20)
        mapped = np.asarray(np.memmap(file, np.uint64, "r"))
        assert mapped.sum() == 0
        before = read_resident()
        release_pages(mapped)
        assert before - read_resident() > 48 << 20


def test_arrays_in_memory_stay() -> None:
    """Nothing is done for them, nor for a part of one."""
    values = np.arange(ROWS)
    release_pages(values)
    release_pages(values[5:])
    assert values.sum() == sum(range(ROWS))
