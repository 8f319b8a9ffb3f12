"""The model of answers: what it learns, how it begins, what it asks, its file."""

import json
from dataclasses import replace

import numpy as np
import pytest

from neardup_solr.candidates import all_candidates
from neardup_solr.measures.alignment import compare_records
from neardup_solr.measures.fields import match_fields
from neardup_solr.measures.frequencies import count_words
from neardup_solr.measures.logistic import LEAST_ALIKE, learn, leave_out, predict
from neardup_solr.measures.model import (
    MEASURES,
    NEUTRAL,
    SCALE,
    Model,
    judge,
    make_default,
    make_measure,
    parse_model,
)
from neardup_solr.measures.record_matcher import RecordMatcher
from neardup_solr.text.normalize import normalize
from tests.unit.measures.test_fields import KINDS, columns_of, join_values, people


def matcher_of(rows: list[tuple[object, ...]], *, with_fields: bool = True) -> RecordMatcher:
    """A matcher of records, or of their joined texts."""
    by_field = list(zip(*rows, strict=True))
    forms = list(map(normalize, join_values(by_field)))
    columns = columns_of(by_field, KINDS) if with_fields else ()
    return RecordMatcher(columns=columns, forms=forms, frequencies=count_words(forms))


def test_it_begins_as_the_default() -> None:
    """Without answers, the model finds the pairs of `fields`, or of a measure by its default."""
    rows, _ = people(60, 15)
    pairs = all_candidates(len(rows)).pairs
    by_fields = matcher_of(rows)
    alike, values = by_fields.compare(pairs, "fields")
    found = predict(values, make_default("fields", KINDS).weights)
    whole = compare_records(by_fields.forms, pairs, by_fields.frequencies)
    expected = match_fields(by_fields.columns, pairs, whole).probabilities >= 0.5
    assert ((found >= 0.5) == expected[alike]).all()
    assert not expected[np.setdiff1d(np.arange(len(pairs)), alike)].any()
    alike, values = matcher_of(rows, with_fields=False).compare(pairs, "aligned")
    by_text = predict(values, make_default("aligned", {}).weights)
    assert ((by_text >= 0.5) == (whole[alike] >= 0.75)).all()


def test_it_learns_what_answers_say() -> None:
    """Answers that only one feature tells apart make it weigh most; permuted ones do not."""
    draw = np.random.default_rng(3)
    values = draw.normal(size=(500, 4))
    guesses = predict(values, np.array([0.0, 1.0, 1.0, 1.0, 1.0]))
    truth = values[:, 2] > 0.3
    asked = np.arange(60)
    fit = learn(values, guesses, asked, truth[asked])
    right = ((predict(values, fit.weights) >= 0.5) == truth)[60:].mean()
    assert right > 0.9
    assert np.abs(fit.weights[1:]).argmax() == 2
    permuted = learn(values, guesses, asked, draw.permutation(truth[asked]))
    assert ((predict(values, permuted.weights) >= 0.5) == truth)[60:].mean() < 0.85


def test_it_leaves_an_answer_out() -> None:
    """One step back from all answers is about what learning without one gives."""
    draw = np.random.default_rng(5)
    values = draw.normal(size=(200, 3))
    guesses = predict(values, np.array([0.0, 1.0, 0.0, 0.0]))
    asked = np.arange(25)
    are_same = draw.random(25) < guesses[:25]
    fit = learn(values, guesses, asked, are_same)
    without = [
        predict(values[[at]], learn(values, guesses, rest, are_same[rest]).weights)[0]
        for at, rest in ((at, np.delete(asked, at)) for at in asked)
    ]
    assert leave_out(values[asked], are_same, fit) == pytest.approx(without, abs=0.05)


def test_missing_fields_say_nothing() -> None:
    """A field that a record lacks has no weight, and records without any field are no match."""
    rows: list[tuple[object, ...]] = [
        ("ann lee", "1 mill road", "", ""), ("ann lee", "1 mill road", "7", "1970-01-01"),
        ("", "", "", ""), ("", "", "", ""),
    ]  # fmt: skip
    alike, values = matcher_of([*rows, *people(20, 5)[0]]).compare(
        np.array([[0, 1], [2, 3]], dtype=np.uint32), "fields"
    )
    by_name = dict(zip(make_default("fields", KINDS).names, values[0].tolist(), strict=True))
    assert (by_name["zip"], by_name["born"]) == (0, 0)
    assert predict(values, make_default("fields", KINDS).weights)[alike == 1].tolist() < [0.1]


