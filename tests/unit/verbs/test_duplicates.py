"""duplicates from sources: little memory, guards, canonical documents, faces."""

import codecs
import copy
import csv
import json
import pickle
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, combinations, pairwise
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest
from rapidfuzz.distance import Levenshtein

import neardup_solr as nd
from neardup_solr import demo
from neardup_solr.errors import ArgumentError
from neardup_solr.testing import SIZES
from neardup_solr.types import Way
from tests.command import neardup
from tests.entries import entries_of
from tests.refusals import refusal
from tests.unit.verbs.test_ids import require_pairs

LOOSE: dict[str, Any] = {"min_similarity": 0.7}
CHAIN = {
    "1": "a b c d e f g h i j",
    "2": "a b c d e f g h i x",
    "3": "a b c d e f g h y x",
    "4": "a b c d e f g z y x",
}


def documents(texts: dict[str, str]) -> list[nd.Document]:
    """Documents of these texts by id, with their place as a kept column."""
    return [
        nd.Document(id=id, text=text, kept={"place": -at, "source": "wire" if id == "3" else "x"})
        for at, (id, text) in enumerate(texts.items())
    ]


@pytest.mark.parametrize("measure", ["words", "jaccard", "containment", "aligned", "estimate"])
def test_little_memory_changes_nothing(
    measure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left of the files that hold what is read."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    verifying: dict[str, Any] = {"measure": measure}
    held = nd.duplicates(demo.listings(), **verifying)
    monkeypatch.setenv("NEARDUP_MEMORY", "1M")
    assert nd.duplicates(demo.listings(), **verifying) == held
    assert len(held.pairs) > 20
    assert list(tmp_path.iterdir()) == []


def test_long_texts_are_read_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many at once is known by the length of those before."""
    texts = {str(at): " ".join([f"w{word} x" for word in range(at % 7, 60)]) for at in range(400)}
    monkeypatch.setattr(SIZES, "part_text", 3_000)
    steps: list[nd.types.Progress] = []
    nd.duplicates(documents(texts), by="bands", on_progress=steps.append)
    done = [0, *(step.done for step in steps if step.stage == "texts")]
    sizes = [after - before for before, after in pairwise(done)]
    assert sizes[0] == 100  # the next may be so many, too, as one is read ahead
    assert max(sizes[2:]) < 20


def test_a_file_that_is_written_to_meanwhile_is_as_it_was_read(tmp_path: Path) -> None:
    """What was added, changed or taken out is for the next time."""
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({"id": id, "text": text}) + "\n" for id, text in CHAIN.items()]
    path.write_text("".join(lines))
    before = nd.duplicates(path, by="bands")

    def during(content: str) -> nd.Duplicates:
        path.write_text("".join(lines))

        def write(progress: nd.types.Progress) -> None:
            if progress.stage == "joining":
                path.write_text(content)

        return nd.duplicates(path, by="bands", on_progress=write)

    assert during("".join([*lines, lines[0]])) == before
    other = lines[1].replace("a b c", "q r s")
    assert during("".join([lines[0], other, *lines[2:], lines[0]])) == before
    assert during("".join(lines[1:])) == before


def unread() -> Iterator[nd.Document]:
    """Documents that nobody may read."""
    raise AssertionError("this was read")
    yield


def test_the_last_record_of_an_id_counts() -> None:
    """A repeated id is one document, with its last text."""
    texts = [("1", "a b c d"), ("2", "a b c d"), ("1", "e f g h"), ("3", "e f g h"), ("1", ".")]
    source = [nd.Document(id=id, text=text) for id, text in texts[:4]]
    found = nd.duplicates(nd.Source(source, on_repeat="last"))
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("1", "3")]
    assert found.documents == 3


def test_the_first_record_of_an_id_counts() -> None:
    """By "first", a repeated id is one document with its first text."""
    texts = [("1", "a b c d"), ("2", "a b c d"), ("1", "e f g h"), ("3", "e f g h"), ("1", ".")]
    found = nd.duplicates(nd.Source(texts, on_repeat="first"))
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("1", "2")]
    assert (found.documents, found.repeated) == (3, 2)


def test_every_record_of_an_id_is_kept() -> None:
    """They are documents of their own, whose records are told apart by their numbers."""
    texts = [("1", "a b c d"), ("", "no id"), ("1", "a b c d"), ("2", "e f g h"), ("1", "."),
             ("3", "e f g h"), ("2", "i j k l")]  # fmt: skip
    found = nd.duplicates(texts, on_error=lambda error: None)
    assert [(p.id, p.other_id) for p in found.pairs] == [("1@row1", "1@row3"), ("2@row4", "3")]
    assert (found.documents, found.repeated, found.failed) == (6, 3, 1)
    assert list(found.removed) == ["1@row3", "3"]
    assert len(found.labels) == 4


def test_a_name_that_an_id_has_already_is_not_given_twice() -> None:
    """If a record is called 1@row2, the second record of the id 1 is not."""
    texts = [("1", "a b c d"), ("1", "a b c d"), ("1@row2", "a b c d")]
    found = nd.duplicates(texts)
    assert sorted(found.labels) == ["1@row1", "1@row2", "1@row2@row2"]


@pytest.mark.parametrize("keep", [(), ("n",)])
def test_later_records_of_an_id_fail(keep: tuple[str, ...]) -> None:
    """By "fail", each is told of, with its position."""
    rows = [("1", "a b c"), ("2", "d e f"), ("1", "a b c"), ("3", "a b c"), ("2", "x")]
    errors: list[nd.RecordError] = []
    source = [{"id": id, "text": text, "n": 1} for id, text in rows]
    found = nd.duplicates(nd.Source(source, on_repeat="fail"), keep=keep, on_error=errors.append)
    assert [str(error) for error in errors] == [
        "list, record 3 (id '1'): its id came before",
        "list, record 5 (id '2'): its id came before",
    ]
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("1", "3")]
    assert (found.documents, found.repeated, found.failed) == (3, 0, 2)


@pytest.mark.parametrize(("ids", "told"), [("123", []), ("121", ["1 record repeats"]),
                                           ("11231", ["2 records repeat"])])  # fmt: skip
def test_a_repeated_id_is_logged(
    ids: str, told: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """One line, whether or not bad records are told of."""
    nd.duplicates([(id, "a b c d") for id in ids], on_error=lambda error: None)
    how = "each of them is compared, with its row number added to the id, as in 12@row7"
    advice = 'to filter a table by `removed`, set id=":row", which numbers its rows from 1'
    assert caplog.messages == [f"{words} an id: {how}; {advice}" for words in told]


def test_the_rows_of_repeated_ids_are_filtered_by_their_numbers() -> None:
    """As the line about them advises: names such as 12@row7 fit no row of a DataFrame."""
    frame = pd.DataFrame({"id": [12, 12, 13, 14], "text": ["a b c d", "a b c d", "x y", "x y"]})
    assert len(frame[~frame["id"].isin(nd.duplicates(frame).removed)]) == 3
    numbers = pd.Series(range(1, len(frame) + 1))
    left = frame[~numbers.isin(nd.duplicates(frame, id=":row").removed)]
    assert left["id"].tolist() == [12, 13]


def test_single_linkage_chains_and_complete_does_not() -> None:
    """Complete linkage compares what single linkage infers, and splits what is not near."""
    near: dict[str, Any] = {"min_similarity": 0.8}
    [single] = nd.duplicates(documents(CHAIN), **near).clusters
    assert (single.diameter, single.pairs, len(single.members)) == (2, 5, 4)
    found = nd.duplicates(documents(CHAIN), **near, linkage="complete")
    sizes = {cluster.id: [m.id for m in cluster.members] for cluster in found.clusters}
    assert all(cluster.diameter == 1 for cluster in found.clusters)
    assert not any({"1", "4"} <= set(members) for members in sizes.values())
    torn = [pair for pair in found.pairs if not pair.cluster]
    assert torn, "pairs between clusters are still pairs, of no cluster"


@pytest.mark.parametrize(
    ("rule", "keep"),
    [
        ("first", "1"),
        ("longest", "5"),
        ("oldest", "1"),
        ("oldest:place", "5"),
        ("source=wire", "3"),
    ],
)
def test_canonical_documents(rule: str, keep: str) -> None:
    """Every rule names one document; each member has its distance to it, the nearest first."""
    texts = CHAIN | {"5": "a b c d e f g h i j k"}
    kept = ("place", "source")
    [cluster] = nd.duplicates(documents(texts), **LOOSE, canonical=rule, keep=kept).clusters
    assert cluster.canonical == keep
    assert (cluster.members[0].id, cluster.members[0].distance) == (keep, 0)
    distances = [member.distance for member in cluster.members]
    assert distances == sorted(distances, key=lambda distance: distance or 0)
    one, other = texts[keep].split(), texts[cluster.members[-1].id].split()
    apart = sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))
    assert distances[-1] == apart


def test_a_rule_that_finds_no_field() -> None:
    """A field that nobody has is named; one that is there is read without being asked for."""
    for keep in ((), ("price",)):
        with refusal(nd.SettingsError, "field-empty", "'price'"):
            nd.duplicates(documents(CHAIN), canonical="oldest:price", keep=keep)
    [cluster] = nd.duplicates(documents(CHAIN), **LOOSE, canonical="oldest:place").clusters
    assert cluster.canonical == "4"


@pytest.mark.parametrize(
    ("choice", "code", "names"),
    [
        ({"by": "nope"}, "argument-invalid", ("`by`", "'nope'", "shingles, passages, words, all")),
        ({"linkage": "average"}, "argument-invalid", ("`linkage`", "'average'", "complete")),
        ({"canonical": "best"}, "argument-invalid", ("`canonical`", "'best'", "longest")),
        ({"memory": "1000"}, "argument-out-of-range", ("`memory`", "1,000", "1 MB")),
    ],
)
def test_choices_that_cannot_be(choice: dict[str, Any], code: str, names: tuple[str, ...]) -> None:
    """A choice that cannot be is refused before any work."""
    with refusal(nd.ArgumentError, code, *names):
        nd.duplicates(unread(), **choice)


def test_faces_hold_the_same_pairs(tmp_path: Path) -> None:
    """Rows of every format and the page tell of the same pairs."""
    import pyarrow.parquet as parquet

    found = nd.duplicates(demo.listings(), texts=True)
    for suffix in ("tsv", "csv", "jsonl", "parquet", "html"):
        found.write(tmp_path / f"pairs.{suffix}")
    expected = [(pair.id, pair.other_id) for pair in found.pairs]
    table = parquet.read_table(tmp_path / "pairs.parquet").to_pylist()
    lines = (tmp_path / "pairs.jsonl").read_text().splitlines()
    assert [(row["id"], row["other_id"]) for row in table] == expected
    assert [(row["id"], row["other_id"]) for row in map(json.loads, lines)] == expected
    require_pairs(tmp_path / "pairs.csv", expected)
    page = (tmp_path / "pairs.html").read_text()
    assert all(id in page for pair in expected for id in pair)
    assert "listings.tsv" in page
    assert set(found.texts) == {id for pair in expected for id in pair}


@pytest.mark.parametrize("suffix", ["tsv", "parquet", "html"])
def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, suffix: str) -> None:
    """The old report stays whole, and the reason is one line."""
    found = nd.duplicates(demo.listings())
    path = tmp_path / "none" / f"pairs.{suffix}"
    with refusal(nd.SourceError, "file-unwritable", "none"):
        found.write(path)
    with refusal(nd.SourceError, "format-unknown", "pairs.doc", ".html", ".parquet"):
        found.write(tmp_path / "pairs.doc")


def test_hostile_ids_and_texts_in_every_face(tmp_path: Path) -> None:
    """Tabs, line breaks, formulas and markup in ids change no row and no page."""
    ids = ['=HYPERLINK("x")', "a\tb\nc", "</script><b>", "\u202eevil"]
    twins = [nd.Document(id=id, text="<img src=x onerror=alert(1)> same text here") for id in ids]
    found = nd.duplicates(twins, texts=True)
    assert len(found.pairs) == 6
    for suffix in ("tsv", "csv", "jsonl", "parquet", "html"):
        found.write(tmp_path / f"pairs.{suffix}")
    expected = [(pair.id, pair.other_id) for pair in found.pairs]
    for suffix in ("tsv", "csv", "jsonl", "parquet"):
        require_pairs(tmp_path / f"pairs.{suffix}", expected)
    page = (tmp_path / "pairs.html").read_text()
    assert "<img src=x" not in page
    assert "</script><b>" not in page


def test_a_page_has_the_texts_of_its_pairs(tmp_path: Path) -> None:
    """A page of a source shows texts without being asked to; tables do not get longer by it."""
    found = nd.duplicates(documents(CHAIN), **LOOSE)
    assert set(found.origin.texts) == set(CHAIN)
    assert not found.texts
    found.write(tmp_path / "report.html")
    assert CHAIN["1"] in (tmp_path / "report.html").read_text()
    for without in ({"texts": False}, {"measure": "estimate"}):
        assert not nd.duplicates(documents(CHAIN), **without).origin.texts


def facts_of(page: Path) -> dict[str, Any]:
    """The facts in the head of a page."""
    block = re.search(r'id="facts">(.*?)</script>', page.read_text(), re.DOTALL)
    assert block is not None
    found: dict[str, Any] = json.loads(block[1])[0]
    return found


def test_the_figures_of_a_page_add_up(tmp_path: Path) -> None:
    """Pairs that complete linkage leaves between clusters are counted apart."""
    found = nd.duplicates(documents(CHAIN), linkage="complete", min_similarity=0.85)
    inside = sum(cluster.pairs for cluster in found.clusters)
    assert 0 < inside < len(found.pairs)
    found.write(tmp_path / "report.html")
    facts = facts_of(tmp_path / "report.html")
    shown = dict(facts["summary"])
    assert shown["Near-duplicate pairs"] == str(len(found.pairs))
    assert shown["Pairs between groups"] == str(len(found.pairs) - inside)
    assert facts["left"] == ""
    whole = nd.duplicates(documents(CHAIN), min_similarity=0.85)
    whole.write(tmp_path / "report.html")
    assert "Pairs between groups" not in dict(facts_of(tmp_path / "report.html")["summary"])


def test_a_page_says_how_candidates_were_found(tmp_path: Path) -> None:
    """By words and by all, neither bands nor their curve are on the page."""
    ways: dict[Way, str] = {"words": "share a rare word", "all": "every pair"}
    for by, said in ways.items():
        nd.duplicates(documents(CHAIN), by=by, **LOOSE).write(tmp_path / "report.html")
        facts = facts_of(tmp_path / "report.html")
        assert (facts["by"], facts["curve"]) == (by, None)
        assert dict(facts["parameters"])["Candidates"] == said


def test_the_foot_of_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page tells version and date, and the command that made it, without its password."""
    found = nd.duplicates(documents(CHAIN))
    found.write(tmp_path / "report.html")
    facts = facts_of(tmp_path / "report.html")
    assert facts["command"] == ""  # Python is no command of ours
    assert facts["made"].startswith(f"neardup_solr {nd.__version__}, 20")
    address = "https://user:secret@host/solr"
    arguments = ["duplicates", "--solr", address, "-o", "my report.html"]
    monkeypatch.setattr(sys, "argv", ["/usr/bin/neardup", *arguments])
    found.write(tmp_path / "report.html")
    command = facts_of(tmp_path / "report.html")["command"]
    assert command == "neardup duplicates --solr 'https://…@host/solr' -o 'my report.html'"


def test_a_page_has_the_kept_columns(tmp_path: Path) -> None:
    """Columns to keep are on the page, apart from the text."""
    nd.duplicates(documents(CHAIN), keep="place", **LOOSE).write(tmp_path / "report.html")
    assert facts_of(tmp_path / "report.html")["kept"] == ["place"]
    assert '["-2"]' in (tmp_path / "report.html").read_text()


def test_a_page_of_aligned_words_says_what_stands_for_what(tmp_path: Path) -> None:
    """The places of words that stand for each other are with the pair."""
    texts = {"1": "ritz 12 sunset blvd", "2": "12 ritz sunset boulevard"}
    found = nd.duplicates(documents(texts), measure="aligned")
    found.write(tmp_path / "report.html")
    assert found.frequencies is not None
    assert found.frequencies.counts["boulevard"] == 1
    assert "[3,3]" in (tmp_path / "report.html").read_text()
    assert nd.duplicates(documents(texts)).frequencies is None


REPEATED_WAYS: list[dict[str, Any]] = [
    {},
    {"by": "bands", "cap": 5},
    {"by": "words", "cap": 5},
    {"measure": "containment", "by": "shingles", "cap": 5},
    {"measure": "aligned", "cap": 5},
    {"measure": "aligned", "by": "all"},
]


@pytest.mark.parametrize("options", REPEATED_WAYS)
@pytest.mark.parametrize("on_repeat", ["first", "last"])
def test_records_that_do_not_count_change_nothing(
    on_repeat: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the cap, nor the way, nor the frequencies of words, see those of a repeated id."""
    monkeypatch.setattr(SIZES, "crossed_documents", 50)
    words = [f"word{n}" for n in range(40)]
    near = {"a": " ".join(words), "b": " ".join([*words[:39], "other"])}
    once = documents(near | {f"{n}": f"text {n} of many others {n * n} here" for n in range(40)})
    again = [once[0]] * 30
    several = [*once, *again] if on_repeat == "first" else [*again, *once]
    found = nd.duplicates(nd.Source(several, on_repeat=on_repeat), **options)
    expected = nd.duplicates(once, **options)
    assert len(expected.pairs) > 0
    assert (found.by, found.hot_keys) == (expected.by, expected.hot_keys)
    assert found.pairs == expected.pairs
    assert found.repeated == 30


def test_an_interrupted_call_continues_from_its_checkpoint(tmp_path: Path) -> None:
    """What was compared is kept, and deleted once the same call has ended."""
    path, stages = tmp_path / "unfinished", list[nd.types.Progress]()

    def interrupt(progress: nd.types.Progress) -> None:
        if progress.stage == "grouping":
            raise KeyboardInterrupt

    source = documents(CHAIN)
    with pytest.raises(KeyboardInterrupt):
        nd.duplicates(source, **LOOSE, checkpoint=path, on_progress=interrupt)
    assert path.exists()
    found = nd.duplicates(source, **LOOSE, checkpoint=str(path), on_progress=stages.append)
    assert found.pairs == nd.duplicates(source, **LOOSE).pairs
    first = next(each for each in stages if each.stage == "comparing")
    assert first.done == first.total
    assert not path.exists()


@pytest.mark.parametrize("arguments", [{"measure": "estimate"}, {"measure": "aligned"}, {}])
def test_a_checkpoint_is_no_file_of_others(tmp_path: Path, arguments: dict[str, Any]) -> None:
    """It is neither overwritten nor deleted, whether it would have been used or not."""
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with suppress(nd.SourceError):
        nd.duplicates(documents(CHAIN), checkpoint=path, **arguments)
    assert path.read_text() == "mine"
    source = tmp_path / "a.csv"
    source.write_text("id,text\n1,a b c\n2,a b c\n")
    with pytest.raises(nd.SourceError, match="`checkpoint`"):
        nd.duplicates(source, checkpoint=source, **arguments)


def test_a_checkpoint_of_other_texts_is_not_used(tmp_path: Path) -> None:
    """A text that was edited after the interruption is compared anew."""
    path = tmp_path / "unfinished"

    def interrupt(progress: nd.types.Progress) -> None:
        if progress.stage == "grouping":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nd.duplicates(documents(CHAIN), **LOOSE, checkpoint=path, on_progress=interrupt)
    edited = documents({id: f"{text} and more of it" for id, text in CHAIN.items()})
    assert nd.duplicates(edited, **LOOSE, checkpoint=path) == nd.duplicates(edited, **LOOSE)


@pytest.mark.parametrize("memory", ["1M", 1 << 20, "0.5g"])
def test_memory_of_a_call(memory: int | str) -> None:
    """It counts instead of the variable, and changes no pairs."""
    assert nd.duplicates(demo.listings(), memory=memory) == nd.duplicates(demo.listings())


def test_demo_listings_against_all_pairs_that_share_a_band() -> None:
    """The pairs are just those of an exhaustive look at all that share a band."""
    documents = list(nd.read(demo.listings()))
    expected: dict[frozenset[str], tuple[int, float]] = {}
    for one, other in combinations(entries_of(documents), 2):
        longest = max(one.num_words, other.num_words)
        distance = Levenshtein.distance(one.normal.split(), other.normal.split())
        is_near = distance <= int(0.3 * longest + 1e-9)
        if set(one.bands) & set(other.bands) and is_near:
            expected[frozenset((one.id, other.id))] = (distance, 1.0 - distance / longest)
    pairs = nd.duplicates(documents, **LOOSE, by="bands", measure="words").pairs
    found = {frozenset((str(p.id), str(p.other_id))): (p.distance, p.similarity) for p in pairs}
    assert found == expected
    assert len(found) == len(pairs)


@pytest.mark.parametrize(
    ("by", "keys", "enough"), [("bands", "64 band keys", 73), ("shingles", "8 shingles", 80)]
)
def test_a_page_says_that_the_cap_left_pairs_out(
    tmp_path: Path, by: Way, keys: str, enough: int
) -> None:
    """The page tells of keys of more documents than the cap, and the least cap that has none."""
    same, near = "a b c d e f g h i j", "a b c d e f {} h i j"
    texts = {str(n): same if n < 40 else near.format(f"w{n}") for n in range(80)}
    found = nd.duplicates(documents(texts), by=by, measure="jaccard", min_similarity=0.4, cap=2)
    found.write(tmp_path / "report.html")
    said = f"Not fully compared: {keys} shared by more documents than `cap` (2)"
    notes = facts_of(tmp_path / "report.html")["notes"]
    assert notes == [f"{said}; `cap` {enough} is enough."]
    for cap, is_enough in ((enough - 1, False), (enough, True)):
        other = nd.duplicates(documents(texts), by=by, measure="jaccard", cap=cap)
        assert (other.hot_keys == 0) == is_enough


def test_a_million_identical_documents_in_small() -> None:
    """Identical texts are one cluster, chained where they are more than the cap, and counted."""
    documents = [nd.Document(id=str(n), text="the very same text") for n in range(1000)]
    found = nd.duplicates(documents, cap=100, by="bands")
    assert (len(found.clusters), len(found.pairs), found.hot_keys) == (1, 999, 42)
    [cluster] = found.clusters
    assert (len(cluster.members), cluster.diameter, cluster.bridges) == (1000, 1, ())


def test_bad_records_are_told_and_left_out(tmp_path: Path) -> None:
    """A source's bad records go to on_error, and the rest is compared."""
    source = tmp_path / "a.jsonl"
    lines = [
        '{"id": 1, "text": "same"}',
        '{"id": 2}',
        '{"id": 3, "text": "same"}',
        '{"id": 4, "text": "b"}',
    ]
    source.write_text("\n".join(lines))
    errors: list[nd.RecordError] = []
    found = nd.duplicates(source, on_error=errors.append)
    assert [(p.id, p.other_id, p.distance, p.cluster) for p in found.pairs] == [("1", "3", 0, "1")]
    assert [error.position for error in errors] == ["a.jsonl, line 2"]
    assert found.gaps == ("records that could not be used: 1",)
    assert not found.complete


def test_a_gap_of_records_without_ids_is_a_sentence(tmp_path: Path) -> None:
    """What says that records lack an id, and the next step, is put together without a gap."""
    path = tmp_path / "notes.jsonl"
    rows: list[dict[str, object]] = [{"id": at, "text": f"note {at} by {at}"} for at in range(9)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in [*rows, {"id": "", "text": "last"}]))
    ran = neardup("duplicates", str(path))
    line = next(line for line in ran.stderr.splitlines() if line.startswith("Incomplete"))
    assert "; set --id-field to :row" in line


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"measure": "nope"}, "`measure` cannot be 'nope'; choose one of auto, words, jaccard"),
        ({"cap": 1}, "`cap` cannot be 1; give 2 or more"),
        (
            {"measure": "estimate", "max_distance": 2},
            "the measure estimate has no distance, so `max_distance` cannot be 2; set `min_sim",
        ),
    ],
)
def test_comparisons_that_cannot_be(choice: dict[str, Any], reason: str) -> None:
    """A choice that cannot be is refused with the reason."""
    with pytest.raises(nd.ArgumentError, match=reason):
        nd.duplicates(unread(), **choice)


