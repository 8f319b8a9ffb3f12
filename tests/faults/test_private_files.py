"""Files that are made beside others: who can read them, and links that somebody has put there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.faults.conftest import RecordRow
from tests.refusals import refusal

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

    def documents() -> Iterator[nd.Document]:
        yield TWINS[0]
        (folder,) = tmp_path.glob(".neardup-*")
        seen.append((mode(folder), os.listdir(folder)))
        yield TWINS[1]

    nd.signatures(documents(), tmp_path / "signatures.parquet")
    assert seen == [(0o700, ["unfinished"])]
    assert os.listdir(tmp_path) == ["signatures.parquet"]


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


def test_a_checkpoint_that_is_a_link(tmp_path: Path, row: RecordRow) -> None:
    """Its name can be told in advance, so that in a shared folder somebody may wait there."""
    link = tmp_path / "pairs.tsv.unfinished"
    link.symlink_to(tmp_path / "none")

    def interrupt(progress: nd.types.Progress) -> None:
        if progress.stage == "grouping":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nd.duplicates(TWINS, checkpoint=link, on_progress=interrupt)
    assert not link.is_symlink()
    assert (mode(link), link.stat().st_size > 0) == (0o600, True)
    assert not (tmp_path / "none").exists()
    row("S5", "a link in place of a checkpoint is replaced")


def index_bad(solr: nd.Collection, job: Path) -> None:
    """Index documents, of which the one without an id becomes a dead letter."""
    texts = [("", "the text of nothing"), ("1", "one"), ("2", "two")]
    nd.index(texts, solr, job=job, on_error=lambda _: None)


@pytest.mark.parametrize("before", [0o644, 0o666, 0o600])
def test_a_private_file_is_private_if_it_was_there(
    solr: nd.Collection, tmp_path: Path, before: int
) -> None:
    """Whoever made it: others cannot read what is added."""
    path = tmp_path / "dead-letters.jsonl"
    path.touch()
    path.chmod(before)
    index_bad(solr, tmp_path)
    assert mode(path) == 0o600
    assert "the text of nothing" in path.read_text()


def test_a_private_file_is_no_link(solr: nd.Collection, tmp_path: Path) -> None:
    """Neither to a file nor to none."""
    (tmp_path / "other").touch()
    for name in ("other", "none"):
        job = tmp_path / f"job of {name}"
        job.mkdir()
        (job / "dead-letters.jsonl").symlink_to(tmp_path / name)
        with refusal(nd.SourceError, "file-unwritable", "dead-letters.jsonl"):
            index_bad(solr, job)
    assert (tmp_path / "other").read_text() == ""
    assert not (tmp_path / "none").exists()


def test_nothing_is_left_of_what_fails(tmp_path: Path) -> None:
    """Neither the folder nor half a file; the file of before stays."""
    path = tmp_path / "signatures.parquet"
    path.write_text(SAID)

    def documents() -> Iterator[nd.Document]:
        yield from TWINS
        assert [*tmp_path.glob(".neardup-*")]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        nd.signatures(documents(), path)
    assert path.read_text() == SAID
    assert os.listdir(tmp_path) == [path.name]
