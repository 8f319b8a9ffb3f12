"""Train a model of what people answered about pairs, and keep it in a file."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from neardup_solr.answers import DIFFERENT, SAME
from neardup_solr.answers.verdicts import Answered
from neardup_solr.arguments import PairMeasure, require
from neardup_solr.files import check_apart, check_place, write_lines
from neardup_solr.measures import model as models
from neardup_solr.measures import number_pairs, pairs_of
from neardup_solr.measures.aligned import frequencies
from neardup_solr.measures.fields import FLOOR
from neardup_solr.measures.model import Model
from neardup_solr.memory import Spill
from neardup_solr.sources import paths_of
from neardup_solr.verbs.duplicates import plan
from neardup_solr.verbs.duplicates.answers import find_answered
from neardup_solr.verbs.duplicates.compare import find_candidates, find_copies, make_records
from neardup_solr.verbs.duplicates.read import read_documents
from neardup_solr.verbs.duplicates.work import Work

FEWEST, FEWEST_OF_EACH = 10, 2  # answers, below which the model decides as the default


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
    """A model that learnt from answers, and what it says of the pairs that nobody judged.

    Too few answers leave the default, and `is_default` is True. `candidates` were compared; of the
    pairs that nobody judged, the model finds `found`. Each answer left out in turn, `right` of them
    are as the model says then, `default_right` as the default does. `unlike` ones are about pairs
    so unlike that nothing was learnt from them.
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
        """Bits that each measure and field adds to the odds of a match, most first."""
        model, found = self.model, []
        bits = (model.weights[1:] / math.log(2)).tolist()
        for name, weight in zip(models.MEASURES, bits, strict=False):
            found.append(Influence(name, weight * _steps(1.0), weight * _steps(FLOOR)))
        if model.evidence is not None:
            share = model.weights[1 + len(models.MEASURES)]
            told = {(one.field, one.level): share * one.bits for one in model.evidence.table()}
            for name, weight in zip(model.fields, bits[-len(model.fields) :], strict=True):
                equal, different = (
                    float(told[name, level] + weight * _steps(agreement))
                    for level, agreement in (("equal", 1.0), ("different", 0.0))
                )
                found.append(Influence(name, equal, different))
        return sorted(found, key=lambda one: -abs(one.equal - one.different))

    def write(self, path: str | Path) -> None:
        """Write the model to a file of JSON, for `duplicates` and others to use.

        Raises SourceError if the file cannot be written.
        """
        write_lines(Path(path), [self.model.to_text()])


def train(output: str | Path | None = None, **given: Any) -> Training:
    """Train a model by answers about the documents that `duplicates` would compare.

    `given` are arguments of that; the model is written to `output`, if that is named.
    """
    work = plan(**given)
    require(work.measure.needs_texts, "a model compares texts, not estimates",
            "choose another `measure`")  # fmt: skip
    if output is not None:
        check_place(Path(output))
        for path in (given.get("answers"), *(paths_of(work.sides[0]) or ())):
            place = None if path is None else Path(path)
            check_apart({"`output`": Path(output), "what is read": place})
    with Spill(memory=work.memory) as spill:
        trained = _train(work, spill)
    if output is not None:
        trained.write(output)
    return trained


def _train(work: Work, spill: Spill) -> Training:
    documents = read_documents(work, spill)
    living = documents.living().tolist()
    forms = documents.forms()
    texts = [forms[row] for row in living]
    matcher = make_records(work, documents, frequencies(texts, documents.settings.normalization))
    copies = find_copies(work, documents, matcher.columns)
    distinct = len(documents if copies is None else copies.distinct) - len(documents.dead)
    way = work.choose_way(distinct, documents.fits)
    candidates = find_candidates(work, documents, way, copies).pairs
    known = find_answered(documents, work.judged or ())
    name = cast(PairMeasure, work.measure.name)

    judged = {word: number_pairs(known.pairs[word]) for word in (SAME, DIFFERENT)}
    numbers = np.unique(np.concatenate([number_pairs(candidates), *judged.values()]))
    alike, values = matcher.compare(pairs_of(numbers), name)
    is_same = np.isin(numbers[alike], judged[SAME])
    is_open = ~(is_same | np.isin(numbers[alike], judged[DIFFERENT]))
    asked = np.flatnonzero(~is_open)
    are_same = is_same[asked]
    told = int(np.count_nonzero(are_same))

    default = models.make_default(name, work.kinds)
    guesses = models.judge(values, default)
    fit = models.learn(values, guesses, asked, are_same)
    least = min(told, len(asked) - told)
    is_default = len(asked) < FEWEST or least < FEWEST_OF_EACH
    model = replace(
        default,
        weights=default.weights if is_default else fit.weights,
        floor=default.floor if is_default else fit.floor,
        evidence=matcher.weights,
        same=told,
        different=len(asked) - told,
    )
    is_found = models.judge(values[is_open], model) >= model.threshold
    left_out = models.leave_out(values[asked], are_same, fit) >= model.threshold
    return Training(
        model=model,
        answered=known.answered,
        is_default=is_default,
        documents=len(living),
        candidates=len(numbers),
        found=int(np.count_nonzero(is_found)),
        right=int(np.count_nonzero(left_out == are_same)),
        default_right=int(np.count_nonzero((guesses[asked] >= model.threshold) == are_same)),
        unlike=sum(map(len, judged.values())) - len(asked),
    )


def _steps(similarity: float) -> float:
    return (similarity - models.NEUTRAL) / models.SCALE
