"""The report page as a file: whole, the same each time, data that cannot become markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from neardup_solr import Cluster, Duplicate
from neardup_solr.measures.frequencies import count_words
from neardup_solr.reports.html import embed
from neardup_solr.reports.html.embed import list_clusters
from neardup_solr.reports.html.page import page_lines
from neardup_solr.reports.pair import PairTable
from neardup_solr.testing import SIZES
from neardup_solr.text import diff
from neardup_solr.text.normalize import normalize
from neardup_solr.types import Member
from tests import ROOT
from tests.browser.pages import page_of, small_page

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes, and what their contents are."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.contents: list[tuple[str, str]] = []
        self._is_open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        self.contents.append((tag, ""))
        self._is_open = True

    def handle_endtag(self, tag: str) -> None:
        """Note that what follows belongs to no element of interest."""
        self._is_open = False

    def handle_data(self, data: str) -> None:
        """Note what an element holds before another begins."""
        if self._is_open:
            tag, text = self.contents[-1]
            self.contents[-1] = tag, text + data


def parsed(html: str) -> Elements:
    """A page as an HTML parser reads it."""
    parser = Elements()
    parser.feed(html)
    parser.close()
    return parser


def embedded(html: str, name: str) -> Any:
    """The data block of a page that has a name."""
    block = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', html, re.S)
    assert block is not None
    return json.loads(block[1])


def test_the_same_page_is_the_same_file() -> None:
    """Neither dates nor chance get into a page."""
    assert list(page_lines(small_page())) == list(page_lines(small_page()))


def test_the_same_page_in_another_process() -> None:
    """A page does not depend on the seed of Python's hashes."""
    code = (
        "from tests.browser.pages import small_page;"
        "from neardup_solr.reports.html.page import page_lines;"
        "import hashlib;"
        "print(hashlib.sha256(''.join(page_lines(small_page())).encode()).hexdigest())"
    )
    ran = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert ran[0] == ran[1]


@pytest.mark.parametrize(
    "text",
    ["</script><script>alert(1)</script>", "<!-- <script", "a\u2028b\u2029c", "\ud800", "\x00",
     "]]>", "&lt;", "'\"`${}"],
)  # fmt: skip
def test_texts_are_data(text: str) -> None:
    """No text changes the elements of a page, and each is read back as it was."""
    harmless = "".join(page_lines(page_of([{"1": "some words", "2": "some other words"}])))
    page = page_of([{text: "some words", f"{text}2": f"some words {text}"}])
    hostile = "".join(page_lines(replace(page, title=text, notes=[text])))
    hostile.encode()
    assert [tag for tag, _ in parsed(hostile).elements] == [
        tag for tag, _ in parsed(harmless).elements
    ]
    assert embedded(hostile, "ids") == [text, f"{text}2"]
    assert embedded(hostile, "facts")[0]["title"] == text


@given(st.text() | st.text(st.characters(categories=["Cs", "Cc", "Zl", "Zp", "Sm", "Po"])))
def test_encoded_is_json_without_markup(text: str) -> None:
    """Any string comes back from its JSON, which has nothing that HTML reads, and fits UTF-8."""
    line = embed.encoded(text)
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert json.loads(line) == paired
    assert not set("<>&\u2028\u2029\n\r") & set(line)
    line.encode()


