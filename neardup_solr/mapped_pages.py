"""Pages of memory that show a file, in which large arrays lie."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray


def release_pages(values: NDArray[Any]) -> None:
    """Let what an array has of a mapped file leave memory, until it is looked at again.

    Nothing is done for an array that is no part of a mapped file, or where the system cannot do it.
    """
    whole: Any = values
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    mapped = whole.base
    if not isinstance(mapped, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    first = values.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    first -= first % mmap.PAGESIZE
    mapped.madvise(
        mmap.MADV_DONTNEED, first, min(values.nbytes + mmap.PAGESIZE, len(mapped) - first)
    )
