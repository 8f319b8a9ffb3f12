"""Train a model on what people answered about pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neardup_solr.answers import DIFFERENT, SAME
from neardup_solr.answers.verdicts import Answered
from neardup_solr.arguments import checked
from neardup_solr.distinct import mark_among, sort_distinct
from neardup_solr.errors import ArgumentError
from neardup_solr.files import check_apart, check_place, write_lines
from neardup_solr.measures import model as models
from neardup_solr.measures.frequencies import count_words
from neardup_solr.measures.logistic import FEWEST, can_learn, learn, leave_out
from neardup_solr.measures.model import Model
from neardup_solr.measures.pairs import number_pairs, pairs_of
from neardup_solr.memory import Spill
from neardup_solr.solr.patience import keep_patience
from neardup_solr.verbs.duplicates.candidate_pairs import find_candidates, name_way
from neardup_solr.verbs.duplicates.comparison import make_records
from neardup_solr.verbs.duplicates.copies import find_copies
from neardup_solr.verbs.duplicates.corpus import read_corpus
from neardup_solr.verbs.duplicates.plan import RunPlan, make_plan
from neardup_solr.verbs.duplicates.request import DuplicatesRequest
from neardup_solr.verbs.duplicates.row_answers import find_answered
from neardup_solr.verbs.tune.request import TuneRequest


class Influence(NamedTuple):
    """Bits that a measure or a field adds to the odds of a match, if equal and if different.

    Texts are "different" by a measure if they are hardly alike. What the measure `fields` says of a
    field is in it.
    """

    name: str
    equal: float
    different: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Model learned from answers, and its results.

    `answered`: effect of the answers; `is_default`: True if the answers were too few to learn from;
    `documents`: documents read; `candidates`: pairs compared; `found`: unanswered pairs that the
    model finds; `right`: answers that the model predicts when trained without them;
    `default_right`: answers that the default predicts; `unlike`: answers about pairs too dissimilar
    to learn from.
    """

    model: Model
    answered: Answered
    is_default: bool
    documents: int
    candidates: int
    found: int
    right: int
    default_right: int
    unlike: int

    @property
    def influences(self) -> list[Influence]:
        """Bits that each measure and field adds to the odds of a match, the largest first."""
        model = self.model
        ends = model.weigh_measures()
        influences = [
            Influence(alike.field, alike.bits, unlike.bits)
            for alike, unlike in zip(ends[::2], ends[1::2], strict=True)
        ]
        bits = {(each.field, each.level): each.bits for each in model.weigh_levels()}
        if bits:
            influences += [
                Influence(name, bits[name, "equal"], bits[name, "different"])
                for name in model.fields
            ]
        return sorted(influences, key=lambda each: -abs(each.equal - each.different))

    @checked
    def write(self, path: str | Path) -> None:
        """Write the model to a JSON file, to pass as `model` to functions such as `duplicates`.

        Raises SourceError if the file cannot be written.
        """
        write_lines(Path(path), [self.model.to_text()])


def train(request: TuneRequest) -> Training:
    """Train a model by answers about the documents that `duplicates` would compare.

    The model is written to `output`, if that is named.
    """
    compared = DuplicatesRequest(
        source=request.source, answers=request.answers, fields=request.fields,
        measure=request.measure, by=request.by, against=request.against, id=request.id,
        text=request.text, settings=request.settings, patience=request.patience,
        on_error=request.on_error, on_progress=request.on_progress,
    )  # fmt: skip
    plan = make_plan(compared)
    if not plan.measure.needs_texts:
        reason, step = "a model compares texts, not estimates", "choose a different `measure`"
        raise ArgumentError(reason, step, code="arguments-conflict")
    output = None if request.output is None else Path(request.output)
    if output is not None and request.answers is not None:
        files = {"`answers`": Path(request.answers), "`output`": output}
        source, *others = plan.sources
        check_apart(files, source=source, against=others[:1])
        check_place(output)
    with keep_patience(plan.sources, plan.patience), Spill(memory=plan.memory) as spill:
        training = _train(plan, spill)
    if output is not None:
        training.write(output)
    return training


def _train(plan: RunPlan, spill: Spill) -> Training:
    documents = replace(read_corpus(plan, spill), joins_numbers=False)  # as the measure of a model
    living = documents.living().tolist()
    forms = documents.forms()
    counts = count_words([forms[row] for row in living], documents.settings.normalization)
    matcher = make_records(plan, documents, counts)
    copies = find_copies(plan, documents, matcher.columns)
    distinct = len(documents if copies is None else copies.distinct) - len(documents.dead)
    way = name_way(plan, documents, distinct)
    candidates = find_candidates(plan, documents, way, copies, matcher.columns).pairs
    answers = find_answered(documents, plan.answers or ())
    name: Any = documents.measure.name

    judged = {word: number_pairs(answers.pairs[word]) for word in (SAME, DIFFERENT)}
    numbers = sort_distinct(np.concatenate([number_pairs(candidates), *judged.values()]))
    alike, values = matcher.compare(pairs_of(numbers), name)
    is_same = mark_among(numbers[alike], judged[SAME])
    is_open = ~(is_same | mark_among(numbers[alike], judged[DIFFERENT]))
    judged_rows = np.flatnonzero(~is_open)
    are_same = is_same[judged_rows]
    same = int(np.count_nonzero(are_same))

    default = models.make_default(name, plan.fields)
    guesses = models.judge(values, default)
    fit = learn(values, guesses, judged_rows, are_same, as_wholes=matcher.as_wholes)
    is_default = len(judged_rows) < FEWEST or not can_learn(guesses[judged_rows], are_same)
    model = replace(
        default,
        weights=default.weights if is_default else fit.weights,
        floor=default.floor if is_default else fit.floor,
        evidence=matcher.weights,
        once=bool(matcher.border),
        same=same,
        different=len(judged_rows) - same,
    )
    is_match = models.judge(values[is_open], model) >= model.threshold
    left_out = leave_out(values[judged_rows], are_same, fit) >= model.threshold
    return Training(
        model=model,
        answered=answers.answered,
        is_default=is_default,
        documents=len(living),
        candidates=len(numbers),
        found=int(np.count_nonzero(is_match)),
        right=int(np.count_nonzero(left_out == are_same)),
        default_right=int(np.count_nonzero((guesses[judged_rows] >= model.threshold) == are_same)),
        unlike=sum(map(len, judged.values())) - len(judged_rows),
    )
