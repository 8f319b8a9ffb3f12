"""Dead letters: the records that `index` could not index, as lines of JSON in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from neardup_solr.errors import JobError, RecordError
from neardup_solr.files import private

LETTERS: Final = "dead-letters.jsonl"
ANEW: Final = "leave `resume` out to start over"
_FIELDS: Final = {"position": str, "id": str | None, "stage": str, "reason": str,
                  "record": dict | str | None}  # fmt: skip
_BEGIN: Final = b'{"position": '  # of every dead letter


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


def parse_letters(path: Path, length: int | None) -> Iterator[Letter]:
    """Read the dead letters in the first `length` bytes of a file, or all of an ended job's.

    Raises JobError if the file cannot be understood, or is shorter.
    """
    left, number = length or 0, 0
    try:
        with open(path, "rb") as file:
            for line in file:
                number += 1
                left -= len(line)
                if line.strip():
                    yield _parse_letter(line)
                if left <= 0 and length is not None:
                    break
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RecursionError) as error:
        cause = getattr(error, "msg", error)
        reason = f"line {number} of the dead letters in {path} cannot be read ({cause})"
        raise JobError(reason, "repair that line, or remove it", code="line-invalid") from None
    if left and length is not None:
        raise change_error(path)


def append_letters(path: Path, length: int, dead: Sequence[RecordError]) -> int:
    """Append dead letters after the first `length` bytes of a file, and return its new length.

    What a run added after these, before it was interrupted, is cut off.
    """
    lines = "".join(map(line_of, dead)).encode()
    with open(path, "ab", opener=private) as file:
        file.truncate(length)
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())
    return length + len(lines)


def is_letters(path: Path) -> bool:
    """Return True if a file begins with a dead letter, of which the end may be missing."""
    with open(path, "rb") as file:
        first = file.readline()
    # The beginning of a dead letter may not have fitted on the disk.
    is_torn = not first.endswith(b"\n") and (first.startswith(_BEGIN) or _BEGIN.startswith(first))
    try:
        if first.strip() and not is_torn:
            _parse_letter(first)
    except ValueError:
        return False
    return True


def line_of(letter: Letter | RecordError) -> str:
    """Write a dead letter as a line of JSON."""
    content = {name: getattr(letter, name) for name in _FIELDS}
    try:
        return json.dumps(content, default=_as_json) + "\n"
    except (RecursionError, ValueError):  # lists in lists, or digits, by the thousand
        return json.dumps(content | {"record": None}) + "\n"


def _as_json(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _parse_letter(line: bytes) -> Letter:
    """Parse the line of a dead letter. Raises ValueError, as people may have edited it."""
    content = json.loads(line)
    if not isinstance(content, dict) or content.keys() != _FIELDS.keys():
        raise ValueError(f"it must be an object with {', '.join(_FIELDS)}")
    for name, kind in _FIELDS.items():
        if not isinstance(content[name], kind):
            raise ValueError(f"{name!r} has the type {type(content[name]).__name__}")
    return Letter(**content)


def change_error(path: Path) -> JobError:
    """Make the error of dead letters that others than their job have changed."""
    reason = f"the dead letters in {path} were changed before their job ended"
    return JobError(reason, ANEW, code="job-unreadable")