def test_a_result_can_be_pickled_and_copied() -> None:
    """So that other processes can have it."""
    found = nd.duplicates([nd.Document(id=str(n), text="one two three four") for n in range(3)])
    assert found.pairs
    assert pickle.loads(pickle.dumps(found)) == found
    assert copy.deepcopy(found) == found


JOINED = [
    {"id": "1", "title": "The ferry", "body": "leaves the old pier at nine with a band",
     "size": -48.856613, "tags": ["a", "b"]},
    {"id": "2", "title": "The ferry", "body": "leaves the old pier at ten with a band",
     "size": 7, "tags": None},
]  # fmt: skip
BESIDE = ["text", "size", "tags", "other_text", "other_size", "other_tags"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".xlsx", ".parquet"])
def test_texts_and_kept_columns_stand_beside_the_pairs(tmp_path: Path, suffix: str) -> None:
    """Those of both documents, by the names that the library gives them, as they were."""
    path = tmp_path / f"pairs{suffix}"
    found = nd.duplicates(JOINED, text=["title", "body"], keep=["size", "tags"], texts=True)
    found.write(path)
    table = found.to_arrow()
    assert table.column_names[-6:] == BESIDE
    if suffix in (".csv", ".tsv"):
        dialect: Any = "excel-tab" if suffix == ".tsv" else "excel"
        with path.open(newline="") as file:
            (row,) = csv.DictReader(file, dialect=dialect)
    elif suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        names, cells = book.worksheets[0].iter_rows(values_only=True)
        row = dict(zip(names, cells, strict=True))
        book.close()
    else:
        row = (
            json.loads(path.read_text())
            if suffix == ".jsonl"
            else pq.read_table(path).to_pylist()[0]
        )
    between = " " if suffix == ".tsv" else "\n"
    text = f"The ferry{between}leaves the old pier at nine with a band"
    is_text = suffix in (".csv", ".tsv")
    size: object = "-48.856613" if is_text else -48.856613
    tags = ["a", "b"] if suffix in (".jsonl", ".parquet") else '["a","b"]'
    assert list(row) == table.column_names
    assert (row["text"], row["size"], row["tags"]) == (text, size, tags)
    assert row["other_tags"] == ("" if is_text else None)
    without = nd.duplicates(JOINED, text=["title", "body"])
    assert without.to_arrow().column_names == table.column_names[:-6]


