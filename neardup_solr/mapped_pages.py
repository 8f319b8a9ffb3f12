"""Pages of memory that show a file, in which large arrays lie."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.sizes import SIZES


def release_pages(values: NDArray[Any]) -> None:
    """Let what an array has of a mapped file leave memory, until it is looked at again.

    Nothing is done for an array that is no part of a mapped file or of a small one, as pages take
    a tenth of the time of a run to come back, or where the system cannot do it.
    """
    whole: Any = values
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    mapped = whole.base
    if not isinstance(mapped, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    if len(mapped) < SIZES.kept_pages:
        return
    first = values.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    first -= first % mmap.PAGESIZE
    mapped.madvise(
        mmap.MADV_DONTNEED, first, min(values.nbytes + mmap.PAGESIZE, len(mapped) - first)
    )
