"""Columns that outgrow their share of the memory, against plain lists."""

import os
import resource
import tempfile
import tracemalloc
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr.errors import SourceError
from neardup_solr.memory import Spill
from neardup_solr.testing import SIZES
from neardup_solr.text.packed import pack

TEXTS = st.lists(st.lists(st.text(alphabet="aü漢🙂\ud800", max_size=5), max_size=4), max_size=6)


@given(TEXTS, st.integers(1, 2_000))
def test_strings_are_a_list(batches: list[list[str]], held: int) -> None:
    """However little is held in memory, every string is there, at its place."""
    with mock.patch.object(SIZES, "held_column", held), Spill() as spill:
        strings = spill.strings()
        for batch in batches:
            strings.extend(batch)
        expected = [text for batch in batches for text in batch]
        assert len(strings) == len(expected)
        assert [strings[row] for row in range(len(strings))] == expected


def test_strings_are_read_while_they_grow() -> None:
    """As a gate does with what it has let pass."""
    for held in (1 << 26, 4):
        with mock.patch.object(SIZES, "held_column", held), Spill() as spill:
            strings = spill.strings()
            strings.extend(["first", "second"])
            assert strings[0] == "first"
            strings.extend(["third"])
            assert list(strings) == ["first", "second", "third"]


def test_a_machine_that_does_not_tell_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no sysconf."""
    monkeypatch.delattr(os, "sysconf")
    assert Spill().memory > 0


@given(st.lists(st.integers(0, 4), max_size=6), st.integers(1, 200))
def test_rows_are_a_table(sizes: list[int], held: int) -> None:
    """However little is held in memory, the table is that of all blocks."""
    blocks = [np.arange(3 * size, dtype=np.uint32).reshape(-1, 3) + at for at, size in
              enumerate(sizes)]  # fmt: skip
    with mock.patch.object(SIZES, "held_column", held), Spill() as spill:
        rows = spill.rows(3, np.uint32)
        for block in blocks:
            rows.append(block)
        whole = np.concatenate([np.empty((0, 3), np.uint32), *blocks])
        assert np.array_equal(rows.table(), whole)
        assert np.array_equal(rows.table(), whole)


def test_a_large_table_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are in a file until they are looked at."""
    monkeypatch.setattr(SIZES, "held_column", 1 << 20)
    block = np.zeros((1 << 8, 16), dtype=np.uint32)
    with Spill() as spill:
        rows = spill.rows(16, np.uint32)
        tracemalloc.start()
        for _ in range(1_000):
            rows.append(block)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert held < 1 << 16


@pytest.mark.parametrize("held", [1 << 20, 1 << 26])  # then in a file, and all in memory
def test_a_large_table_grows(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it is there whatever holds it, also if it is looked at meanwhile."""
    monkeypatch.setattr(SIZES, "held_column", held)
    block = np.arange(100_000, dtype=np.uint64).reshape(-1, 4)
    with Spill() as spill:
        rows = spill.rows(4, np.uint64)
        for at in range(40):
            rows.append(block + np.uint64(at))
            if at % 10 == 0:
                assert np.array_equal(rows.table()[-len(block) :], block + np.uint64(at))
        table = rows.table().reshape(40, -1, 4)
        assert (rows._file is not None) == (held == 1 << 20)
        assert all(np.array_equal(part, block + np.uint64(at)) for at, part in enumerate(table))


def test_files_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is spilled has no name in the folder, not even while it is used."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(SIZES, "held_column", 4)
    with Spill() as spill:
        strings = spill.strings()
        strings.extend(["some text"] * 10)
        assert strings[9] == "some text"
        assert list(tmp_path.iterdir()) == []


def test_no_room_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot hold the file is named, with the variable that names another."""
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
        patched.setattr(SIZES, "held_column", 4)
        reason = r"cannot hold what does not fit .* \$TMPDIR"
        with Spill(memory=4) as spill, pytest.raises(SourceError, match=reason):
            spill.strings().extend(["some text"] * 10)
    with (
        Spill() as spill,
        open("/dev/full", "wb", buffering=0) as full,
        pytest.raises(SourceError, match="No space left on device"),
    ):
        spill.write(full, b"some bytes")


@given(TEXTS, st.integers(1, 40), st.lists(st.integers(0, 30), max_size=6))
def test_packed_strings_are_those_of_the_rows(
    batches: list[list[str]], held: int, wanted: list[int]
) -> None:
    """In whatever order they are asked for, packed or not when they came, in memory or a file."""
    texts = [[text.replace("\ud800", "") for text in batch] for batch in batches]
    with mock.patch.object(SIZES, "held_column", held), Spill() as spill:
        strings = spill.strings()
        for at, batch in enumerate(texts):
            strings.extend(pack(batch) if at % 2 else batch)
        expected = [text for batch in texts for text in batch]
        rows = [row for row in wanted if row < len(expected)]
        assert list(strings.pack(rows)) == [expected[row] for row in rows]


@pytest.mark.parametrize("room", [0, 30_000])
def test_without_room_on_the_disk_texts_are_held_in_memory(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them are there, if the disk is full at once or after some of them."""
    monkeypatch.setattr(SIZES, "held_column", 1_000)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    texts = [f"text {at}" for at in range(1_000)]
    with Spill() as spill:
        strings = spill.strings()
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
        try:
            for _ in range(10):
                strings.extend(texts)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert strings._bytes._file is None
        assert list(strings) == 10 * texts
