"""The file of held documents, which people look at and `index` or `gate` reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from neardup_solr.errors import RecordError
from neardup_solr.files import PathError, check_place, refuse_failure
from neardup_solr.verbs.gate.decision import Decision
from neardup_solr.verbs.gate.policy import HOLD, TAG_FIELD

REASON_FIELD = "neardup_reason"
_WHY = frozenset({REASON_FIELD, TAG_FIELD})


def check_held(path: Path) -> None:
    """Refuse a file for held documents that cannot be written, before any work is done for it.

    Raises PathError if it is not a .jsonl file, or as `files.check_place` does.
    """
    if path.suffix.lower() != ".jsonl" or path.is_dir():
        reason = "held documents need a .jsonl file"
        raise PathError(str(path), reason, "name one with `held`", code="format-unknown")
    check_place(path)


def keep_held(
    decisions: Iterable[Decision | RecordError], path: Path, id: str = "id",
    text: Sequence[str] = ("text",),
) -> Iterator[Decision | RecordError]:  # fmt: skip
    """Pass decisions on, and put each held document into the file before.

    Lines are appended: id, text, the kept columns, neardup_reason and neardup_of (the ids of its
    matches). `id` and `text` name the columns of the first two; each of several texts has a part of
    the text. A document that the file already has, with equal columns, is not added again.
    `neardup index` and `neardup gate` read such a file.
    """
    with path.open("a+b") as file:
        marks, ends = _read_marks(file)
        # The last line break may be missing, because of an editor or a full disk.
        _append(file, b"" if ends else b"\n")
        for decision in decisions:
            if isinstance(decision, Decision) and decision.action == HOLD:
                held = _held(decision, id, text)
                if (mark := _mark(held)) not in marks:
                    _append(file, orjson.dumps(held) + b"\n")
                    marks.add(mark)
            yield decision
        os.fsync(file.fileno())


def _append(file: BinaryIO, line: bytes) -> None:
    with refuse_failure(file.name, "free some space, or name a different file with `held`"):
        file.write(line)
        file.flush()


def _read_marks(file: BinaryIO) -> tuple[set[bytes], bool]:
    """Read the marks of the documents in a file, and tell whether its last line is complete."""
    marks, line = set(), b"\n"
    file.seek(0)
    for line in file:
        with suppress(orjson.JSONDecodeError):  # other lines stay as they are
            marks.add(_mark(orjson.loads(line)))
    return marks, line.endswith(b"\n")


def _mark(held: Any) -> bytes:
    """Hash a held document without the reason for holding it, to 16 bytes."""
    if isinstance(held, dict):
        held = {name: value for name, value in held.items() if name not in _WHY}
    return blake2b(orjson.dumps(held, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def _held(decision: Decision, id: str, text: Sequence[str]) -> dict[str, Any]:
    document = decision.document
    texts = document.texts if len(text) > 1 else ()
    columns = zip(text, texts or (document.text,), strict=False)
    return {
        **document.kept,
        id: document.id,
        **{name: value for name, value in columns if value is not None},
        REASON_FIELD: decision.reason,
        TAG_FIELD: [match.id for match in decision.matches],
    }
