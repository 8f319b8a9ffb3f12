"""What a run leaves in a file, so that the next one compares only what came or changed since.

A comparison says something about two contents, whoever has them, so it still holds if both are
still there; so does that two signatures share a band. All else is done anew: clusters and canonical
documents are those of the documents that are there now, as in a full run.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr.candidates.by_band import NONE_HOT, Hot
from neardup_solr.errors import SourceError
from neardup_solr.files import whole
from neardup_solr.kernel import joins, pieces
from neardup_solr.measures import Limits, Measure
from neardup_solr.measures.arrays import Pairs
from neardup_solr.minhash.sign import in_utf8
from neardup_solr.settings import Settings
from neardup_solr.text.packed import Packed

U64 = np.uint64
Hashes: TypeAlias = NDArray[np.uint64]
FORMAT = 2
FIRST_LINE = b"neardup duplicates: what the next run need not compare\n"
ALIGNED = 64  # bytes at whose multiples arrays begin
AT_ONCE = 20_000  # documents whose signatures are compared at once
MOST_NEW = 2  # if more than one document in so many may be new, all are read
UNKNOWN = U64(0)  # the hash of a content that was not read


class Traces(NamedTuple):
    """By what documents are known again, by row, of shape (documents,) each.

    `ids` and `contents` are hashes (uint64; UNKNOWN if a content was not read), `versions` those of
    Solr (int64; 0 if there are none).
    """

    ids: Hashes
    versions: NDArray[np.int64]
    contents: Hashes

    @classmethod
    def of(
        cls,
        ids: Hashes,
        versions: NDArray[np.int64] | None = None,
        contents: Hashes | None = None,
    ) -> Traces:
        """Those of documents whose ids have these hashes."""
        count = len(ids)
        return cls(
            ids=ids,
            versions=np.zeros(count, dtype=np.int64) if versions is None else versions,
            contents=np.full(count, UNKNOWN) if contents is None else contents,
        )

    def only(self, wanted: NDArray[np.bool_]) -> Traces:
        """Those of the wanted documents."""
        return Traces(self.ids[wanted], self.versions[wanted], self.contents[wanted])


NOTHING: Hashes = np.empty(0, dtype=np.uint64)
NO_TRACES = Traces(NOTHING, NOTHING.astype(np.int64), NOTHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """What has changed since the run that was remembered, and how much of it was used again.

    `came`, `changed` and `gone` count documents, `reused` pairs that were not compared again.
    `reason` says why everything was compared, if it was.
    """

    came: int = 0
    changed: int = 0
    gone: int = 0
    reused: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What is known of pairs, each the number that `numbered` makes of its rows; they rise.

    `near` pairs have a distance and a similarity, `far` ones are beyond the limits. Those `beside`
    are among them too, but do not share a band key that is not hot.
    """

    near: Hashes = field(default_factory=lambda: NOTHING)
    distances: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    similarities: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    far: Hashes = field(default_factory=lambda: NOTHING)
    beside: Hashes = field(default_factory=lambda: NOTHING)

    @property
    def sharing(self) -> Pairs:
        """The pairs that share a band key that is not hot."""
        known = np.concatenate([self.near, self.far])
        return rows_of(known[~_is_in(known, self.beside)])

    def placed(self, places: NDArray[np.int64]) -> Results:
        """The same for rows that are now at `places`, -1 if they are gone."""
        near, order = _placed(self.near, places)
        return Results(
            near=near, distances=self.distances[order], similarities=self.similarities[order],
            far=_placed(self.far, places)[0], beside=_placed(self.beside, places)[0],
        )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Known:
    """Results that are known of this run's pairs, and those that are added by it.

    `chained` are candidates that share nothing but hot keys.
    """

    before: Results = field(default_factory=Results)
    reused: int = 0
    chained: Hashes = field(default_factory=lambda: NOTHING)
    _asked: list[Hashes] = field(default_factory=list)
    _near: list[Results] = field(default_factory=list)

    def split(self, pairs: Pairs) -> tuple[Results, Pairs]:
        """What is known of the near ones among these pairs, and those of which nothing is known."""
        numbers = np.sort(numbered(pairs))  # neighbours are found near each other
        is_near = _is_in(numbers, self.before.near)
        is_known = is_near | _is_in(numbers, self.before.far)
        near = numbers[is_near]
        found = np.searchsorted(self.before.near, near)
        self._asked.append(numbers)
        self.reused += int(np.count_nonzero(is_known))
        known = Results(
            near=near,
            distances=self.before.distances[found],
            similarities=self.before.similarities[found],
        )
        return known, rows_of(numbers[~is_known])

    def add(
        self, pairs: Pairs, distances: NDArray[np.int64], similarities: NDArray[np.float64]
    ) -> None:
        """Note all near ones of the pairs that were asked for last."""
        numbers = numbered(pairs)
        self._near.append(Results(near=numbers, distances=distances, similarities=similarities))

    def results(self) -> Results:
        """All that is known of the pairs of this run."""
        asked = _distinct(self._asked)
        first = self._asked[0] if self._asked else NOTHING
        later = _distinct(self._asked[1:])
        parts = self._near or [Results()]
        near, at = np.unique(np.concatenate([part.near for part in parts]), return_index=True)
        return Results(
            near=near,
            distances=np.concatenate([part.distances for part in parts])[at],
            similarities=np.concatenate([part.similarities for part in parts])[at],
            far=asked[~_is_in(asked, near)],
            beside=_distinct([self.chained, later[~_is_in(later, first)]]),
        )


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
        """The rows of ids of these hashes, -1 if they are not there; so if two have one hash."""
        known = self.traces.ids
        if not len(known):
            return np.full(len(ids), -1)
        order = np.argsort(known)
        ordered = known[order]
        at = np.searchsorted(ordered, ids).clip(max=len(known) - 1)
        is_there = (ordered[at] == ids) & ~_repeats(ordered)[at]
        return np.where(is_there & ~_are_twice(ids), order[at], -1)