def test_any_column_of_a_file_can_be_kept(tmp_path: Path) -> None:
    """Its type is its own, whatever its name means elsewhere, and so are the values."""
    names = ["content", "complete", "canonical", "matches", "reason", "text", "kept_text"]
    values = ["yes", 1, "no", [2], 3.5, "x", "y"]
    row = {"_v": True, "body": "one two three", **dict(zip(names, values, strict=True))}
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"id": id, **row}) + "\n" for id in "ab"))
    keep = ["_v", *names]
    [one, _] = nd.read(source, text="body", keep=keep)
    assert [one.kept[name] for name in names] == values
    found = nd.duplicates(source, text="body", keep=keep, texts=True)
    beside = [f"{prefix}{name}" for prefix in ("", "other_") for name in
              ("text", "_v", *names[:-2], "kept_text", "kept_kept_text")]  # fmt: skip
    for table in (found.to_arrow(), found.to_polars().to_arrow()):
        assert table.column_names[7:] == beside
        assert list(table.to_pylist()[0].values())[7:] == [row["body"], True, *values] * 2
    assert list(found.to_pandas().iloc[0, 7:]) == [row["body"], True, *values] * 2


@pytest.mark.parametrize(
    ("name", "why"),
    [("content", "has a field of that name"), ("_v", 'that start with "_" are reserved for Solr')],
)
def test_a_collection_has_names_of_its_own(unasked: nd.Collection, name: str, why: str) -> None:
    """A column of such a name cannot be kept in Solr."""
    for verb in (nd.index, partial(nd.gate, index=True)):
        with pytest.raises(ArgumentError, match=f"column '{name}' cannot be kept: .*{why}"):
            verb([("1", "a text")], unasked, keep=name)


