"""Which candidates are near-duplicates: block by block, each text read once if possible."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.answers import SAME
from neardup_solr.arguments import Way
from neardup_solr.candidates import (
    ONE_SIDE,
    SPREAD,
    Candidates,
    Copies,
    Joining,
    PairArray,
    Sides,
    all_candidates,
)
from neardup_solr.errors import SettingsError
from neardup_solr.files import read_arrays, write_arrays
from neardup_solr.kernel import joins
from neardup_solr.measures import (
    Comparer,
    Flat,
    Limits,
    Pairs,
    floor,
    number_pairs,
)
from neardup_solr.measures.equality import differ_in_numbers_alone
from neardup_solr.minhash import sign
from neardup_solr.progress import LOG, OnProgress, Progress, ignore
from neardup_solr.records import BORDER, NO_DISTANCE
from neardup_solr.settings import CAP, WORD_CAP
from neardup_solr.text.packed import Packed, pack, size_of
from neardup_solr.threads import prefetch, run_aside, thread_pool
from neardup_solr.verbs.duplicates.inputs import AT_ONCE, THREADS, Gathered, fitting_parts

if TYPE_CHECKING:
    from neardup_solr.measures import Frequencies
    from neardup_solr.measures.fields import FieldColumn
    from neardup_solr.measures.model import RecordMatcher
    from neardup_solr.verbs.duplicates.answers import RowAnswers
    from neardup_solr.verbs.duplicates.previous_run import PreviousRun

TEXTS, COMPARING = "texts", "comparing"
SAMPLE = 200  # pairs whose numbers are compared
SAMPLED = 1 << 12  # pairs of a block that are compared by a lower threshold, about
BLOCK = 1 << 17  # pairs that are compared at a time
# Few documents are all compared with each other, if that takes about a second: bands miss some
# pairs, and many pairs of short texts.
FEW = 2_000
NO_PAIRS = np.empty(0, dtype=np.bool_)
NO_DISTANCES, NO_SIMILARITIES = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)
U64 = np.uint64
PLACE = U64(19)  # bits: a stretch has half a million documents
LOW = (U64(1) << PLACE) - U64(1)
CHECKPOINT = b"neardup duplicates: pairs that an interrupted run has compared\n"
COLUMNS = ("pairs", "distances", "similarities")
KEEP_EVERY = 10.0  # seconds


@dataclass(slots=True)
class Verified:
    """Pairs that are near-duplicates, and documents that had a problem.

    `vanished` documents were gone when their texts were read; the text of `stale` ones has changed
    since it was signed. `below` counts, about, the pairs that a threshold lower by BORDER would
    add; it is None if not all pairs were compared in this run.
    """

    pairs: Pairs
    distances: NDArray[np.int64]
    similarities: NDArray[np.float64]
    below: int | None = 0
    vanished: set[int] = field(default_factory=set)
    stale: set[int] = field(default_factory=set)

    def take(self, parts: Sequence[tuple[NDArray[Any], ...]]) -> None:
        """Have the pairs of all parts."""
        if parts:
            columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
            self.pairs, self.distances, self.similarities = columns

    def keep(self, wanted: NDArray[np.bool_] | NDArray[np.intp]) -> None:
        """Keep these pairs, in this order."""
        self.pairs, self.distances = self.pairs[wanted], self.distances[wanted]
        self.similarities = self.similarities[wanted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A comparison of pairs of gathered documents.

    Pairs that were compared in the `previous` run, with the same contents, are not compared again.
    What `answers` call different is not found. `copies` are the documents of equal normal forms,
    None if these are not known.
    """

    gathered: Gathered
    comparer: Comparer
    on_progress: OnProgress = ignore
    previous: PreviousRun | None = None
    is_limited: bool = True
    answers: RowAnswers | None = None
    matcher: RecordMatcher | None = None
    copies: Copies | None = None

    @classmethod
    def of(cls, gathered: Gathered) -> Comparison:
        """Compare the documents by the measure that was asked for.

        If it weighs words, by their own frequencies.
        """
        options, frequencies = gathered.options, None
        matcher: RecordMatcher | None = None
        if options.compared_by.needs_frequencies:
            from neardup_solr.measures import aligned

            forms = gathered.forms()
            living = [forms[row] for row in gathered.living().tolist()]
            frequencies = aligned.frequencies(living, gathered.settings.normalization)
            matcher = _make_matcher(gathered, frequencies)
        comparer = Comparer(
            measure=options.compared_by,
            limits=options.limits,
            settings=gathered.settings,
            frequencies=frequencies,
            threads=THREADS,
        )
        return cls(
            gathered=gathered,
            comparer=comparer,
            on_progress=options.watching.on_progress,
            previous=gathered.remembering,
            matcher=matcher,
            copies=find_copies(gathered, () if matcher is None else matcher.columns),
        )

    def without_limits(self) -> Comparison:
        """The same without limits, by which every pair counts, and without a word of progress."""
        every = replace(self.comparer, limits=Limits(min_similarity=0.0))
        return replace(self, comparer=every, previous=None, is_limited=False, on_progress=ignore)

    def count_beyond(self, found: Candidates) -> int:
        """Count about how many near-duplicates share only words beyond the cap, by a sample.

        A pair is met once for each of its documents that is in the sample.
        """
        copies = found.copies
        if not len(found.beyond) or copies is None:
            return 0
        alone = replace(self, previous=None, on_progress=ignore)
        near = alone.verify(found.beyond.copy()).pairs
        drawn = np.bincount(copies.firsts[found.sample], minlength=len(self.gathered))
        shares = drawn[near] / copies.sizes[near] / 2
        most = max(make_joining(self.gathered).cap, CAP)  # as of a higher cap
        met = (copies.count_pairs(near, most)[:, None] * shares).sum()
        return round(float(met) * len(self.gathered) / len(found.sample))

    def verify(
        self, pairs: Pairs, *, checkpoint: Path | None = None, copies: Copies | None = None
    ) -> Verified:
        """Find the pairs that are within the limits, and not different by an answer.

        With `copies`, each stands for all pairs of their rows. The array `pairs` may be sorted in
        place.
        """
        if self.matcher is not None:
            found = self._match(pairs, self.matcher)
        elif self.previous is None:
            found = self._compare(pairs, checkpoint)
        else:
            found = self._compare_unknown(pairs, self.previous, checkpoint)
        if copies is not None:
            self._add_copies(found, copies)
        if self.is_limited and self.gathered.options.equality:
            numbers = _number_equal(self.gathered, np.unique(found.pairs))
            found.keep(numbers[found.pairs[:, 0]] == numbers[found.pairs[:, 1]])
        if self.answers is not None:
            found.keep(self.answers.mark_allowed(found.pairs))
        found.keep(np.lexsort((found.pairs[:, 1], found.pairs[:, 0])))
        return found

    def count_numeric(self, found: Verified) -> int:
        """Count, about, the pairs whose texts differ in numbers alone, by a sample of the pairs."""
        pairs = found.pairs[found.similarities < 1.0]
        if (
            not len(pairs)
            or self.gathered.options.equality
            or not self.comparer.measure.needs_texts
        ):
            return 0
        sample = pairs[:: -(-len(pairs) // SAMPLE)]
        rows = np.unique(sample).tolist()
        texts = dict(zip(rows, self.gathered.texts(rows), strict=True))
        numeric = [differ_in_numbers_alone(texts[one] or "", texts[other] or "")
                   for one, other in sample.tolist()]  # fmt: skip
        return round(sum(numeric) / len(sample) * len(pairs))

    def _add_copies(self, found: Verified, copies: Copies) -> None:
        """Add the pairs that the found ones stand for, which are as similar."""
        compared = found.pairs
        found.pairs, origins = copies.expand(compared, make_joining(self.gathered))
        found.distances, found.similarities = found.distances[origins], found.similarities[origins]
        if self.gathered.may_change:
            self._note_changes(np.setdiff1d(found.pairs, compared), found)

    def _match(self, pairs: Pairs, matcher: RecordMatcher) -> Verified:
        """Find the pairs of records that their fields call the same. All are compared at once."""
        is_first = matcher.weights is None
        probabilities = matcher.match(pairs, partial(self._tell, COMPARING, total=len(pairs)))
        if is_first and matcher.weights is not None and not matcher.weights.are_matches.any():
            LOG.warning("the fields do not tell matches from others, so only records that are equal"
                        " in all of them are found: name other fields")  # fmt: skip
        is_near = probabilities >= floor(self.comparer.least)
        distances = np.full(np.count_nonzero(is_near), NO_DISTANCE, dtype=np.int64)
        below = int(np.count_nonzero(probabilities >= floor(self.comparer.least - BORDER)))
        found = Verified(
            pairs[is_near], distances, probabilities[is_near], below=below - len(distances)
        )
        if self.gathered.may_change:
            self._note_changes(np.unique(pairs), found)
        return found

    def _note_changes(self, rows: NDArray[np.uint32], found: Verified) -> None:
        """Note in `found` which of these rows are gone, or have another text than was signed."""
        for at in range(0, len(rows), AT_ONCE):
            part = rows[at : at + AT_ONCE]
            forms = [self.gathered.forms()[row] for row in part.tolist()]
            signed = sign.sign(forms, self.gathered.settings, threads=THREADS, keep_keys=False)
            differ = (signed.signatures != self.gathered.signatures[part]).any(axis=1)
            is_there = signed.words > 0
            found.vanished.update(part[~is_there].tolist())
            found.stale.update(part[is_there & differ].tolist())

    def add_same(self, verified: Verified) -> None:
        """Add the pairs that are the same by an answer, whatever their similarity is."""
        if self.answers is None:
            return
        same = self.answers.pairs[SAME]
        asked = same[~np.isin(number_pairs(same), number_pairs(verified.pairs))]
        more = self.without_limits().verify(asked)
        verified.take(
            [
                (verified.pairs, verified.distances, verified.similarities),
                (more.pairs, more.distances, more.similarities),
            ]
        )
        verified.keep(np.lexsort((verified.pairs[:, 1], verified.pairs[:, 0])))

    def _compare_unknown(
        self, pairs: Pairs, previous: PreviousRun, checkpoint: Path | None
    ) -> Verified:
        near, unknown = previous.split(pairs)
        found = self._compare(unknown, checkpoint)
        if len(unknown) < len(pairs):
            found.below = None
        previous.forget([*found.vanished, *found.stale])
        found.take([(found.pairs, found.distances, found.similarities), near])
        previous.take(found.pairs, found.distances, found.similarities)
        return found

    def _compare(self, pairs: Pairs, checkpoint: Path | None) -> Verified:
        pairs = _sort_for_reading(pairs)
        found = Verified(pairs[:0], NO_DISTANCES, NO_SIMILARITIES)
        texts: Any = self.gathered.signatures
        places, parts, done, work = None, list[tuple[NDArray[Any], ...]](), 0, ""
        if self.comparer.measure.needs_texts:
            if checkpoint is not None:
                work = self._describe_work(pairs)
                done, parts = _read_done(checkpoint, work)
            texts, places = self._prepare(pairs, found)
        found.below = None if parts else 0
        is_there = np.ones(len(self.gathered), dtype=np.bool_)
        is_there[list(found.vanished)] = False
        due = time.monotonic() + KEEP_EVERY
        try:
            for at in range(done, len(pairs), BLOCK):
                block = pairs[at : at + BLOCK]
                block = block[is_there[block].all(axis=1)]
                own = block if places is None else places[block]
                distances, similarities, is_near = self.comparer.compare(texts, own)
                parts.append((block[is_near], distances[is_near], similarities[is_near]))
                if found.below is not None:
                    found.below += self._count_below(texts, own, similarities, is_near)
                done = at + BLOCK
                if work and checkpoint is not None and time.monotonic() > due:
                    _write_done(checkpoint, work, done, parts)
                    due = time.monotonic() + KEEP_EVERY
                if self.comparer.measure.needs_texts:
                    self._tell(COMPARING, min(done, len(pairs)), len(pairs))
        finally:
            if work and checkpoint is not None:
                _write_done(checkpoint, work, done, parts)
        found.take(parts)
        return found

    def _describe_work(self, pairs: Pairs) -> str:
        """Describe what is compared: the same only for the same pairs, documents and measure."""
        digest = hashlib.sha256(pairs.data)
        for side in self.gathered.sides:
            digest.update(repr((side.documents, side.state, side.digest)).encode())
        common = self.gathered.common and (self.gathered.common.size, self.gathered.common.share)
        known = f"{self.gathered.settings.fingerprint} {self.comparer.measure.name}"
        return f"{known} {self.comparer.limits} {common} {digest.hexdigest()}"

    def _count_below(
        self,
        texts: Any,
        pairs: Pairs,
        similarities: NDArray[np.float64],
        is_near: NDArray[np.bool_],
    ) -> int:
        """Count, about, the pairs that are less than BORDER below the threshold.

        A distance beyond the limits is not computed, so some pairs are compared again.
        """
        comparer = self.comparer
        least = max(comparer.least - BORDER, 0.0)
        if not comparer.measure.has_distance:
            return int(np.count_nonzero((similarities >= floor(least)) & ~is_near))
        if comparer.limits.max_distance is not None:
            return 0
        far = pairs[~is_near]
        step = -(-len(far) // SAMPLED) or 1
        lower = replace(comparer, limits=Limits(min_similarity=least))
        return step * int(np.count_nonzero(lower.compare(texts, far[::step]).is_near))

    def _prepare(self, pairs: Pairs, found: Verified) -> tuple[Flat, NDArray[np.uint32] | None]:
        """Prepare the texts of pairs, each once, and tell where each row is, if not at its number.

        After an interruption, too, all of them: which are gone or have changed is not kept.
        """
        gathered = self.gathered
        if gathered.sets is not None and not gathered.may_change:
            return gathered.sets.flat(), None
        is_compared = np.zeros(len(gathered), dtype=np.bool_)
        for at in range(0, len(pairs), BLOCK):
            is_compared[pairs[at : at + BLOCK]] = True
        rows = np.flatnonzero(is_compared).astype(np.uint32)
        return self._read_prepared(rows, found), np.cumsum(
            is_compared, dtype=np.uint32
        ) - np.uint32(1)

    def _read_prepared(self, rows: NDArray[np.uint32], found: Verified) -> Flat:
        """Read the texts of rows, and prepare them as the measure compares them.

        Notes in `found` which are gone, and have nothing to compare, or have changed.
        """
        prepared = self.gathered.spill.lists()
        done = characters = 0

        parts = (rows[part] for part in fitting_parts(len(rows), lambda: (done, characters)))
        # One part is read while another is normalised; not two are read at the same time.
        with thread_pool(1) as reader, thread_pool(1) as normaliser:
            read = prefetch(reader, self._read, parts)
            for forms in prefetch(normaliser, lambda part: self._forms(*part, found), read):
                prepared.extend(self.comparer.prepare(forms))
                done += len(forms)
                characters += size_of(forms)
                self._tell(TEXTS, done, len(rows))
        return prepared.flat()

    def _read(self, rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], Sequence[str | None]]:
        """The rows, and their texts."""
        return rows, self.gathered.compared(rows.tolist())

    def _forms(
        self, rows: NDArray[np.uint32], read: Sequence[str | None], found: Verified
    ) -> Sequence[str]:
        """Normalise the texts of rows, "" for one that is gone."""
        gathered = self.gathered
        texts = read if isinstance(read, Packed) else pack([text or "" for text in read])
        if not gathered.may_change:
            return sign.normal_forms(texts, gathered.settings.normalization, threads=THREADS)
        found.vanished.update(
            row for row, text in zip(rows.tolist(), read, strict=True) if text is None
        )
        signed = sign.sign(
            texts, gathered.settings, threads=THREADS, keep_normal=True, keep_keys=False
        )
        differ = (signed.signatures != gathered.signatures[rows]).any(axis=1)
        is_there = np.array([text is not None for text in read])
        found.stale.update(rows[is_there & (differ | (signed.words == 0))].tolist())
        return signed.normal

    def _tell(self, stage: str, done: int, total: int) -> None:
        self.on_progress(Progress(stage, done, total))


def _read_done(path: Path, work: str) -> tuple[int, list[tuple[NDArray[Any], ...]]]:
    """Read how many pairs an interrupted run of this work has compared, and the near ones."""
    stored = read_arrays(path, CHECKPOINT)
    if isinstance(stored, str) or stored[0]["work"] != work:
        return 0, []
    return stored[0]["done"], [tuple(stored[1][name] for name in COLUMNS)]


def _write_done(path: Path, work: str, done: int, parts: list[tuple[NDArray[Any], ...]]) -> None:
    """Write how many pairs are compared, and the near ones, for a run that is interrupted."""
    if parts:
        columns = map(np.concatenate, zip(*parts, strict=True))
        about = {"work": work, "done": done}
        write_arrays(path, CHECKPOINT, about, dict(zip(COLUMNS, columns, strict=True)))


def _make_matcher(gathered: Gathered, frequencies: Frequencies) -> RecordMatcher | None:
    """Make what compares records by their fields or by a model, None if nothing does."""
    options = gathered.options
    if options.kinds or options.trained is not None:
        return make_records(gathered, frequencies)
    return None


def make_records(gathered: Gathered, frequencies: Frequencies) -> RecordMatcher:
    """Make the columns of the fields that are compared, and what their whole records need."""
    from neardup_solr.measures.fields import make_column
    from neardup_solr.measures.model import RecordMatcher

    kinds = gathered.options.kinds
    values: dict[str, list[Any]] = {name: [] for name in kinds}
    for at in range(0, len(gathered), AT_ONCE):
        rows = range(at, min(at + AT_ONCE, len(gathered)))
        for name, some in gathered.values(rows, tuple(kinds)).items():
            values[name] += some
    columns = [make_column(name, kind, values[name]) for name, kind in kinds.items()]
    if kinds and len(gathered) and not any(column.values for column in columns):
        reason = f"no record has a value of {' or '.join(kinds)}"
        is_stored = any(side.collection is not None for side in gathered.sides)
        again = ", or index the documents again and keep these columns" if is_stored else ""
        step = f"check the names in `fields`{again}"
        raise SettingsError(reason, step)
    for column in columns:
        if column.problem:
            LOG.warning("%s", column.problem)
    return RecordMatcher(
        columns=columns,
        forms=gathered.forms(),
        frequencies=frequencies,
        settings=gathered.settings,
        threads=THREADS,
        model=gathered.options.trained,
    )


def _sort_for_reading(pairs: Pairs) -> Pairs:
    """Sort the array of pairs itself in the order in which they are compared.

    Those of the same two stretches of documents are together, as texts may lie in a file; within
    them they go by rows. While it is sorted, a pair is one number: both stretches, 13 bits each,
    then both places in them.
    """
    pairs = np.ascontiguousarray(pairs)
    numbers = pairs.view(np.uint64)[:, 0]
    parts = [slice(at, at + BLOCK) for at in range(0, len(pairs), BLOCK)]
    for part in parts:
        first, second = pairs[part].T.astype(np.uint64)
        stretches = (first >> PLACE) << U64(13) | second >> PLACE
        numbers[part] = stretches << U64(38) | (first & LOW) << PLACE | second & LOW
    run_aside(numbers.sort)
    for part in parts:
        ordered = numbers[part].copy()
        pairs[part, 0] = (ordered >> U64(51)) << PLACE | ordered >> PLACE & LOW
        pairs[part, 1] = (ordered >> U64(38) & U64(0x1FFF)) << PLACE | ordered & LOW
    return pairs


JOINING = "joining"


def find_copies(gathered: Gathered, columns: Sequence[FieldColumn] = ()) -> Copies | None:
    """Find the documents whose normal forms are equal, and their values in `columns`, too.

    None if the normal forms of all are not needed before documents are compared.
    """
    if not (gathered.options.compared_by.needs_frequencies or gathered.options.by == "words"):
        return None
    forms = gathered.forms()
    keys = sign.hash_texts(forms)
    for column in columns:
        keys = keys * SPREAD ^ column.numbers.astype(np.uint64)
    rows = np.array([row for row, form in enumerate(forms) if not form], dtype=np.int64)
    keys[rows] += SPREAD * (rows + 1).astype(np.uint64)  # what is gone is no copy
    return _group_copies(gathered, keys, np.arange(len(keys)))


def _number_equal(gathered: Gathered, rows: NDArray[Any]) -> NDArray[np.int64]:
    """Number the texts of `rows`, by row: equal if they have in common what has to be equal."""
    keys, numbers = dict[object, int](), np.zeros(len(gathered), dtype=np.int64)
    for at in range(0, len(rows), AT_ONCE):
        part = rows[at : at + AT_ONCE].tolist()
        for row, text in zip(part, gathered.texts(part), strict=True):
            key = gathered.options.equality.key(text or "")
            numbers[row] = keys.setdefault(key, len(keys))
    return numbers


def _find_signed_copies(gathered: Gathered, cap: int) -> Copies:
    """Find the documents whose signatures are equal, and of more than `cap` the normal forms."""
    keys = np.empty(len(gathered), dtype=np.uint64)
    signatures = gathered.signatures
    run_aside(partial(joins.hash_whole, signatures, signatures.shape[1], keys))
    rows = np.empty(0, dtype=np.int64)
    if gathered.options.compared_by.needs_texts:
        _, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
        rows = np.flatnonzero(counts[numbers] > cap)
    for at in range(0, len(rows), AT_ONCE):
        part = rows[at : at + AT_ONCE]
        texts = [text or "" for text in gathered.texts(part.tolist())]
        keys[part] = keys[part] * SPREAD ^ sign.hash_texts(gathered.normalize(texts))
    return _group_copies(gathered, keys, rows)


def _group_copies(gathered: Gathered, keys: NDArray[np.uint64], rows: NDArray[Any]) -> Copies:
    """Make sets of the documents of equal keys, of the same group and side.

    Those of `rows` also have in common what has to be equal.
    """
    options = gathered.options
    if options.equality:
        keys = keys * SPREAD ^ _number_equal(gathered, rows).astype(np.uint64)
    if len(gathered.groups):
        keys ^= gathered.groups * SPREAD
    is_star = bool(options.judged)  # a chain would break at two that are different
    return Copies(keys, _number_sides(gathered), is_star=is_star)


def _number_sides(gathered: Gathered) -> Sides:
    """Number the side of each document, if only those of different sides are compared."""
    options = gathered.options
    if options.against is None:
        return ONE_SIDE
    return (np.arange(len(gathered)) >= gathered.bounds[1]).astype(np.uint8)


def make_joining(gathered: Gathered, cap: int = CAP) -> Joining:
    """Make the limits of a search for candidates, with a `cap` unless another one is asked for."""
    return Joining(
        cap=gathered.options.cap or cap,
        memory=gathered.spill.share,
        most=gathered.spill.most_pairs,
        threads=THREADS,
        sides=_number_sides(gathered),
        groups=gathered.groups,
    )


def find_candidates(gathered: Gathered, way: Way, copies: Copies | None = None) -> Candidates:
    """Find the pairs that may be near-duplicates, of the same group if there are groups.

    Equal texts are among them, whatever the way and the cap are. Many `copies` are not compared
    each: the pairs then stand for them.
    """
    options = gathered.options
    joining = make_joining(gathered, WORD_CAP if way == "words" else CAP)

    def tell(stage: str, done: int, total: int = len(gathered)) -> None:
        options.watching.on_progress(Progress(stage, done, total))

    if copies is not None and (way == "words" or (way == "all" and len(gathered) > FEW)):
        return _pair_distinct(gathered, way, joining, copies)
    if way == "all":
        found = all_candidates(len(gathered), joining)
    elif way == "bands":
        from neardup_solr.candidates.by_band import band_candidates

        found = band_candidates(
            gathered.signatures,
            gathered.settings,
            joining=joining,
            on_progress=partial(tell, JOINING),
        )
    else:
        from neardup_solr.candidates.by_shingle import shingle_candidates

        sets = gathered.read_sets(partial(tell, TEXTS))
        least = floor(options.compared_by.least(options.limits))
        found = shingle_candidates(sets, least, joining=joining)
    if way == "shingles" or found.hot_keys:
        copies = copies or _find_signed_copies(gathered, joining.cap)
        pairs, _ = copies.expand(copies.pairs(), joining)
        found = replace(found, pairs=_unite(joining, found.pairs, pairs))
    if not len(joining.groups):
        return found
    # Whatever a way has made of them; some at a time.
    groups = joining.groups
    parts = (found.pairs[at : at + BLOCK] for at in range(0, len(found.pairs), BLOCK))
    are_same = [groups[part[:, 0]] == groups[part[:, 1]] for part in parts]
    return replace(found, pairs=found.pairs[np.concatenate([NO_PAIRS, *are_same])])


def _pair_distinct(gathered: Gathered, way: Way, joining: Joining, copies: Copies) -> Candidates:
    """Find the pairs of distinct documents, which stand for their copies, and one of these each."""
    rows = copies.distinct
    joining = replace(
        joining,
        sides=joining.sides[rows] if len(joining.sides) else joining.sides,
        groups=joining.groups[rows] if len(joining.groups) else joining.groups,
        sizes=copies.sizes[rows],
    )
    if way == "all":
        found = all_candidates(len(rows), joining)
    else:
        from neardup_solr.candidates.by_word import word_candidates

        forms = gathered.forms()
        found = word_candidates([forms[row] for row in rows.tolist()], joining)
    pairs = rows[found.pairs].astype(np.uint32)
    return replace(
        found,
        pairs=_unite(joining, pairs, copies.pairs()),
        beyond=rows[found.beyond].astype(np.uint32),
        sample=rows[found.sample],
        copies=copies,
    )


def _unite(joining: Joining, *parts: Pairs) -> Pairs:
    """Put pairs together, each once."""
    united = PairArray(joining)
    for pairs in parts:
        united.add(np.ascontiguousarray(pairs))
    united.keep_distinct()
    return united.pairs