class Joined(NamedTuple):
    """How the earlier run was joined by bands, and which rows are new since."""

    cap: int
    hot: Hot
    is_new: NDArray[np.bool_]


@dataclass(slots=True, kw_only=True)
class Past:
    """An earlier run that is remembered in the file `path`, and what this run adds to it.

    `is_full` starts over. `before` is the earlier run while it is of use, and `reason` says why it
    is not; `is_kept` tells whether this run can be remembered, `is_cut` whether it has not all
    documents.

    Raises SourceError if there is another file at that place.
    """

    path: Path
    measure: Measure
    limits: Limits
    is_full: bool = False
    is_cut: bool = False
    reason: str = ""
    is_kept: bool = True
    before: Run | None = None
    within: Known = field(default_factory=Known)
    beyond: Known = field(default_factory=Known)
    _work: str = ""
    _parts: list[Traces] = field(default_factory=list)
    _traces: Traces = NO_TRACES
    _newest: int = 0
    _joined: Joined | None = None
    _cap: int = 0
    _hot: Hot = field(default_factory=lambda: NONE_HOT)
    _forgotten: set[int] = field(default_factory=set)
    _since: Since = field(default_factory=Since)

    def open(self, settings: Settings, compared: str) -> None:
        """Read the earlier run, if it was of these settings and of what is `compared` now."""
        from neardup_solr import __version__

        name = self.measure.name
        self._work = f"{__version__} {settings.fingerprint} {name} {self.limits} {compared}"
        if self.measure.needs_frequencies:
            reason = f"{name} weighs words by all documents, so nothing can be remembered"
            self.give_up(reason, is_kept=False)
            return
        found = read(self.path)
        if self.is_full:
            self.reason = "`full` was asked for"
        elif isinstance(found, str):
            self.reason = found
        elif found[0] != self._work:
            self.reason = "the last run had other settings, limits or fields, or another version"
        elif not len(found[1].traces.ids):
            self.reason = "the last run had no documents"
        else:
            self.before = found[1]

    def give_up(self, reason: str, *, is_kept: bool = True) -> None:
        """Compare everything, and say why; if it is not `is_kept`, this run is not remembered."""
        self.before, self.reason, self.is_kept = None, reason, is_kept

    def add(self, traces: Traces) -> None:
        """Note the traces of the next documents of this run."""
        self._parts.append(traces)

    def settle(self, signatures: NDArray[np.uint32]) -> None:
        """Find out what of the earlier run still holds, once all documents are there."""
        traces = concatenated([NO_TRACES, *self._parts])
        self._parts.clear()
        if not self.measure.needs_texts:
            traces = traces._replace(contents=signature_hashes(signatures))
        self._traces = traces
        if not self.is_cut:
            self._newest = int(traces.versions.max(initial=0))
        if self.before is None:
            return
        old, self.before = self.before, None  # it takes memory
        rows = old.rows_of(traces.ids)
        is_known = rows >= 0
        versions, contents = old.traces.versions[rows], old.traces.contents[rows]
        is_same = is_known & (traces.versions != 0) & (traces.versions == versions)
        traces.contents[:] = np.where(
            is_same & (traces.contents == UNKNOWN), contents, traces.contents
        )
        has_same_signature = is_known & ~is_same
        if len(old.signatures):  # others for the same text: then one of them is wrong
            for at in _parts(np.flatnonzero(has_same_signature)):
                has_same_signature[at] = (old.signatures[rows[at]] == signatures[at]).all(axis=1)
        is_unread = has_same_signature & (contents == UNKNOWN) & (len(old.signatures) > 0)
        is_same |= has_same_signature & (contents != UNKNOWN) & (contents == traces.contents)
        places = np.full(len(old.traces.ids), -1)
        places[rows[is_same]] = np.flatnonzero(is_same)
        self.within.before = old.within.placed(places)
        self.beyond.before = old.beyond.placed(places)
        if np.count_nonzero(~is_same) * MOST_NEW <= len(is_same):
            self._joined = Joined(int(old.cap[0]), old.hot, ~is_same)
        self._since = Since(
            came=int(np.count_nonzero(~is_known & ~_are_twice(traces.ids))),
            changed=int(np.count_nonzero(is_known & ~is_same & ~is_unread)),
            gone=int(np.count_nonzero(~_are_twice(old.traces.ids))) - int(is_known.sum()),
        )

    def earlier_join(self, cap: int) -> tuple[Pairs, Hot, NDArray[np.bool_]] | None:
        """What is known of a join with this `cap`, for `grown_candidates`; None if nothing is.

        The pairs of documents that are not new, the keys that were hot, and which rows are new.
        """
        if self._joined is None or self._joined.cap != cap:
            return None
        return self.within.before.sharing, self._joined.hot, self._joined.is_new

    def note_joined(self, cap: int, hot: Hot, chained: Pairs) -> None:
        """Note that documents were joined by bands, for the next run."""
        self._cap, self._hot, self.within.chained = cap, hot, np.sort(numbered(chained))

    def note_contents(self, rows: NDArray[np.uint32], texts: Sequence[str]) -> None:
        """Note the texts of these rows as they are compared; forget those that were others."""
        contents, now = self._traces.contents, hashes(texts)
        self.forget(rows[(contents[rows] != UNKNOWN) & (contents[rows] != now)].tolist())
        contents[rows] = now

    def forget(self, rows: Iterable[int]) -> None:
        """Do not know these rows again: they were gone, or had changed, when they were compared."""
        self._forgotten.update(rows)

    def since(self) -> Since:
        """What has changed since the earlier run."""
        if self.reason:
            return Since(reason=self.reason)
        return replace(self._since, reused=self.within.reused + self.beyond.reused)

    def write(self, names: Sequence[str], signatures: NDArray[np.uint32]) -> None:
        """Remember this run, with the ids and signatures of a collection, in place of the earlier.

        Raises SourceError if the file cannot be written.
        """
        traces, forgotten = self._traces, list(self._forgotten)
        traces.versions[forgotten] = 0
        traces.contents[forgotten] = UNKNOWN
        run = Run(
            traces=traces,
            names=Packed(*in_utf8(names)),
            signatures=signatures,
            newest=np.array([self._newest]),
            cap=np.array([self._cap]),
            hot=self._hot,
            within=self.within.results(),
            beyond=self.beyond.results(),
        )
        write(self.path, self._work, run)

    @property
    def digest(self) -> str:
        """What tells what was known before anything was compared, for a checkpoint."""
        known = self.within.before
        columns = (known.far, known.near, known.distances, known.similarities)
        return " ".join(f"{zlib.crc32(column.data):x}" for column in columns)


