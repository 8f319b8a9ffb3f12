"""A job: one source on its way into one collection, and what is kept of it from run to run.

Its folder holds `checkpoint.json`, how far the job is, and `dead-letters.jsonl`, the records that
could not be indexed. Both are readable by their owner alone. The checkpoint is written last, and
with the length of the other file: what was added to that one after it is cut off.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from neardup_solr.errors import JobError, RecordError, SourceError
from neardup_solr.failpoints import reach
from neardup_solr.files import home, replaced

FORMAT: Final = 1
CHECKPOINT: Final = "checkpoint.json"
LETTERS: Final = "dead-letters.jsonl"
LOCK: Final = "lock"
_BUSY: Final = "wait until it has ended, or name another folder by `job`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a job does: the source, how it is read, and where it goes.

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
class Reached:
    """How far a job is: what was committed and seen by a search when this was written.

    Of the `read` records, `repeated` had an id that came again, and `failed` are dead letters,
    which take `letters` bytes of their file; `words` counts the words of all texts. `last` are ids
    of documents that were sent last, to see that the collection still has them.
    """

    read: int = 0
    repeated: int = 0
    failed: int = 0
    words: int = 0
    letters: int = 0
    last: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A checkpoint as it was read: what the job does, how far it is, and whether it has ended."""

    work: Work
    reached: Reached
    has_ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A dead letter: where the record stands, its id if known, who refused it, why, and itself."""

    position: str
    id: str | None
    stage: str
    reason: str
    record: Mapping[str, Any] | str | None


class Job:
    """The folder of a job, which one run at a time has open.

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
                reason = f"another run of this job is at work (in {self.folder})"
                raise JobError(reason, _BUSY) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        if not any((self.folder / name).exists() for name in (CHECKPOINT, LETTERS)):
            shutil.rmtree(self.folder, ignore_errors=True)  # nothing is kept of it

    @property
    def letters(self) -> Path:
        """The file of the dead letters."""
        return self.folder / LETTERS

    def begin(self, kept: Kept | None) -> None:
        """Begin anew, or go on from a checkpoint.

        What an earlier run has kept stays until this one keeps its first checkpoint.
        """
        self._letters = kept.reached.letters if kept else 0

    def keep(
        self, work: Work, reached: Reached, dead: Sequence[RecordError], *, has_ended: bool = False
    ) -> Reached:
        """Add dead letters, then write a checkpoint; both are on the disk before this returns."""
        reach("before-dead-letters")
        if dead:
            self._letters = self._added(dead)
        reach("after-dead-letters")
        reached = replace(reached, letters=self._letters)
        content = {
            "format": FORMAT,
            "has_ended": has_ended,
            "work": asdict(work),
            "reached": asdict(reached),
        }
        path = self.folder / CHECKPOINT
        reach("before-checkpoint")
        with (
            _writing(path),
            replaced(path) as unfinished,
            open(unfinished, "x", encoding="utf-8", opener=_private) as file,
        ):
            json.dump(content, file, indent=1)
        reach("after-checkpoint")
        return reached

    def end(self) -> None:
        """Forget the job, of which nothing is left to do."""
        for name in (CHECKPOINT, LETTERS):
            with _writing(self.folder / name):
                (self.folder / name).unlink(missing_ok=True)

    def _added(self, dead: Sequence[RecordError]) -> int:
        """Append dead letters; returns the length of the file."""
        lines = "".join(f"{json.dumps(_letter(one), default=str)}\n" for one in dead)
        with _writing(self.letters), open(self.letters, "ab", opener=_private) as file:
            file.truncate(self._letters)
            file.write(lines.encode())
            file.flush()
            os.fsync(file.fileno())
            return self._letters + len(lines)


def kept_in(folder: Path) -> Kept | None:
    """The checkpoint of a job; None if there is none.

    Raises JobError if it cannot be understood.
    """
    path = folder / CHECKPOINT
    try:
        content = json.loads(path.read_bytes())
        if content["format"] != FORMAT:
            raise ValueError("another version wrote it")
        reached = content["reached"]
        return Kept(
            work=Work(**content["work"]),
            reached=Reached(**{**reached, "last": tuple(reached["last"])}),
            has_ended=bool(content["has_ended"]),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"the checkpoint {path} cannot be understood ({error})"
        raise JobError(reason, "leave `resume` out to begin anew") from None


def letters_in(folder: Path) -> Iterator[Letter]:
    """The dead letters of a job, those after its last checkpoint left out.

    Raises JobError if the file cannot be understood.
    """
    kept = kept_in(folder)
    left = kept.reached.letters if kept else 0
    path = folder / LETTERS
    if not left:
        return
    try:
        with open(path, "rb") as file:
            for line in file:
                left -= len(line)
                if left < 0:
                    return
                yield Letter(**json.loads(line))
    except (OSError, ValueError, TypeError) as error:
        reason = f"the dead letters in {path} cannot be read ({error})"
        raise JobError(reason, "repair the file, or run the job again") from None


def folder_for(source: str, server: str, collection: str, *, can_resume: bool) -> Path:
    """The usual folder of a job, in the user's data folder or $NEARDUP_HOME.

    It is the same for the same file and collection; a source that can be read only once gets one of
    its own every time.
    """
    path = os.path.abspath(source) if can_resume else os.urandom(8).hex()
    digest = blake2b(f"{server}\n{collection}\n{path}".encode(), digest_size=6).hexdigest()
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(source).name).strip("._-")[:40]
    return all_jobs() / f"{collection}-{stem or 'stdin'}-{digest}"


def all_jobs() -> Path:
    """The folder in which the usual folders of jobs are."""
    return home() / "jobs"


def _letter(error: RecordError) -> dict[str, Any]:
    record = dict(error.record) if isinstance(error.record, Mapping) else error.record
    return {
        "position": error.position,
        "id": error.id,
        "stage": error.stage,
        "reason": error.reason,
        "record": record,
    }


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn a failure to write a file of a job into a SourceError that names it."""
    try:
        yield
    except OSError as error:
        reason = f"cannot be written ({error.strerror or error})"
        step = "make room or name another folder by `job`, then go on with `resume`"
        raise SourceError(str(path), reason, step) from None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
