"""An earlier run, stored in a file, so that this one compares only what came or changed since.

A comparison says something about two contents, whoever has them, so it still holds if both are
still there. All else is done anew: candidates, clusters and canonical documents are those of the
documents that are there now, as in a full run.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr.errors import SourceError
from neardup_solr.files import whole
from neardup_solr.kernel import joins
from neardup_solr.measures.arrays import Pairs, number_pairs, pairs_of
from neardup_solr.minhash.sign import hash_texts
from neardup_solr.settings import Settings
from neardup_solr.text.packed import Packed, pack

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.duplicates import Options
    from neardup_solr.verbs.duplicates.inputs import Gathered

FORMAT = 3
READABLE = (2, 3)  # 2 has more arrays, which nothing needs any more
FIRST_LINE = b"neardup duplicates: what the next run need not compare\n"
ALIGNED = 64  # bytes at whose multiples arrays begin
ASKED = ("by", "measure", "max_distance", "min_similarity", "fq", "same", "cap", "linkage",
         "canonical", "limit")  # fmt: skip
AT_ONCE = 20_000  # documents whose signatures are compared at once

Hashes: TypeAlias = NDArray[np.uint64]
UNKNOWN = np.uint64(0)  # the hash of a content that was not read
NOTHING: Hashes = np.empty(0, dtype=np.uint64)


class DocumentKeys(NamedTuple):
    """Keys that identify documents across runs, one row per document.

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
    ) -> DocumentKeys:
        """Make the keys of documents whose ids have these hashes."""
        count = len(ids)
        return cls(
            ids=ids,
            versions=np.zeros(count, dtype=np.int64) if versions is None else versions,
            contents=np.full(count, UNKNOWN) if contents is None else contents,
        )

    def only(self, wanted: NDArray[np.bool_]) -> DocumentKeys:
        """Select the keys of the wanted documents."""
        return DocumentKeys(self.ids[wanted], self.versions[wanted], self.contents[wanted])