def concatenated(parts: Sequence[Traces]) -> Traces:
    """The traces of all parts."""
    return Traces(
        ids=np.concatenate([part.ids for part in parts]),
        versions=np.concatenate([part.versions for part in parts]),
        contents=np.concatenate([part.contents for part in parts]),
    )


def hashes(texts: Sequence[str]) -> Hashes:
    """The 64-bit hash of each text, never UNKNOWN."""
    data, bounds = in_utf8(texts)
    found = np.empty(len(texts), dtype=np.uint64)
    pieces.hash_texts(data, bounds, found)
    return np.maximum(found, U64(1))


def signature_hashes(signatures: NDArray[np.uint32]) -> Hashes:
    """The 64-bit hash of each signature."""
    found = np.empty(len(signatures), dtype=np.uint64)
    joins.hash_whole(signatures, signatures.shape[1], found)
    return found


def numbered(pairs: Pairs) -> Hashes:
    """Each pair of rows as one number: the first in the upper 32 bits."""
    return pairs[:, 0].astype(np.uint64) << U64(32) | pairs[:, 1]


def rows_of(numbers: Hashes) -> Pairs:
    """The rows of pairs that `numbered` made."""
    return np.stack([numbers >> U64(32), numbers & U64(0xFFFFFFFF)], axis=1).astype(np.uint32)


