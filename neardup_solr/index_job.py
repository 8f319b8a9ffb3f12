"""Checkpoints: what an interrupted run keeps, so that the next run goes on after it.

The folder of a job, a source on its way into a collection, holds `checkpoint.json`, how far
`index` is, and `dead-letters.jsonl`, the records that could not be indexed. Both are readable by
their owner alone. The checkpoint is written last, and with the length of the other file: what was
added to that file after it is cut off. Once the job has ended, that length no longer counts: the
user may edit the dead letters, and index them again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from neardup_solr.dead_letter_file import (
    LETTERS,
    Letter,
    append_letters,
    change_error,
    is_letters,
    line_of,
    parse_letters,
)
from neardup_solr.errors import JobError, RecordError
from neardup_solr.failpoint import stop_at
from neardup_solr.files import atomic_path, home, private, refuse_failure

FORMAT: Final = 1
CHECKPOINT: Final = "checkpoint.json"
LOCK: Final = "lock"
_BUSY: Final = "wait until it has ended, or set `job` to a different folder"
_ELSEWHERE: Final = "move that file elsewhere, or set `job` to a different folder"
_writing = partial(
    refuse_failure,
    next_step="set `job` to a different folder",
    full="free some space and continue with `resume`, or set `job` to a different folder",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """Task of a job: the source, the way it is read, and the destination.

    `identity` is that of the source (see `sources.identity`), None if it can be read only once;
    `source` is its path, "-" or the kind of what was in memory; `reading` says how it is read, as
    arguments of `index`; `server` and `collection` say where the documents go.
    """

    source: str
    identity: str | None
    reading: Mapping[str, Any]
    server: str
    collection: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Progress of a job: the records that were committed, and that a search finds.

    Of the `read` records, `repeated` had an id that came again, and `failed` are dead letters,
    which take `letters` bytes of their file; `words` counts the words of all texts. `last` are ids
    of documents that were sent last, to see that the collection still has them; `seal` is a hash of
    all records that were read, to see that the source still begins with them.
    """

    read: int = 0
    repeated: int = 0
    failed: int = 0
    words: int = 0
    letters: int = 0
    last: tuple[str, ...] = ()
    seal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedJob:
    """A checkpoint as it was read: what the job does, how far it is, and whether it has ended.

    `letters_time` is when the dead letters were written last, in ns; 0 without any.
    """

    work: JobSpec
    reached: Position
    has_ended: bool
    letters_time: int = 0