NO_KEYS = DocumentKeys(NOTHING, NOTHING.astype(np.int64), NOTHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResults:
    """Results of pairs, each pair the number that `number_pairs` gives it, in ascending order.

    `near` pairs have a distance and a similarity, `far` ones are beyond the limits.
    """

    near: Hashes = field(default_factory=lambda: NOTHING)
    distances: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    similarities: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    far: Hashes = field(default_factory=lambda: NOTHING)

    def renumber(self, places: NDArray[np.int64]) -> PairResults:
        """The same for rows that are now at `places`, -1 if they are gone."""
        near, order = _renumber(self.near, places)
        return PairResults(
            near=near, distances=self.distances[order], similarities=self.similarities[order],
            far=_renumber(self.far, places)[0],
        )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class PairCache:
    """Results of the earlier run for pairs of this one, and those that this run adds."""

    before: PairResults = field(default_factory=PairResults)
    reused: int = 0
    _asked: list[Hashes] = field(default_factory=list)
    _near: list[PairResults] = field(default_factory=list)

    def split(self, pairs: Pairs) -> tuple[PairResults, Pairs]:
        """Look pairs up: the results of the near ones, and the pairs that are to be compared."""
        numbers = np.sort(number_pairs(pairs), kind="stable")  # quick as long stretches ascend
        places = _places(numbers, self.before.near)
        is_near = places >= 0
        is_known = is_near | (_places(numbers, self.before.far) >= 0)
        near, found = numbers[is_near], places[is_near]
        if not self._asked:
            self.reused = int(np.count_nonzero(is_known))
        self._asked.append(numbers)
        known = PairResults(
            near=near,
            distances=self.before.distances[found],
            similarities=self.before.similarities[found],
        )
        return known, pairs_of(numbers[~is_known])

    def add(
        self, pairs: Pairs, distances: NDArray[np.int64], similarities: NDArray[np.float64]
    ) -> None:
        """Add all near ones of the pairs that were split last."""
        numbers = number_pairs(pairs)
        self._near.append(PairResults(near=numbers, distances=distances, similarities=similarities))

    def results(self) -> PairResults:
        """All results of this run's pairs."""
        parts = self._near or [PairResults()]
        near, at = np.unique(np.concatenate([part.near for part in parts]), return_index=True)
        asked = np.unique(np.concatenate([NOTHING, *self._asked]))
        return PairResults(
            near=near,
            distances=np.concatenate([part.distances for part in parts])[at],
            similarities=np.concatenate([part.similarities for part in parts])[at],
            far=asked[_places(asked, near) < 0],
        )


def _renumber(numbers: Hashes, places: NDArray[np.int64]) -> tuple[Hashes, NDArray[np.int64]]:
    """Pairs whose rows are now at `places`, in ascending order, and where each was before."""
    moved, kept = np.empty_like(numbers), np.empty(len(numbers), dtype=np.int64)
    count, do_ascend = joins.renumber_pairs(numbers, places, moved, kept)
    moved, kept = moved[:count], kept[:count]
    if do_ascend:
        return moved, kept
    order = np.argsort(moved, kind="stable")  # the rows of a source may come in another order
    return moved[order], kept[order]


def _places(numbers: Hashes, known: Hashes) -> NDArray[np.int64]:
    """Find where each of the numbers is among the known ones, -1 if it is not."""
    found = np.empty(len(numbers), dtype=np.int64)
    joins.lookup_sorted(numbers, known, found)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Counts of what has changed since the earlier run, and of what was used again.

    `came`, `changed` and `gone` count documents, `reused` candidates that were not compared again.
    `reason` says why everything was compared, if it was.
    """

    came: int = 0
    changed: int = 0
    gone: int = 0
    reused: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run as it lies in its file: documents by row, and the results of their pairs.

    `names` are the ids, and `signatures` (uint32, documents × hashes) the stored ones, of a
    collection; of a source, which is read anew each time, there are none. `newest` (int64, 1) is
    the newest version that was there when all documents were listed, 0 if not all were. `within`
    are results within the limits of the run, `beyond` those of pairs compared without limits.
    `asked` are the arguments of `duplicates` that the same run needs again.
    """

    keys: DocumentKeys
    names: Packed
    signatures: NDArray[np.uint32]
    newest: NDArray[np.int64]
    within: PairResults = field(default_factory=PairResults)
    beyond: PairResults = field(default_factory=PairResults)
    asked: Mapping[str, Any] = field(default_factory=dict)

    def rows_of(self, ids: Hashes) -> NDArray[np.int64]:
        """Find the rows of ids of these hashes, the last ones if they repeat, else -1."""
        order = np.argsort(self.keys.ids, kind="stable")
        ordered = self.keys.ids[order]
        at = (np.searchsorted(ordered, ids, side="right") - 1).clip(min=0)  # the last of equal ones
        return np.where((ordered[at] == ids) & ~mark_repeated(ids), order[at], -1)


@dataclass(slots=True, kw_only=True)
class PreviousRun:
    """An earlier run that is stored in the file `remember` of the options, and what this run adds.

    `before` is the earlier run while it is of use, and `reason` says why it
    is not; `is_kept` tells whether this run can be stored, `is_cut` whether it has not all
    documents. `newest` is the newest version that was there before they were listed.

    Raises SourceError if there is another file at that place.
    """

    options: Options
    is_cut: bool = False
    reason: str = ""
    is_kept: bool = True
    newest: int = 0
    before: StoredRun | None = None
    within: PairCache = field(default_factory=PairCache)
    beyond: PairCache = field(default_factory=PairCache)
    _work: str = ""
    _parts: list[DocumentKeys] = field(default_factory=list)
    _rows: list[NDArray[np.int64]] = field(default_factory=list)
    _keys: DocumentKeys = NO_KEYS
    _renamed: tuple[NDArray[np.intp], Hashes] = (np.empty(0, dtype=np.intp), NOTHING)
    _forgotten: set[int] = field(default_factory=set)
    _changes: Changes = field(default_factory=Changes)

    def open(self, settings: Settings, compared: str) -> None:
        """Read the earlier run, if it was of these settings and of what is `compared` now."""
        from neardup_solr import __version__

        name, limits = self.options.compared_by.name, self.options.limits
        self._work = f"{__version__} {settings.fingerprint} {name} {limits} {compared}"
        self.require_rememberable()
        if not self.is_kept:
            return
        found = read(self.options.files["remember"])
        if self.options.full:
            self.reason = "`full` was asked for"
        elif isinstance(found, str):
            self.reason = found
        elif found[0] != self._work:
            self.reason = (
                "the last run was of another collection or version, or had other settings, limits,"
                " fields or filters"
            )
        elif not len(found[1].keys.ids):
            self.reason = "the last run had no documents"
        else:
            self.before = found[1]

    def require_rememberable(self) -> None:
        """Give up if the measure, which may just have been chosen, needs all documents anew."""
        measure = self.options.compared_by
        if measure.needs_frequencies:
            reason = f"{measure.name} weighs words by all documents, so nothing can be remembered"
            self.give_up(reason, is_kept=False)

    def give_up(self, reason: str, *, is_kept: bool = True) -> None:
        """Compare everything, and say why.

        If it is not `is_kept`, this run is not stored.
        """
        self.before, self.reason, self.is_kept = None, reason, is_kept

    def add(self, keys: DocumentKeys, rows: NDArray[np.int64] | None = None) -> None:
        """Add the keys of the next documents of this run.

        `rows` are those that they had in the earlier run, -1 if they were not there; None if they
        are to be looked up by their ids.
        """
        self._parts.append(keys)
        if rows is not None:
            self._rows.append(rows)

    def rename(self, rows: NDArray[np.intp], ids: Hashes) -> None:
        """Give rows whose ids are shared the hashes of their names."""
        self._renamed = rows, ids

    def settle(self, signatures: NDArray[np.uint32]) -> None:
        """Find out what of the earlier run still holds, once all documents are there."""
        keys = DocumentKeys(*map(np.concatenate, zip(NO_KEYS, *self._parts, strict=True)))
        self._parts.clear()
        rows_renamed, names = self._renamed
        keys.ids[rows_renamed] = names
        if not self.options.compared_by.needs_texts:
            keys = keys._replace(contents=hash_signatures(signatures))
        self._keys = keys
        self.newest = 0 if self.is_cut else min(self.newest, int(keys.versions.max(initial=0)))
        if self.before is None:
            return
        old, self.before = self.before, None  # it takes memory
        rows = np.concatenate(self._rows) if self._rows else old.rows_of(keys.ids)
        self._rows.clear()
        is_known = rows >= 0
        versions, contents = old.keys.versions[rows], old.keys.contents[rows]
        is_same = is_known & (keys.versions != 0) & (keys.versions == versions)
        keys.contents[:] = np.where(is_same & (keys.contents == UNKNOWN), contents, keys.contents)
        has_same_signature = is_known & ~is_same
        if len(old.signatures):  # others for the same text: then one of them is wrong
            doubtful = np.flatnonzero(has_same_signature)
            for first in range(0, len(doubtful), AT_ONCE):
                at = doubtful[first : first + AT_ONCE]
                has_same_signature[at] = (old.signatures[rows[at]] == signatures[at]).all(axis=1)
        is_unread = has_same_signature & (contents == UNKNOWN) & (len(old.signatures) > 0)
        is_same |= has_same_signature & (contents != UNKNOWN) & (contents == keys.contents)
        places = np.full(len(old.keys.ids), -1)
        places[rows[is_same]] = np.flatnonzero(is_same)
        self.within.before = old.within.renumber(places)
        self.beyond.before = old.beyond.renumber(places)
        self._changes = Changes(
            came=int(np.count_nonzero(~is_known & ~mark_repeated(keys.ids))),
            changed=int(np.count_nonzero(is_known & ~is_same & ~is_unread)),
            gone=int(np.count_nonzero(~mark_repeated(old.keys.ids))) - int(is_known.sum()),
        )

    def note_contents(self, rows: NDArray[np.uint32], texts: Sequence[str]) -> None:
        """Note the texts of these rows as they are compared, and drop those that were others."""
        contents, now = self._keys.contents, hash_texts(texts)
        self.forget(rows[(contents[rows] != UNKNOWN) & (contents[rows] != now)].tolist())
        contents[rows] = now

    def forget(self, rows: Iterable[int]) -> None:
        """Drop these rows: the documents were deleted or changed during the run."""
        self._forgotten.update(rows)

    @property
    def changes(self) -> Changes:
        """The changes since the earlier run."""
        if self.reason:
            return Changes(reason=self.reason)
        return replace(self._changes, reused=self.within.reused)

    def write(self, gathered: Gathered) -> None:
        """Store this run, with the ids and signatures of a collection, in place of the earlier.

        Raises SourceError if the file cannot be written.
        """
        keys, forgotten, side = self._keys, list(self._forgotten), gathered.sides[0]
        keys.versions[forgotten] = 0
        keys.contents[forgotten] = UNKNOWN
        is_stored = side.collection is not None
        run = StoredRun(
            keys=keys,
            names=pack([str(id) for id in side.ids] if is_stored else []),
            signatures=gathered.signatures if is_stored else gathered.signatures[:0],
            newest=np.array([self.newest]),
            within=self.within.results(),
            beyond=self.beyond.results(),
            asked=_asked(self.options),
        )
        write(self.options.files["remember"], self._work, run)

    @property
    def digest(self) -> str:
        """Checksum of the cache. A checkpoint is valid only with the same cache."""
        known = self.within.before
        columns = (known.far, known.near, known.distances, known.similarities)
        return " ".join(f"{zlib.crc32(column.data):x}" for column in columns)


def hash_signatures(signatures: NDArray[np.uint32]) -> Hashes:
    """Hash each signature to 64 bits."""
    found = np.empty(len(signatures), dtype=np.uint64)
    joins.hash_whole(signatures, signatures.shape[1], found)
    return found


def mark_repeated(ids: Hashes) -> NDArray[np.bool_]:
    """Mark the ids that come again later: then that record counts."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    found = np.zeros(len(ids), dtype=np.bool_)
    found[order[:-1]] = ordered[1:] == ordered[:-1]
    return found


def write(path: Path, work: str, run: StoredRun) -> None:
    """Write a run to its file, whole or not at all. Damage is seen by its checksums.

    Raises SourceError if it cannot be written.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in _arrays(run).items()}
    known = {
        name: [array.dtype.str, array.shape, zlib.crc32(array.data)]
        for name, array in arrays.items()
    }
    told = {"format": FORMAT, "work": work, "asked": run.asked, "arrays": known}
    header = orjson.dumps(told)
    check = b"%08x " % zlib.crc32(header)
    with whole(path, lasting=False) as unfinished, open(unfinished, "xb") as file:
        file.write(FIRST_LINE + check + header + b"\n")
        for array in filter(len, arrays.values()):
            file.write(bytes(-file.tell() % ALIGNED))
            file.write(array.data)


