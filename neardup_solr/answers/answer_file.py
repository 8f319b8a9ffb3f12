"""A file of answers that several processes append to, and the pairs that each claims."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from io import FileIO
from pathlib import Path

from neardup_solr.answers import EARLIEST, Answer, choose_latest, list_choices
from neardup_solr.answers.format import parse_answers, read_answers
from neardup_solr.errors import SourceError
from neardup_solr.files import read_state, refuse_failure, regular
from neardup_solr.text.normalize import md5

CLAIMS = 1 << 30  # the first byte of those that are locked, and their number
CHECK_SPACE = "check free space and permissions"


class AnswerFile:
    """A file of answers to which others append meanwhile.

    A process claims pairs, which no other is to ask about, by locks on bytes far behind the
    answers. The system releases them when the process ends, however that is.

    Raises SourceError if the file cannot be read or written, and ArgumentError for an address.
    """

    def __init__(self, answers: str | Path) -> None:
        self.path, self._answers = Path(answers), list[Answer]()
        self._content, self._state, self._claims = b"", tuple[int, ...](), dict[str, int]()
        if os.path.exists(self.path):  # False for a name that cannot be, too
            read_answers(self.path, regular)
        with refuse_failure(self.path, CHECK_SPACE):
            self._file = FileIO(self.path, "ab+", opener=regular)

    def close(self) -> None:
        """Close the file, which ends all claims."""
        self._file.close()

    @property
    def latest(self) -> list[Answer]:
        """The latest answers of those that were read."""
        return choose_latest(self._answers)

    @property
    def choices(self) -> list[Answer]:
        """The choices of values of those that were read, the latest last."""
        return list_choices(self._answers)

    def read(self) -> bool:
        """Read what was added, or all of a file that was edited. Return False if neither was.

        Raises SourceError as long as the file is missing, cannot be opened, or has another fault.
        """
        if (state := read_state(self.path)) == self._state != ():
            return False
        self._follow()
        self._file.seek(0)
        content = self._file.read()
        if not content.endswith((b"\n", b"}")):  # another process is writing the last line
            content = content[: content.rfind(b"\n") + 1]
        is_new = content != self._content
        is_longer = content.startswith(self._content)
        earlier, begin = (self._answers, len(self._content)) if is_longer else ([], 0)
        line = 1 + content.count(b"\n", 0, begin)
        before = earlier[-1].when if earlier else EARLIEST
        self._answers = [*earlier, *parse_answers(self.path, content[begin:], line, before)]
        self._content, self._state = content, state
        return is_new

    def append(self, answers: Iterable[Answer]) -> None:
        """Append answers as `append_answers` does. To close another handle would end the locks."""
        lines = [*answers]
        with refuse_failure(self.path, CHECK_SPACE):
            self._follow()
            _write(self._file, lines)
            while not _is_at(self.path, self._file):  # another file has taken its place meanwhile
                self._follow()
                _write(self._file, lines)

    def _follow(self) -> None:
        """Open the file that has taken the place of the one that is open, if there is one."""
        if _is_at(self.path, self._file):
            return
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            reason, step = "is a folder, a pipe or a device", "put the file back in its place"
            raise SourceError(str(self.path), reason, step, code="file-kind")
        with refuse_failure(self.path, CHECK_SPACE):
            try:
                file = FileIO(self.path, "ab+", opener=_existing)
            except FileNotFoundError:
                reason, step = "is missing", "put it back, or create it to begin anew"
                raise SourceError(str(self.path), reason, step, code="file-missing") from None
        self._file.close()  # not before: without a file, nothing could be done until the end
        self._file = file
        self._claims = {name: at for name, at in self._claims.items() if self._lock(at)}

    def claim(self, pair: str) -> bool:
        """Claim a pair by its name. Return False if another process has it."""
        at = CLAIMS + int(md5(pair), 16) % CLAIMS
        if pair not in self._claims and not self._lock(at):
            return False
        self._claims[pair] = at
        return True

    def release(self, *pairs: str) -> None:
        """Let other processes claim pairs, all of them if none is named."""
        for pair in self._claims.keys() & (pairs or self._claims.keys()):
            self._lock(self._claims.pop(pair), ends=True)

    def _lock(self, at: int, *, ends: bool = False) -> bool:
        """Lock a byte, or end that. Return False if another process has it."""
        self._file.seek(at)
        with suppress(OSError, AttributeError):  # Windows and some file systems have no locks
            try:
                os.lockf(self._file.fileno(), os.F_ULOCK if ends else os.F_TLOCK, 1)
            except (BlockingIOError, PermissionError):
                return False
        return True


def append_answers(path: str | Path, answers: Iterable[Answer]) -> None:
    """Append answers to a file by one write, and wait until they are on the disk.

    So several processes may append at the same time. Nothing in the file is changed.

    Raises SourceError if the file cannot be written.
    """
    lines = [*answers]
    with refuse_failure(path, CHECK_SPACE):
        is_kept = False
        while not is_kept:
            with FileIO(path, "ab+", opener=regular) as file:
                _write(file, lines)
                is_kept = _is_at(path, file)


def _existing(path: str, flags: int) -> int:
    """Open a file that exists, as an `opener`: a new one would hide that it was moved."""
    return regular(path, flags & ~os.O_CREAT)


def _write(file: FileIO, answers: Iterable[Answer]) -> None:
    # Without a line break at its end, as after an editor or a full disk, begin a new line.
    file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
    begin = b"" if file.read(1) in (b"", b"\n") else b"\n"
    lines = b"".join(answer.to_line() for answer in answers)
    if lines and file.write(begin + lines) < len(begin + lines):
        raise OSError("the last line was cut off")
    os.fsync(file.fileno())


def _is_at(path: str | Path, file: FileIO) -> bool:
    """Return True if a path leads to an open file, and not to another one, or to none."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except (OSError, ValueError):  # also of a file on a disk that has gone
        return False
