"""The contenders of speed.py, each from raw text on; run in a process of its own.

    python benchmarks/lib/contenders.py NAME TEXTS CORES SECONDS

reads one text a line, works on them again and again for that many seconds, and prints JSON: the
mean seconds of one run by the clock and by the processors, and the peak memory before the
contender was imported and at the end.
Every contender is imported inside its function, so that each process pays only for its own. The
peers tokenise as their users do in Python: lower case, split at blanks, join three words.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

HASHES, BANDS, ROWS, SEED = 128, 42, 3, 42
WARM = 200  # texts of a first, untimed run: imports, compiled code read from its cache


def kernel(texts: list[str], cores: int) -> Any:
    """This package, compiled: 128 hashes, 42 band keys, normal forms beyond ASCII included."""
    from neardup_solr.minhash.sign import sign
    from neardup_solr.settings import Settings

    return sign(texts, Settings(), threads=cores)


def datasketch(texts: list[str], cores: int) -> Any:
    """datasketch's generator, and the keys of its LSH at no cost: the bytes of three values."""
    import numpy as np
    from datasketch import MinHash

    tokens = ([piece.encode() for piece in _shingles(text)] for text in texts)
    values = [made.hashvalues for made in MinHash.generator(tokens, num_perm=HASHES, seed=SEED)]
    signatures = np.array(values)
    bands = np.ascontiguousarray(signatures[:, : BANDS * ROWS].byteswap())
    return signatures, bands.view(f"V{ROWS * signatures.itemsize}")


def datasketch_index(texts: list[str], cores: int) -> Any:
    """datasketch's signatures in its LSH of 42 bands of 3, held in memory."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(num_perm=HASHES, params=(BANDS, ROWS))
    tokens = ([piece.encode() for piece in _shingles(text)] for text in texts)
    made = MinHash.generator(tokens, num_perm=HASHES, seed=SEED)
    with index.insertion_session() as session:
        for number, signature in enumerate(made):
            session.insert(number, signature)
    return index


def datasketch_processes(texts: list[str], cores: int) -> Any:
    """The same in a process for each core: it has no threads of its own."""
    parts = [texts[at::cores] for at in range(cores)]
    with ProcessPoolExecutor(cores) as pool:
        return list(pool.map(datasketch, parts, [1] * cores))


def rensa(texts: list[str], cores: int) -> Any:
    """rensa's matrix of R-MinHash signatures; band keys it makes only inside its index."""
    from rensa import RMinHash

    return RMinHash.digest_matrix_from_token_sets(
        [_shingles(text) for text in texts], num_perm=HASHES, seed=SEED
    )


def rensa_hashes(texts: list[str], cores: int) -> Any:
    """rensa fed with Python's own hash of three words: no strings, but another in each process."""
    import numpy as np
    from rensa import RMinHash

    hashes: list[int] = []
    ends = [0]
    for text in texts:
        words = text.lower().split()
        hashes.extend(map(hash, zip(words, words[1:], words[2:], strict=False)))
        ends.append(len(hashes))
    tokens = np.array(hashes, dtype=np.int64).view(np.uint64)
    offsets = np.array(ends, dtype=np.uint64)
    return RMinHash.digest_matrix_from_flat_token_hashes(
        tokens, offsets, num_perm=HASHES, seed=SEED
    )


def rensa_index(texts: list[str], cores: int) -> Any:
    """rensa's signatures in its LSH index of 42 bands of 3."""
    from rensa import RMinHash, RMinHashLSH

    tokens = [_shingles(text) for text in texts]
    matrix = RMinHash.digest_matrix_from_token_sets(tokens, num_perm=BANDS * ROWS, seed=SEED)
    index = RMinHashLSH(threshold=0.5, num_perm=BANDS * ROWS, num_bands=BANDS)
    index.insert_matrix(matrix)
    return index


def rensa_rho(texts: list[str], cores: int) -> Any:
    """rensa's rho sketch: samples token positions, so no MinHash of the whole set."""
    from rensa import RMinHash

    return RMinHash.digest_matrix_from_token_sets_rho(
        [_shingles(text) for text in texts], num_perm=HASHES, seed=SEED
    )


def gaoya(texts: list[str], cores: int) -> Any:
    """gaoya's signatures of 126 hashes as Python lists, by its own tokeniser in Rust."""
    return _gaoya_index().minhash_index.bulk_hash_docs(texts)


def gaoya_index(texts: list[str], cores: int) -> Any:
    """gaoya's signatures in its index of 42 bands of 3, by its own tokeniser in Rust."""
    index = _gaoya_index()
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    return index


def _gaoya_index() -> Any:
    from gaoya.minhash import (
        MinHashStringIndex,
    )

    return MinHashStringIndex(
        hash_size=32, jaccard_threshold=0.5, num_bands=BANDS, band_size=ROWS,
        num_hashes=BANDS * ROWS, analyzer="word", lowercase=True, ngram_range=(3, 3),
        id_container="smallvec",
    )  # fmt: skip


def _shingles(text: str) -> list[str]:
    words = text.lower().split()
    return list(map(" ".join, zip(words, words[1:], words[2:], strict=False)))


CONTENDERS: dict[str, Callable[[list[str], int], Any]] = {
    "neardup_solr": kernel,
    "datasketch": datasketch,
    "datasketch, a process a core": datasketch_processes,
    "datasketch + index": datasketch_index,
    "rensa": rensa,
    "rensa, Python's hash()": rensa_hashes,
    "rensa + index": rensa_index,
    "rensa rho": rensa_rho,
    "gaoya": gaoya,
    "gaoya + index": gaoya_index,
}


def main() -> None:
    """Measure one contender."""
    name, path, cores, seconds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    texts = list(_lines(path))  # line by line: a second copy would hide a contender's memory
    base, work = _peak(), CONTENDERS[name]
    work(texts[:WARM], cores)
    runs, started, busy = 0, time.perf_counter(), _processor_seconds()
    while not runs or time.perf_counter() - started < float(seconds):
        work(texts, cores)
        runs += 1
    took = {
        "seconds": (time.perf_counter() - started) / runs,
        "processor": (_processor_seconds() - busy) / runs,
    }
    print(json.dumps({**took, "base": base, "peak": _peak()}))


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield line.rstrip("\n")


def _processor_seconds() -> float:
    """Seconds of work on all cores, by this process and by those that it started."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _peak() -> int:
    """The most bytes that this process ever held in memory.

    Linux counts what the parent held into `ru_maxrss`, so its own book is asked first.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    main()
