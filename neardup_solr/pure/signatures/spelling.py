"""The shingles of many texts as JSON: compiled where numba is, else string by string, equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup_solr.pure.config import Settings
from neardup_solr.pure.signatures.signing import IN_PLACE, is_compiled, packed_forms
from neardup_solr.pure.text import normalize
from neardup_solr.pure.text.shingles import shingles


def spelled(forms: Sequence[str], settings: Settings) -> list[bytes]:
    """The shingles of each normal form as the inside of a JSON array: b'"one","two"'.

    Terms that Lucene would refuse are hashed, as `normalize.indexable` has it.
    """
    if settings.kind not in IN_PLACE or not is_compiled() or not forms:
        return [_spelled_slowly(form, settings) for form in forms]
    from neardup_solr.pure import kernel

    text, bounds = packed_forms(forms)
    # Each character begins at most one shingle, of that many words or characters.
    size = settings.shingle_size
    out = np.empty((size + 3) * len(text) + kernel.SPARE, dtype=np.uint8)
    ends = np.empty(len(forms), dtype=np.uint64)
    longest = np.uint64(normalize.MAX_TERM_BYTES)
    kernel.spell(text, bounds, settings.kind == "chars", np.uint64(size), longest, out, ends)
    json, stops = out[: int(ends[-1])].tobytes(), ends.tolist()
    begins = [0, *stops[:-1]]
    # Without the comma after the last; nothing where a form is too long, or empty.
    return [
        json[begin : stop - 1] if stop > begin else _spelled_slowly(form, settings)
        for form, begin, stop in zip(forms, begins, stops, strict=True)
    ]


def _spelled_slowly(form: str, settings: Settings) -> bytes:
    pieces = map(normalize.indexable, shingles(form, settings))
    return ",".join(f'"{piece}"' for piece in pieces).encode()