def _placed(numbers: Hashes, places: NDArray[np.int64]) -> tuple[Hashes, NDArray[np.int64]]:
    """Pairs whose rows are now at `places`, rising, and where each was before."""
    moved = places[rows_of(numbers)]
    still = places[places >= 0]
    if not (still[1:] > still[:-1]).all():  # as those of a source may be
        moved = np.sort(moved, axis=1)
    is_there = np.flatnonzero((moved >= 0).all(axis=1))
    found = numbered(moved[is_there].astype(np.uint32))
    order = np.argsort(found, kind="stable")  # by which no time is lost if they rise
    return found[order], is_there[order]


def _is_in(numbers: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """Which of the numbers are among the known ones, which rise."""
    if not len(known):
        return np.zeros(len(numbers), dtype=np.bool_)
    at = np.searchsorted(known, numbers).clip(max=len(known) - 1)
    found: NDArray[np.bool_] = known[at] == numbers
    return found


def _distinct(parts: Sequence[Hashes]) -> Hashes:
    """The numbers of all parts, each once; they rise."""
    numbers = np.sort(np.concatenate([NOTHING, *parts]))
    is_new = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_new[1:])
    return numbers[is_new]


def _are_twice(ids: Hashes) -> NDArray[np.bool_]:
    """Which ids are there twice."""
    order = np.argsort(ids, kind="stable")
    found = np.empty(len(ids), dtype=np.bool_)
    found[order] = _repeats(ids[order])
    return found


def _parts(rows: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Some rows at a time."""
    return (rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE))


def _repeats(ordered: Hashes) -> NDArray[np.bool_]:
    """Which of the numbers, that rise, are there twice."""
    found = np.zeros(len(ordered), dtype=np.bool_)
    same = ordered[1:] == ordered[:-1]
    found[1:] |= same
    found[:-1] |= same
    return found


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
                return f"{path.name} is damaged"
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