def test_the_policy_names_the_only_code() -> None:
    """The policy has the hashes of the style and the script; no element has inline code."""
    html = "".join(page_lines(small_page()))
    page = parsed(html)
    policy = next(a["content"] for _, a in page.elements if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        code = [text for (name, text), (_, attributes) in zip(page.contents, page.elements,
                strict=True) if name == tag and "type" not in attributes]  # fmt: skip
        digest = base64.b64encode(hashlib.sha256(code[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
        assert len(code) == 1
    inline = [name for _, attributes in page.elements for name in attributes
              if name == "style" or name.startswith("on")]  # fmt: skip
    assert inline == []


def test_nothing_is_loaded() -> None:
    """No element names an address, but for the names of SVG and its own parts."""
    page = parsed("".join(page_lines(small_page())))
    named = {value for _, attributes in page.elements for name, value in attributes.items()
             if value and name in ("src", "href", "xlink:href", "action", "srcset")}  # fmt: skip
    assert {value for value in named if not value.startswith("#")} == {"data:,"}


def test_ids_of_a_page_are_unique() -> None:
    """The two pictures and the page share no id."""
    page = parsed("".join(page_lines(small_page())))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


@given(WORDS, WORDS)
def test_steps_cost_the_distance(first: list[str], second: list[str]) -> None:
    """Steps cover both texts; removed and added words cost their distance."""
    steps = embed.steps(diff.changes(first, second))
    turns = [steps[at : at + 3] for at in range(0, len(steps), 3)]
    assert sum(equal + removed for equal, removed, _ in turns) == len(first)
    assert sum(equal + added for equal, _, added in turns) == len(second)
    assert sum(max(turn[1:]) for turn in turns) == Levenshtein.distance(first, second)


def test_rows_by_hand() -> None:
    """Ids are in natural order, and everything else names them by their place."""
    html = "".join(page_lines(page_of([{"10": "Plum & and/or pear", "9": "plum or PEAR tree"}])))
    assert embedded(html, "ids") == ["9", "10"]
    assert embedded(html, "texts") == ["plum or PEAR tree", "Plum\u00a0& and/ \u2009or pear"]
    assert embedded(html, "clusters") == [
        [0, 1, 2, 1, 1, 0, 0.5, 0.5, [], [1, 0], [1.0, 0.5], [0, 2]]
    ]
    assert embedded(html, "pairs") == [[[0, 1, 0.5, 2, 5, [1, 0, 1, 2, 1, 0]]]]


def test_lines_and_kept_columns_by_hand() -> None:
    """The first word of a line has a line feed before it; kept columns are texts or null."""
    page = page_of([{"a": "Title\n\nsome & words", "b": "\u2028title some\r\nwords"}])
    kept: dict[str, dict[str, Any]] = {
        "a": {"year": 1999, "city": None},
        "b": {"year": 5.5, "city": "x" * 2_000},
    }
    html = "".join(page_lines(replace(page, kept=kept)))
    assert embedded(html, "texts") == ["Title \nsome\u00a0& words", "title some \nwords"]
    assert embedded(html, "kept") == [["1999", None], ["5. \u20095", "x" * embed.MOST_KEPT]]
    assert embedded(html, "facts")[0]["kept"] == ["year", "city"]
    assert 'id="kept"' not in "".join(page_lines(page))


def test_words_that_stand_for_others_by_hand() -> None:
    """A pair of aligned words is there by its places, unless the diff has equal words there."""
    texts = {"a": "Ritz Blvd. Grill", "b": "grill Ritz Boulevard"}
    known = count_words(map(normalize, texts.values()))
    html = "".join(page_lines(replace(page_of([texts]), table=PairTable(frequencies=known))))
    [[[*_, stands]]] = embedded(html, "pairs")
    assert stands == [[1, 2], [2, 0]]


def test_texts_may_be_missing() -> None:
    """A text that is not there is null, and so are the diffs with it."""
    page = page_of([{"a": "some words", "b": "some more words", "c": "some words"}])
    texts = {id: text for id, text in page.texts.items() if id != "b"}
    html = "".join(page_lines(replace(page, texts=texts)))
    assert embedded(html, "texts") == ["some words", None, "some words"]
    diffs = {tuple(pair[:2]): pair[5] for pair in embedded(html, "pairs")[0]}
    assert diffs == {(0, 1): None, (1, 2): None, (0, 2): [2, 0, 0]}


def test_pairs_of_clusters_that_are_not_shown_are_left_out() -> None:
    """A page of some of the clusters has the pairs of those."""
    page = page_of([{"a": "some words", "b": "some words"}, {"c": "other", "d": "other"}])
    some = replace(page, clusters=page.clusters[:1])
    html = "".join(page_lines(some))
    assert all(isinstance(pair, Duplicate) for pair in some.pairs)
    assert [len(pairs) for pairs in embedded(html, "pairs")] == [1]


@pytest.mark.parametrize("has_frequencies", [False, True])
@pytest.mark.parametrize("has_texts", [False, True])
def test_what_people_said_of_a_pair(has_texts: bool, has_frequencies: bool) -> None:
    """An answer is the eighth value of its pair, whatever comes before it."""
    page = page_of([{"a": "some words", "b": "some other words", "c": "words"}])
    answers = ("same", "unsure", "")
    pairs = [replace(one, answer=word) for one, word in zip(page.pairs, answers, strict=True)]
    known = count_words(["some words"])
    page = replace(
        page,
        pairs=pairs,
        texts=page.texts if has_texts else {},
        table=PairTable(frequencies=known if has_frequencies else None),
    )
    [listed] = embedded("".join(page_lines(page)), "pairs")
    assert sorted(one[7:] for one in listed) == [[], ["same"], ["unsure"]]
    assert {type(one[6]) for one in listed if len(one) > 6} == {list}


def clusters_of(sizes: Sequence[int]) -> tuple[list[Cluster], list[Duplicate]]:
    """Clusters of so many documents, all of them pairs, the similarities rising."""
    clusters, pairs = [], []
    for number, size in enumerate(sizes):
        ids = [f"{number}-{member}" for member in range(size)]
        members = tuple(Member(id=id, similarity=1.0, distance=0) for id in ids)
        both = list(combinations(ids, 2))
        own = [
            Duplicate(id=a, other_id=b, similarity=0.5 + at / 2 / len(both), distance=0,
                      measure="words", cluster=ids[0])
            for at, (a, b) in enumerate(both)
        ]  # fmt: skip
        pairs += own
        clusters.append(
            Cluster(id=ids[0], canonical=ids[0], members=members, pairs=len(own), diameter=1,
                    bridges=tuple(ids[-1:]))
        )  # fmt: skip
    return clusters, pairs


def test_all_clusters_are_listed_and_some_pairs_of_the_large_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many pairs a cluster has, no other one is left out for them."""
    monkeypatch.setattr(SIZES, "page_pairs", 100)
    clusters, pairs = clusters_of((2, 40, 3, 30))
    listed = list(list_clusters(clusters, pairs))
    assert [len(each.members) for each in listed] == [40, 30, 3, 2]
    assert [len(each.pairs) for each in listed] == [48, 48, 3, 1]
    assert listed[0].low == 0.5
    assert listed[0].high == max(pair.similarity for pair in pairs)  # of all, not of those


def test_clusters_are_left_out_by_bytes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond what a browser reads at once the largest clusters are listed, and the page says so."""
    monkeypatch.setattr(SIZES, "page_rows", 10_000)
    clusters, pairs = clusters_of([2] * 200 + [150])
    page = replace(page_of([]), clusters=clusters, pairs=pairs)
    html = "".join(page_lines(page))
    listed = embedded(html, "clusters")
    assert 20 < len(listed) < 200
    assert (listed[0][2], len(listed[0][9])) == (150, embed.FIRST_MEMBERS)
    left = embedded(html, "facts")[0]["left"]
    assert f"the {len(listed)} largest of 201 groups" in left
    assert embedded(html, "facts")[0]["clusters"] == 201


def test_texts_stay_within_their_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten documents of each cluster have their texts before more of one do, and the page tells."""
    monkeypatch.setattr(SIZES, "page_text", 30 * 11)
    clusters, pairs = clusters_of((60, 12, 2))
    texts = {member.id: "eleven text" for cluster in clusters for member in cluster.members}
    page = replace(page_of([]), clusters=clusters, pairs=pairs, texts=texts)
    html = "".join(page_lines(page))
    there = Counter(id.partition("-")[0] for id, text in
                    zip(embedded(html, "ids"), embedded(html, "texts"), strict=True)
                    if text is not None)  # fmt: skip
    assert there == {"0": 18, "1": 10, "2": 2}
    assert "the texts of 30 of 74 documents" in embedded(html, "facts")[0]["left"]


@given(st.lists(st.integers(0, 50)), st.integers(0, 500), st.integers(1, 20))
def test_shares_are_fair(sizes: list[int], room: int, least: int) -> None:
    """Nobody gets more than there is, or less than another one who wants as much, in the room."""
    found = embed.shares(np.array(sizes, dtype=np.int64), room, least=least).tolist()
    assert sum(found) <= room
    assert all(got <= size for got, size in zip(found, sizes, strict=True))
    most = max(found, default=0)
    given = [min(size, most) for size in sizes]
    if sum(min(size, least) for size in sizes) <= room:
        assert found == given
        assert most == max(sizes, default=0) or sum(min(s, most + 1) for s in sizes) > room
    else:
        assert most <= least


def test_pairs_to_look_at() -> None:
    """The least similar pairs come first, then those of bridges, then examples of all others."""
    _, pairs = clusters_of((40,))
    chosen = embed.choose_pairs(pairs[::-1], ["0-39"], 30)
    assert len(set(chosen)) == 30
    assert chosen[:10] == pairs[:10]
    assert sum("0-39" in (pair.id, pair.other_id) for pair in chosen[10:]) >= 10
    assert chosen[-1] in pairs[-3:]
    assert [p.similarity for p in chosen] == sorted(p.similarity for p in chosen)
    assert embed.choose_pairs(pairs[:5][::-1], [], 5) == pairs[:5]
    assert embed.choose_pairs(pairs, [], 1) == pairs[:1]