def read(path: Path) -> tuple[str, StoredRun] | str:
    """Read the work and the run of a file, or a reason if there is none.

    Raises SourceError if it is another file, or cannot be read.
    """
    try:
        with open(path, "rb") as file:
            first = file.readline(len(FIRST_LINE))
            if not first.strip(b"\0"):  # a crash of the machine may leave nothing in it
                return f"{path.name} is damaged" if first else f"{path.name} is empty"
            if first != FIRST_LINE:
                reason = "no run of duplicates wrote this file"
                raise SourceError(str(path), reason, "name another file by `remember`")
            check, _, told = file.readline().rstrip(b"\n").partition(b" ")
            if check != b"%08x" % zlib.crc32(told):
                return f"{path.name} is damaged"
            header = orjson.loads(told)
            if header["format"] not in READABLE:
                return "the last run was of another version"
            try:
                found = {
                    name: _array(file, *known, is_mapped=name == "signatures")
                    for name, known in header["arrays"].items()
                }
            except ValueError:
                return f"{path.name} is damaged"
            return str(header["work"]), _run(found, header.get("asked", {}))
    except FileNotFoundError:
        return "there was no run before"
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise SourceError(str(path), reason, "name another file by `remember`") from None


def read_asked(path: Path, collection: Collection) -> Mapping[str, Any]:
    """Read the arguments of `duplicates` by which the run of a file is run again.

    Raises SourceError if there is no such run of the collection, or it is one of a version that did
    not store them.
    """
    found = read(path)
    reason = found if isinstance(found, str) else "it does not say how the last run was asked for"
    step = f"neardup duplicates {collection.place} --mark --remember"
    if isinstance(found, str) or not found[1].asked:
        raise SourceError(str(path), reason, f"run this once: {step} {path}")
    if collection.identity not in found[0]:
        reason = f"the last run was not of {collection.name!r}, or of other text fields"
        raise SourceError(str(path), reason, f"name another file, and run this once: {step} FILE")
    return found[1].asked


