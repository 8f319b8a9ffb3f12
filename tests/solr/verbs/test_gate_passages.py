"""nd.gate with passages: which passage of which document a new document reuses."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.testing import SIZES
from tests.command import neardup
from tests.refusals import refusal

DRAW = random.Random(7)
WORDS = ["".join(DRAW.choices("abcdefghijklmnopqrst", k=6)) for _ in range(6_000)]


def words(*spans: tuple[int, int]) -> str:
    """A text of some spans of the words."""
    return " ".join(word for first, last in spans for word in WORDS[first:last])


STORED = {"whole": words((0, 600)), "other": words((600, 1_000))}
QUOTE = f"{words((1_000, 1_200))} \u201c{words((200, 260))}\u201d {words((1_200, 1_400))}"
EXCERPT, EDITION = words((100, 300)), words((0, 400), (1_400, 1_600))


def documents(texts: dict[str, str]) -> list[nd.Document]:
    """Documents of texts by their ids."""
    return [nd.Document(id=id, text=text) for id, text in texts.items()]


@pytest.fixture
def stored(solr: nd.Collection) -> nd.Collection:
    nd.index(documents(STORED), solr, settings={"fields": "all"})
    return solr


def decide(
    texts: dict[str, str], collection: nd.Collection, **arguments: Any
) -> dict[str, nd.Decision]:
    """Decisions with passages, by id."""
    decisions = nd.gate(documents(texts), collection, passages=True, **arguments)
    return {each.id: each for each in decisions}


def told(decision: nd.Decision) -> list[tuple[str, str, int]]:
    """Relations, documents and words of the passages of a decision."""
    return [(each.relation, each.other_id, each.words) for each in decision.passages]


def test_a_quotation_is_allowed_and_told(stored: nd.Collection) -> None:
    """The decision has the places of the passage in both texts."""
    quote = decide({"quote": QUOTE}, stored)["quote"]
    assert (quote.action, quote.matches) == ("allow", ())
    (passage,) = quote.passages
    assert told(quote) == [("quotes", "whole", 60)]
    assert QUOTE[passage.start : passage.end] == words((200, 260)) == passage.text
    assert STORED["whole"][passage.other_start : passage.other_end] == passage.other_text
    assert 0.1 < passage.share < 0.2
    (plain,) = nd.gate(documents({"quote": QUOTE}), stored)
    assert plain.passages == ()


def test_a_part_is_judged_by_what_passages_cover(stored: nd.Collection) -> None:
    """As a similarity is: tagged by default, rejected or held from the bound on, if it is one."""
    tagged = decide({"excerpt": EXCERPT, "edition": EDITION}, stored)
    assert [each.action for each in tagged.values()] == ["tag", "tag"]
    assert told(tagged["excerpt"]) == [("part of", "whole", 200)]
    assert told(tagged["edition"]) == [("edited", "whole", 400), ("contains", "excerpt", 200)]
    assert tagged["excerpt"].kept()["neardup_of"] == ["whole"]
    assert "'whole'" in tagged["excerpt"].reason
    strict = decide({"excerpt": EXCERPT, "edition": EDITION}, stored, reject=0.95, hold=0.8)
    assert [each.action for each in strict.values()] == ["reject", "allow"]
    assert strict["excerpt"].matches[0].similarity == 1.0
    assert told(strict["edition"]) == [("edited", "whole", 400)]


@pytest.mark.parametrize("batch", [1, 2, 50])
def test_new_documents_are_compared_with_each_other(stored: nd.Collection, batch: int) -> None:
    """With those admitted before, in the same batch or not, and with the last of an id."""
    texts = {
        "a": words((2_000, 2_400)),
        "copy": STORED["whole"],
        "b": words((2_500, 2_700), (2_100, 2_160), (2_700, 2_900)),
        "c": words((0, 60), (3_000, 3_300), (2_500, 2_560)),
    }
    decisions = decide(texts, stored, batch=batch)
    assert decisions["copy"].action == "reject"
    assert told(decisions["a"]) == []
    assert told(decisions["b"]) == [("shares", "a", 60)]
    assert sorted(told(decisions["c"])) == [("shares", "b", 60), ("shares", "whole", 60)]
    again = [*documents(texts), nd.Document(id="b", text=words((4_000, 4_200)))]
    again.append(nd.Document(id="d", text=words((4_300, 4_500), (2_500, 2_560), (4_000, 4_060))))
    *_, last = nd.gate(again, stored, passages=True, batch=batch)
    assert sorted(told(last)) == [("shares", "b", 60), ("shares", "c", 60)]


def test_indexed_documents_count_once(stored: nd.Collection) -> None:
    """Those of the run, whether Solr shows them already or not, and not the document itself."""
    texts = {"excerpt": EXCERPT, "quote": QUOTE, "again": words((1_000, 1_060), (5_000, 5_200))}
    for _ in range(2):
        decisions = decide(texts, stored, index=True, batch=1)
        assert told(decisions["again"]) == [("shares", "quote", 60)]
        assert told(decisions["excerpt"])[0] == ("part of", "whole", 200)
    assert nd.search(stored, id="excerpt", passages=True)[0].id == "whole"


def test_the_collection_may_be_empty(solr: nd.Collection) -> None:
    """What is indexed then has shingles, so that the next run finds it."""
    decide(STORED, solr, index=True)
    assert told(decide({"quote": QUOTE}, solr)["quote"]) == [("quotes", "whole", 60)]


def test_few_seeds_find_long_passages(
    stored: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store of seeds that is full keeps some of each document."""
    monkeypatch.setattr(SIZES, "gate_seeds", 200)
    texts = {f"{at}": words((1_000 + 300 * at, 1_300 + 300 * at)) for at in range(12)}
    texts["end"] = words((1_000, 1_290), (5_000, 5_400), (3_400, 3_690))
    assert sorted(told(decide(texts, stored)["end"])) == [("contains", "0", 290),
                                                          ("contains", "8", 290)]  # fmt: skip


