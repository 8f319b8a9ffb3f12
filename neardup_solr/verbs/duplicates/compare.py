"""Candidates of `duplicates`, and which of them are near: block by block, each text read once."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr import progress
from neardup_solr.answers import DIFFERENT, JUDGEMENTS, SAME, Answer, choose_latest, hash_text
from neardup_solr.answers.verdicts import CHANGED, GONE, Answered, place_answers
from neardup_solr.arguments import Way
from neardup_solr.candidates import (
    FEW,
    ONE_SIDE,
    SPREAD,
    Candidates,
    Copies,
    Joining,
    PairArray,
    Sides,
    all_candidates,
)
from neardup_solr.clusters.components import components
from neardup_solr.errors import SettingsError
from neardup_solr.files import read_arrays, write_arrays
from neardup_solr.kernel import joins
from neardup_solr.measures import Comparer, Flat, Limits, floor
from neardup_solr.measures.equality import Equality, parse_equality
from neardup_solr.measures.pairs import Pairs, number_pairs
from neardup_solr.minhash import sign
from neardup_solr.progress import OnProgress, Progress, ignore, prefetch, run_aside, thread_pool
from neardup_solr.records import BORDER, NO_DISTANCE, as_text
from neardup_solr.settings import CAP, WORD_CAP
from neardup_solr.text.numbers import differ_in_numbers_alone
from neardup_solr.text.packed import Packed, pack, size_of
from neardup_solr.verbs.duplicates.read import AT_ONCE, THREADS, Corpus, Work, fitting_parts
from neardup_solr.verbs.duplicates.remember import Memory

if TYPE_CHECKING:
    from neardup_solr.measures.columns import FieldColumn
    from neardup_solr.measures.frequencies import Frequencies
    from neardup_solr.measures.record_matcher import RecordMatcher


@dataclass(frozen=True, slots=True, kw_only=True)
class RowAnswers:
    """The answers that are obeyed: by their word, pairs of rows, the smaller one first.

    `groups` has for each row the first one that is the same by answers; `apart` are the pairs of
    groups that are different, as `number_pairs` numbers them.
    """

    pairs: Mapping[str, Pairs]
    answered: Answered
    groups: NDArray[np.int64]
    apart: NDArray[np.uint64]

    def mark_allowed(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Mark the pairs that are not different, by an answer or by what follows from several."""
        return ~np.isin(_number_unordered(self.groups[pairs]), self.apart)

    def name(self, pairs: Pairs) -> list[str]:
        """The answer about each pair of rows, "" if there is none."""
        known = {
            number: word
            for word, ones in self.pairs.items()
            for number in _number_unordered(ones).tolist()
        }
        return [known.get(number, "") for number in _number_unordered(pairs).tolist()]


def _number_unordered(pairs: NDArray[Any]) -> NDArray[np.uint64]:
    """Give each pair as one number, whatever its order."""
    return number_pairs(np.sort(pairs, axis=1).astype(np.uint32))


def find_answered(documents: Corpus, judged: Iterable[Answer]) -> RowAnswers:
    """Find the documents that answers are about, and the answers that are obeyed."""
    latest = choose_latest(judged)
    ends = [(id, hash) for one in latest
            for id, hash in ((one.id, one.hash), (one.other_id, one.other_hash))]  # fmt: skip
    rows = _find_rows(documents, {id for id, _ in ends})
    hashes = _hash_texts(
        documents, sorted({row for id, hash in ends if hash for row in rows.get(id, ())})
    )

    def locate(answer: Answer) -> tuple[int, int] | str:
        places = list(_find_places(answer, rows, documents))
        near = next((pair for pair in places if _agrees(answer, *pair, hashes)), None)
        return near or (CHANGED if places else GONE)

    verdicts, answered = place_answers(latest, locate)
    pairs = {
        word: np.unique(
            np.sort(np.array([own for one, *own in verdicts.held if one.answer == word], np.uint32)
                    .reshape(-1, 2), axis=1), axis=0
        )
        for word in JUDGEMENTS
    }  # fmt: skip
    groups = components(len(documents), pairs[SAME])
    apart = _number_unordered(groups[pairs[DIFFERENT]])
    return RowAnswers(pairs=pairs, answered=answered, groups=groups, apart=apart)


