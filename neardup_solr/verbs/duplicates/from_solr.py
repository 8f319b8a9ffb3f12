"""The documents of a collection, with the signatures that are stored with them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import listed
from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.minhash import signature
from neardup_solr.minhash.sign import hash_texts
from neardup_solr.progress import Progress
from neardup_solr.settings import Settings
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.export import Block
from neardup_solr.solr.names import TEXT, VERSION
from neardup_solr.solr.responses import LOG_AGAIN
from neardup_solr.solr.schema import count_unsigned
from neardup_solr.threads import gc_disabled, thread_pool
from neardup_solr.verbs.duplicates import previous_run
from neardup_solr.verbs.duplicates.inputs import PAGE, READING, Gathered, Input
from neardup_solr.verbs.duplicates.previous_run import (
    NO_KEYS,
    UNKNOWN,
    DocumentKeys,
    Hashes,
    PreviousRun,
    StoredRun,
    hash_signatures,
)

PAGES = 4  # pages of documents that are requested at the same time
PARTS, MANY = 2, 20_000  # exports at the same time, if there are so many documents: each a thread
CLOSE = 60_000 << 20  # a minute, in versions of Solr: milliseconds and 20 bits
AT_ONCE = 20_000  # documents whose signatures are copied at once
MOST_NEW = 2  # if more than one document in so many may be new, all are read

Columns: TypeAlias = Sequence[Sequence[Any]]  # the values of documents, field by field
T = TypeVar("T")


class _Signed(NamedTuple):
    """Documents with signatures, and how many were read for them.

    `rows` are those that they had in the earlier run, -1 if they were not there; None if they are
    still to be looked up. `same` has their values of the fields that have to be equal, if an export
    can read those.
    """

    read: int
    ids: list[str]
    signatures: NDArray[np.uint32]
    keys: DocumentKeys
    rows: NDArray[np.int64] | None = None
    same: Columns = ()

    def only(self, wanted: NDArray[np.bool_]) -> _Signed:
        """The wanted documents."""
        return _Signed(
            read=self.read,
            ids=[self.ids[at] for at in np.flatnonzero(wanted).tolist()],
            signatures=self.signatures[wanted],
            keys=self.keys.only(wanted),
            rows=None if self.rows is None else self.rows[wanted],
            same=[[values[at] for at in np.flatnonzero(wanted).tolist()] for values in self.same],
        )


class _Listed(NamedTuple):
    """Ids, their hashes, and versions of documents, in the order of an export.

    `rows` are those that they had in the earlier run, -1 if they were not there; `same` is as for
    `_Signed`. Further `others` have no signature.
    """

    ids: list[str]
    hashes: Hashes
    versions: NDArray[np.int64]
    rows: NDArray[np.int64]
    others: int = 0
    same: Columns = ()

    def known(self, before: StoredRun) -> NDArray[np.int64]:
        """Find the rows of documents that have the version of the earlier run, -1 for others."""
        rows, versions = self.rows, self.versions
        is_same = (rows >= 0) & (versions != 0) & (before.keys.versions[rows] == versions)
        return np.where(is_same, rows, -1)


def read_collection(collection: Collection, gathered: Gathered) -> Input:
    """Read the documents of a collection that have a signature, which is added to `gathered`."""
    options, remembering = gathered.options, gathered.remembering
    fq, same = listed(options.fq), options.same
    state = collection.state()
    count = collection.count(fq) if fq else state.documents
    ids = gathered.spill.strings()
    side = Input(
        ids=ids,
        texts=lambda rows: _read_texts(collection, ids.take(rows)),
        values=lambda rows, fields: _read_values(collection, ids.take(rows), fields),
        collection=collection,
        state=state,
        digest=repr(fq).encode() if fq else b"",
    )
    total = count if options.limit is None else min(options.limit, count)
    side.is_cut = total < count
    described = schema.read_schema(collection)
    side.unsigned = count_unsigned(collection, described, fq)
    are_exported = [
        _require_readable(collection, described, name, "same").is_exported for name in same
    ]
    for argument, names in (("keep", options.keep), ("fields", options.kinds)):
        for name in names:
            _require_readable(collection, described, name, argument)
    if remembering is not None:
        remembering.is_cut = side.is_cut
        # Parts of an export may see other states: what is newer than this one is asked for again.
        remembering.newest = state.version
        found = described.field(VERSION)
        if found is None or not found.is_exported:
            reason = f"{VERSION} has no docValues in its schema, so nothing can be remembered"
            remembering.give_up(reason, is_kept=False)
            remembering = None
    key = described.field(collection.names.id)
    may_ask = not (side.is_cut or fq or same) and key is not None and key.kind == "StrField"
    export = _Export(
        collection=collection,
        filters=fq,
        same=same if all(are_exported) else (),
        total=total,
        parts=PARTS if count >= MANY else 1,
    )
    for signed in _read_signed(export, gathered.settings, remembering, may_ask=may_ask):
        ids.extend(signed.ids)
        gathered.rows.append(signed.signatures)
        if gathered.numbers is not None:
            values = _read_values(collection, signed.ids, same) if not signed.same else {}
            gathered.numbers.add(signed.same or [*values.values()])
        if remembering is not None:
            remembering.add(signed.keys, signed.rows)
        side.documents += signed.read
        options.watching.on_progress(Progress(READING, side.documents, total))
    read = export.read if fq else side.documents
    is_cut = bool(fq) and read != count
    if (is_cut or side.documents != total) and collection.state() == state:
        reason = f"the export has {read:,} of its {count if fq else total:,} documents"
        raise SolrAnswerError(collection.url, 200, reason, LOG_AGAIN)
    return side


def _require_readable(
    collection: Collection, described: schema.Schema, name: str, argument: str
) -> schema.Field:
    """Return the field that an argument names.

    Raises SettingsError if there is no such field, or its values cannot be read.
    """
    field = described.field(collection.names.of(name))
    if field is None or not (field.is_exported or field.is_kept):
        lacks = f"the field {name!r} is neither stored nor in docValues"
        missing = f"the collection {collection.name!r} has no field {name!r}"
        raise SettingsError(lacks if field else missing, f"name another one in `{argument}`")
    return field


@dataclass(slots=True, kw_only=True)
class _Export:
    """The documents of a collection that are read: those that match `filters`, at most `total`.

    `same` are fields that are read as well, in so many `parts` at the same time. `read` counts all
    documents that came.
    """

    collection: Collection
    filters: Sequence[str]
    same: Sequence[str]
    total: int
    parts: int
    read: int = 0

    def blocks(self, fields: Sequence[str]) -> Iterator[Block]:
        """These fields of the documents. The rest is read, so that it is known to be whole."""
        left = self.total
        wanted = [*fields, *self.same]
        for block in self.collection.exported(wanted, filters=self.filters, parts=self.parts):
            self.read += len(block)
            if left:
                yield block[:left]
            left -= min(left, len(block))

    def columns(self, block: Block) -> Columns:
        """The values of the fields `same`."""
        return [[found.get(name) for found in block] for name in self.same]


def _read_signed(
    export: _Export, settings: Settings, remembering: PreviousRun | None, *, may_ask: bool
) -> Iterator[_Signed]:
    collection = export.collection
    if remembering is not None and (before := remembering.before) is not None:
        with gc_disabled():
            asked = _list_since(collection, before) if may_ask else None
        listed = asked or _list_all(export, before)
        same = listed.known(before)
        if np.count_nonzero(same < 0) * MOST_NEW <= len(same):
            yield from _only_new(collection, settings, before, listed, same)
            return
        del before, asked, listed, same  # they take memory
        remembering.give_up("most documents are new, or have other versions than in the last run")
    fields = ["id", "signature"] if remembering is None else ["id", "signature", VERSION]
    for block in export.blocks(fields):
        signed = [found for found in block if found.get("signature")]
        ids = [found["id"] for found in signed]
        yield _Signed(
            read=len(block),
            ids=ids,
            signatures=signature.decode_all([found["signature"] for found in signed], settings),
            keys=NO_KEYS
            if remembering is None
            else DocumentKeys.of(hash_texts(ids), _versions_of(signed)),
            same=export.columns(signed),
        )


def _list_all(export: _Export, before: StoredRun) -> _Listed:
    """List all documents that are read, each with its version."""
    ids: list[str] = []
    versions = [np.empty(0, dtype=np.int64)]
    same: list[list[Any]] = [[] for _ in export.same]
    for block in export.blocks(["id", VERSION]):
        ids += [found["id"] for found in block]
        versions.append(_versions_of(block))
        for values, more in zip(same, export.columns(block), strict=True):
            values.extend(more)
    hashed = hash_texts(ids)
    return _Listed(ids, hashed, np.concatenate(versions), before.rows_of(hashed), same=same)


def _list_since(collection: Collection, before: StoredRun) -> _Listed | None:
    """List all by asking only for what was written after the earlier run, or None if not sure.

    A core gives what is written a version above all others in it, or close to them while others
    write. So if there are as many older documents as there should be, none has gone; and if some
    of them have the versions that they had, it is not another index, or an older copy of this one.
    """
    ids, versions = list(before.names), before.keys.versions
    newest = int(before.newest[0])
    if collection.session.nodes.is_cloud is not False or not newest or ids != sorted(ids):
        return None
    until = f"{{!cache=false}}{VERSION}:[* TO {newest - CLOSE}]"
    after = f"{{!cache=false}}{VERSION}:{{{newest - CLOSE} TO *]"
    exported = collection.exported(["id", VERSION], filters=[after])
    later = {one["id"]: one.get(VERSION, 0) for block in exported for one in block}
    changed = [row for row, id in enumerate(ids) if id in later]
    still = collection.count([until, f"{collection.names.of('signature')}:[* TO *]"])
    if still + len(changed) != len(ids) or not _are_there(collection, before, later):
        return None
    versions = versions.copy()
    versions[changed] = [later.pop(ids[row]) for row in changed]
    new = sorted(later)
    places = [bisect(ids, id) for id in new]
    return _Listed(
        ids=sorted([*ids, *new]),
        hashes=np.insert(before.keys.ids, places, hash_texts(new)),
        versions=np.insert(versions, places, [later[id] for id in new]),
        rows=np.insert(np.arange(len(ids)), places, -1),
        others=collection.count([until]) - still,
    )


def _are_there(collection: Collection, before: StoredRun, later: Mapping[str, int]) -> bool:
    """Tell whether the last documents of the earlier run, and some others, have the same versions.

    Those in `later` were written since.
    """
    versions = before.keys.versions
    order = np.argsort(versions)
    order = order[versions[order] > 0]
    sample = np.concatenate([order[-PAGE:], order[:: max(1, len(order) // PAGE)]])
    known = {before.names[row]: int(versions[row]) for row in sample.tolist()}
    asked = [id for id in known if id not in later]
    found = collection.versions(asked)
    return all(found.get(id) == known[id] for id in asked)


def _versions_of(block: Block) -> NDArray[np.int64]:
    return np.fromiter((found.get(VERSION, 0) for found in block), np.int64, len(block))


def _only_new(
    collection: Collection,
    settings: Settings,
    before: StoredRun,
    listed: _Listed,
    same: NDArray[np.int64],
) -> Iterator[_Signed]:
    """Take listed documents of the `same` version from the earlier run, and read the others."""
    others = listed.others
    for first in range(0, max(len(listed.ids), 1), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        own, there, known = listed.ids[part], listed.versions[part].copy(), same[part]
        contents = np.full(len(own), UNKNOWN)
        signatures = before.signatures[known]
        is_signed = known >= 0
        new = np.flatnonzero(~is_signed).tolist()
        read = _by_id(collection, [own[at] for at in new], ["signature", VERSION, TEXT])
        found = {at: read[own[at]] for at in new if read.get(own[at], {}).get("signature")}
        if found:
            at = list(found)
            encoded = [one["signature"] for one in found.values()]
            signatures[at] = signature.decode_all(encoded, settings)
            read_now = _versions_of([*found.values()])
            # What was written since it was listed is to be read again by the next run.
            there[at] = np.where(read_now == there[at], read_now, 0)
            contents[at] = hash_texts([one.get(TEXT, "") for one in found.values()])
            is_signed[at] = True
        found_now = _Signed(
            read=len(own) + others,
            ids=own,
            signatures=signatures,
            keys=DocumentKeys(listed.hashes[part], there, contents),
            rows=listed.rows[part],
            same=[values[part] for values in listed.same],
        )
        yield found_now if is_signed.all() else found_now.only(is_signed)
        others = 0


def refresh_versions(path: Path, collection: Collection, ids: Sequence[str]) -> None:
    """Store the versions that documents have now, if all that was compared of them is the same.

    Raises SourceError if the file `path` cannot be written.
    """
    found = previous_run.read(path)
    if isinstance(found, str):
        return
    work, run = found
    settings = collection.needed_settings()
    if run.signatures.shape != (len(run.keys.ids), settings.hashes) or not len(run.signatures):
        return  # of a file
    for first in range(0, len(ids), AT_ONCE):
        read = _by_id(collection, ids[first : first + AT_ONCE], ["signature", VERSION, TEXT])
        there = [one for one in read.values() if one.get("signature")]
        rows = run.rows_of(hash_texts([one["id"] for one in there]))
        signatures = signature.decode_all([one["signature"] for one in there], settings)
        texts = hash_texts([one.get(TEXT, "") for one in there])
        contents = run.keys.contents[rows]
        is_same = (rows >= 0) & (signatures == run.signatures[rows]).all(axis=1)
        is_same &= (contents == texts) | (contents == hash_signatures(signatures))
        run.keys.versions[rows[is_same]] = _versions_of(there)[is_same]
    previous_run.write(path, work, run)


def _read_texts(collection: Collection, ids: Sequence[str]) -> list[str | None]:
    found = _read_pages(ids, collection.texts)
    return [found.get(id) for id in ids]


def _read_values(
    collection: Collection, ids: Sequence[str], fields: Sequence[str]
) -> dict[str, list[Any]]:
    found = _by_id(collection, ids, fields)
    return {name: _unbox([found.get(id, {}).get(name) for id in ids]) for name in fields}


def _unbox(values: list[Any]) -> list[Any]:
    """Take values out of their lists if no document has several, as in a column that was kept."""
    if all(value is None or (isinstance(value, list) and len(value) == 1) for value in values):
        return [value and value[0] for value in values]
    return values


def _by_id(
    collection: Collection, ids: Sequence[str], fields: Sequence[str]
) -> dict[str, dict[str, Any]]:
    return _read_pages(
        ids, lambda page: {one["id"]: one for one in collection.stored(page, fields)}
    )


def _read_pages(ids: Sequence[str], read: Callable[[Sequence[str]], dict[str, T]]) -> dict[str, T]:
    """Read by ids, some pages at the same time."""
    pages = [ids[at : at + PAGE] for at in range(0, len(ids), PAGE)]
    with thread_pool(PAGES) as pool:
        return {id: value for found in pool.map(read, pages) for id, value in found.items()}