def model_of(rows: list[tuple[object, ...]]) -> Model:
    """A model of these records that has learnt nothing."""
    matcher = matcher_of(rows)
    matcher.compare(all_candidates(len(rows)).pairs, "fields")
    default = make_default("fields", KINDS)
    return Model(measure="fields", weights=default.weights, fields=KINDS, evidence=matcher.weights)


def test_its_file_is_read_back() -> None:
    """The text of a model makes a model that says the same, and can be read by people."""
    rows, _ = people(40, 10)
    pairs = all_candidates(len(rows)).pairs
    model = model_of(rows)
    text = model.to_text()
    assert max(map(len, text.splitlines())) < 1_500
    matchers = matcher_of(rows), matcher_of(rows)
    for matcher, one in zip(matchers, (model, parse_model(text)), strict=True):
        matcher.model = one
    assert matchers[0].match(pairs) == pytest.approx(matchers[1].match(pairs), abs=1e-5)
    plain = make_default("words", {})
    assert parse_model(plain.to_text()).names == MEASURES
    assert make_measure(plain).default == 0.5


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"neardup_model": 9}, "version 9"), ({"intercept": None}, "not a neardup model"),
     ({"threshold": 3}, "out of range"), ({"scale": 1}, "out of range"),
     ({"measure": "rhyme"}, "out of range"), ({"rates": [1]}, "not a neardup model"),
     ({"telling": [9]}, "not a neardup model"),
     ({"fields": {"zip": {"kind": "x", "weight": 1}}}, "not a neardup model"),
     ({"intercept": "NaN"}, "out of range"), ({"measures": {"words": 1}}, "not a neardup model")],
)  # fmt: skip
def test_a_changed_file_is_refused(change: dict[str, object], reason: str) -> None:
    """A value that is missing or cannot be is told, whatever it is."""
    known = json.loads(model_of(people(40, 10)[0]).to_text())
    with pytest.raises(ValueError, match=reason):
        parse_model(json.dumps(known | change))
    for text in ("", "[]", "null", '{"a": 1}', "\x00"):
        with pytest.raises(ValueError, match="not a neardup model"):
            parse_model(text)


def test_it_believes_answers_rather_than_a_wrong_default() -> None:
    """If the guesses are wrong, thirty answers outweigh them; if they are right, they count."""
    draw = np.random.default_rng(11)
    values = draw.normal(size=(600, 4)) * 2
    truth = values[:, 1] - 0.2 * values[:, 0] > 0.5
    asked = np.arange(30)
    for weights, least in (([0.0, 2.0, 0.0, 0.0, 0.0], 0.9), ([-1.0, 0.0, 2.0, 0.0, 0.0], 0.9)):
        guesses = predict(values, np.array(weights))
        fit = learn(values, guesses, asked, truth[asked])
        assert ((predict(values, fit.weights) >= 0.5) == truth)[30:].mean() > least


def test_records_below_the_floor_are_no_match() -> None:
    """Answers teach about records that the default never calls a match, and only they do."""
    rows: list[tuple[object, ...]] = [
        ("ann lee", "1 mill road", "1001", "1970-01-01"),
        ("ann lee", "1 mill road", "1001", "1970-01-02"),
        *people(60, 10)[0],
    ]
    matcher = matcher_of(rows)
    pair = np.array([[0, 1]], dtype=np.uint32)
    matcher.compare(all_candidates(len(rows)).pairs, "fields")
    values = matcher.compare(pair, "fields").values
    default = make_default("fields", KINDS)
    values[0, 0] = (0.35 - NEUTRAL) / SCALE  # of the whole records
    sure = replace(default, weights=default.weights + np.eye(len(default.weights))[0] * 20)
    assert judge(values, sure).tolist() == [0.0]
    assert judge(values, replace(sure, floor=LEAST_ALIKE))[0] > 0.9
