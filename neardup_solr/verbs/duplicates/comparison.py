"""The comparison of candidate pairs by the measure, block by block, each text read once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from neardup_solr import progress
from neardup_solr.answers import SAME
from neardup_solr.argument_types import Way
from neardup_solr.candidates import Copies
from neardup_solr.cores import count_cores
from neardup_solr.distinct import mark_among, sort_distinct
from neardup_solr.errors import SettingsError
from neardup_solr.measures import Comparer, Flat, Limits, floor
from neardup_solr.measures.equality import Equality
from neardup_solr.measures.pairs import Pairs, number_pairs
from neardup_solr.minhash import sign
from neardup_solr.progress import OnProgress, Progress, ignore, prefetch, run_aside, thread_pool
from neardup_solr.records import BORDER, NO_DISTANCE
from neardup_solr.sizes import SIZES
from neardup_solr.text.packed import Packed, pack
from neardup_solr.verbs.duplicates.candidate_pairs import TEXTS, find_candidates, make_joining
from neardup_solr.verbs.duplicates.checkpoint import UnfinishedRun
from neardup_solr.verbs.duplicates.copies import find_copies, number_equal
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.parts import AT_ONCE, split_fitting
from neardup_solr.verbs.duplicates.plan import RunPlan
from neardup_solr.verbs.duplicates.row_answers import RowAnswers
from neardup_solr.verbs.duplicates.verified import Verified

if TYPE_CHECKING:
    from neardup_solr.measures.columns import FieldColumn
    from neardup_solr.measures.frequencies import Frequencies
    from neardup_solr.measures.record_matcher import RecordMatcher

COMPARING = "comparing"  # the stage of progress
LISTS = (
    "The records look like two lists ({}): each has its best match in the other list alone;"
    " `linkage` single finds all."
)
SAMPLED = 1 << 12  # pairs of a block that are compared by a lower threshold, about
U64 = np.uint64
PLACE = U64(19)  # bits: a stretch has half a million documents
LOW = (U64(1) << PLACE) - U64(1)

# Pairs with their distances and similarities.
Measured: TypeAlias = tuple[Pairs, NDArray[np.int64], NDArray[np.float64]]


class EarlierPairs(Protocol):
    """Pairs of an earlier run, which are not compared again."""

    def split(self, pairs: Pairs) -> tuple[Measured | None, Pairs]:
        """Look pairs up: the near ones with their results, and those that are to be compared."""

    def take(
        self, pairs: Pairs, distances: NDArray[np.int64], similarities: NDArray[np.float64],
        forgotten: Iterable[int],
    ) -> None:  # fmt: skip
        """Take the results of all near ones of the pairs that were split, but for some rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A comparison of pairs of documents by the measure of their corpus.

    A `matcher` compares records by their fields, or by a model. What `answers` call different is
    not near. `copies` are the documents of equal normal forms, None if these are not known. The
    weights of fields are learnt from `every` pair, None for those that are compared.
    """

    plan: RunPlan
    corpus: Corpus
    comparer: Comparer
    answers: RowAnswers | None = None
    matcher: RecordMatcher | None = None
    copies: Copies | None = None
    every: Pairs | None = None

    @classmethod
    def of(cls, plan: RunPlan, corpus: Corpus) -> Comparison:
        """Prepare to compare documents. If the measure weighs words, by their own frequencies."""
        frequencies = matcher = None
        if corpus.measure.needs_frequencies:
            from neardup_solr.measures.frequencies import Frequencies

            living = corpus.living()
            counts = corpus.words().take(living).count_texts()
            frequencies = Frequencies(len(living), counts, corpus.settings.normalization)
            if plan.fields or plan.model is not None:
                matcher = make_records(plan, corpus, frequencies)
        comparer = Comparer(
            measure=corpus.measure,
            limits=plan.limits_by(corpus.measure),
            settings=corpus.settings,
            frequencies=frequencies,
            threads=count_cores(),
        )
        copies = find_copies(plan, corpus, () if matcher is None else matcher.columns)
        return cls(plan=plan, corpus=corpus, comparer=comparer, matcher=matcher, copies=copies)

    @property
    def columns(self) -> Sequence[FieldColumn]:
        """The columns of the fields that are compared, none if texts are."""
        return () if self.matcher is None else self.matcher.columns

    @property
    def chosen(self) -> str:
        """Why the measure or the linkage is this one, if none was named, or ""."""
        border = self.matcher.border if self.matcher is not None else ""
        return LISTS.format(border) if border else self.corpus.chosen

    @property
    def distinct(self) -> int:
        """The number of documents that count, copies once if they are known."""
        copies, corpus = self.copies, self.corpus
        return len(corpus if copies is None else copies.distinct) - len(corpus.dead)

    def learn_from_all(self, way: Way) -> Comparison:
        """Find the candidates of all groups, if weights of fields are to be learnt from them.

        So `same` leaves out pairs, and changes the probability of none.
        """
        matcher, plan = self.matcher, self.plan
        if not plan.same or matcher is None or matcher.weights or matcher.as_wholes:
            return self
        whole = self.corpus.without_groups()
        copies = find_copies(plan, whole, self.columns)
        return replace(self, every=find_candidates(plan, whole, way, copies, self.columns).pairs)

    def measure(self, pairs: Pairs) -> Verified:
        """Measure pairs, whatever their similarity is."""
        every = replace(self.comparer, limits=Limits(min_similarity=0.0))
        return self._compare(pairs, every, ignore)

    def verify(
        self, pairs: Pairs, *, copies: Copies | None = None,
        earlier: EarlierPairs | None = None, keeps: bool = False,
        on_progress: OnProgress = ignore,
    ) -> Verified:  # fmt: skip
        """Find the pairs that are within the limits, and not different by an answer.

        With `copies`, each stands for all pairs of their rows. Pairs of an `earlier` run are not
        compared again; those that are compared are kept in a checkpoint, if there is one, that
        `keeps` them. The array `pairs` may be sorted in place.
        """
        recalled = None
        if earlier is not None:
            recalled, pairs, count = *earlier.split(pairs), len(pairs)
        verified = self._compare(pairs, self.comparer, on_progress, keeps=keeps)
        if earlier is not None and recalled is not None:
            if len(pairs) < count or len(recalled[0]):
                verified.below = None
            verified.take([verified.columns, recalled])
            pairs, distances, similarities = verified.columns
            forgotten = [*verified.vanished, *verified.stale]
            earlier.take(pairs, distances, similarities, forgotten)
        if copies is not None:
            self._add_copies(verified, copies)
        if self.plan.equal:
            rows = sort_distinct(verified.pairs)
            numbers = self.number_equal(self.plan.equal, rows)
            verified.keep(numbers[verified.pairs[:, 0]] == numbers[verified.pairs[:, 1]])
        if self.answers is not None:
            verified.keep(self.answers.mark_allowed(verified.pairs))
        verified.sort()
        return verified

    def number_equal(self, equality: Equality, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Number the documents of ascending rows, by row: equal if they have equal parts."""
        return number_equal(equality, self.corpus, rows, self.columns)

    def add_same(self, verified: Verified) -> None:
        """Add the pairs that are the same by an answer, whatever their similarity is."""
        if self.answers is None:
            return
        same = self.answers.pairs[SAME]
        lacking = same[~mark_among(number_pairs(same), number_pairs(verified.pairs))]
        verified.take([verified.columns, self.measure(lacking).columns])
        verified.sort()

    def _add_copies(self, verified: Verified, copies: Copies) -> None:
        """Add the pairs that the verified ones stand for, which are as similar."""
        compared = verified.pairs
        pairs, origins = copies.expand(compared, make_joining(self.plan, self.corpus))
        verified.keep(origins)
        verified.pairs = pairs
        if self.corpus.may_change:
            rows = sort_distinct(pairs)
            self._note_changes(rows[~mark_among(rows, compared)], verified)

    def _compare(
        self, pairs: Pairs, comparer: Comparer, on_progress: OnProgress, *, keeps: bool = False
    ) -> Verified:
        if self.matcher is not None:
            return self._match(pairs, self.matcher, comparer.least, on_progress)
        pairs = _sort_for_reading(pairs)
        verified, has_texts = Verified(pairs[:0]), comparer.measure.needs_texts
        keeper = UnfinishedRun()
        if keeps and has_texts and self.plan.checkpoint is not None:
            keeper = UnfinishedRun(self.plan.checkpoint, self._describe(pairs, comparer))
        verified.below = None if keeper.parts else 0
        prepared: Any = self.corpus.signatures
        places = None
        if has_texts:
            prepared, places = self._prepare(pairs, comparer, verified, on_progress)
        is_present = np.ones(len(self.corpus), dtype=np.bool_)
        is_present[list(verified.vanished)] = False
        on_progress(Progress(COMPARING, min(keeper.done, len(pairs)), len(pairs)))
        with keeper.keeping():
            for at in range(keeper.done, len(pairs), SIZES.compared_block):
                block = pairs[at : at + SIZES.compared_block]
                block = block[is_present[block].all(axis=1)]
                placed = block if places is None else places[block]
                distances, similarities, is_near = comparer.compare(prepared, placed)
                keeper.add(
                    (block[is_near], distances[is_near], similarities[is_near]),
                    at + SIZES.compared_block,
                )
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
        total = len(pairs if self.every is None else self.every)
        probabilities = matcher.match(
            pairs, lambda done: on_progress(Progress(COMPARING, done, total)), every=self.every,
            least=floor(least - BORDER),
        )  # fmt: skip
        weights = matcher.weights
        if (
            is_first
            and weights
            and not (weights.as_wholes or weights.key or weights.are_matches.any())
        ):
            progress.LOG.warning(
                "the fields do not separate matches from other pairs, so only records"
                " that are equal in all fields are found: choose different fields"
            )
        is_near = probabilities >= floor(least)
        distances = np.full(np.count_nonzero(is_near), NO_DISTANCE, dtype=np.int64)
        below = int(np.count_nonzero(probabilities >= floor(least - BORDER))) - len(distances)
        verified = Verified(pairs[is_near], distances, probabilities[is_near], below=below)
        if self.corpus.may_change:
            self._note_changes(sort_distinct(pairs), verified)
        return verified

    def _note_changes(self, rows: NDArray[np.uint32], verified: Verified) -> None:
        """Note which of these rows are gone, or have another text than was signed."""
        corpus = self.corpus
        for at in range(0, len(rows), AT_ONCE):
            part = rows[at : at + AT_ONCE]
            texts = [text or "" for text in corpus.texts(part.tolist())]
            signed = sign.sign(texts, corpus.settings, threads=count_cores(), keep_keys=False)
            differ = (signed.signatures != corpus.signatures[part]).any(axis=1)
            corpus.words_read[part] = signed.words
            is_present = signed.words > 0
            verified.vanished.update(part[~is_present].tolist())
            verified.stale.update(part[is_present & differ].tolist())

    def _describe(self, pairs: Pairs, comparer: Comparer) -> str:
        """Describe what is compared: the same only for the same pairs, documents and measure."""
        digest, common = hashlib.sha256(pairs.data), self.corpus.common
        for side in self.corpus.sides:
            digest.update(repr((side.documents, side.state, self.plan.fq)).encode())
            if side.contents is not None:
                digest.update(np.ascontiguousarray(side.contents.table()).data)
        shares = common and (common.size, common.share)
        measure = f"{self.corpus.settings.fingerprint} {comparer.measure.name}"
        return f"{measure} {comparer.limits} {shares} {digest.hexdigest()}"

    def _prepare(
        self, pairs: Pairs, comparer: Comparer, verified: Verified, on_progress: OnProgress
    ) -> tuple[Flat, NDArray[np.uint32] | None]:
        """Prepare the texts of pairs, each once, and tell where each row is, if not at its number.

        After an interruption, too, all of them: which are gone or have changed is not kept.
        """
        corpus = self.corpus
        if corpus.sets is not None and not corpus.may_change:
            return corpus.sets.flat(), None
        if comparer.measure.joins_numbers and not corpus.may_change:
            corpus.forms()  # which all parts are taken of
        is_compared = np.zeros(len(corpus), dtype=np.bool_)
        for at in range(0, len(pairs), SIZES.compared_block):
            is_compared[pairs[at : at + SIZES.compared_block]] = True
        rows = np.flatnonzero(is_compared).astype(np.uint32)
        prepared = corpus.spill.lists()
        count = characters = 0

        def read(part: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], Sequence[str | None]]:
            nonlocal count, characters
            texts = corpus.compared(part.tolist())
            count += len(texts)
            if isinstance(texts, Packed):
                characters += texts.size
            else:
                characters += sum(len(text or "") for text in texts)
            return part, texts

        def prepare(part: tuple[NDArray[np.uint32], Sequence[str | None]]) -> Flat:
            return cast(Flat, comparer.prepare(self._forms(*part, verified)))

        def keep(part: Flat) -> int:
            prepared.extend(part)
            return len(prepared)

        parts = (rows[part] for part in split_fitting(len(rows), lambda: (count, characters)))
        # Parts are read one after the other, while all cores prepare those that were read.
        threads = count_cores()
        with thread_pool(1) as reader, thread_pool(threads) as preparers, thread_pool(1) as keeper:
            texts = prefetch(reader, read, parts)
            values = prefetch(preparers, prepare, texts, at_once=threads)
            for done in prefetch(keeper, keep, values):
                on_progress(Progress(TEXTS, done, len(rows)))
        return prepared.flat(), np.cumsum(is_compared, dtype=np.uint32) - np.uint32(1)

    def _forms(
        self, rows: NDArray[np.uint32], read: Sequence[str | None], verified: Verified
    ) -> Sequence[str]:
        """Normalise the texts of rows, "" for one that is gone, which is noted in `verified`."""
        corpus, measure = self.corpus, self.comparer.measure
        if measure.joins_numbers and not corpus.may_change:
            forms = corpus.forms()
            return [forms[row] for row in rows.tolist()]
        texts = read if isinstance(read, Packed) else pack([text or "" for text in read])
        if not corpus.may_change:
            return sign.normal_forms(texts, corpus.settings.normalization)
        is_present = np.array([text is not None for text in read])
        signed = sign.sign(texts, corpus.settings, keep_normal=True, keep_keys=False)
        corpus.words_read[rows] = signed.words
        differ = (signed.signatures != corpus.signatures[rows]).any(axis=1)
        verified.vanished.update(rows[~is_present].tolist())
        verified.stale.update(rows[is_present & (differ | (signed.words == 0))].tolist())
        if measure.joins_numbers:
            return measure.normalize(texts, corpus.settings.normalization)
        return signed.normal


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