def test_a_menu_is_found_in_few_documents(stored: nd.Collection) -> None:
    """Runs of letters that very many new documents have are counted."""
    menu = words((5_900, 5_930))
    texts = {f"{at}": f"{menu} {words((40 * at, 40 * at + 39))}" for at in range(100)}
    decisions = nd.gate(documents(texts), stored, passages=True, batch=10)
    *_, last = decisions
    assert decisions.hot > 0
    assert 0 < len(last.passages) < 20
    assert {each.relation for each in last.passages} == {"shares"}


def test_what_has_to_be_equal_and_answers_count(stored: nd.Collection, tmp_path: Path) -> None:
    """Passages of other numbers, or of documents that are answered different, do not count."""
    numbered = {"excerpt": f"{EXCERPT} 1990"}
    assert told(decide(numbered, stored)["excerpt"])
    assert not told(decide(numbered, stored, equal="numbers")["excerpt"])
    path, both = tmp_path / "answers.jsonl", documents(STORED | numbered)
    nd.answer(both, "excerpt", "whole", "different", answers=path)
    decision = decide(numbered, stored, answers=path)["excerpt"]
    assert (decision.action, decision.passages) == ("allow", ())


def test_the_command_tells_passages(stored: nd.Collection, tmp_path: Path) -> None:
    """The longest in a table, all in JSON lines; in the columns of a DataFrame, too."""
    source = tmp_path / "new.jsonl"
    texts = {"quote": QUOTE, "excerpt": EXCERPT, "none": words((5_000, 5_100)), "empty": "\u200b"}
    lines = [json.dumps({"id": id, "text": text}) for id, text in texts.items()]
    source.write_text("\n".join(lines))
    command = ["gate", str(source), "--passages", "-c", stored.name, "--solr", stored.base]
    shown = neardup(*command, "--format", "table").stdout
    assert "quotes whole: 60 words" in shown
    assert "none" not in shown
    rows = [json.loads(line) for line in neardup(*command, "--format", "jsonl").stdout.splitlines()]
    assert [len(row["passages"]) for row in rows] == [1, 2, 0, 0]
    assert rows[0]["passages"][0]["other_id"] == "whole"
    header, *others = neardup(*command, "--format", "tsv").stdout.splitlines()
    cells = dict(zip(header.split("\t"), others[0].split("\t"), strict=True))
    assert (cells["passages"], cells["reused_id"], cells["words"]) == ("1", "whole", "60")
    output = tmp_path / "decisions.csv"
    neardup(*command, "-o", str(output), "--min-words", "100")
    assert output.read_text().splitlines()[1].startswith("quote,allow,,,,0,")
    frame = nd.gate(source, stored, passages=True).to_pandas()
    assert frame["relation"].tolist()[:2] == ["quotes", "part of"]


def test_passages_need_shingles(solr: nd.Collection) -> None:
    """A collection without them cannot tell passages."""
    nd.index(documents(STORED), solr, settings={"fields": ["content", "content_bands"]})
    with refusal(SettingsError, "fields-missing", "content_ng"):
        nd.gate(documents({"quote": QUOTE}), solr, passages=True)
    with refusal(ArgumentError, "arguments-conflict", "`min_words`"):
        nd.gate(documents({"quote": QUOTE}), solr, min_words=8)
