"""The files that a review writes at its end: the list without near-duplicates, and a model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from neardup_solr.answers import SAME
from neardup_solr.clusters.components import Partition
from neardup_solr.errors import ArgumentError, DataError, SourceError, counted
from neardup_solr.measures.logistic import FEWEST, FEWEST_OF_EACH
from neardup_solr.progress import ignore
from neardup_solr.reports import copies
from neardup_solr.sources.compression import is_compressed
from neardup_solr.sources.source import is_collection
from neardup_solr.verbs.duplicates.find import find_duplicates
from neardup_solr.verbs.duplicates.merge import Merged, MergedClusters, list_clusters
from neardup_solr.verbs.duplicates.merged_files import name_files
from neardup_solr.verbs.duplicates.result import Duplicates
from neardup_solr.verbs.duplicates.unique import SourceRecords, check_files
from neardup_solr.verbs.review.request import ReviewRequest
from neardup_solr.verbs.tune.request import TuneRequest
from neardup_solr.verbs.tune.training import train

CLEAN, MODEL = "clean", "model"


@dataclass(frozen=True, slots=True)
class ReviewOutputs:
    """The files that a review can write: `clean`, as `duplicates` writes it as `merge`, and a
    `model`, both beside the source, or None if it cannot be read again, with the `refusal`.

    `state` is that of the source's files when the review began.
    """

    request: ReviewRequest
    clean: Path | None
    model: Path | None
    refusal: ArgumentError | None = None
    state: tuple[tuple[int, ...], ...] = ()

    @property
    def names(self) -> dict[str, Any]:
        """The name and the folder of each file, None of one that is not written."""
        paths = {CLEAN: self.clean, MODEL: self.model}
        return {key: path and [path.name, str(path.resolve().parent)]
                for key, path in paths.items()}  # fmt: skip

    @property
    def merges(self) -> bool:
        """True if values can be chosen: records of one source are merged into the clean file."""
        return self.clean is not None and self.request.against is None

    @classmethod
    def of(cls, request: ReviewRequest, result: Duplicates) -> ReviewOutputs:
        """Name the files after the source, or else after the answers."""
        records = result.origin.records
        if isinstance(records, SourceRecords):
            clean = _name_clean(records)
            stem = clean.name.partition(".clean")[0]
            model = clean.with_name(f"{stem}.model.json")
            return cls(request, clean, model, state=_read_states(records.paths))
        model = Path(request.answers).with_suffix(".model.json")
        return cls(request, None, model if is_collection(request.source) else None, records)

    def write(self, name: str, agreed: Collection[str], canonical: str = "first") -> dict[str, Any]:
        """Write a file, or return what has to be `agreed` to before.

        The clean file keeps of each group the `canonical` record. If the first one is kept, it has
        the values that were chosen, and what others know fills its gaps: then a file beside it
        lists where all values come from.

        Raises DataError if that is not possible, or answers are too few, and the errors of
        `duplicates` and `tune`.
        """
        path = self.clean if name == CLEAN else self.model
        if path is None:
            assert self.refusal is not None
            raise self.refusal
        files = [path]
        if name == CLEAN and self.merges:
            files += filter(None, [name_files(path)["values"]])
        asks = [f"{each.name} exists. Replace it?" for each in files if each.exists()]
        if not {*asks} <= {*agreed}:
            return {"asks": asks}
        return self._write_model(path) if name == MODEL else self._write_clean(agreed, canonical)

    def merge(self) -> MergedClusters:
        """Merge records by the answers, without choices of values.

        Raises DataError if answers contradict each other, and the errors of `duplicates`.
        """
        found = self._find("first")
        assert found.answered is not None
        found = replace(found, answered=replace(found.answered, choices=()))
        return list_clusters(found.merge(yes=True))

    def _find(self, canonical: str) -> Duplicates:
        request = self.request
        return find_duplicates(
            request.compare(answers=request.answers, unsure_apart=True, keep=request.keep,
                            beside=request.beside, canonical=canonical, on_error=ignore)
        )  # fmt: skip

    def _write_clean(self, agreed: Collection[str], canonical: str) -> dict[str, Any]:
        assert self.clean is not None
        found = self._find(canonical)
        if asks := [each for each in self._list_questions(found) if each not in agreed]:
            return {"asks": asks}
        by_whom = {"obeyed": len(found.answered.obeyed) if found.answered else 0,
                   "unseen": _count_unseen(found)}  # fmt: skip
        if canonical == "first" and self.merges:
            merged = found.merge(yes=True)
            if merged.chosen or merged.filled:
                return by_whom | self._write_merged(merged, found.origin.records)
        counts = found.write_unique(self.clean, yes=True)
        return by_whom | {
            "records": counts.records, "kept": counts.kept, "failed": counts.failed,
            "removed": counts.removed + counts.repeated,
            "fuller": found.fuller if canonical == "first" else 0,
        }  # fmt: skip

    def _list_questions(self, found: Duplicates) -> Iterator[str]:
        """List what the guard asks, and if a source may be used that has changed meanwhile."""
        records = found.origin.records
        if isinstance(records, SourceRecords) and _read_states(records.paths) != self.state:
            name, many = records.paths[0].name, counted(len(records.are_documents), "record")
            yield f"{name} has changed since the review began, and now has {many}. Go on?"
        if found.doubt:
            of_all = f"{len(found.removed):,} of {counted(found.documents, 'record')}"
            yield f"{found.doubt}. Leave out {of_all} anyway?"

    def _write_merged(self, merged: Merged, records: object) -> dict[str, Any]:
        """Write the records with the values of their groups, and where all values come from."""
        assert isinstance(records, SourceRecords)
        assert self.clean is not None
        values = name_files(self.clean)["values"]
        assert values is not None
        merged.write(self.clean)
        documents, removed = sum(records.are_documents), merged.merged - merged.clusters
        return {"records": len(records.are_documents), "kept": documents - removed,
                "failed": len(records.are_documents) - documents, "removed": removed,
                "chosen": merged.chosen, "filled": merged.filled, "outdated": merged.outdated,
                "open": sum(merged.conflicts.values()), "values": values.name,
                "fuller": 0}  # fmt: skip

    def _write_model(self, path: Path) -> dict[str, Any]:
        request = self.request
        training = train(
            TuneRequest(
                request.source, answers=request.answers, fields=request.fields,
                measure=request.measure, by=request.by, against=request.against, id=request.id,
                text=request.text, settings=request.settings, on_error=ignore,
            )
        )  # fmt: skip
        model = training.model
        if training.is_default:
            reason = f"there are {model.same} same and {model.different} different answers"
            step = f"give {FEWEST} or more, {FEWEST_OF_EACH} of each kind"
            raise DataError(reason, step, code="no-pairs")
        training.write(path)
        return {"same": model.same, "different": model.different, "right": training.right,
                "default_right": training.default_right}  # fmt: skip


def _read_states(paths: Sequence[Path]) -> tuple[tuple[int, ...], ...]:
    """Return the times and sizes of files."""
    states = (path.stat() for path in paths)
    return tuple((state.st_mtime_ns, state.st_size) for state in states)


def _count_unseen(found: Duplicates) -> int:
    """Count the records that are left out, less those that answers alone would leave out."""
    obeyed = found.answered.obeyed if found.answered else ()
    same = [answer for answer in obeyed if answer.answer == SAME]
    if found.against:
        seen = {id for each in same for id in ((each.id,) if each.ordered else each.hashes)}
        return sum(str(id) not in seen for id in found.removed)
    groups, joined = Partition(), 0
    for id, other_id in (answer.hashes for answer in same):
        joined += groups.find(id) != groups.find(other_id)
        groups.unite(id, other_id)
    return len(found.removed) - joined


def _name_clean(records: SourceRecords) -> Path:
    """Name the file without near-duplicates, in the format of the source if there is a copy of it.

    Otherwise it is of JSON lines.
    """
    source = Path(records.paths[0])
    packed = source.suffix if is_compressed(source) else ""
    inner = Path(source.name.removesuffix(packed))
    suffixes = dict.fromkeys([inner.suffix, *copies.SAME.values(), ".jsonl"])
    names = [source.with_name(f"{inner.stem}.clean{each}{packed}") for each in suffixes]
    for name in names:
        with suppress(SourceError):
            check_files(records.paths, records.reading, {"unique": name}, records.against)
            return name
    return names[0]
