"""The choice of bands for a file: its sample, known pairs, and what the command prints."""

import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from shutil import copyfile

import pytest

import neardup_solr as nd
from neardup_solr import Document, Settings, demo, tune
from neardup_solr.errors import ArgumentError, RecordError, SettingsError
from tests import ROOT
from tests.command import neardup
from tests.faults.scripted import EMPTY, Answer, answering
from tests.refusals import refusal

LISTINGS, PAIRS = demo.listings(), demo.pairs()


def documents(texts: Sequence[str]) -> list[Document]:
    """Documents numbered from 0."""
    return [Document(id=str(at), text=text) for at, text in enumerate(texts)]


@pytest.mark.parametrize("hashes", [0, -1, 65_537])
def test_impossible_numbers_of_hashes_are_refused(hashes: int) -> None:
    """A signature has 1 to 65,536 hashes."""
    with pytest.raises(SettingsError, match="hashes"):
        tune(LISTINGS, hashes=hashes)


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
    with refusal(ArgumentError, "argument-out-of-range", "`sample`", "1"):
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
    assert short.choice.plan.bands == 35
    assert short.choice.index_bytes == pytest.approx(2264.4)


def give(found: nd.types.Tuning, **_: object) -> nd.types.Tuning:
    """Give a result, whatever is asked for."""
    return found


def test_the_table_fits_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
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
        monkeypatch.setattr(nd, "tune", wraps(tune)(partial(give, shown)))
        with answering(Answer(body=EMPTY)) as (address, _):
            env = {"NEARDUP_SOLR_URL": address}
            printed = neardup("tune", "-c", "listings", env=env).stdout
        lines = printed.replace(f" --solr {address}", "").splitlines()
        assert max(map(len, lines)) <= 80
        assert ("  neardup reband --bands 35 --band-rows 3 -c listings" in lines) == (
            shown is found  # the large one has these bands
        )
        assert any(line.startswith("chosen 35 × 3") for line in lines)
        assert any("0.50–0.55" in line for line in lines)


def test_the_example_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/tuning.md shows what the command prints."""
    page = (ROOT / "docs" / "tuning.md").read_text()
    copyfile(LISTINGS, tmp_path / "listings.tsv")
    monkeypatch.chdir(tmp_path)
    printed = neardup("tune", "listings.tsv", "--known", str(PAIRS)).stdout
    assert len(printed) > 1_000
    assert printed in page


def test_the_command_prints_json() -> None:
    """--format json is the whole record."""
    words = [str(LISTINGS), "--catch", "0.6", "--format", "json"]
    ran = neardup("tune", *words)
    assert ran.returncode == 0
    found = json.loads(ran.stdout)
    assert found["choice"]["plan"]["caught"] >= 0.99
    assert found["demand"]["catch"] == 0.6
    assert found["settings"].startswith("n2 words3 affine128")


def test_the_command_counts_bad_records(tmp_path: Path) -> None:
    """Each is a line with its place, the rest is judged, and the exit code is 1."""
    source = tmp_path / "a.jsonl"
    source.write_text('{"id": 1, "text": "a b"}\n{"id": 2}\n{"id": 3, "text": "a b"}\n')
    ran = neardup("tune", str(source))
    assert ran.returncode == 1
    assert "a.jsonl, line 2" in ran.stderr
    assert "1 record could not be used." in ran.stderr
    assert "chosen 35 × 3" in ran.stdout


def test_the_advice_for_a_file_can_be_followed(tmp_path: Path) -> None:
    """`duplicates` takes the bands, rows and shingles that are advised, and uses them."""
    source = tmp_path / "a.csv"
    source.write_text("key,text\n" + "".join(f"{n},one two three four {n}\n" for n in range(9)))
    words = [str(source), "--id-field", "key", "--kind", "chars", "--shingle-size", "5"]
    advice = neardup("tune", *words, "--catch", "0.6").stdout
    _, _, advised = advice.partition("neardup duplicates ")
    typed = shlex.split(advised.splitlines()[0])
    assert typed[:5] == [*words[:3], "--bands", "19"]
    ran = neardup("duplicates", *typed, "--measure", "jaccard")
    assert ran.returncode == 0
    assert " with a band in common compared" in ran.stderr


@pytest.mark.parametrize("words", [["--format", "xml"], ["--kind", "chars"]])
def test_wrong_usage_of_the_commands(words: list[str]) -> None:
    """A format that is not known, or shingles asked of a collection, is told before any work."""
    assert neardup("tune", *words).returncode == 2
