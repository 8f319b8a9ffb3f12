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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from neardup_solr.errors import JobError, RecordError
from neardup_solr.files import atomic_path, home, private, refuse_failure

FORMAT: Final = 1
CHECKPOINT: Final = "checkpoint.json"
LETTERS: Final = "dead-letters.jsonl"
LOCK: Final = "lock"
_BUSY: Final = "wait until it has ended, or set `job` to a different folder"
_ELSEWHERE: Final = "move that file elsewhere, or set `job` to a different folder"
ANEW: Final = "leave `resume` out to start over"
_FIELDS: Final = {"position": str, "id": str | None, "stage": str, "reason": str,
                  "record": dict | str | None}  # fmt: skip
_BEGIN: Final = b'{"position": '  # of every dead letter
# Where a process ends itself so that tests can see what is left: $NEARDUP_FAILPOINT is the name of
# such a place, as before-send, or NAME:N for the N-th time that it is reached.
VARIABLE: Final = "NEARDUP_FAILPOINT"
KILLED: Final = 137  # what a shell says of a process that SIGKILL ended
_reached: Counter[str] = Counter()


def reach(place: str) -> None:
    """End the process at once, and clean up nothing, if the variable names this place."""
    if (failpoint := os.environ.get(VARIABLE)) is None:
        return
    name, _, number = failpoint.partition(":")
    _reached[place] += 1
    if place == name and _reached[place] == int(number or 1):
        os._exit(KILLED)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """Dead letter: a record that `index` could not index.

    `position`: place in the source ("ads.csv, line 7"); `id`: id, None if unreadable; `stage`:
    "read" or "check" if neardup_solr refused it, "solr" if Solr did; `reason`: why; `record`:
    values by column, or the line; None if too large.
    """

    position: str
    id: str | None
    stage: str
    reason: str
    record: Mapping[str, Any] | str | None


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
                raise JobError(reason, _BUSY) from None
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
            raise _change_error(self.letters)

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
            raise JobError(reason, step)
        if not changed:
            return
        with open(self.letters, "rb") as file:
            first = file.readline()
        # The beginning of a dead letter may not have fitted on the disk.
        is_torn = not first.endswith(b"\n") and (
            first.startswith(_BEGIN) or _BEGIN.startswith(first)
        )
        try:
            if first.strip() and not is_torn:
                _parse_letter(first)
        except ValueError:
            reason = f"{self.letters} is not a dead-letter file"
            raise JobError(reason, _ELSEWHERE) from None

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
        reach("before-dead-letters")
        length = self._letters
        if dead or (has_ended and self.letters.exists()):
            length = self._append(dead)
        reach("after-dead-letters")
        reached = replace(reached, letters=length)
        reach("before-checkpoint")
        self._write(SavedJob(work=work, reached=reached, has_ended=has_ended))
        self._letters = length
        reach("after-checkpoint")

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
        """Forget the job, of which nothing is left to do."""
        for name in (CHECKPOINT, LETTERS):
            with _writing(self.folder / name):
                (self.folder / name).unlink(missing_ok=True)

    def _append(self, dead: Sequence[RecordError]) -> int:
        """Append dead letters to those of the last checkpoint, and return the file's length.

        What a run added after that, before it was interrupted, is cut off.
        """
        lines = "".join(map(line_of, dead)).encode()
        with _writing(self.letters), open(self.letters, "ab", opener=private) as file:
            file.truncate(self._letters)
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        return self._letters + len(lines)


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
        raise JobError(reason, _ELSEWHERE) from None


def read_letters(folder: Path) -> Iterator[Letter]:
    """Read the dead letters of a job, those after its last checkpoint left out.

    Raises JobError if the file cannot be understood, or has been changed before the job has ended.
    """
    kept = read_checkpoint(folder)
    if kept is None or not (kept.has_ended or kept.reached.letters):
        return
    left, path, number = kept.reached.letters, folder / LETTERS, 0
    try:
        with open(path, "rb") as file:
            for line in file:
                number += 1
                left -= len(line)
                if line.strip():
                    yield _parse_letter(line)
                if left <= 0 and not kept.has_ended:
                    break
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RecursionError) as error:
        cause = getattr(error, "msg", error)
        reason = f"line {number} of the dead letters in {path} cannot be read ({cause})"
        raise JobError(reason, "repair that line, or remove it") from None
    if left and not kept.has_ended:
        raise _change_error(path)


def line_of(letter: Letter | RecordError) -> str:
    """Write a dead letter as a line of JSON."""
    content = {name: getattr(letter, name) for name in _FIELDS}
    try:
        return json.dumps(content, default=_as_json) + "\n"
    except (RecursionError, ValueError):  # lists in lists, or digits, by the thousand
        return json.dumps(content | {"record": None}) + "\n"


def _as_json(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


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


def _parse_letter(line: bytes) -> Letter:
    """Parse the line of a dead letter. Raises ValueError, as people may have edited it."""
    content = json.loads(line)
    if not isinstance(content, dict) or content.keys() != _FIELDS.keys():
        raise ValueError(f"it must be an object with {', '.join(_FIELDS)}")
    for name, kind in _FIELDS.items():
        if not isinstance(content[name], kind):
            raise ValueError(f"{name!r} has the type {type(content[name]).__name__}")
    return Letter(**content)


def _change_error(path: Path) -> JobError:
    reason = f"the dead letters in {path} were changed before their job ended"
    return JobError(reason, ANEW)


def _replace(path: Path, pieces: Iterable[str]) -> None:
    """Write a file of a job as a whole, or leave it as it is."""
    with (
        _writing(path),
        atomic_path(path) as unfinished,
        open(unfinished, "x", encoding="utf-8", newline="", opener=private) as file,
    ):
        file.writelines(pieces)


_writing = partial(
    refuse_failure,
    next_step="set `job` to a different folder",
    full="free some space and continue with `resume`, or set `job` to a different folder",
)
