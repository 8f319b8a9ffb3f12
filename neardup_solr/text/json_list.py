"""Documents in a row as a list of JSON, which is sent as a whole or in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class JsonList(Sequence[bytes]):
    """The JSON of documents: a list in UTF-8, in which document d ends at ends[d]."""

    data: memoryview
    ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            first, last, _ = at.indices(len(self))
            begin = self.ends[first - 1] if first else 0
            return JsonList(self.data[begin:], [end - begin for end in self.ends[first:last]])
        at = range(len(self))[at]
        begin = self.ends[at - 1] if at else 0
        return bytes(self.data[begin + 1 : self.ends[at]])


def write_list(documents: Sequence[bytes]) -> bytes:
    """Write a list of documents that are JSON."""
    if not isinstance(documents, JsonList):
        return b"[%s]" % b",".join(documents)
    end = documents.ends[-1] if documents.ends else 1
    return b"".join((b"[", documents.data[1:end], b"]"))
