"""Facts about a pair of records, compared by fields or a model as `duplicates` does."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from neardup_solr import sources
from neardup_solr.argument_types import PairMeasure
from neardup_solr.memory import Spill
from neardup_solr.records import Document
from neardup_solr.solr.collection import Collection
from neardup_solr.verbs.duplicates.candidate_pairs import find_candidates, name_way
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.corpus import Corpus, read_corpus
from neardup_solr.verbs.duplicates.plan import RunPlan, make_plan
from neardup_solr.verbs.duplicates.request import DuplicatesRequest
from neardup_solr.verbs.explain.documents import estimate_shared_words, read_settings, read_stored
from neardup_solr.verbs.explain.facts import Facts
from neardup_solr.verbs.explain.request import ExplainRequest
from neardup_solr.verbs.explain.rules import find_answer, find_unequal
from neardup_solr.verbs.explain.subject import Subject, make_subject


def compare_by_fields(request: ExplainRequest) -> Facts:
    """Compare all candidates by their fields, and the two records in detail."""
    ids = request.ids
    compared = DuplicatesRequest(
        request.source, measure=request.measure, fields=request.fields, model=request.model,
        max_distance=request.max_distance, min_similarity=request.min_similarity,
        same=request.same, equal=request.equal, id=request.id, text=request.text,
        settings=request.settings, on_progress=request.on_progress, beside=request.beside,
    )  # fmt: skip
    plan = make_plan(compared)
    source, subjects = plan.source, list[Subject]()
    if isinstance(source, Collection):
        subjects = read_stored(source, ids, read_settings(source, None))
    with Spill() as spill:
        documents = read_corpus(plan, spill)
        rows = [_find_row(plan, documents, id) for id in ids]
        for id, row in zip(ids, rows[len(subjects) :], strict=False):
            document = Document(id=id, text=documents.texts([row])[0] or "")
            subjects.append(make_subject(document, documents.settings))
        comparison = Comparison.of(plan, documents)
        by = name_way(plan, documents, comparison.distinct)
        candidates = find_candidates(
            plan, documents, by, comparison.copies, comparison.columns
        ).pairs
        limits = comparison.comparer.limits
        if plan.model is None:
            comparison.learn_from_all(by).verify(candidates)
        else:
            limits = replace(limits, min_similarity=comparison.comparer.least)
        matcher, pair = comparison.matcher, np.array([sorted(rows)], dtype=np.uint32)
        assert matcher is not None
        first, second = subjects
        forms = documents.forms()
        first_form, second_form = (forms[row] for row in rows)
        return Facts(
            first=first,
            second=second,
            settings=documents.settings,
            limits=limits,
            frequencies=matcher.frequencies,
            measure=cast(PairMeasure, documents.measure.name),
            shared_words=estimate_shared_words(first_form, second_form, forms, len(forms)),
            by=by,
            evidence=tuple(matcher.explain(pair)[0]),
            kinds=plan.fields,
            records=[documents.record(row, [*plan.fields]) for row in rows],
            candidates=len(candidates),
            equality=plan.equal,
            unequal=find_unequal(plan.same, [documents.record(row, plan.same) for row in rows]),
            answer=find_answer(request.answers, {each.id: each.entry.content for each in subjects}),
            documents=len(documents),
            is_stored=isinstance(source, Collection),
            probability=float(matcher.match(pair)[0]),
        )


def _find_row(plan: RunPlan, documents: Corpus, id: str) -> int:
    """Find the row of an id, the last one if several records have it."""
    (side,) = documents.sides
    ids = list(map(str, side.ids.take(range(len(side.ids)))))
    if id in ids:
        return ids.index(id)
    if rows := [row for row, name in enumerate(ids) if name.startswith(f"{id}@row")]:
        return rows[-1]
    refused = {error.id: error for error in side.failures.first}
    raise sources.lacking(plan.source, id, refused, "record with words")
