"""Settings, their fingerprint, and the choice of fields."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr import ArgumentError, Settings, SettingsError
from tests.faults.scripted import EMPTY, Answer, answering
from tests.refusals import refusal


def choose(settings: dict[str, Any]) -> Settings:
    """Return the settings that a call takes by these names."""
    return nd.duplicates([("1", "a"), ("2", "b")], by="bands", settings=settings).settings


def choose_fields(names: str) -> frozenset[str]:
    """Return the fields that a choice of names stands for."""
    return choose({"fields": names}).fields


def index_with(settings: dict[str, Any] | None) -> None:
    """Index a text with these settings, in a collection whose own cannot be read."""
    with answering(Answer(body=EMPTY)) as (address, _):
        solr = nd.connect(address, "x")
        solr.session.retry = replace(solr.session.retry, attempts=1)
        nd.index([("1", "a")], solr, settings=settings, keep=())


ALL, USUAL = choose_fields("all"), Settings().fields


def test_default_fingerprint_is_frozen() -> None:
    """The fingerprint of the defaults may never change: collections hold it."""
    assert Settings().fingerprint == "n2 words3 affine128 seed42 bands42x3 sg20"


def test_numbers_of_numpy_are_numbers() -> None:
    """They may come from a DataFrame: the settings are equal, and so is what is found by them."""
    numbers: dict[str, Any] = {"shingle_size": 2, "hashes": 200, "seed": 7, "bands": 100, "rows": 2}
    of_numpy: dict[str, Any] = {name: np.uint8(number) for name, number in numbers.items()}
    assert Settings(**of_numpy).fingerprint == Settings(**numbers).fingerprint
    rows = [
        {"id": str(at), "text": f"some words of a text {at // 2} and others"} for at in range(9)
    ]
    for settings in (of_numpy, Settings(**of_numpy)):
        result = nd.duplicates(rows, by="bands", settings=settings)
        assert result.settings == Settings(**numbers)
        assert {type(getattr(result.settings, name)) for name in numbers} == {int}
        assert result.pairs == nd.duplicates(rows, by="bands", settings=numbers).pairs


@given(
    kind=st.sampled_from(["words", "chars", "stems"]),
    size=st.integers(1, 9),
    family=st.sampled_from(["affine", "xor"]),
    seed=st.integers(0, 2**32 - 1),
    bands=st.integers(1, 20),
    rows=st.integers(1, 6),
    fields=st.frozensets(st.sampled_from(sorted(ALL))),
)
def test_fingerprint_is_reversible(
    kind: Any, size: int, family: Any, seed: int, bands: int, rows: int, fields: frozenset[str]
) -> None:
    """A fingerprint parses into the settings that it was made of."""
    settings = Settings(
        kind=kind,
        shingle_size=size,
        family=family,
        seed=seed,
        bands=bands,
        rows=rows,
        fields=fields,
    )
    assert Settings.parse(settings.fingerprint) == settings


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"hashes": 100}, "42 bands of 3 rows need 126 hashes, but there are 100"),
        ({"hashes": np.uint8(100)}, "but there are 100; set `bands` to 33 or use 126 hashes"),
        ({"hashes": 0}, "`hashes` cannot be 0; give 1 to 65,536"),
        ({"hashes": 70_000}, "`hashes` cannot be 70000; give 1 to 65,536"),
        ({"rows": 0}, "`rows` cannot be 0; give 1 or more"),
        ({"bands": -1}, "`bands` cannot be -1; give 1 or more"),
        ({"shingle_size": 0}, "`shingle_size` cannot be 0; give 1 or more"),
        (
            {"signatures": 129},
            "`signatures` cannot be 129; use 129 hashes or more, or fewer `signatures`",
        ),
        ({"seed": -1}, "`seed` cannot be -1; give 0 to 4,294,967,295"),
        ({"seed": 2**32}, "`seed` cannot be 4294967296; give 0 to 4,294,967,295"),
        ({"family": "sha"}, "`family` cannot be 'sha'; choose one of affine, xor"),
        ({"kind": "lines"}, "`kind` cannot be 'lines'; choose one of words, chars"),
        ({"language": "german"}, "shingles of words have no language; leave `language` out"),
        ({"normalization": 3}, "not support normalization 3"),
        ({"fields": frozenset({"nope"})}, "no field nope"),
        ({"profile_min_token_len": -1}, "`profile_min_token_len` cannot be -1; give 0 or more"),
        ({"profile_quant_rate": 2}, "`profile_quant_rate` cannot be 2; give 0 to 1"),
    ],
)
def test_settings_that_cannot_be(wrong: dict[str, int], reason: str) -> None:
    """A value out of range is refused with the reason."""
    with pytest.raises(ArgumentError, match=reason):
        Settings(**wrong)  # type: ignore[arg-type]  # a table of mixed values


@pytest.mark.parametrize(
    "extreme",
    [
        {"signatures": 0}, {"signatures": 128}, {"bands": 128, "rows": 1}, {"seed": 0},
        {"seed": 2**32 - 1}, {"hashes": 65_536},
        {"hashes": 1, "bands": 1, "rows": 1, "signatures": 1},
        {"profile_min_token_len": 0}, {"profile_quant_rate": 0.0}, {"profile_quant_rate": 1.0},
    ],
)  # fmt: skip
def test_settings_that_just_can_be(extreme: dict[str, int]) -> None:
    """Each bound belongs to what is allowed, and comes back from the fingerprint."""
    made = Settings(fields=ALL, **extreme)  # type: ignore[arg-type]  # a table of mixed values
    assert Settings.parse(made.fingerprint) == made


def test_a_measure_is_kept_and_shapes_nothing() -> None:
    """The fingerprint tells the measure, if there is one; settings are equal without it."""
    plain, chosen = Settings(), Settings(measure="records")
    assert chosen.fingerprint == f"{plain.fingerprint} by records"
    assert Settings.parse(chosen.fingerprint).measure == "records"
    assert Settings.parse(plain.fingerprint).measure is None
    assert plain == chosen
    with pytest.raises(ArgumentError):
        choose({"measure": "fields"})


def test_a_strange_fingerprint_is_refused() -> None:
    """What is not a fingerprint says so."""
    with refusal(SettingsError, "settings-unreadable", "words3"):
        Settings.parse("words3")


def test_stored_settings_are_nobodys_arguments() -> None:
    """What this version does not know of a collection is no fault of a call."""
    later = Settings().fingerprint.replace("n2", "n3", 1)
    with refusal(SettingsError, "settings-unreadable", "normalization 3") as caught:
        Settings.parse(later)
    assert not isinstance(caught.value, ArgumentError)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"hashes": 0}, "`hashes` cannot be 0"),
        ({"hashs": 64}, "did you mean 'hashes'"),
        ({"rows": "3"}, "`rows` must be a whole number, not the string '3'"),
        ({"fields": "nope"}, "there is no field nope"),
    ],
)
def test_what_no_collection_can_have(given: dict[str, Any], reason: str) -> None:
    """Such values are refused whatever the others are."""
    with pytest.raises(ArgumentError, match=reason):
        index_with(given)


@pytest.mark.parametrize(
    "given",
    [{"hashes": 4}, {"bands": 200}, {"rows": 9}, {"signatures": 200}, {"language": "german"}, None],
)
def test_what_some_collection_can_have(given: dict[str, Any] | None) -> None:
    """The other values may be those that are stored: the collection is asked for them."""
    with pytest.raises(nd.SolrError):
        index_with(given)


@pytest.mark.parametrize(
    ("choice", "fields"),
    [
        ("all", ALL),
        ("-content_ng", USUAL - {"content_ng"}),
        ("-content_ng,-content_sg", USUAL - {"content_ng", "content_sg"}),
        ("+profile_hash", ALL),
        ("content,+profile_hash", frozenset({"content", "profile_hash"})),
        ("content, signature", frozenset({"content", "signature"})),
        ("id,content,signature_settings", frozenset({"content"})),
        ("id", frozenset()),
        ("all,-signature", ALL - {"signature"}),
        ("-content_ng,+profile_hash", ALL - {"content_ng"}),
    ],
)
def test_choice_of_fields(choice: str, fields: frozenset[str]) -> None:
    """Names choose fields, names with a minus leave them out."""
    assert choose_fields(choice) == fields


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ("contents", "no field contents"),
        ("", "`fields` does not name any field"),
        ("-content_ng,content_sg", "only some of the `fields` have a minus sign; use it"),
    ],
)
def test_unclear_choice_is_refused(choice: str, reason: str) -> None:
    """A misspelt field is an error, not an empty choice; so is one of two meanings."""
    with pytest.raises(SettingsError, match=reason):
        choose_fields(choice)