def _asked(options: Options) -> dict[str, Any]:
    asked = {name: getattr(options, name) for name in ASKED}
    if "answers" in options.files:
        asked["answers"] = str(options.files["answers"].absolute())
    elif options.answers is not None:
        asked["answers"] = getattr(options.answers, "url", options.answers)
    return asked


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


def _arrays(run: StoredRun) -> Mapping[str, NDArray[Any]]:
    """Each array of a run by its name in the file."""
    found: dict[str, NDArray[Any]] = dict(run.keys._asdict())
    found |= {"names": run.names.data, "bounds": run.names.bounds, "signatures": run.signatures}
    found |= {"newest": run.newest}
    for kind in ("within", "beyond"):
        results = getattr(run, kind)
        for column in fields(results):
            found[f"{kind} {column.name}"] = getattr(results, column.name)
    return found


def _run(arrays: Mapping[str, NDArray[Any]], asked: Mapping[str, Any]) -> StoredRun:
    def results(kind: str) -> PairResults:
        return PairResults(
            **{column.name: arrays[f"{kind} {column.name}"] for column in fields(PairResults)}
        )

    return StoredRun(
        keys=DocumentKeys(*(arrays[name] for name in DocumentKeys._fields)),
        names=Packed(arrays["names"], arrays["bounds"]),
        signatures=arrays["signatures"],
        newest=arrays["newest"],
        within=results("within"),
        beyond=results("beyond"),
        asked=asked,
    )
