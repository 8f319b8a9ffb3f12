"""The file in which a run is remembered: written whole or not at all, and any damage is seen."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr.candidates.by_band import Hot
from neardup_solr.errors import SourceError
from neardup_solr.files import whole
from neardup_solr.text.packed import Packed
from neardup_solr.verbs.duplicates.known import Hashes, Results, Traces

FORMAT = 2
FIRST_LINE = b"neardup duplicates: what the next run need not compare\n"
ALIGNED = 64  # bytes at whose multiples arrays begin


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it lies in its file: documents by row, and the results of their pairs.

    `names` are the ids, and `signatures` (uint32, documents × hashes) the stored ones, of a
    collection; of a source, which is read anew each time, there are none. `newest` (int64, 1) is
    the newest version that was there when all documents were listed, 0 if not all were. `cap`
    (int64, 1) is that of the bands by which they were joined, 0 if they were not, or too many keys
    were hot; `hot` are those. `within` are results within the limits of the run,
    `beyond` those of pairs compared without limits.
    """

    traces: Traces
    names: Packed
    signatures: NDArray[np.uint32]
    newest: NDArray[np.int64]
    cap: NDArray[np.int64]
    hot: Hot
    within: Results = field(default_factory=Results)
    beyond: Results = field(default_factory=Results)

    def rows_of(self, ids: Hashes) -> NDArray[np.int64]:
        """The rows of ids of these hashes, the last ones if they repeat; -1 if there are none."""
        known = self.traces.ids
        if not len(known):
            return np.full(len(ids), -1)
        order = np.argsort(known, kind="stable")
        ordered = known[order]
        at = (np.searchsorted(ordered, ids, side="right") - 1).clip(min=0)  # the last of equal ones
        return np.where((ordered[at] == ids) & ~come_again(ids), order[at], -1)


def write(path: Path, work: str, run: Run) -> None:
    """Write a run to its file, whole or not at all; damage is seen by its checksums.

    Raises SourceError if it cannot be written.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in _arrays(run).items()}
    known = {
        name: [array.dtype.str, array.shape, zlib.crc32(array.data)]
        for name, array in arrays.items()
    }
    header = orjson.dumps({"format": FORMAT, "work": work, "arrays": known})
    check = b"%08x " % zlib.crc32(header)
    with whole(path, lasting=False) as unfinished, open(unfinished, "xb") as file:
        file.write(FIRST_LINE + check + header + b"\n")
        for array in filter(len, arrays.values()):
            file.write(bytes(-file.tell() % ALIGNED))
            file.write(array.data)


def read(path: Path) -> tuple[str, Run] | str:
    """The work and the run in a file, or why there is none.

    Raises SourceError if it is another file, or cannot be read.
    """
    try:
        with open(path, "rb") as file:
            first = file.readline(len(FIRST_LINE))
            if not first.strip(b"\0"):  # a crash of the machine may leave nothing in it
                return f"{path.name} is damaged" if first else f"{path.name} is empty"
            if first != FIRST_LINE:
                reason = "is not what a run of duplicates remembers"
                raise SourceError(str(path), reason, "name another file by `remember`")
            check, _, told = file.readline().rstrip(b"\n").partition(b" ")
            if check != b"%08x" % zlib.crc32(told):
                return f"{path.name} is damaged"
            header = orjson.loads(told)
            if header["format"] != FORMAT:
                return "the last run was of another version"
            try:
                found = {
                    name: _array(file, *known, is_mapped=name == "signatures")
                    for name, known in header["arrays"].items()
                }
            except ValueError:
                return f"{path.name} is damaged"
            return str(header["work"]), _run(found)
    except FileNotFoundError:
        return "there was no run before"
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise SourceError(str(path), reason, "name another file by `remember`") from None


def _array(
    file: Any, kind: str, shape: Sequence[int], check: int, *, is_mapped: bool
) -> NDArray[Any]:
    dtype = np.dtype(kind)
    if not shape[0]:
        return np.empty(shape, dtype)
    file.seek(-file.tell() % ALIGNED, 1)
    found: NDArray[Any]
    if is_mapped:  # what is looked at of it comes into memory
        at = file.tell()
        found = np.memmap(file, dtype, "r", at, tuple(shape))
        file.seek(at + found.nbytes)
    else:
        found = np.fromfile(file, dtype, math.prod(shape)).reshape(shape)
    if zlib.crc32(found.data) != check:
        raise ValueError
    return found


def _arrays(run: Run) -> Mapping[str, NDArray[Any]]:
    """Each array of a run by its name in the file."""
    found: dict[str, NDArray[Any]] = dict(run.traces._asdict())
    found |= {"names": run.names.data, "bounds": run.names.bounds, "signatures": run.signatures}
    found |= {"newest": run.newest, "cap": run.cap, "hot": run.hot}
    for kind in ("within", "beyond"):
        results = getattr(run, kind)
        for column in fields(results):
            found[f"{kind} {column.name}"] = getattr(results, column.name)
    return found


def _run(arrays: Mapping[str, NDArray[Any]]) -> Run:
    def results(kind: str) -> Results:
        return Results(
            **{column.name: arrays[f"{kind} {column.name}"] for column in fields(Results)}
        )

    return Run(
        traces=Traces(*(arrays[name] for name in Traces._fields)),
        names=Packed(arrays["names"], arrays["bounds"]),
        signatures=arrays["signatures"],
        newest=arrays["newest"],
        cap=arrays["cap"],
        hot=arrays["hot"],
        within=results("within"),
        beyond=results("beyond"),
    )


def come_again(ids: Hashes) -> NDArray[np.bool_]:
    """Which ids come again later: then that record counts."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    found = np.zeros(len(ids), dtype=np.bool_)
    found[order[:-1]] = ordered[1:] == ordered[:-1]
    return found
