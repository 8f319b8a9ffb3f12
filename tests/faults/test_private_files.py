"""Files that are made beside others: who can read them, and links that somebody has put there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.files import private, write_arrays, write_lines
from tests.faults.conftest import RecordRow

SAID = "what is somebody else's\n"
TWINS = [nd.Document(id=id, text="the same few words in both of them") for id in "ab"]


def mode(path: Path) -> int:
    """The permissions of a file or a folder."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A file that is none of ours."""
    path = tmp_path / "other"
    path.write_text(SAID)
    return path


def test_nobody_reads_what_is_not_complete(tmp_path: Path) -> None:
    """While a file is written, it is in a folder of its owner's."""
    seen = []

    def lines() -> Iterator[str]:
        yield "half of it"
        (folder,) = tmp_path.glob(".neardup-*")
        seen.append(mode(folder))
        yield " and the rest"

    write_lines(tmp_path / "report", lines())
    assert seen == [0o700]
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.parametrize("before", [0o600, 0o640, 0o666, 0o755])
def test_a_file_stays_as_readable_as_it_was(tmp_path: Path, before: int) -> None:
    """A report that was hidden from others is not shown to them by the next one."""
    path = tmp_path / "pairs.tsv"
    path.touch()
    path.chmod(before)
    nd.duplicates(TWINS).write(path)
    assert mode(path) == before
    assert path.stat().st_size > 0


def test_no_link_is_followed(tmp_path: Path, other: Path, row: RecordRow) -> None:
    """A link that has the name of a report is replaced; what it leads to is left alone."""
    kinds = ("tsv", "csv", "jsonl", "parquet", "html")
    for kind in kinds:
        path = tmp_path / f"pairs.{kind}"
        path.symlink_to(other)
        nd.duplicates(TWINS).write(path)
        assert not path.is_symlink()
    assert (other.read_text(), other.stat().st_nlink) == (SAID, 1)
    row("S5", f"{len(kinds)} of {len(kinds)} kinds of outputs follow no link")


def test_a_checkpoint_that_is_a_link(tmp_path: Path, other: Path, row: RecordRow) -> None:
    """Its name can be told in advance, so that in a shared folder somebody may wait there."""
    link = tmp_path / "pairs.tsv.unfinished"
    link.symlink_to(tmp_path / "none")
    write_arrays(link, b"kind\n", {}, {})
    assert not link.is_symlink()
    assert not (tmp_path / "none").exists()
    row("S5", "a link in place of a checkpoint is replaced")


@pytest.mark.parametrize("before", [0o644, 0o666, 0o600])
def test_a_private_file_is_private_if_it_was_there(tmp_path: Path, before: int) -> None:
    """Whoever made it: others cannot read what is added."""
    path = tmp_path / "kept"
    path.touch()
    path.chmod(before)
    with open(path, "ab", opener=private) as file:
        file.write(b"more")
    assert mode(path) == 0o600


def test_a_private_file_is_no_link(tmp_path: Path, other: Path) -> None:
    """Neither to a file nor to none."""
    for target in (other, tmp_path / "none"):
        link = tmp_path / f"to {target.name}"
        link.symlink_to(target)
        with pytest.raises(OSError, match="symbolic links"):
            private(str(link), os.O_WRONLY | os.O_CREAT)
    assert other.read_text() == SAID
    assert not (tmp_path / "none").exists()


def test_nothing_is_left_of_what_fails(tmp_path: Path, other: Path) -> None:
    """Neither the folder nor half a file; the file of before stays."""

    def lines() -> Iterator[str]:
        yield "half"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_lines(other, lines())
    assert other.read_text() == SAID
    assert os.listdir(tmp_path) == ["other"]
