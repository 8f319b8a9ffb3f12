"""Parameter choice: the demand, the root finding, samples of files, and pictures of them."""

import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import assume, given
from hypothesis import strategies as st

from neardup_solr import Document, Settings, demo, tune
from neardup_solr.cli.commands.tune import list_lines, spell_commands
from neardup_solr.cli.main import command
from neardup_solr.errors import ArgumentError, RecordError, SettingsError
from neardup_solr.minhash import plans
from neardup_solr.minhash.plans import Demand
from neardup_solr.verbs.tune.sample import draw_sample
from tests import ROOT

LISTINGS, PAIRS = demo.listings(), demo.pairs()


def documents(texts: Sequence[str]) -> list[Document]:
    """Documents numbered from 0."""
    return [Document(id=str(at), text=text) for at, text in enumerate(texts)]


def test_worked_example() -> None:
    """42 bands of 3 rows catch 99.6 % of the pairs at 0.5, and pass 0.5 % of those at 0.05."""
    plan = plans.plan(42, 3, Demand(catch=0.5, avoid=0.05))
    assert plan.caught == pytest.approx(0.996, abs=5e-4)
    assert plan.load == pytest.approx(0.005, abs=5e-4)
    assert plan.threshold == pytest.approx(0.2539, abs=5e-5)


@given(st.floats(0, 1), st.integers(1, 300), st.integers(1, 30))
def test_the_curve_is_that_of_bands(similarity: float, count: int, rows: int) -> None:
    """The stable formula agrees with the plain one."""
    stable = float(plans.curve(similarity, count, rows))
    assert stable == pytest.approx(1 - (1 - similarity**rows) ** count, abs=1e-12)


@given(st.floats(0.001, 0.999), st.integers(1, 1_000), st.integers(1, 40))
def test_roots_are_those_of_the_closed_form(chance: float, count: int, rows: int) -> None:
    """Bisection finds what solving P(s) = chance for s gives."""
    closed = (-math.expm1(math.log1p(-chance) / count)) ** (1 / rows)
    assert plans.similarity_at(chance, count, rows) == pytest.approx(closed, rel=1e-9)