def test_several_outputs_are_written_and_refused_alike(tmp_path: Path) -> None:
    """A list of files; one that could not be written is refused before any work."""
    source, files = tmp_path / "in.jsonl", [tmp_path / "pairs.csv", tmp_path / "report.html"]
    source.write_text("".join(json.dumps(row) + "\n" for row in JOINED))

    def run(*outputs: Path) -> str:
        words = chain.from_iterable(("-o", str(path)) for path in outputs)
        return neardup("duplicates", str(source), "--text-field", "body", *words).stderr

    run(*files)
    assert all(file.stat().st_size for file in files)
    assert "is both --output and --output" in run(files[0], files[0])
    assert "there is no report format" in run(tmp_path / "new.tsv", tmp_path / "b.odd")
    assert not (tmp_path / "new.tsv").exists()


@pytest.mark.parametrize(
    ("mark", "suffix"), [(codecs.BOM_UTF8, ".csv"), (b"", ".csv"), (b"", ".xlsx")]
)
def test_csv_is_for_excel_if_the_source_was(tmp_path: Path, mark: bytes, suffix: str) -> None:
    """Excel takes CSV for another encoding, unless it begins with a byte order mark."""
    source = tmp_path / f"source{suffix}"
    rows = [["id", "text"], ["1", "Lübeck, a b c d e f g"], ["2", "Lübeck, a b c d e f"]]
    if suffix == ".csv":
        lines = "".join(f'{id},"{text}"\n' for id, text in rows)
        source.write_bytes(mark + lines.encode())
    else:
        pd.DataFrame(rows[1:], columns=rows[0]).to_excel(source, index=False)
    outputs = [tmp_path / "pairs.csv", tmp_path / "pairs.tsv", tmp_path / "pairs.xlsx"]
    own = (("unique", "u.csv"), ("removed", "r.csv")) if suffix == ".csv" else ()
    kept: dict[str, Any] = {name: tmp_path / file for name, file in own}
    found = nd.duplicates(source)
    for path in outputs:
        found.write(path)
    if kept:
        found.write_unique(kept["unique"], removed=kept["removed"])
    is_for_excel = bool(mark) or suffix == ".xlsx"
    for path in (outputs[0], *kept.values()):
        assert path.read_bytes().startswith(codecs.BOM_UTF8) == is_for_excel
        assert not path.read_bytes()[3:].startswith(codecs.BOM_UTF8)
    assert outputs[1].read_bytes().startswith(b"id")
    for path in outputs:
        require_pairs(path, [("1", "2")])


