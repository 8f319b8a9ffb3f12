"""The corpus of `duplicates`: the documents of one side or of two, which are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr import measures
from neardup_solr.argument_types import PairMeasure
from neardup_solr.candidates import ONE_GROUP
from neardup_solr.cores import count_cores
from neardup_solr.errors import SettingsError
from neardup_solr.measures import Flat, Measure
from neardup_solr.measures.auto import choose_for_scans, choose_measure, read_measure
from neardup_solr.measures.common_runs import Common, find_common
from neardup_solr.measures.pairs import take_evenly
from neardup_solr.memory import Lists, Spill, release_unused
from neardup_solr.minhash import sign
from neardup_solr.progress import LOG, prefetch, thread_pool
from neardup_solr.records import AnyId
from neardup_solr.settings import Settings
from neardup_solr.sizes import SIZES
from neardup_solr.sources.source import is_collection
from neardup_solr.text.numbers import join_numbers
from neardup_solr.text.packed import Packed, pack, size_of
from neardup_solr.text.written_dates import are_day_first
from neardup_solr.verbs.duplicates.from_solr import read_collection, read_settings
from neardup_solr.verbs.duplicates.from_source import read_source
from neardup_solr.verbs.duplicates.parts import AT_ONCE, split_fitting
from neardup_solr.verbs.duplicates.plan import RunPlan
from neardup_solr.verbs.duplicates.same_fields import Groups
from neardup_solr.verbs.duplicates.side import CorpusSide, RowColumns

if TYPE_CHECKING:
    from neardup_solr.measures.word_lists import WordLists

SAMPLED = 50_000  # documents, for what many have in common
LOOKED_AT = 1_000  # documents whose numbers of words choose the measure, about
SPREAD_PARTS = 20  # in which some texts are read
AT_A_TIME = 500  # texts that are read to tell whether all fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The documents that are compared, by row: those of the second side come after the first's.

    `measure` compares them, chosen by what was read if none was named, as `chosen` says. `sets` are
    the shingles of each document, None if they were not kept. Only documents of the same of
    `groups` are compared; it is empty if all are. The rows that are `dead`, because another record
    of their id counts, have groups of their own; `alone` documents lack a value that groups are
    made of. What is `common` to many is left out. If it `joins_numbers`, its measure does.
    `words_read` has the numbers of words of texts that are signed anew, 0 before, or is empty.
    """

    spill: Spill
    settings: Settings
    measure: Measure
    chosen: str
    sides: Sequence[CorpusSide]
    bounds: Sequence[int]  # the first row of each side, and the number of all rows
    signatures: NDArray[np.uint32]
    sets: Lists | None
    groups: NDArray[np.uint32]
    alone: int
    dead: Sequence[int]
    joins_numbers: bool
    may_change: bool  # by others meanwhile, as the texts of a collection
    words_read: NDArray[np.int64]
    common: Common | None = None
    _forms: list[str] = field(default_factory=list, init=False)
    _orders: list[bool] = field(default_factory=list, init=False)  # if days are first, once known
    _words: list[WordLists] = field(default_factory=list, init=False)  # one, or none yet

    def __len__(self) -> int:
        return len(self.signatures)

    @property
    def is_across(self) -> bool:
        """True if documents of one side are compared with those of another one."""
        return len(self.sides) > 1

    def by_side(self, rows: Sequence[int]) -> Iterator[tuple[CorpusSide, list[int]]]:
        """Split ascending rows by their sides, in which they begin at 0."""
        for side, first, last in zip(self.sides, self.bounds, self.bounds[1:], strict=False):
            yield side, [row - first for row in rows if first <= row < last]

    def ids(self, rows: Sequence[int]) -> list[AnyId]:
        """The ids of rows, in ascending order."""
        return [id for side, part in self.by_side(rows) for id in side.ids.take(part)]

    def are_readable(self, rows: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Tell which rows have texts: all, unless these are neither compared nor shown."""
        ends = [first + side.readable for first, side in zip(self.bounds, self.sides, strict=False)]
        sides = np.searchsorted(self.bounds, rows, side="right") - 1
        return np.asarray(rows < np.array(ends)[sides])

    def texts(self, rows: Sequence[int]) -> Sequence[str | None]:
        """The texts of rows, in ascending order, or None if a document is no longer there."""
        if len(self.sides) == 1:
            return self.sides[0].texts(rows)
        return [text for side, part in self.by_side(rows) for text in side.texts(part)]

    def count_words(self, rows: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Count the words of rows, 0 for documents of a collection whose texts were not read."""
        counts = self.words_read[rows] if len(self.words_read) else np.zeros(len(rows), np.int64)
        for side, first, last in zip(self.sides, self.bounds, self.bounds[1:], strict=False):
            if side.words is not None:
                are_lacking = (rows >= first) & (rows < last) & (counts == 0)
                counts[are_lacking] = side.words.table()[rows[are_lacking] - first, 0]
        return counts

    def normalize(self, texts: Sequence[str | None]) -> Packed:
        """Make the normal forms of texts, "" for one that is no longer there."""
        present = [text or "" for text in texts]
        return sign.normal_forms(present, self.settings.normalization, threads=count_cores())

    def compared(self, rows: Sequence[int]) -> Sequence[str | None]:
        """The texts of rows as they are compared: without what is `common`."""
        texts = self.texts(rows)
        if self.common is None:
            return texts
        rest = self.common.strip(self.normalize(texts))
        return [text and form for text, form in zip(texts, rest, strict=True)]

    def without_common(self, share: float | None = None) -> Corpus:
        """Find what many documents have in common, and return these without it, not yet signed."""
        some = take_evenly(self.living(), SAMPLED)
        texts = (
            self.texts(some[at : at + AT_ONCE].tolist()) for at in range(0, len(some), AT_ONCE)
        )
        forms = [form for part in texts for form in self.normalize(part)]
        return replace(self, common=find_common(forms, share))

    def leave_out_common(self, share: float | None = None) -> Corpus:
        """Find what many documents have in common, and sign all of them anew without it."""
        words = np.zeros(len(self), dtype=np.int64)
        rest = replace(self.without_common(share), words_read=words)
        rows = self.spill.rows(self.settings.hashes, np.uint32, SIZES.held_signatures)
        for at in range(0, len(self), AT_ONCE):
            part = [text or "" for text in rest.compared(range(at, min(at + AT_ONCE, len(self))))]
            signed = sign.sign(part, self.settings, threads=count_cores(), keep_keys=False)
            words[at : at + AT_ONCE] = signed.words
            rows.append(signed.signatures)
        return replace(rest, signatures=rows.table())

    def without_groups(self) -> Corpus:
        """The same documents, of which all that count are compared with each other."""
        whole = replace(self, groups=_number_groups(None, self.dead, len(self)), alone=0)
        whole._forms.extend(self._forms)
        whole._words.extend(self._words)
        return whole

    def living(self) -> NDArray[np.intp]:
        """The rows that count, in ascending order."""
        return np.delete(np.arange(len(self)), self.dead)

    def fits(self, most: int) -> bool:
        """Tell whether texts that count have at most `most` characters, reading few of them."""
        total, rows = 0, self.living()
        for at in range(0, len(rows), AT_A_TIME):
            texts = self.compared(rows[at : at + AT_A_TIME].tolist())
            total += sum(len(text or "") for text in texts)
            if total > most:
                return False
        return True

    def forms(self) -> list[str]:
        """Normalise the texts of all documents once, "" for one that is no longer there."""
        for at in range(len(self._forms), len(self), AT_ONCE):
            texts = self.compared(range(at, min(at + AT_ONCE, len(self))))
            if self.joins_numbers:
                texts = self.join_numbers(texts)
            self._forms.extend(self.normalize(texts))
        return self._forms

    def join_numbers(self, texts: Iterable[str | None]) -> list[str]:
        """Write texts so that each number is a word, dates in the order that most texts have."""
        if not self._orders:
            blocks = (range(len(self))[at : at + AT_ONCE] for at in range(0, len(self), AT_ONCE))
            every = (text for block in blocks for text in self.compared(block) if text)
            self._orders.append(are_day_first(every))
        (is_day_first,) = self._orders
        return [join_numbers(text, is_day_first=is_day_first) if text else "" for text in texts]

    def words(self) -> WordLists:
        """List the words of all normal forms once, as they are aligned."""
        from neardup_solr.measures.word_lists import list_words

        if not self._words:
            self._words.append(list_words(self.forms()))
        return self._words[0]

    def read_sets(self, tell: Callable[[int], None]) -> Flat:
        """Read the shingles of all documents, if they were not kept while these were signed.

        `tell` gets how many are done.
        """
        if self.sets is not None:
            return self.sets.flat()
        from neardup_solr.measures.text_hashes import hash_sets

        sets, every, characters = self.spill.lists(), range(len(self)), 0
        parts = (every[part] for part in split_fitting(len(self), lambda: (len(sets), characters)))
        with thread_pool(1) as reader:
            for texts in prefetch(reader, self.compared, parts):
                forms = self.normalize(texts)
                sets.extend(hash_sets(forms, self.settings))
                characters += size_of(forms)
                tell(len(sets))
        return sets.flat()

    def read_letters(self) -> tuple[Flat, NDArray[np.int64]]:
        """Read the letters of all documents, and count the words of each."""
        from neardup_solr.measures.folded import fold_texts

        letters, words, size = self.spill.lists(), [np.empty(0, dtype=np.int64)], 0

        def read(part: slice) -> Packed:
            texts = self.compared(range(len(self))[part])
            return texts if isinstance(texts, Packed) else pack([text or "" for text in texts])

        parts = split_fitting(len(self), lambda: (len(letters), size))
        threads = count_cores()
        with thread_pool(1) as reader, thread_pool(threads) as folders:
            texts = prefetch(reader, read, parts)
            for folded in prefetch(folders, fold_texts, texts, at_once=threads):
                letters.extend(Flat(folded.letters, folded.bounds))
                words.append(folded.words)
                size += len(folded.letters)
        values, bounds = letters.flat()
        return Flat(values.astype(np.uint16, copy=False), bounds), np.concatenate(words)

    def values(self, rows: Sequence[int], fields: Sequence[str]) -> dict[str, list[Any]]:
        """The values of fields of rows, in ascending order, or None if there is no value."""
        if not fields:
            return {}
        columns = [side.values(part, fields) for side, part in self.by_side(rows)]
        return {name: [value for side in columns for value in side[name]] for name in fields}

    def record(self, row: int, fields: Sequence[str]) -> dict[str, Any]:
        """The values of fields of a row."""
        return {name: values[0] for name, values in self.values([row], fields).items()}


def read_corpus(plan: RunPlan, spill: Spill) -> Corpus:
    """Read one source, or two sides, and sign those that are not collections.

    The stored settings of a collection apply to both sides.

    Raises SettingsError if two collections have different settings.
    """
    stored = [read_settings(side) for side in plan.sources if is_collection(side)]
    # Not by their fields: those that are read are there, and others do not shape signatures.
    if len({replace(each, fields=frozenset()) for each in stored}) == 2:
        shown = " and ".join(f"[{each.fingerprint}]" for each in stored)
        reason = f"the two collections were indexed with different settings: {shown}"
        step = "index one of them again with the settings of the other"
        raise SettingsError(reason, step, code="settings-differ")
    settings, without_common = stored[0] if stored else plan.settings, plan.request.without_common
    columns = RowColumns(
        spill=spill,
        signatures=spill.rows(settings.hashes, np.uint32, SIZES.held_signatures),
        sets=spill.lists() if plan.needs_sets and not (stored or without_common) else None,
        groups=Groups(plan.same, spill.rows(1, np.uint32)) if plan.same else None,
    )
    sides: list[CorpusSide] = []
    for number, source in enumerate(plan.sources):
        if is_collection(source):
            sides.append(read_collection(plan, source, number, settings, columns))
            continue
        is_fitted = not (sides or stored)
        side = read_source(plan, source, number, settings, columns, is_fitted=is_fitted)
        settings = side.settings
        sides.append(side)
    measure, chosen = _choose_measure(plan, settings, sides, is_stored=bool(stored))
    release_unused()
    bounds = list(accumulate((len(side.ids) for side in sides), initial=0))
    dead = [first + row for first, side in zip(bounds, sides, strict=False) for row in side.dead]
    signatures = columns.signatures.table()
    corpus = Corpus(
        spill=spill,
        settings=settings,
        measure=measure,
        chosen=chosen,
        sides=sides,
        bounds=bounds,
        signatures=signatures,
        sets=columns.sets,
        groups=_number_groups(columns.groups, dead, len(signatures)),
        alone=columns.groups.alone if columns.groups else 0,
        dead=dead,
        joins_numbers=measure.joins_numbers,
        may_change=bool(stored),
        words_read=np.zeros(len(signatures) if stored else 0, dtype=np.int64),
    )
    if not without_common:
        return corpus
    rest = corpus.leave_out_common(None if without_common is True else without_common)
    has_common = rest.common is not None and len(rest.common.hashes)
    line = "left out %s" if has_common else "`without_common` left nothing out: %s; omit it"
    LOG.warning(line, rest.common)
    return rest


def _choose_measure(
    plan: RunPlan, settings: Settings, sides: Sequence[CorpusSide], *, is_stored: bool
) -> tuple[Measure, str]:
    """Choose the measure by the settings, or by what was read, unless one was named. Say why."""
    if not plan.is_auto:
        return plan.measure, plan.chosen
    name: PairMeasure
    if is_stored:
        name, reason = read_measure(settings)
    else:
        words = [side.words.table()[:, 0] for side in sides if side.words is not None]
        every = np.concatenate(words)
        name, reason = choose_measure(settings, every[:: len(every) // LOOKED_AT or 1].tolist())
        if name == "words" and (choice := choose_for_scans(_read_some(sides))):
            name, reason = choice
    return measures.measure_named(name), reason


def _read_some(sides: Sequence[CorpusSide]) -> Iterator[str]:
    """Read some texts of all sides, part by part, each from everywhere in a side."""
    for side in sides:
        rows = take_evenly(np.arange(len(side.ids)), LOOKED_AT)
        for first in range(SPREAD_PARTS):
            some = rows[first::SPREAD_PARTS].tolist()
            yield from (text or "" for text in side.texts(some))


def _number_groups(
    numbers: Groups | None, dead: Sequence[int], count: int
) -> NDArray[np.uint32]:  # fmt: skip
    """Number the groups of so many documents, with one for each that is dead."""
    groups = ONE_GROUP if numbers is None else numbers.table()
    if not dead:
        return groups
    groups = groups.copy() if len(groups) else np.zeros(count, dtype=np.uint32)
    groups[dead] = int(groups.max()) + 1 + np.arange(len(dead), dtype=np.uint32)
    return groups
