"""A checkpoint gives back whole parts of its own work, whatever became of its file."""

from __future__ import annotations

import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr.checkpoint import ArrayCheckpoint, Part
from neardup_solr.errors import SourceError

WORK = "some work"
PARTS: list[Part] = [
    (np.arange(2 * n, dtype=np.uint32).reshape(n, 2), np.linspace(0, 1, n)) for n in (3, 0, 5, 2)
]


def written(path: Path, parts: list[Part] = PARTS) -> bytes:
    """A checkpoint with these parts, and its bytes."""
    with ArrayCheckpoint(path, WORK, arrays=2) as kept:
        for part in parts:
            kept.keep(part)
    return path.read_bytes()


def read(path: Path, work: str = WORK) -> list[Part]:
    """The parts that a checkpoint gives back."""
    with ArrayCheckpoint(path, work, arrays=2) as kept:
        return list(kept.kept())


def are_first(found: list[Part]) -> bool:
    """Whether these are the first ones of PARTS, unchanged."""
    return all(
        len(one) == len(other) and all(map(np.array_equal, one, other))
        for one, other in zip(found, PARTS, strict=False)
    )


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file can be longer than this, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_parts_come_back(tmp_path: Path) -> None:
    """All of them, in order, with their types; only the user can read the file."""
    written(tmp_path / "work")
    found = read(tmp_path / "work")
    assert len(found) == len(PARTS)
    assert are_first(found)
    assert [one.dtype for one in found[0]] == [np.uint32, np.float64]
    assert stat.S_IMODE((tmp_path / "work").stat().st_mode) == 0o600


def test_a_part_is_on_the_disk_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever happens to the machine afterwards: all of its bytes, with length and checksum."""
    path, synced = tmp_path / "work", []

    def sync(file: int) -> None:
        synced.append(path.read_bytes())

    monkeypatch.setattr("neardup_solr.checkpoint.os.fsync", sync)
    whole = written(path, PARTS[:1])
    assert synced == [f"{WORK}\n".encode(), whole]
    frame, body = whole[len(WORK) + 1 :][:12], whole[len(WORK) + 13 :]
    assert frame == len(body).to_bytes(8, "little") + crc32(body).to_bytes(4, "little")


def test_other_work_is_deleted(tmp_path: Path) -> None:
    """Parts of other work are of no use, also if its line begins alike."""
    whole = written(tmp_path / "work")
    for other in ("other work", "some", "some work and more"):
        assert read(tmp_path / "work", other) == []
        assert (tmp_path / "work").read_bytes() == other.encode() + b"\n"
        (tmp_path / "work").write_bytes(whole)
    assert len(read(tmp_path / "work")) == len(PARTS)


def test_cut_anywhere(tmp_path: Path) -> None:
    """However short the file is, the parts that are whole come back, and others can be added."""
    path = tmp_path / "work"
    whole = written(path)
    counts = []
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        found = read(path)
        assert are_first(found)
        counts.append(len(found))
    assert counts == sorted(counts)
    assert set(counts) == set(range(len(PARTS)))
    with ArrayCheckpoint(path, WORK, arrays=2) as kept:
        assert len(list(kept.kept())) == len(PARTS) - 1
        kept.keep(PARTS[-1])
        assert len(list(kept.kept())) == len(PARTS)
        assert are_first(list(kept.kept()))
    assert path.read_bytes() == whole


@given(st.data())
def test_damaged_anywhere(data: st.DataObject) -> None:
    """Bytes that were changed or added never make a part that was not kept."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "work"
        whole = bytearray(written(path))
        at = data.draw(st.integers(len(WORK) + 1, len(whole)))
        new = data.draw(st.binary(min_size=1, max_size=40))
        whole[at : at + data.draw(st.integers(0, 40))] = new
        path.write_bytes(whole)
        found = read(path)
        assert len(found) <= len(PARTS)
        assert are_first(found)
        assert len(read(path)) == len(found)  # what was cut off stays away


def test_a_part_that_does_not_fit(tmp_path: Path) -> None:
    """A full disk is an error; the parts before are kept, and the same part can be kept later."""
    path = tmp_path / "work"
    size = len(written(path, PARTS[:2]))
    for room in (0, 1, 50, 200):
        with (
            largest_file(size + room),
            ArrayCheckpoint(path, WORK, arrays=2) as kept,
            pytest.raises(SourceError, match="finished parts cannot be kept"),
        ):
            kept.keep(PARTS[2])
        assert path.stat().st_size == size
        assert are_first(read(path))
    with ArrayCheckpoint(path, WORK, arrays=2) as kept:
        kept.keep(PARTS[2])
    assert len(read(path)) == 3


def test_no_room_to_begin(tmp_path: Path) -> None:
    """A disk that takes nothing is told before any work is done."""
    with (
        largest_file(3),
        pytest.raises(SourceError, match="finished parts cannot be kept"),
        ArrayCheckpoint(tmp_path / "work", WORK, arrays=2),
    ):
        raise AssertionError
    with (
        pytest.raises(SourceError, match="cannot be kept"),
        ArrayCheckpoint(tmp_path / "missing" / "work", WORK, arrays=2),
    ):
        raise AssertionError