def test_shingles_of_characters_suit_the_texts(tmp_path: Path) -> None:
    """Unrelated long texts are no candidates by default, and every verb takes the same shingles."""
    rng = random.Random(5)
    words = ["".join(rng.choices("abcdefghij", k=rng.randint(2, 7))) for _ in range(3_000)]
    texts = [" ".join(rng.choices(words, k=400)) for _ in range(200)]
    rows = [(str(at), text) for at, text in enumerate([*texts, f"{texts[0]} and so on"])]
    given: dict[str, Any] = {"settings": {"kind": "chars"}}
    found = nd.duplicates(rows, by="bands", **given)
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("0", "200")]
    assert found.candidates < 0.05 * len(rows) ** 2 / 2
    assert nd.explain(rows, "0", "1", **given).facts.settings == found.settings
    assert nd.tune(rows, sample=50, **given).settings.shingle_size == found.settings.shingle_size
    names = [(id, text[:40]) for id, text in rows]
    assert nd.duplicates(names, **given).settings.shingle_size == 3
    named = {"kind": "chars", "shingle_size": 4}
    assert nd.duplicates(rows, settings=named).settings.shingle_size == 4


def test_each_cause_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """The first record may have another cause than the others; what differs in it is no cause."""
    good = [{"id": str(n), "text": f"{n} a b c"} for n in range(9)]
    bad: list[dict[str, Any]] = [{"id": "", "text": "a"}, {"id": "20", "text": None}]
    bad += [{"id": "21", "text": None}, {"id": "", "text": "b"}, {"id": "x" * 40_000, "text": "c"}]
    nd.duplicates([*good, *bad])
    told = [line for line in caplog.messages if "record" in line]
    assert len(told) == 3
    assert "5 records" in told[0]
    assert ["'20'" in line for line in told] == [False, True, False]