def make_records(plan: RunPlan, corpus: Corpus, frequencies: Frequencies) -> RecordMatcher:
    """Make the columns of the fields that are compared, and what their whole records need."""
    from neardup_solr.measures.columns import make_column
    from neardup_solr.measures.record_matcher import RecordMatcher

    kinds = plan.fields
    values: dict[str, list[Any]] = {name: [] for name in kinds}
    for at in range(0, len(corpus), AT_ONCE):
        rows = range(at, min(at + AT_ONCE, len(corpus)))
        for name, some in corpus.values(rows, tuple(kinds)).items():
            values[name] += some
    columns = [make_column(name, kind, values[name]) for name, kind in kinds.items()]
    empty = [column.name for column in columns if not column.values] if len(corpus) else []
    # A column of a table exists; in a collection, a field without values is a wrong name.
    if empty and (len(empty) == len(columns) or corpus.may_change):
        reason = f"no record has a value in {' or '.join(empty)}"
        again = ", or index the documents again with these columns in `keep`"
        step = f"check the names in `fields`{again if corpus.may_change else ''}"
        raise SettingsError(reason, step, code="field-empty")
    for column in columns:
        if column.problem:
            progress.LOG.warning("%s", column.problem)
    return RecordMatcher(
        columns=columns,
        forms=corpus.forms(),
        frequencies=frequencies,
        settings=corpus.settings,
        threads=count_cores(),
        model=plan.model,
        as_wholes=corpus.is_across,
        may_be_lists=plan.may_be_lists,
    )


def _sort_for_reading(pairs: Pairs) -> Pairs:
    """Sort the array of pairs itself in the order in which they are compared.

    Those of the same two stretches of documents are together, as texts may lie in a file; within
    them they go by rows. While it is sorted, a pair is one number: both stretches, 13 bits each,
    then both places in them.
    """
    pairs = np.ascontiguousarray(pairs)
    numbers = pairs.view(np.uint64)[:, 0]
    parts = [
        slice(at, at + SIZES.compared_block) for at in range(0, len(pairs), SIZES.compared_block)
    ]
    for part in parts:
        first, second = pairs[part].T.astype(np.uint64)
        stretches = (first >> PLACE) << U64(13) | second >> PLACE
        numbers[part] = stretches << U64(38) | (first & LOW) << PLACE | second & LOW
    run_aside(numbers.sort, steps=len(numbers))
    for part in parts:
        ordered = numbers[part].copy()
        pairs[part, 0] = (ordered >> U64(51)) << PLACE | ordered >> PLACE & LOW
        pairs[part, 1] = (ordered >> U64(38) & U64(0x1FFF)) << PLACE | ordered & LOW
    return pairs
