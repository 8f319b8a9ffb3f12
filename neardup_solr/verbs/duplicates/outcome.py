"""The outcome of a run of `duplicates`: its result, made of what was compared and grouped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from neardup_solr.argument_types import PairMeasure, Way
from neardup_solr.candidates import Candidates
from neardup_solr.errors import ArgumentError
from neardup_solr.files import paths_of
from neardup_solr.measures.equality import NUMBERS, SYMBOLS
from neardup_solr.records import AnyId
from neardup_solr.reports.pair import PairTable
from neardup_solr.settings import CAP
from neardup_solr.sources.kinds import can_be_read_again
from neardup_solr.sources.source import is_collection, shown_name
from neardup_solr.verbs.duplicates.candidate_pairs import CAPS, make_joining
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.doubts import Doubts
from neardup_solr.verbs.duplicates.estimates import (
    count_beyond,
    count_numeric,
    count_separated,
    find_borderline,
)
from neardup_solr.verbs.duplicates.filled_fields import count_fuller
from neardup_solr.verbs.duplicates.from_source import SourceSide
from neardup_solr.verbs.duplicates.graph import Grouped
from neardup_solr.verbs.duplicates.page_texts import keep_page_texts
from neardup_solr.verbs.duplicates.parting import describe_parting
from neardup_solr.verbs.duplicates.placeholders import find_placeholders
from neardup_solr.verbs.duplicates.plan import RunPlan
from neardup_solr.verbs.duplicates.record_numbers import HeldRecords, RecordNumbers
from neardup_solr.verbs.duplicates.request import Compared
from neardup_solr.verbs.duplicates.result import Duplicates, Origin
from neardup_solr.verbs.duplicates.result_texts import (
    explain_pairs,
    read_kept,
    read_texts,
    select_frequencies,
)
from neardup_solr.verbs.duplicates.side import CorpusSide
from neardup_solr.verbs.duplicates.uncompared_columns import find_unlike
from neardup_solr.verbs.duplicates.unique import SourceRecords
from neardup_solr.verbs.duplicates.verified import Verified

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates.remember import Changes


def make_result(
    comparison: Comparison, way: Way, candidates: Candidates, verified: Verified, grouped: Grouped,
    involved: NDArray[np.uint32], *, doubts: Doubts, remedy: str, since: Changes | None,
    state: str | None,
) -> Duplicates:  # fmt: skip
    """Make the result of what was compared and grouped. `involved` rows have a pair."""
    plan, corpus, sides = comparison.plan, comparison.corpus, comparison.corpus.sides
    keys: dict[int, AnyId] = {}  # by row
    if plan.request.texts or plan.keep or comparison.matcher is not None:
        keys.update(zip(involved.tolist(), grouped.graph.keys, strict=True))
    texts = read_texts(corpus, grouped, keys, plan.request.texts) if plan.request.texts else {}
    has_page_texts = plan.request.texts is None and plan.needs_texts
    page_texts = keep_page_texts(corpus, grouped, involved) if has_page_texts else {}
    frequencies = select_frequencies(comparison, involved)
    name, columns = cast(PairMeasure, corpus.measure.name), plan.readings[0].text
    table = PairTable(measure=name, kinds=plan.fields, texts=() if plan.fields else columns,
                      frequencies=frequencies, settings=corpus.settings)  # fmt: skip
    are_whole = [side.are_whole for side in sides]
    records, held = _note_records(plan, sides[0], grouped, involved, state)
    beyond_cap, enough = count_beyond(comparison, candidates)
    numeric, symbolic = count_numeric(comparison, verified), grouped.graph.symbolic
    whole = {"id": are_whole[0], "other_id": are_whole[-1], "cluster": all(are_whole)}
    return Duplicates(
        grouped=grouped,
        whole_ids=tuple(name for name, is_whole in whole.items() if is_whole),
        documents=sum(side.documents for side in sides),
        candidates=len(candidates.pairs),
        hot_keys=candidates.hot_keys,
        settings=corpus.settings,
        measure=name,
        by=way,
        min_similarity=comparison.comparer.least,
        max_distance=comparison.comparer.limits.max_distance,
        linkage=plan.linkage,
        canonical=plan.request.canonical,
        fq=plan.fq,
        same=plan.same,
        beyond_cap=beyond_cap,
        cap=make_joining(plan, corpus, CAPS.get(way, CAP)).cap,
        enough=enough,
        numeric=numeric,
        symbolic=symbolic,
        separated={
            rule: count_separated(comparison, verified, rule)
            for rule, differing in ((NUMBERS, numeric), (SYMBOLS, symbolic))
            if differing
        },
        has_ids=plan.has_ids,
        chosen=comparison.chosen,
        repeated=sum(side.repeated for side in sides),
        failed=sum(side.failures.count for side in sides),
        damaged=sum(len(side.failures.damages) for side in sides),
        errors=tuple(error for side in sides for error in side.failures.first),
        gaps=tuple(_find_gaps(plan, corpus, verified)),
        texts=texts,
        frequencies=frequencies,
        weights=None if comparison.matcher is None else comparison.matcher.weights,
        kept=read_kept(corpus, keys, plan.keep),
        against=corpus.is_across,
        since=since,
        answered=None if comparison.answers is None else comparison.answers.answered,
        borderline=find_borderline(comparison, candidates.pairs, verified),
        templates=doubts.templates,
        far=doubts.far,
        linked=doubts.linked,
        unlikely=doubts.unlikely,
        parting=describe_parting(comparison, grouped.graph, involved),
        placeholders=find_placeholders(corpus, grouped, involved),
        remedy=remedy,
        unlike=find_unlike(plan, corpus, grouped, involved),
        fuller=count_fuller(comparison, grouped, involved),
        origin=Origin(
            name=" against ".join(map(_name, plan.sources)),
            texts=page_texts,
            **explain_pairs(comparison, grouped, keys),
            table=table,
            is_for_excel=any(side.is_for_excel for side in sides),
            records=records,
            held=held,
        ),
    )


def _note_records(
    plan: RunPlan, side: CorpusSide, grouped: Grouped, rows: NDArray[np.uint32], state: str | None
) -> tuple[SourceRecords | ArgumentError, HeldRecords | None]:
    """Note the records of the first side, in files or in memory, which have the `rows` of nodes."""
    if not isinstance(side, SourceSide):
        return SourceRecords.of(plan, side, None, state), None
    numbers = RecordNumbers.of(side, grouped.graph.nodes, rows)
    records = SourceRecords.of(plan, side, numbers, state)
    if paths_of(plan.source) is not None:
        return records, None
    source = plan.source if can_be_read_again(plan.source) else None
    count = len(side.are_documents)
    return records, HeldRecords(source, plan.readings[0], numbers, count)


def _name(source: Compared) -> str:
    if is_collection(source):
        return source.name
    paths = paths_of(source)
    return "documents" if paths is None else shown_name([Path(path).name for path in paths])


def _find_gaps(plan: RunPlan, corpus: Corpus, verified: Verified) -> Iterator[str]:
    """Say what may be missing from the result, and what to do about it."""
    for side in corpus.sides:
        yield from side.find_gaps(plan.fq)
    if verified.vanished:
        yield f"documents deleted during the run: {len(verified.vanished):,}"
    if verified.stale:
        stored = [side for side in corpus.sides if side.state is not None]
        step = (stored or corpus.sides)[-1].name_remedy()
        yield f"documents whose text has changed: {len(verified.stale):,}; {step}"
    if corpus.alone:
        names = " or ".join(plan.same)
        yield f"documents without {names}: {corpus.alone:,}, which were not compared"