class Job:
    """The folder of a job, which a single run at a time has open.

    Raises JobError if another run has it, SourceError if it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._letters = 0

    def __enter__(self) -> Job:
        from filelock import FileLock, Timeout

        with _writing(self.folder):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = FileLock(self.folder / LOCK)
            try:
                self._lock.acquire(blocking=False)
            except Timeout:
                reason = f"another run of this job is in progress (in {self.folder})"
                raise JobError(reason, _BUSY, code="job-busy") from None
        return self

    def __exit__(self, *_: object) -> None:
        # Before the lock is released, or it could be the folder of another run.
        if not any((self.folder / name).exists() for name in (CHECKPOINT, LETTERS)):
            if self.folder.parent == all_jobs():
                shutil.rmtree(self.folder, ignore_errors=True)
            else:  # a folder that the user named, which may hold other files
                with suppress(OSError):
                    (self.folder / LOCK).unlink()
                    self.folder.rmdir()
        self._lock.release()

    @property
    def letters(self) -> Path:
        """The file of the dead letters."""
        return self.folder / LETTERS

    def begin(self, saved: SavedJob | None) -> None:
        """Begin anew, or go on from a checkpoint.

        What an earlier run has kept stays until this run keeps its first checkpoint. Raises
        JobError if dead letters that it has kept are gone, or if the files are none of a job.
        """
        if saved is None:
            self._require_replaceable()
        self._letters = saved.reached.letters if saved else 0
        if self._letters and self._byte_at(self._letters - 1) != b"\n":
            raise change_error(self.letters)

    def _byte_at(self, place: int) -> bytes:
        with suppress(FileNotFoundError), open(self.letters, "rb") as file:
            file.seek(place)
            return file.read(1)
        return b""

    def _require_replaceable(self) -> None:
        """Refuse files of these names that no job has written, and letters that were edited."""
        saved, changed = read_checkpoint(self.folder), read_mtime(self.letters)
        if saved and saved.has_ended and changed and saved.letters_time not in (0, changed):
            reason = f"{self.letters} was edited after its job had ended"
            step = f"run neardup dead-letters retry --job {self.folder}, or remove that file"
            raise JobError(reason, step, code="job-has-letters")
        if not changed:
            return
        if not is_letters(self.letters):
            reason = f"{self.letters} is not a dead-letter file"
            raise JobError(reason, _ELSEWHERE, code="job-has-letters")

    def keep(
        self,
        work: JobSpec,
        reached: Position,
        dead: Sequence[RecordError],
        *,
        has_ended: bool = False,
    ) -> None:
        """Add dead letters, then write a checkpoint. Both are on the disk before this returns.

        After an interrupt it may be called again with the same: then they are not added twice.
        """
        stop_at("before-dead-letters")
        length = self._letters
        if dead or (has_ended and self.letters.exists()):
            with _writing(self.letters):
                length = append_letters(self.letters, self._letters, dead)
        stop_at("after-dead-letters")
        reached = replace(reached, letters=length)
        stop_at("before-checkpoint")
        self._write(SavedJob(work=work, reached=reached, has_ended=has_ended))
        self._letters = length
        stop_at("after-checkpoint")

    def _write(self, saved: SavedJob) -> None:
        """Write a checkpoint, with the time of the dead letters as they are now."""
        content = asdict(saved) | {"format": FORMAT, "letters_time": read_mtime(self.letters)}
        _replace(self.folder / CHECKPOINT, [json.dumps(content, indent=1)])

    def keep_letters(self, letters: Iterable[Letter]) -> None:
        """Replace the dead letters by these. All of them or none are written."""
        _replace(self.letters, map(line_of, letters))
        if saved := read_checkpoint(self.folder):
            self._write(saved)

    def end(self) -> None:
        """Forget the job, of which nothing is left to do.

        The checkpoint goes last: if this is cut short, the next run of the job ends it.
        """
        for name in (LETTERS, CHECKPOINT):
            with _writing(self.folder / name):
                (self.folder / name).unlink(missing_ok=True)


def read_checkpoint(folder: Path) -> SavedJob | None:
    """Read the checkpoint of a job, or None for a folder without any.

    Raises JobError if it cannot be understood.
    """
    path = folder / CHECKPOINT
    try:
        content = json.loads(path.read_bytes())
        if content["format"] != FORMAT:
            raise ValueError("it was written by a different version")
        reached = content["reached"]
        return SavedJob(
            work=JobSpec(**content["work"]),
            reached=Position(**{**reached, "last": tuple(reached["last"])}),
            has_ended=bool(content["has_ended"]),
            letters_time=int(content.get("letters_time", 0)),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"the checkpoint {path} cannot be read ({error})"
        raise JobError(reason, _ELSEWHERE, code="job-unreadable") from None


def read_job(folder: Path) -> SavedJob:
    """Read the checkpoint of a job. Raises JobError if the folder has none."""
    if (saved := read_checkpoint(folder)) is None:
        step = "give the folder of an `index` job; a finished job without dead letters is deleted"
        raise JobError(f"there is no job in {folder}", step, code="job-missing")
    return saved


def read_letters(folder: Path) -> Iterator[Letter]:
    """Read the dead letters of a job, those after its last checkpoint left out.

    Raises JobError if the file cannot be understood, or has been changed before the job has ended.
    """
    saved = read_checkpoint(folder)
    if saved is not None and (saved.has_ended or saved.reached.letters):
        length = None if saved.has_ended else saved.reached.letters
        yield from parse_letters(folder / LETTERS, length)


def folders_of(server: str, collection: str) -> list[Path]:
    """List the usual folders of the jobs of a collection, in the order of their names.

    Raises JobError if a checkpoint that may be theirs cannot be understood.
    """
    folders = []
    for folder in sorted(all_jobs().glob("*/")):
        try:
            saved = read_checkpoint(folder)
        except JobError:
            if folder.name.startswith(f"{collection}-"):
                raise
            continue  # of another collection, which shall not be in the way here
        if saved and (saved.work.server, saved.work.collection) == (server, collection):
            folders.append(folder)
    return folders


def folder_for(sources: Sequence[str], server: str, collection: str, *, can_resume: bool) -> Path:
    """Choose the usual folder of a job, in the user's data folder or $NEARDUP_HOME.

    It is the same for the same files and collection; a source that can be read only once gets
    a new folder every time.
    """
    paths = map(os.path.abspath, sources) if can_resume else [os.urandom(8).hex()]
    parts = "\n".join([server, collection, *paths]).encode("utf-8", "surrogateescape")
    digest = blake2b(parts, digest_size=6).hexdigest()
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(sources[0]).name).strip("._-")[:40]
    return all_jobs() / f"{collection}-{stem or 'stdin'}-{digest}"


def all_jobs() -> Path:
    """Return the folder in which the usual folders of jobs are."""
    return home() / "jobs"


def read_mtime(path: Path) -> int:
    """Return when a file was written last, in ns, or 0 without a file."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _replace(path: Path, pieces: Iterable[str]) -> None:
    """Write a file of a job as a whole, or leave it as it is."""
    with (
        _writing(path),
        atomic_path(path) as unfinished,
        open(unfinished, "x", encoding="utf-8", newline="", opener=private) as file,
    ):
        file.writelines(pieces)