def brute_force(demand: Demand, hashes: int) -> tuple[int, int] | None:
    """The cheapest bands and rows that meet a demand, by trying all.

    A plan that meets it to the last digit, such as 0.9 caught by three rows of one against a miss
    of 0.001, is left to how numbers are rounded: such demands are not tried.
    """
    for count in range(1, hashes + 1):
        for rows in range(1, hashes // count + 1):
            plan = plans.plan(count, rows, demand)
            assume(abs(1 - plan.caught - demand.miss) > 1e-12)
            assume(abs(plan.load - demand.load) > 1e-12)
            if 1 - plan.caught <= demand.miss and plan.load <= demand.load:
                return count, rows
    return None


@given(
    st.floats(0.2, 1), st.floats(0, 0.6), st.floats(0.001, 0.3), st.floats(0.0005, 0.3),
    st.integers(1, 40),
)  # fmt: skip
def test_solve_finds_the_cheapest(
    catch: float, avoid: float, miss: float, load: float, hashes: int
) -> None:
    """It finds what trying all bands and rows finds, and refuses where that finds none."""
    assume(catch > avoid)
    demand = Demand(catch=catch, avoid=avoid, miss=miss, load=load)
    try:
        plan = plans.solve(demand, hashes)
        found = plan.bands, plan.rows
    except SettingsError:
        found = None
    assert found == brute_force(demand, hashes)


def test_default_demand_within_default_hashes() -> None:
    """99 % of the pairs at 0.5 and less than 0.1 % at 0.03 take 105 of 128 hashes."""
    plan = plans.solve(Demand(), 128)
    assert (plan.bands, plan.rows, plan.hashes) == (35, 3, 105)


@pytest.mark.parametrize(
    ("demand", "hashes", "says"),
    [
        (Demand(avoid=0.1), 128, ["pass 3.44 %", "34.4 times", "1,758 hashes", "`avoid` to 0.03"]),
        (Demand(catch=0.2), 16, ["miss at least 2.81 %", "2.81 times", "set `catch` to 0.251"]),
        (Demand(catch=0.5, avoid=0.49), 128, ["98.7 %", "set `avoid` to 0.03"]),
        (
            Demand(catch=0.9, avoid=0.001, load=1e-6),
            2,
            ["(2 × 1)", "12 hashes", "`load` to 0.0022"],
        ),
    ],
)
def test_an_unmet_demand_says_what_would_do(demand: Demand, hashes: int, says: list[str]) -> None:
    """The error names the part that fails, by how much, and what to ask for instead."""
    with pytest.raises(SettingsError) as caught:
        plans.solve(demand, hashes)
    assert [words for words in says if words not in str(caught.value)] == []


def test_what_an_unmet_demand_advises_does() -> None:
    """Each of the values that an error advises meets the demand."""
    plans.solve(Demand(avoid=0.1), 1_758)
    plans.solve(Demand(avoid=0.03), 128)
    plans.solve(Demand(catch=0.251, load=0.5), 16)
    plans.solve(Demand(catch=0.9, avoid=0.001, load=1e-6), 12)
    plans.solve(Demand(catch=0.9, avoid=0.001, load=0.0022), 2)
    with pytest.raises(SettingsError):
        plans.solve(Demand(avoid=0.1), 1_757)


@pytest.mark.parametrize(
    "values",
    [
        {"catch": 0.0}, {"catch": 1.1}, {"catch": math.nan}, {"avoid": 1.0}, {"avoid": -0.1},
        {"miss": 0.0}, {"miss": 1.0}, {"load": 0.0}, {"load": 2.0}, {"catch": 0.3, "avoid": 0.3},
        {"catch": 0.1, "avoid": 0.3},
    ],
)  # fmt: skip
def test_impossible_demands_are_refused(values: dict[str, float]) -> None:
    """Shares lie in 0..1, and what is caught lies above what is passed over."""
    with pytest.raises(SettingsError):
        Demand(**values)


@pytest.mark.parametrize("hashes", [0, -1, 65_537])
def test_impossible_numbers_of_hashes_are_refused(hashes: int) -> None:
    """A signature has 1 to 65,536 hashes."""
    with pytest.raises(SettingsError, match="hashes"):
        tune(LISTINGS, hashes=hashes)
    with pytest.raises(SettingsError, match="`bands` cannot be 0"):
        plans.plan(0, 3, Demand())


def test_tune_a_file_with_known_pairs() -> None:
    """The demo: a plan, its neighbours, and recall that falls with the rows."""
    found = tune(LISTINGS, known=PAIRS)
    assert (found.documents, found.sampled, found.absent) == (404, 404, 0)
    assert sum(found.agreements) == math.comb(404, 2)
    assert sum(found.known) == 60
    assert (found.choice.plan.bands, found.choice.plan.rows) == (35, 3)
    assert [other.plan.rows for other in found.others] == [1, 2]
    recalls = [each.recall or 0 for each in (*found.others, found.choice)]
    precisions = [each.precision or 0 for each in (*found.others, found.choice)]
    assert recalls == sorted(recalls, reverse=True)
    assert precisions == sorted(precisions)
    assert 0.8 < recalls[-1] < 1
    assert found.current is None


def test_a_sample_stands_for_the_whole() -> None:
    """A third of the documents tells about the candidates of all; known pairs are whole."""
    whole = tune(LISTINGS, known=PAIRS)
    part = tune(LISTINGS, known=PAIRS, sample=135)
    assert (part.sampled, part.documents) == (135, 404)
    assert part.known == whole.known
    assert part.choice.candidates == pytest.approx(whole.choice.candidates, rel=0.5)


def test_the_same_seed_draws_the_same_sample() -> None:
    """A sample can be drawn again, and another one by another seed."""
    first, again, other = (tune(LISTINGS, sample=50, seed=seed).agreements for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_every_item_is_drawn_as_often() -> None:
    """Of 20 items, 5 of them in each of 2,000 samples: each about 500 times."""
    counts = np.zeros(20)
    for seed in range(2_000):
        drawn, total = draw_sample(range(20), 5, seed)
        counts[drawn] += 1
        assert (len(set(drawn)), total) == (5, 20)
    assert np.abs(counts - 500).max() < 4.5 * math.sqrt(2_000 * 0.25 * 0.75)


def test_texts_without_words_count_as_pairs_of_nothing() -> None:
    """They resemble nothing, not even each other, and are documents all the same."""
    found = tune(documents(["one two three four"] * 2 + ["", "\u200b", " "]))
    assert found.agreements[0] == 9
    assert found.agreements[-1] == 1
    assert found.choice.candidates == pytest.approx(4 * 1 / 10)


def test_equal_texts_are_all_candidates() -> None:
    """All-identical texts: each document has every other one."""
    found = tune(documents(["the same few words"] * 300))
    assert found.choice.candidates == pytest.approx(299)


def test_repeated_ids_and_bad_records(tmp_path: Path) -> None:
    """An id counts once; what cannot be used is told."""
    source = tmp_path / "a.jsonl"
    source.write_text(
        '{"id": 1, "text": "a b c"}\n{"id": 1, "text": "a b c"}\nx\n{"id": 2, "text": "d e f"}\n'
        '{"id": 3, "text": "\\ud800"}\n'
    )
    told: list[RecordError] = []
    found = tune(source, on_error=told.append)
    assert found.documents == 2
    assert len(told) == 2


@pytest.mark.parametrize(
    ("texts", "known", "says"),
    [
        ([], None, "fewer than two documents"),
        (["one two three"], None, "fewer than two documents"),
        (["", "\u200b"], None, "has words"),
        (["a b c", "d e f"], [("7", "8")], r"no known pair \(of 1\)"),
    ],
)
def test_samples_without_pairs_are_refused(
    texts: list[str], known: list[tuple[str, str]] | None, says: str
) -> None:
    """Where there is nothing to compare, the error says what is missing."""
    with pytest.raises(SettingsError, match=says):
        tune(documents(texts), known=known)
    with pytest.raises(ArgumentError, match="`sample` cannot be 1; give 2 or more documents"):
        tune(documents(texts), known=known, sample=1)


def test_known_pairs_may_be_absent_or_empty_texts() -> None:
    """A pair that is not there is left out; one without words is a pair that is missed."""
    texts = documents(["one two three", "one two three", "", "other words here"])
    known = [("0", "1"), ("1", "0"), ("0", "2"), ("0", "99")]
    found = tune(texts, known=known)
    assert (found.absent, sum(found.known), found.known[0]) == (1, 2, 1)
    assert found.choice.recall == 0.5
    assert found.choice.precision == 1.0


def test_settings_and_hashes_shape_the_sample() -> None:
    """Other shingles and other numbers of hashes give other similarities and other plans."""
    short = tune(LISTINGS, settings=Settings(shingle_size=1), hashes=256)
    assert len(short.agreements) == 257
    assert short.settings.shingle_size == 1
    words = tune(LISTINGS, hashes=256)
    assert short.choice.candidates > words.choice.candidates
    assert short.choice.index_bytes == plans.estimate_bytes(short.choice.plan.bands, 256)


def test_the_table_fits_a_terminal() -> None:
    """No line is wider than 80 columns, whatever the figures; the chosen plan is marked."""
    found = tune(LISTINGS, known=PAIRS)
    large = replace(
        found,
        documents=123_456_789,
        sampled=5_000,
        agreements=tuple(count * 153 for count in found.agreements),
        current=replace(found.choice, candidates=123_456.7, index_bytes=12_345.0),
    )
    for shown in (found, large):
        commands = spell_commands(shown, (), "-c listings")
        lines = [line.rstrip() for line in list_lines(shown, commands)]
        assert max(map(len, lines)) <= 80
        assert ("  neardup reband --bands 35 --band-rows 3 -c listings" in lines) == (
            shown is found  # the large one has these bands
        )
        assert any(line.startswith("chosen 35 × 3") for line in lines)
        assert any("0.50–0.55" in line for line in lines)


def test_the_example_of_the_documentation() -> None:
    """docs/tuning.md shows what the command prints."""
    page = (ROOT / "docs" / "tuning.md").read_text()
    found = tune(LISTINGS, known=PAIRS)
    lines = list_lines(found, spell_commands(found, ["listings.tsv"], "-c NEW"))
    assert "\n".join(line.rstrip() for line in lines) in page


def test_the_command_prints_json() -> None:
    """--format json is the whole record."""
    words = [str(LISTINGS), "--catch", "0.6", "--format", "json"]
    ran = CliRunner().invoke(command("tune"), words)
    assert ran.exit_code == 0
    found = json.loads(ran.stdout)
    assert found["choice"]["plan"]["caught"] >= 0.99
    assert found["demand"]["catch"] == 0.6
    assert found["settings"].startswith("n2 words3 affine128")


def test_the_command_counts_bad_records(tmp_path: Path) -> None:
    """Each is a line with its place, the rest is judged, and the exit code is 1."""
    source = tmp_path / "a.jsonl"
    source.write_text('{"id": 1, "text": "a b"}\n{"id": 2}\n{"id": 3, "text": "a b"}\n')
    ran = CliRunner().invoke(command("tune"), [str(source)])
    assert ran.exit_code == 1
    assert "a.jsonl, line 2" in ran.stderr
    assert "1 record could not be used." in ran.stderr
    assert "chosen 35 × 3" in ran.stdout


def test_the_advice_for_a_file_can_be_followed(tmp_path: Path) -> None:
    """`duplicates` takes the bands, rows and shingles that are advised, and uses them."""
    source = tmp_path / "a.csv"
    source.write_text("key,text\n" + "".join(f"{n},one two three four {n}\n" for n in range(9)))
    words = [str(source), "--id-field", "key", "--kind", "chars", "--shingle-size", "5"]
    advice = CliRunner().invoke(command("tune"), [*words, "--catch", "0.6"]).stdout
    _, _, advised = advice.partition("neardup duplicates ")
    typed = shlex.split(advised.splitlines()[0])
    assert typed[:5] == [*words[:3], "--bands", "19"]
    ran = CliRunner().invoke(command("duplicates"), [*typed, "--measure", "jaccard"])
    assert ran.exit_code == 0
    assert " with a band in common compared" in ran.stderr


@pytest.mark.parametrize("words", [["--format", "xml"], ["--kind", "chars"]])
def test_wrong_usage_of_the_commands(words: list[str]) -> None:
    """A format that is not known, or shingles asked of a collection, is told before any work."""
    assert CliRunner().invoke(command("tune"), words).exit_code == 2
