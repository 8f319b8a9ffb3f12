"""A model of what people answer about pairs, over measures and fields.

A logistic regression gives the probability that two documents are the same. What it knows of a pair
are four measures of the whole texts and, for records, what the measure `fields` says and how far
each field agrees. It begins with what the default measure guesses about all candidates, which
counts as few answers do; so it decides as the default until answers say otherwise. `logistic` finds
its weights, `record_matcher` what it knows of pairs.

An answer helps most where the model is in doubt (uncertainty sampling; Lewis and Gale 1994, "A
sequential algorithm for training text classifiers").
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neardup_solr import measures
from neardup_solr.argument_types import PairMeasure
from neardup_solr.errors import ArgumentError
from neardup_solr.measures import Similarities, measure_named
from neardup_solr.measures import fields as by_fields
from neardup_solr.measures.columns import FieldKind, Table, parse_fields
from neardup_solr.measures.em import FLOOR
from neardup_solr.measures.levels import LEVELS
from neardup_solr.measures.logistic import predict
from neardup_solr.measures.weights import Evidence, Weights

MEASURES = ("aligned", "words", "jaccard", "containment")
EVIDENCE = "fields"  # the log-odds of that measure
NEUTRAL, SCALE = 0.7, 0.2  # a similarity that says nothing, and how much more says 1
ALIKE, UNLIKE = "alike", "unlike"  # texts by a measure, and those that are hardly alike
SHARPNESS = 0.05  # of a similarity around the threshold, within which the default is unsure
VERSION = 1
# Whole records are prepared as `aligned` does; a model goes on from there.
MODEL = replace(by_fields.FIELDS, name="model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Measure that answers taught: its similarity is the probability of a match.

    `measure` is the default that it began with, "fields" if records are compared by `fields`, whose
    `evidence` is weighed. `weights` are those of the intercept and of `names`. A pair is a match
    from the probability `threshold` on, but records, if not compared as wholes, never below the
    `floor` of their similarity by "aligned". Two lists in one source have a thing `once` each, if
    those had that it learnt from. It learnt from `same` and `different` answers.
    """

    measure: PairMeasure
    weights: Table
    fields: Mapping[str, FieldKind]
    evidence: Weights | None = None
    threshold: float = by_fields.LEAST_PROBABILITY
    floor: float = FLOOR
    once: bool = False
    same: int = 0
    different: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features: measures, the evidence of all fields, then each field."""
        return (*MEASURES, EVIDENCE, *self.fields) if self.fields else MEASURES

    def weigh_measures(self) -> list[Evidence]:
        """List the bits that each measure adds to the odds, of texts ALIKE and of those UNLIKE."""
        bits = zip(MEASURES, (self.weights[1:] / math.log(2)).tolist(), strict=False)
        ends = (ALIKE, 1.0), (UNLIKE, FLOOR)
        return [Evidence(name, level, weight * (similarity - NEUTRAL) / SCALE)
                for name, weight in bits for level, similarity in ends]  # fmt: skip

    def weigh_levels(self) -> list[Evidence]:
        """List the bits that each level of a field adds to the odds."""
        if self.evidence is None:
            return []
        share, *weights = self.weights[1 + len(MEASURES) :].tolist()
        weight_of = dict(zip(self.fields, weights, strict=True))
        agreements = {name: dict(LEVELS[kind]) for name, kind in self.fields.items()}
        return [
            Evidence(row.field, row.level, share * row.bits + weight_of[row.field] / math.log(2)
                     * (agreements[row.field][row.level] - NEUTRAL) / SCALE)
            for row in self.evidence.table()
        ]  # fmt: skip

    def to_text(self) -> str:
        """Format the model as JSON, a line for each thing that it knows."""
        rounded = [round(float(weight), 6) for weight in self.weights]
        places = 1 + len(MEASURES)
        content: dict[str, Any] = {
            "neardup_model": VERSION,
            "measure": self.measure,
            "threshold": self.threshold,
            "floor": self.floor,
            **({"once": True} if self.once else {}),
            "same": self.same,
            "different": self.different,
            "neutral": NEUTRAL,
            "scale": SCALE,
            "intercept": rounded[0],
            "measures": dict(zip(MEASURES, rounded[1:places], strict=True)),
        }
        if self.evidence is not None:
            content["evidence"] = rounded[places]
            weighed = zip(self.fields.items(), rounded[places + 1 :], strict=True)
            content["fields"] = {
                name: {"kind": kind, "weight": weight} for (name, kind), weight in weighed
            }
            content["shares"] = self.evidence.shares.tolist()
            content["are_matches"] = self.evidence.are_matches.tolist()
            content["rates"] = self.evidence.rates.round(9).tolist()
            content["bounds"] = {str(key): most for key, most in self.evidence.bounds.items()}
            content["as_wholes"] = self.evidence.as_wholes
            content["telling"] = list(self.evidence.telling)
        lines = (f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
                 for name, value in content.items())  # fmt: skip
        return "{\n" + ",\n".join(lines) + "\n}\n"


def parse_model(text: str) -> Model:
    """Parse a model that `to_text` has formatted.

    Raises ValueError, with a reason, if it is none.
    """
    try:
        content = json.loads(text)
        version = content["neardup_model"]
        if version == VERSION:
            return _parse_model(content)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"is not a neardup model: it is no JSON, from line {error.lineno}"
        ) from None
    except (ValueError, LookupError, TypeError, AttributeError, ArgumentError) as error:
        raise ValueError(f"is not a neardup model ({type(error).__name__}: {error})") from None
    raise ValueError(f"has version {version!r}, but this neardup supports {VERSION}")


def _parse_model(content: dict[str, Any]) -> Model:
    """Make a model of what its file says. Raises ValueError or the like if it is none."""
    fields = {name: value["kind"] for name, value in content.get("fields", {}).items()}
    weights: Any = [content["intercept"], *(content["measures"][name] for name in MEASURES)]
    evidence, kinds = None, parse_fields(fields) if fields else {}
    if fields:
        weights += [content["evidence"], *(value["weight"] for value in content["fields"].values())]
        shares, rates = np.array(content["shares"]), np.array(content["rates"], dtype=np.float64)
        if shares.shape != (3,) or rates.shape[:2] != (3, len(kinds)) or rates.ndim != 3:
            raise ValueError("rates are missing")
        are_matches = np.array(content["are_matches"], dtype=np.bool_)
        evidence = Weights(
            names=tuple(kinds), kinds=tuple(kinds.values()), shares=shares, rates=rates,
            are_matches=are_matches,
            bounds={int(key): float(most) for key, most in content.get("bounds", {}).items()},
            as_wholes=bool(content.get("as_wholes", False)),
            telling=tuple(range(len(kinds))[at] for at in content.get("telling", [])),
        )  # fmt: skip
    weights = np.array(weights, dtype=np.float64)
    is_scaled = (content["neutral"], content["scale"]) == (NEUTRAL, SCALE)
    is_valid = content["measure"] == EVIDENCE if fields else content["measure"] in MEASURES
    bounds = content["threshold"], content["floor"]
    is_possible = all(0 <= bound <= 1 for bound in bounds) and np.isfinite(weights).all()
    if not (is_scaled and is_valid and is_possible):
        raise ValueError("a value is out of range")
    return Model(
        measure=content["measure"],
        weights=weights,
        fields=kinds,
        evidence=evidence,
        threshold=content["threshold"],
        floor=content["floor"],
        once=bool(content.get("once", False)),
        same=int(content["same"]),
        different=int(content["different"]),
    )


def make_measure(model: Model) -> measures.Measure:
    """Make the measure of a model, whose candidates are those of the default that it began with."""
    default = measure_named(model.measure)
    return replace(
        MODEL, default=model.threshold, way=default.way, counts_shingles=default.counts_shingles
    )


def judge(values: Table, model: Model) -> Similarities:
    """Compute the probabilities of a match by a model, shape (pairs,)."""
    probabilities = predict(values, model.weights)
    if model.fields and not (model.evidence and model.evidence.as_wholes):
        probabilities[values[:, 0] * SCALE + NEUTRAL < model.floor - 1e-9] = 0.0
    return probabilities


def make_default(measure: PairMeasure, fields: Mapping[str, FieldKind]) -> Model:
    """Make the model that decides as a measure does by its default, before any answer.

    For records it is that of aligned: their numbers are not among what it weighs.
    """
    measure = "aligned" if measure == "records" else measure
    weights = np.zeros(1 + len(MEASURES) + (1 + len(fields) if fields else 0))
    if fields:
        weights[1 + len(MEASURES)] = 1.0
        return Model(measure="fields", weights=weights, fields=fields)
    weights[1 + MEASURES.index(measure)] = SCALE / SHARPNESS
    weights[0] = (NEUTRAL - measure_named(measure).default) / SHARPNESS
    return Model(measure=measure, weights=weights, fields=fields)