def _find_rows(documents: Corpus, wanted: Collection[str]) -> dict[str, list[int]]:
    """Find the rows of documents by their ids, several if two sides have an id."""
    rows: dict[str, list[int]] = defaultdict(list)
    living = documents.living()
    for at in range(0, len(living) if wanted else 0, AT_ONCE):
        part = living[at : at + AT_ONCE].tolist()
        for row, id in zip(part, map(str, documents.ids(part)), strict=True):
            if id in wanted:
                rows[id].append(row)
    return rows


def _hash_texts(documents: Corpus, rows: Sequence[int]) -> dict[int, str]:
    """Hash the texts of ascending rows, without those that are gone."""
    hashes: dict[int, str] = {}
    for at in range(0, len(rows), AT_ONCE):
        part = rows[at : at + AT_ONCE]
        texts = zip(part, documents.texts(part), strict=True)
        hashes |= {row: hash_text(text) for row, text in texts if text is not None}
    return hashes


def _find_places(
    answer: Answer, rows: Mapping[str, Sequence[int]], documents: Corpus
) -> Iterator[tuple[int, int]]:
    """Find the rows that an answer may be about, first those across two sides in order."""
    has_sides = len(documents.sides) > 1
    second = documents.bounds[1]

    def is_across(pair: tuple[int, int]) -> bool:
        return pair[0] < second <= pair[1]

    def order(pair: tuple[int, int]) -> tuple[bool, bool, tuple[int, int]]:
        return not is_across(pair), not is_across((pair[1], pair[0])), pair

    pairs = product(rows.get(answer.id, ()), rows.get(answer.other_id, ()))
    for pair in sorted(pairs, key=order):
        if pair[0] != pair[1] and (is_across(pair) or not (answer.ordered and has_sides)):
            yield pair


def _agrees(answer: Answer, one: int, other: int, hashes: Mapping[int, str]) -> bool:
    """Tell whether both texts are those that were judged, as far as that is known."""
    known = ((answer.hash, one), (answer.other_hash, other))
    return all(not hash or hashes.get(row) == hash for hash, row in known)


JOINING, TEXTS, COMPARING = "joining", "texts", "comparing"
SAMPLE, MOST_CHARACTERS = 200, 1 << 21  # pairs whose numbers are compared, and in all their texts
SAMPLED = 1 << 12  # pairs of a block that are compared by a lower threshold, about
BLOCK = 1 << 17  # pairs that are compared at a time
NO_PAIRS = np.empty(0, dtype=np.bool_)
NO_DISTANCES, NO_SIMILARITIES = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)
U64 = np.uint64
PLACE = U64(19)  # bits: a stretch has half a million documents
LOW = (U64(1) << PLACE) - U64(1)
CHECKPOINT = b"neardup duplicates: pairs that an interrupted run has compared\n"
COLUMNS = ("pairs", "distances", "similarities")
KEEP_EVERY = 10.0  # seconds

Columns = tuple[NDArray[Any], ...]  # of pairs: COLUMNS


@dataclass(slots=True)
class Verified:
    """Pairs that are near-duplicates, and documents that had a problem.

    `vanished` documents were gone when their texts were read; the text of `stale` ones has changed
    since it was signed. `below` counts, about, the pairs that a threshold lower by BORDER would
    add; it is None if not all pairs were compared in this run.
    """

    pairs: Pairs
    distances: NDArray[np.int64] = field(default_factory=lambda: NO_DISTANCES)
    similarities: NDArray[np.float64] = field(default_factory=lambda: NO_SIMILARITIES)
    below: int | None = 0
    vanished: set[int] = field(default_factory=set)
    stale: set[int] = field(default_factory=set)

    @property
    def columns(self) -> Columns:
        """The pairs, their distances and their similarities."""
        return self.pairs, self.distances, self.similarities

    def take(self, parts: Sequence[Columns]) -> None:
        """Have the pairs of all parts."""
        if parts:
            columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
            self.pairs, self.distances, self.similarities = columns

    def keep(self, wanted: NDArray[np.bool_] | NDArray[np.intp]) -> None:
        """Keep these pairs, in this order."""
        self.pairs, self.distances, self.similarities = (column[wanted] for column in self.columns)

    def sort(self) -> None:
        """Sort the pairs."""
        self.keep(np.lexsort((self.pairs[:, 1], self.pairs[:, 0])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A comparison of pairs of documents by the measure of some work.

    A `matcher` compares records by their fields, or by a model. What `answers` call different is
    not near. `copies` are the documents of equal normal forms, None if these are not known.
    """

    work: Work
    documents: Corpus
    comparer: Comparer
    answers: RowAnswers | None = None
    matcher: RecordMatcher | None = None
    copies: Copies | None = None

    @classmethod
    def of(cls, work: Work, documents: Corpus) -> Comparison:
        """Prepare to compare documents. If the measure weighs words, by their own frequencies."""
        frequencies = matcher = None
        if work.measure.needs_frequencies:
            from neardup_solr.measures.frequencies import count_words

            forms = documents.forms()
            living = [forms[row] for row in documents.living().tolist()]
            frequencies = count_words(living, documents.settings.normalization)
            if work.kinds or work.model is not None:
                matcher = make_records(work, documents, frequencies)
        comparer = Comparer(
            measure=work.measure,
            limits=work.limits,
            settings=documents.settings,
            frequencies=frequencies,
            threads=THREADS,
        )
        copies = find_copies(work, documents, () if matcher is None else matcher.columns)
        return cls(
            work=work, documents=documents, comparer=comparer, matcher=matcher, copies=copies
        )

    @property
    def columns(self) -> Sequence[FieldColumn]:
        """The columns of the fields that are compared, none if texts are."""
        return () if self.matcher is None else self.matcher.columns

    @property
    def distinct(self) -> int:
        """The number of documents that count, copies once if they are known."""
        copies, documents = self.copies, self.documents
        return len(documents if copies is None else copies.distinct) - len(documents.dead)

    def measure(self, pairs: Pairs) -> Verified:
        """Measure pairs, whatever their similarity is."""
        every = replace(self.comparer, limits=Limits(min_similarity=0.0))
        return self._compare(pairs, every, ignore)

    def verify(
        self, pairs: Pairs, *, copies: Copies | None = None, memory: Memory | None = None,
        keeps: bool = False, on_progress: OnProgress = ignore
    ) -> Verified:  # fmt: skip
        """Find the pairs that are within the limits, and not different by an answer.

        With `copies`, each stands for all pairs of their rows. Pairs that are in the `memory` are
        not compared again; those that are compared are kept in a checkpoint, if there is one, that
        `keeps` them. The array `pairs` may be sorted in place.
        """
        recalled = None
        if memory is not None:
            recalled, pairs, count = *memory.split(pairs), len(pairs)
        verified = self._compare(pairs, self.comparer, on_progress, keeps=keeps)
        if memory is not None and recalled is not None:
            if len(pairs) < count:
                verified.below = None
            verified.take([verified.columns, recalled])
            pairs, distances, similarities = verified.columns
            forgotten = [*verified.vanished, *verified.stale]
            memory.take(pairs, distances, similarities, forgotten)
        if copies is not None:
            self._add_copies(verified, copies)
        if self.work.equality:
            rows = np.unique(verified.pairs)
            numbers = self.number_equal(self.work.equality, rows)
            verified.keep(numbers[verified.pairs[:, 0]] == numbers[verified.pairs[:, 1]])
        if self.answers is not None:
            verified.keep(self.answers.mark_allowed(verified.pairs))
        verified.sort()
        return verified

    def number_equal(self, equality: Equality, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Number the documents of ascending rows, by row: equal if they have equal parts."""
        return _number_equal(equality, self.documents, rows, self.columns)

    def add_same(self, verified: Verified) -> None:
        """Add the pairs that are the same by an answer, whatever their similarity is."""
        if self.answers is None:
            return
        same = self.answers.pairs[SAME]
        lacking = same[~np.isin(number_pairs(same), number_pairs(verified.pairs))]
        verified.take([verified.columns, self.measure(lacking).columns])
        verified.sort()

    def count_beyond(self, candidates: Candidates) -> tuple[int, int]:
        """Count about how many near-duplicates share only words beyond the cap, by a sample.

        Returns the cap that finds them, too.

        A pair is met once for each of its documents that is in the sample.
        """
        copies, sample = candidates.copies, candidates.sample
        if not len(candidates.beyond) or copies is None:
            return 0, candidates.enough
        near = self.verify(candidates.beyond.copy()).pairs
        is_near = np.isin(number_pairs(candidates.beyond), number_pairs(near))
        drawn = np.bincount(copies.firsts[sample], minlength=len(self.documents))
        shares = drawn[near] / copies.sizes[near] / 2
        most = max(make_joining(self.work, self.documents).cap, CAP)  # as of a higher cap
        met = (copies.count_pairs(near, most)[:, None] * shares).sum()
        count = round(float(met) * len(self.documents) / len(sample))
        return count, int(candidates.caps[is_near].max(initial=0))

    def count_numeric(self, verified: Verified) -> int:
        """Count, about, the pairs whose texts differ in numbers alone, by a sample of the pairs."""
        pairs = verified.pairs[verified.similarities < 1.0]
        if not len(pairs) or self.work.equality or not self.work.measure.needs_texts:
            return 0
        sample = pairs[:: -(-len(pairs) // SAMPLE)]
        texts = self._read_differences(sample)
        numeric = sum(differ_in_numbers_alone(*pair) for pair in texts)
        return round(numeric / len(sample) * len(pairs))

    def count_separated(self, verified: Verified, rule: str) -> int:
        """Count, about, the pairs that a rule of `equal` would separate, by a sample of them."""
        pairs, equality = verified.pairs, parse_equality(rule)
        sample = pairs[:: -(-len(pairs) // SAMPLE) or 1]
        rows = np.unique(sample).tolist()
        texts = dict(zip(rows, _read_whole(self.documents, rows, self.columns), strict=True))
        separated = compared = characters = 0
        for left, right in sample.tolist():
            characters += len(texts[left]) + len(texts[right])
            if compared and characters > MOST_CHARACTERS:
                break
            separated += equality.key(texts[left]) != equality.key(texts[right])
            compared += 1
        return round(separated / max(compared, 1) * len(pairs))

    def read_wordings(self, rows: Sequence[int]) -> list[tuple[str, ...]]:
        """Read what of ascending rows is compared by words: their texts, or fields of text."""
        names = [column.name for column in self.columns if column.kind == "text"]
        if not self.columns:
            return [(text or "",) for text in self.documents.texts(rows)]
        values = self.documents.values(rows, names)
        return [tuple(as_text(values[name][at]) for name in names) for at in range(len(rows))]

    def _read_differences(self, pairs: Pairs) -> list[tuple[str, str]]:
        """Read the texts of pairs: of records, only what is in fields that both have and differ."""
        rows, columns = np.unique(pairs).tolist(), self.columns
        if not columns:
            texts = dict(zip(rows, self.documents.texts(rows), strict=True))
            return [(texts[left] or "", texts[right] or "") for left, right in pairs.tolist()]
        values = self.documents.values(rows, [column.name for column in columns])
        places = {row: at for at, row in enumerate(rows)}
        differences = []
        for pair in pairs.tolist():
            differing = [
                values[column.name]
                for column in columns
                if len({-1, *column.numbers[pair].tolist()}) == 3  # neither is missing
            ]
            left, right = ("\n".join(as_text(column[places[row]]) for column in differing)
                           for row in pair)  # fmt: skip
            differences.append((left, right))
        return differences

    def _add_copies(self, verified: Verified, copies: Copies) -> None:
        """Add the pairs that the verified ones stand for, which are as similar."""
        compared = verified.pairs
        pairs, origins = copies.expand(compared, make_joining(self.work, self.documents))
        verified.keep(origins)
        verified.pairs = pairs
        if self.documents.may_change:
            self._note_changes(np.setdiff1d(pairs, compared), verified)

    def _compare(
        self, pairs: Pairs, comparer: Comparer, on_progress: OnProgress, *, keeps: bool = False
    ) -> Verified:
        if self.matcher is not None:
            return self._match(pairs, self.matcher, comparer.least, on_progress)
        pairs = _sort_for_reading(pairs)
        verified, has_texts = Verified(pairs[:0]), comparer.measure.needs_texts
        keeper = Keeper()
        if keeps and has_texts and self.work.checkpoint is not None:
            keeper = Keeper(self.work.checkpoint, self._describe_work(pairs, comparer))
        verified.below = None if keeper.parts else 0
        prepared: Any = self.documents.signatures
        places = None
        if has_texts:
            prepared, places = self._prepare(pairs, comparer, verified, on_progress)
        is_present = np.ones(len(self.documents), dtype=np.bool_)
        is_present[list(verified.vanished)] = False
        on_progress(Progress(COMPARING, min(keeper.done, len(pairs)), len(pairs)))
        with keeper.keeping():
            for at in range(keeper.done, len(pairs), BLOCK):
                block = pairs[at : at + BLOCK]
                block = block[is_present[block].all(axis=1)]
                placed = block if places is None else places[block]
                distances, similarities, is_near = comparer.compare(prepared, placed)
                keeper.add((block[is_near], distances[is_near], similarities[is_near]), at + BLOCK)
                if verified.below is not None:
                    verified.below += _count_below(
                        comparer, prepared, placed, similarities, is_near
                    )
                on_progress(Progress(COMPARING, min(keeper.done, len(pairs)), len(pairs)))
        verified.take(keeper.parts)
        return verified

    def _match(
        self, pairs: Pairs, matcher: RecordMatcher, least: float,
        on_progress: OnProgress
    ) -> Verified:  # fmt: skip
        """Find the pairs of records that their fields call the same. All are compared at once."""
        is_first = matcher.weights is None
        probabilities = matcher.match(
            pairs, lambda done: on_progress(Progress(COMPARING, done, len(pairs)))
        )
        weights = matcher.weights
        if matcher.border:
            self.work.note_lists(matcher.border)
        if is_first and weights and not (weights.as_wholes or weights.are_matches.any()):
            progress.LOG.warning(
                "the fields do not separate matches from other pairs, so only records"
                " that are equal in all fields are found: choose different fields"
            )
        is_near = probabilities >= floor(least)
        distances = np.full(np.count_nonzero(is_near), NO_DISTANCE, dtype=np.int64)
        below = int(np.count_nonzero(probabilities >= floor(least - BORDER))) - len(distances)
        verified = Verified(pairs[is_near], distances, probabilities[is_near], below=below)
        if self.documents.may_change:
            self._note_changes(np.unique(pairs), verified)
        return verified

    def _note_changes(self, rows: NDArray[np.uint32], verified: Verified) -> None:
        """Note which of these rows are gone, or have another text than was signed."""
        documents = self.documents
        for at in range(0, len(rows), AT_ONCE):
            part = rows[at : at + AT_ONCE]
            texts = [text or "" for text in documents.texts(part.tolist())]
            signed = sign.sign(texts, documents.settings, threads=THREADS, keep_keys=False)
            differ = (signed.signatures != documents.signatures[part]).any(axis=1)
            is_present = signed.words > 0
            verified.vanished.update(part[~is_present].tolist())
            verified.stale.update(part[is_present & differ].tolist())

    def _describe_work(self, pairs: Pairs, comparer: Comparer) -> str:
        """Describe what is compared: the same only for the same pairs, documents and measure."""
        digest, common = hashlib.sha256(pairs.data), self.documents.common
        for side in self.documents.sides:
            digest.update(repr((side.documents, side.state, self.work.filters)).encode())
            if side.contents is not None:
                digest.update(np.ascontiguousarray(side.contents.table()).data)
        shares = common and (common.size, common.share)
        measure = f"{self.documents.settings.fingerprint} {comparer.measure.name}"
        return f"{measure} {comparer.limits} {shares} {digest.hexdigest()}"

    def _prepare(
        self, pairs: Pairs, comparer: Comparer, verified: Verified, on_progress: OnProgress
    ) -> tuple[Flat, NDArray[np.uint32] | None]:
        """Prepare the texts of pairs, each once, and tell where each row is, if not at its number.

        After an interruption, too, all of them: which are gone or have changed is not kept.
        """
        documents = self.documents
        if documents.sets is not None and not documents.may_change:
            return documents.sets.flat(), None
        is_compared = np.zeros(len(documents), dtype=np.bool_)
        for at in range(0, len(pairs), BLOCK):
            is_compared[pairs[at : at + BLOCK]] = True
        rows = np.flatnonzero(is_compared).astype(np.uint32)
        prepared = documents.spill.lists()
        done = characters = 0

        def read(part: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], Sequence[str | None]]:
            return part, documents.compared(part.tolist())

        parts = (rows[part] for part in fitting_parts(len(rows), lambda: (done, characters)))
        # One part is read while another is normalised; not two are read at the same time.
        with thread_pool(1) as reader, thread_pool(1) as normaliser:
            texts = prefetch(reader, read, parts)
            for forms in prefetch(normaliser, lambda each: self._forms(*each, verified), texts):
                prepared.extend(comparer.prepare(forms))
                done += len(forms)
                characters += size_of(forms)
                on_progress(Progress(TEXTS, done, len(rows)))
        return prepared.flat(), np.cumsum(is_compared, dtype=np.uint32) - np.uint32(1)

    def _forms(
        self, rows: NDArray[np.uint32], read: Sequence[str | None], verified: Verified
    ) -> Sequence[str]:
        """Normalise the texts of rows, "" for one that is gone, which is noted in `verified`."""
        documents, measure = self.documents, self.comparer.measure
        if measure.joins_numbers and not documents.may_change:
            forms = documents.forms()
            return [forms[row] for row in rows.tolist()]
        texts = read if isinstance(read, Packed) else pack([text or "" for text in read])
        if not documents.may_change:
            return sign.normal_forms(texts, documents.settings.normalization, threads=THREADS)
        is_present = np.array([text is not None for text in read])
        signed = sign.sign(
            texts, documents.settings, threads=THREADS, keep_normal=True, keep_keys=False
        )
        differ = (signed.signatures != documents.signatures[rows]).any(axis=1)
        verified.vanished.update(rows[~is_present].tolist())
        verified.stale.update(rows[is_present & (differ | (signed.words == 0))].tolist())
        if measure.joins_numbers:
            return measure.normalize(texts, documents.settings.normalization, THREADS)
        return signed.normal


class Keeper:
    """The near pairs of blocks that are compared, kept in a file for a run that is interrupted."""

    def __init__(self, path: Path | None = None, work: str = "") -> None:
        self._path, self._work, self._due = path, work, time.monotonic() + KEEP_EVERY
        self.done, self.parts = 0, list[Columns]()
        stored = "" if path is None else read_arrays(path, CHECKPOINT)
        if not isinstance(stored, str) and stored[0]["work"] == work:
            self.done = stored[0]["done"]
            self.parts.append(tuple(stored[1][name] for name in COLUMNS))

    def add(self, part: Columns, done: int) -> None:
        """Add the near pairs of a block, of the first `done` pairs."""
        self.parts.append(part)
        self.done = done
        if time.monotonic() > self._due:
            self._write()
            self._due = time.monotonic() + KEEP_EVERY

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Keep what is compared whatever happens."""
        try:
            yield
        finally:
            self._write()

    def _write(self) -> None:
        if self._path is not None and self.parts:
            columns = map(np.concatenate, zip(*self.parts, strict=True))
            about = {"work": self._work, "done": self.done}
            write_arrays(self._path, CHECKPOINT, about, dict(zip(COLUMNS, columns, strict=True)))


def _count_below(
    comparer: Comparer,
    prepared: Any,
    pairs: Pairs,
    similarities: NDArray[np.float64],
    is_near: NDArray[np.bool_],
) -> int:
    """Count, about, the pairs that are less than BORDER below the threshold.

    A distance beyond the limits is not computed, so some pairs are compared again.
    """
    least = max(comparer.least - BORDER, 0.0)
    if not comparer.measure.has_distance:
        return int(np.count_nonzero((similarities >= floor(least)) & ~is_near))
    if comparer.limits.max_distance is not None:
        return 0
    far = pairs[~is_near]
    step = -(-len(far) // SAMPLED) or 1
    lower = replace(comparer, limits=Limits(min_similarity=least))
    return step * int(np.count_nonzero(lower.compare(prepared, far[::step]).is_near))


def make_records(work: Work, documents: Corpus, frequencies: Frequencies) -> RecordMatcher:
    """Make the columns of the fields that are compared, and what their whole records need."""
    from neardup_solr.measures.columns import make_column
    from neardup_solr.measures.record_matcher import RecordMatcher

    kinds = work.kinds
    values: dict[str, list[Any]] = {name: [] for name in kinds}
    for at in range(0, len(documents), AT_ONCE):
        rows = range(at, min(at + AT_ONCE, len(documents)))
        for name, some in documents.values(rows, tuple(kinds)).items():
            values[name] += some
    columns = [make_column(name, kind, values[name]) for name, kind in kinds.items()]
    if kinds and len(documents) and not any(column.values for column in columns):
        reason = f"no record has a value in {' or '.join(kinds)}"
        is_stored = any(side.collection is not None for side in documents.sides)
        again = ", or index the documents again with these columns in `keep`" if is_stored else ""
        step = f"check the names in `fields`{again}"
        raise SettingsError(reason, step)
    for column in columns:
        if column.problem:
            progress.LOG.warning("%s", column.problem)
    return RecordMatcher(
        columns=columns,
        forms=documents.forms(),
        frequencies=frequencies,
        settings=documents.settings,
        threads=THREADS,
        model=work.model,
        as_wholes=work.is_across,
        may_be_lists=work.may_be_lists,
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


def find_copies(
    work: Work, documents: Corpus, columns: Sequence[FieldColumn] = ()
) -> Copies | None:
    """Find the documents whose normal forms are equal, and their values in `columns`, too.

    None if the normal forms of all are not needed before documents are compared.
    """
    if not (work.measure.needs_frequencies or work.by == "words"):
        return None
    forms = documents.forms()
    keys = sign.hash_texts(forms)
    for column in columns:
        keys = keys * SPREAD ^ column.numbers.astype(np.uint64)
    rows = np.array([row for row, form in enumerate(forms) if not form], dtype=np.int64)
    keys[rows] += SPREAD * (rows + 1).astype(np.uint64)  # what is gone is no copy
    return _group_copies(work, documents, keys, np.arange(len(keys)), columns)


def _number_equal(
    equality: Equality, documents: Corpus, rows: NDArray[Any], columns: Sequence[FieldColumn]
) -> NDArray[np.int64]:
    """Number the texts of `rows`, by row: equal if they have in common what has to be equal."""
    keys, numbers = dict[object, int](), np.zeros(len(documents), dtype=np.int64)
    for at in range(0, len(rows), AT_ONCE):
        part = rows[at : at + AT_ONCE].tolist()
        for row, text in zip(part, _read_whole(documents, part, columns), strict=True):
            numbers[row] = keys.setdefault(equality.key(text), len(keys))
    return numbers


def _read_whole(
    documents: Corpus, rows: Sequence[int], columns: Sequence[FieldColumn]
) -> list[str]:
    """Read the texts of rows, of records with the values that equal ones of a field share."""
    if all(column.kind == "text" for column in columns):
        return [text or "" for text in documents.texts(rows)]
    texts = documents.values(rows, [column.name for column in columns if column.kind == "text"])
    parts = [[as_text(value) for value in values] for values in texts.values()]
    parts += [
        [column.values[number] if number >= 0 else "" for number in column.numbers[rows].tolist()]
        for column in columns
        if column.kind != "text"
    ]
    return list(map("\n".join, zip(*parts, strict=True)))


def _find_signed_copies(work: Work, documents: Corpus, cap: int) -> Copies:
    """Find the documents whose signatures are equal, and of more than `cap` the normal forms."""
    keys = np.empty(len(documents), dtype=np.uint64)
    signatures = documents.signatures
    run_aside(partial(joins.hash_whole, signatures, signatures.shape[1], keys))
    rows = np.empty(0, dtype=np.int64)
    if work.measure.needs_texts:
        _, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
        rows = np.flatnonzero(counts[numbers] > cap)
    for at in range(0, len(rows), AT_ONCE):
        part = rows[at : at + AT_ONCE]
        texts = [text or "" for text in documents.texts(part.tolist())]
        keys[part] = keys[part] * SPREAD ^ sign.hash_texts(documents.normalize(texts))
    return _group_copies(work, documents, keys, rows, ())


def _group_copies(
    work: Work, documents: Corpus, keys: NDArray[np.uint64], rows: NDArray[Any],
    columns: Sequence[FieldColumn],
) -> Copies:  # fmt: skip
    """Make sets of the documents of equal keys, of the same group and side.

    Those of `rows` also have in common what has to be equal.
    """
    if work.equality:
        numbers = _number_equal(work.equality, documents, rows, columns)
        keys = keys * SPREAD ^ numbers.astype(np.uint64)
    if len(documents.groups):
        keys ^= documents.groups * SPREAD
    is_star = bool(work.judged)  # a chain would break at two that are different
    return Copies(keys, _number_sides(work, documents), is_star=is_star)


def _number_sides(work: Work, documents: Corpus) -> Sides:
    """Number the side of each document, if only those of different sides are compared."""
    if not work.is_across:
        return ONE_SIDE
    return (np.arange(len(documents)) >= documents.bounds[1]).astype(np.uint8)


def make_joining(work: Work, documents: Corpus, cap: int = CAP) -> Joining:
    """Make the limits of a search for candidates, with a `cap` unless another one is asked for."""
    return Joining(
        cap=work.cap or cap,
        memory=documents.spill.share,
        most=documents.spill.most_pairs,
        threads=THREADS,
        sides=_number_sides(work, documents),
        groups=documents.groups,
    )


def find_candidates(
    work: Work, documents: Corpus, way: Way, copies: Copies | None = None,
    columns: Sequence[FieldColumn] = (),
) -> Candidates:  # fmt: skip
    """Find the pairs that may be near-duplicates, of the same group if there are groups.

    Equal texts are among them, and records that are equal in all `columns`, whatever the way and
    the cap are. Many `copies` are not compared each: the pairs then stand for them.
    """
    candidates = _find_candidates(work, documents, way, copies)
    if not columns or (way == "all" and candidates.copies is None):
        return candidates
    rows = np.arange(len(documents)) if candidates.copies is None else candidates.copies.distinct
    joining = make_joining(work, documents)
    equal = _pair_equal(work, documents, columns, rows, joining)
    return replace(candidates, pairs=_unite(joining, candidates.pairs, equal))


def _pair_equal(
    work: Work, documents: Corpus, columns: Sequence[FieldColumn], rows: NDArray[Any],
    joining: Joining,
) -> Pairs:  # fmt: skip
    """Pair those of some rows that are equal in all columns, in whatever notation."""
    keys, has_value = np.zeros(len(documents), np.uint64), np.zeros(len(documents), np.bool_)
    for column in columns:
        keys = keys * SPREAD ^ column.equal.astype(np.uint64)
        has_value |= column.equal >= 0
    if len(documents.groups):
        keys ^= documents.groups * SPREAD
    rows = rows[has_value[rows]]
    equal = Copies(keys[rows], joining.sides[rows] if len(joining.sides) else ONE_SIDE)
    pairs, _ = equal.expand(equal.pairs(), joining)
    return np.sort(rows[pairs], axis=1).astype(np.uint32)


def _find_candidates(work: Work, documents: Corpus, way: Way, copies: Copies | None) -> Candidates:
    """Find the pairs that share what the way looks for, or have equal texts."""
    joining = make_joining(work, documents, WORD_CAP if way == "words" else CAP)

    def tell(stage: str, done: int, total: int | None = len(documents)) -> None:
        work.watching.on_progress(Progress(stage, done, total))

    if copies is not None and (way == "words" or (way == "all" and len(documents) > FEW)):
        return _pair_distinct(documents, way, joining, copies)
    if way == "all":
        candidates = all_candidates(len(documents), joining)
    elif way == "bands":
        from neardup_solr.candidates.by_band import band_candidates

        candidates = band_candidates(
            documents.signatures,
            documents.settings,
            joining=joining,
            on_progress=partial(tell, JOINING),
        )
    else:
        from neardup_solr.candidates.by_shingle import shingle_candidates

        sets = documents.read_sets(partial(tell, TEXTS))
        least = floor(work.measure.least(work.limits))
        tell(JOINING, 0, None)
        candidates = shingle_candidates(sets, least, joining=joining)
    if way == "shingles" or candidates.hot_keys:
        copies = copies or _find_signed_copies(work, documents, joining.cap)
        pairs, _ = copies.expand(copies.pairs(), joining)
        candidates = replace(candidates, pairs=_unite(joining, candidates.pairs, pairs))
    if not len(joining.groups):
        return candidates
    # Whatever a way has made of them; some at a time.
    groups = joining.groups
    parts = (candidates.pairs[at : at + BLOCK] for at in range(0, len(candidates.pairs), BLOCK))
    are_same = [groups[part[:, 0]] == groups[part[:, 1]] for part in parts]
    return replace(candidates, pairs=candidates.pairs[np.concatenate([NO_PAIRS, *are_same])])


def _pair_distinct(documents: Corpus, way: Way, joining: Joining, copies: Copies) -> Candidates:
    """Find the pairs of distinct documents, which stand for their copies, and one of these each."""
    rows = copies.distinct
    joining = replace(
        joining,
        sides=joining.sides[rows] if len(joining.sides) else joining.sides,
        groups=joining.groups[rows] if len(joining.groups) else joining.groups,
        sizes=copies.sizes[rows],
    )
    if way == "all":
        candidates = all_candidates(len(rows), joining)
    else:
        from neardup_solr.candidates.by_word import word_candidates

        forms = documents.forms()
        candidates = word_candidates([forms[row] for row in rows.tolist()], joining)
    pairs = rows[candidates.pairs].astype(np.uint32)
    return replace(
        candidates,
        pairs=_unite(joining, pairs, copies.pairs()),
        beyond=rows[candidates.beyond].astype(np.uint32),
        sample=rows[candidates.sample],
        copies=copies,
    )


def _unite(joining: Joining, *parts: Pairs) -> Pairs:
    """Put pairs together, each once."""
    united = PairArray(joining)
    for pairs in parts:
        united.add(np.ascontiguousarray(pairs))
    united.keep_distinct()
    return united.pairs
