"""The report page in a real browser: opens, sorts, filters, compares, and stays harmless."""

from __future__ import annotations

import base64
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

import neardup_solr as nd
from neardup_solr.measures.frequencies import count_words
from neardup_solr.records import Borderline
from neardup_solr.reports.html.invisibles import show_invisibles
from neardup_solr.reports.html.page import Page
from neardup_solr.reports.pair import PairTable
from neardup_solr.text.normalize import normalize
from neardup_solr.verbs.duplicates.notebook import MOST_SHOWN
from tests.browser.conftest import (
    Chrome,
    OpenPage,
    broken_words,
    complaints,
    prefer,
    requests,
    resize,
)
from tests.browser.pages import crowded_page, large_page, page_of, reuse_of, small_page
from tests.faults.tiers import sized
from tests.groups import with_groups

Recorded = Callable[[str, str], None]  # a figure of the table of faults
MOST_ELEMENTS = 3_000  # of a cluster that is open, however large it is
READABLE = 4.5  # contrast of text, WCAG 2.2 AA

HOSTILE = {
    "script": "words </script><script>window.harm = 1; alert(1)</script> and more words here",
    "comment": "<!-- <script> --> words ]]> and <!-- more words here",
    "handlers": "<img src=x onerror=alert(2)> <svg onload=alert(3)> words and more words here",
    "links": '<a href="javascript:alert(4)">words</a> <base href=http://x.test/> and more words',
    "entities": "words &lt;b&gt; &amp; \" ' ` ${alert(5)} {{7*7}} and more words here",
    "bidi": "words \u202egnitteg sdrow\u202c \u2066and\u2069 \u200fmore words\u200e here",
    "controls": "words \x00and\x07 more \x1bwords \x7fhere \ufeff\u2028\u2029 \ufffe",
    "long": "words " + "x" * 100_000 + " and " + "é" * 100_000 + " more words here",
    "<b onclick=alert(6)>\u202eid\x00</b>": "\ud83d words of a lone surrogate and more words",
}

CONTRASTS = """
const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const rgba = (colour) => {
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data];
};
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
const paper = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = rgba(getComputedStyle(at).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return [255, 255, 255];
};
const told = [];
for (const element of document.body.querySelectorAll("*:not(script):not(:disabled)")) {
  const said = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!said || !element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  const ink = light(rgba(element.closest("svg") ? style.fill : style.color));
  const [dark, bright] = [ink, light(paper(element))].sort((a, b) => a - b);
  told.push([(bright + 0.05) / (dark + 0.05), element.tagName + "." + element.className]);
}
return told;
"""


def css(chrome: Chrome, selector: str) -> list[WebElement]:
    """The elements that a selector matches."""
    return chrome.find_elements(By.CSS_SELECTOR, selector)


def first(chrome: Chrome, selector: str) -> WebElement:
    """The first element that a selector matches."""
    return chrome.find_element(By.CSS_SELECTOR, selector)


def column(chrome: Chrome, place: int) -> list[str]:
    """The texts of a column of the list of clusters, from 1."""
    # not as they are laid out, which rows far from the window are not
    texts: list[str] = chrome.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((cell) => cell.textContent)",
        f"#list .row > :nth-child({place})",
    )
    return texts


def count_becomes(chrome: Chrome, text: str) -> None:
    """Wait until the page says how many clusters it shows."""
    WebDriverWait(chrome, 20).until(lambda _: first(chrome, "#count").text == text)


def press(chrome: Chrome, *keys: str) -> WebElement:
    """Press keys wherever the focus is, and say where it is then."""
    ActionChains(chrome).send_keys(*keys).perform()
    return chrome.switch_to.active_element


def elements(chrome: Chrome) -> int:
    """How many elements the document has."""
    return int(chrome.execute_script("return document.querySelectorAll('*').length"))


def computed(chrome: Chrome, selector: str, name: str) -> str:
    """A computed style of the first element that a selector matches."""
    script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    return str(chrome.execute_script(script, selector, name))


def is_wider_than_the_window(chrome: Chrome) -> bool:
    """Whether the page scrolls sideways."""
    root = "document.documentElement"
    return bool(chrome.execute_script(f"return {root}.scrollWidth > {root}.clientWidth"))


def test_opens_without_a_request_or_a_complaint(open_page: OpenPage) -> None:
    """The page asks for nothing but itself, and the console stays empty.

    Code, styles and pictures that something puts into the page do not run or load.
    """
    made, command = "neardup_solr 9.9, 2026-11-23 08:00 UTC", "neardup duplicates '<b>' -o x.html"
    chrome = open_page(replace(small_page(), made=made, command=command))
    assert chrome.title == "Invented texts"
    assert first(chrome, "h1").text == "Invented texts"
    assert len(css(chrome, "#list .row")) == 5
    assert [element.text for element in css(chrome, "#summary dd")] == ["20", "35"]
    assert f"Made by {made}." in first(chrome, ".foot").text
    assert first(chrome, ".foot code").text == command
    assert not first(chrome, "#threshold").is_displayed()
    assert not css(chrome, ".stroke-mark")
    assert complaints(chrome) == []
    outside = [url for url in requests(chrome) if not url.startswith("data:")]
    assert outside == [chrome.current_url]
    chrome.execute_script(
        """const add = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set));
        add("script", { textContent: "window.harm = 1" });
        add("style", { textContent: "h1 { display: none }" });
        add("img", { src: "http://localhost:9/picture.png" });"""  # noqa: E501  # one call a line
    )
    assert chrome.execute_script("return window.harm") is None
    assert first(chrome, "h1").is_displayed()
    assert len([line for line in complaints(chrome) if "Content Security Policy" in line]) == 3


def test_sorts_by_each_header(open_page: OpenPage) -> None:
    """A header sorts, again the other way round, and says so."""
    chrome = open_page(small_page())
    assert column(chrome, 2) == ["6", "5", "4", "3", "2"]
    headers = css(chrome, "#headers button")
    headers[1].click()
    assert column(chrome, 2) == ["2", "3", "4", "5", "6"]
    assert css(chrome, "#headers th")[1].get_attribute("aria-sort") == "ascending"
    headers[0].click()
    assert column(chrome, 1) == ["Anchor-1", "Barley-1", "Copper-1", "Dune-1", "Ember-1"]
    headers[0].click()
    assert column(chrome, 1)[0] == "Ember-1"
    assert len(css(chrome, "#headers th[aria-sort]")) == 1
    for header in headers:
        header.click()
        assert len(css(chrome, "#list .row")) == 5


def test_filters_by_text_id_similarity_and_size(open_page: OpenPage) -> None:
    """Each filter narrows the list; clearing brings it back."""
    chrome = open_page(small_page())
    query = first(chrome, "#query")
    query.send_keys("COPPER, at the")
    count_becomes(chrome, "1 of 5 groups")
    assert column(chrome, 1) == ["Copper-1"]
    query.clear()
    query.send_keys("dune-5")
    count_becomes(chrome, "1 of 5 groups")
    assert column(chrome, 1) == ["Dune-1"]
    query.clear()
    query.send_keys("no such words")
    count_becomes(chrome, "0 of 5 groups")
    first(chrome, "#clear").click()
    count_becomes(chrome, "5 groups")
    first(chrome, "#size").send_keys("5")
    count_becomes(chrome, "2 of 5 groups")
    first(chrome, "#size").clear()
    first(chrome, "#least").send_keys("0.9")
    count_becomes(chrome, "4 of 5 groups")  # but for the first, whose texts differ most
    first(chrome, "#list .opener").click()
    assert "of 15, selected by the filter" in first(chrome, ".detail").text


def test_shows_what_was_looked_for(open_page: OpenPage) -> None:
    """A row quotes the text that the filter found, marked, and says whose it is."""
    long = "some words " * 100 + "and a Lighthouse at the end"
    chrome = open_page(page_of([{"near": "some words", "far": long}, {"c": "other", "d": "other"}]))
    first(chrome, "#query").send_keys("LIGHT")
    count_becomes(chrome, "1 of 2 groups")
    assert first(chrome, "#list mark").text == "Light"
    quoted = first(chrome, ".canonical .preview").text
    assert quoted.startswith("in far: … ")
    assert quoted.endswith("Lighthouse at the end")


def test_opens_a_cluster_and_a_diff(open_page: OpenPage) -> None:
    """A cluster lists documents and pairs; a pair shows its words and why it was found.

    The whole row is a target for the mouse. What documents are to each other, and what somebody
    said of them, stands beside the figures of a pair.
    """
    small = small_page()
    pairs = [replace(small.pairs[0], answer="unsure", relation="part of"), *small.pairs[1:]]
    chrome = open_page(replace(small, pairs=pairs))
    css(chrome, "#list .opener")[3].click()
    members = [item.text for item in css(chrome, ".members > li")]
    assert "to keep" in members[0]
    assert "links others" in members[2]
    assert len(members) == len(css(chrome, ".pairs > li")) == 3
    css(chrome, ".pairs .opener")[0].click()  # the least similar
    assert {"1", "2"} & {element.text for element in css(chrome, ".diff del")}
    assert [e.text for e in css(chrome, ".diff ins")][-1].endswith("and on Sundays")
    assert not first(chrome, ".why").is_displayed()
    assert "iameter" not in first(chrome, "main").text
    for fold in css(chrome, ".detail .how summary"):
        fold.click()
    assert "Diameter: " in first(chrome, ".detail").text
    why = first(chrome, ".why").text
    assert "of 42" in why
    assert "words" in why
    assert "at this similarity" in why
    side, inline = len(css(chrome, ".diff > p")), first(chrome, ".tools button")
    inline.click()
    assert inline.get_attribute("aria-pressed") == "true"
    assert len(css(chrome, ".diff > p")) < side
    css(chrome, "#list .opener")[3].click()
    assert css(chrome, ".detail") == []
    css(chrome, "#list .row .preview")[-1].click()
    assert len(css(chrome, ".detail")) == 1
    figures = first(chrome, ".pair .figure").text
    assert figures.endswith(" · the first is part of the second · judged unsure")
    css(chrome, "#list .row .preview")[-1].click()
    assert css(chrome, ".detail") == []
    assert complaints(chrome) == []


def test_long_texts_show_what_changed(open_page: OpenPage) -> None:
    """Of long texts the changed regions are shown, and all of them on demand."""
    words = [f"word{number}" for number in range(500)]
    other = [*words[:250], "changed", *words[251:]]
    chrome = open_page(page_of([{"a": " ".join(words), "b": " ".join(other)}]))
    first(chrome, "#list .opener").click()
    body = first(chrome, ".diff")
    assert "word241" not in body.text
    assert "word249" in body.text
    assert "… 242 equal words …" in body.text
    css(chrome, ".tools button")[2].click()
    assert "word0 word1 word2" in body.text
    assert "equal words" not in body.text


def test_passages_of_long_texts_lead_to_each_other(open_page: OpenPage) -> None:
    """Both texts are cut to their passages; a click, or Enter, scrolls the other column to it."""
    chrome = open_page(page_of([reuse_of(2_000)]))
    first(chrome, "#list .opener").click()
    columns = css(chrome, ".passages .column")
    assert [len(column.find_elements(By.CSS_SELECTOR, ".passage")) for column in columns] == [2, 2]
    assert "960 words" in columns[0].text
    assert "whole500 " not in columns[0].text
    assert first(chrome, ".passages ins").text == "changed"
    assert first(chrome, ".passages del").text == "whole1030"
    chrome.execute_script(
        "for (const each of document.querySelectorAll('.column')) each.style.maxHeight = '6rem'"
    )
    passage = columns[0].find_element(By.CSS_SELECTOR, ".passage")
    for choose in (passage.click, lambda: passage.send_keys(Keys.ENTER)):
        chrome.execute_script("arguments[0].scrollTop = 0", columns[1])
        choose()
        assert columns[1].get_property("scrollTop") > 100  # type: ignore[operator]
        current = columns[1].find_element(By.CSS_SELECTOR, ".is-current")
        assert current.text.startswith("whole1000 whole1001")
    assert complaints(chrome) == []


def test_passages_in_texts_of_a_hundred_thousand_words(open_page: OpenPage) -> None:
    """They are shown at once, in few elements, and no wider than a phone."""
    chrome = open_page(page_of([reuse_of(100_000)]))
    resize(chrome, 390, 800)
    taken = chrome.execute_script(
        """const begun = performance.now();
        document.querySelector("#list .opener").click();
        document.body.getBoundingClientRect();
        return performance.now() - begun;"""
    )
    assert taken < 5_000, taken
    assert len(css(chrome, ".passages .passage")) == 4
    assert len(css(chrome, "*")) < MOST_ELEMENTS
    assert chrome.execute_script("return document.documentElement.scrollWidth") <= 390


def test_missing_texts_are_said_to_be_missing(open_page: OpenPage) -> None:
    """Where texts were not read, the page says so in place of a diff, and in the box of notes."""
    page = replace(small_page(), texts={}, curve=None, complete=False, notes=["Hot keys.", "Two."])
    chrome = open_page(page)
    css(chrome, "#list .opener")[-1].click()
    assert "so there is no diff" in first(chrome, ".compared").text
    lines = ["This report may be incomplete.", "Hot keys.", "Two."]
    assert first(chrome, "#notes").text.splitlines() == lines
    assert len(css(chrome, "#notes > *")) == 1
    css(chrome, ".members .open")[0].click()
    assert "not in this page" in first(chrome, "#document-body").text
    assert complaints(chrome) == []


def test_the_threshold_is_told_and_marked(open_page: OpenPage) -> None:
    """A line below the title says what depends on it, and a fold has what is for experts."""
    known = Borderline(min_similarity=0.5, pairs=35, above=3, below=12, open=4, open_higher=1)
    chrome = open_page(replace(small_page(), borderline=known))
    assert first(chrome, "#threshold").text == (
        "Documents are a pair from 0.5 on. From 0.55 on, there would be 3 pairs fewer, from 0.45 on"
        " about 12 more. Pale: pairs just below that."
    )
    assert not first(chrome, "#experts").is_displayed()
    first(chrome, "#how summary").click()
    assert "4 open wedges" in first(chrome, "#experts").text
    mark, pale = (first(chrome, f".plot {name}").rect for name in (".stroke-mark", ".fill-below"))
    assert mark["x"] == pytest.approx(pale["x"] + pale["width"], abs=1.5)
    assert mark["height"] > pale["height"] > 1
    assert not complaints(chrome)


def border(least: float, below: int = 100) -> Borderline:
    """What a run may say of its threshold."""
    return Borderline(min_similarity=least, pairs=9, above=3, below=below, open=1, open_higher=0)


BARS = """const names = ["x", "y", "width", "height"];
return [...document.querySelectorAll(`${arguments[0]} rect`)].map((each) => [
  each.getAttribute("class"), ...names.map((name) => Number(each.getAttribute(name)))])"""


@pytest.mark.parametrize(
    ("similarities", "least", "sizes"),
    [
        ([], None, []),
        ([0.0, 1.0, 0.5], None, [2] * 500 + [3, 24]),
        ([0.5] * 500 + [1.0], 0.5, [2] * 5_000 + [3, 24, 10_000]),
        ([0.6, 1.0], 0.0, [10**9]),
        ([0.6, 1.0], 0.03, [2, 25]),
        ([0.6, 1.0], 1.0, [150]),
    ],
)
def test_pictures_count_everything_in_their_frame(
    open_page: OpenPage, similarities: list[float], least: float | None, sizes: list[int]
) -> None:
    """Each similarity and size that is met has a bar, and no bar leaves the picture or is empty."""
    page = page_of([{"a": "some words", "b": "some words"}])
    pairs = [replace(page.pairs[0], similarity=each, cluster="") for each in similarities]
    known = None if least is None else border(least)
    chrome = open_page(replace(page, pairs=pairs, clusters=[], borderline=known))
    chrome.execute_script(
        "facts.sizes = arguments[0]; find('sizes').replaceChildren(sizesPicture())",
        sorted(Counter(sizes).items()),
    )
    bars = [(kind, *box) for kind, *box in chrome.execute_script(BARS, ".figures")]
    assert all(0 < x < x + wide < 432 and 18 - 1e-9 <= y < y + high <= 181.01
               for _, x, y, wide, high in bars)  # fmt: skip
    shown = [kind for kind, *_ in chrome.execute_script(BARS, "#similarities")]
    assert shown.count("fill-bars") == len({int(50 * min(each, 0.99)) for each in similarities})
    assert ("fill-below" in shown) == bool(least)
    assert bool(chrome.execute_script(BARS, "#sizes")) == bool(sizes)
    assert complaints(chrome) == []


def test_pairs_just_below_the_threshold_are_as_large_in_the_picture(open_page: OpenPage) -> None:
    """They are a bar of the same area as all others: 100 in 0.05 is as high as 40 in 0.02."""
    page = page_of([{"a": "some words", "b": "some words"}])
    pairs = [replace(page.pairs[0], similarity=0.6)] * 40
    chrome = open_page(replace(page, pairs=pairs, curve=None, borderline=border(0.5)))
    heights = {kind: high for kind, *_, high in chrome.execute_script(BARS, "#similarities")}
    assert heights["fill-below"] == pytest.approx(heights["fill-bars"], abs=0.01)
    assert "pairs from 0.5" in first(chrome, "#similarities svg").text


def test_a_probability_is_called_one(open_page: OpenPage) -> None:
    """By fields, or by a model, the page has no similarities but probabilities."""
    small = small_page()
    page = replace(small, pairs=[replace(one, measure="fields") for one in small.pairs], curve=None)
    chrome = open_page(page)
    assert [one.text for one in css(chrome, "th")].count("Probability") == 1
    css(chrome, "#list .row")[-1].click()
    text = first(chrome, "body").text
    assert "Probability from" in text
    assert "Similarity" not in text
    assert "pairs by probability" in first(chrome, "svg").accessible_name.lower()


def test_a_document_opens_by_itself(open_page: OpenPage) -> None:
    """A click on an id shows the whole document, line by line, with its kept columns apart."""
    long = "A title\nand/or words " + "and words " * 200 + "to the end"
    kept: dict[str, dict[str, Any]] = {
        "a": {"year": 1999, "city": "Oslo"},
        "b": {"year": None, "city": "<b>"},
    }
    chrome = open_page(replace(page_of([{"a": long, "b": f"{long}!"}]), kept=kept))
    assert first(chrome, "#list .canonical .preview").text.startswith("A title and/or words")
    first(chrome, "#list .open").click()
    assert first(chrome, "#document h2").text == "a"
    lines = [line.text for line in css(chrome, "#document .whole p")]
    assert lines[0] == "A title"
    assert lines[1].startswith("and/or words and words")
    assert lines[1].endswith("to the end")
    assert first(chrome, "#document .kept").text.split() == ["year", "1999", "city", "Oslo"]
    press(chrome, Keys.ESCAPE)
    assert not first(chrome, "#document").is_displayed()
    assert css(chrome, ".detail") == []
    first(chrome, "#list .opener").click()
    css(chrome, ".diff .open")[1].click()
    assert first(chrome, "#document .kept").text.split() == ["city", "<b>"]
    first(chrome, "#close").click()
    first(chrome, "#query").send_keys("oslo")  # kept columns are searched, too
    count_becomes(chrome, "1 group")


def test_words_that_stand_for_each_other(open_page: OpenPage) -> None:
    """By aligned words a diff says which word stands for which, and speaks of no bands."""
    texts = {"a": "Ritz 12 Sunset Blvd., Grill", "b": "Grill Ritz 12 Sunset Boulevard; bar"}
    known = count_words(map(normalize, texts.values()))
    chrome = open_page(
        replace(page_of([texts]), by="words", curve=None, table=PairTable(frequencies=known))
    )
    first(chrome, "#list .opener").click()
    marked = {word.text: word.get_attribute("title") for word in css(chrome, ".diff .stands")}
    assert marked["Blvd.,"] == "stands for Boulevard;"
    assert marked["Boulevard;"] == "stands for Blvd.,"
    assert marked.keys() == {"Blvd.,", "Boulevard;"}  # a word that moved is no difference
    assert [word.text for word in css(chrome, ".diff ins")] == ["bar"]
    assert css(chrome, ".diff del") == []
    assert "Blvd. ≈ Boulevard" in first(chrome, ".legend").text
    first(chrome, ".compared .how summary").click()
    assert "share a rare word" in first(chrome, ".compared .why-note").text
    assert "rare word" in first(chrome, "#curve").text
    assert "band" not in first(chrome, "main").text.replace("Bands × rows", "")


def test_words_that_moved_are_no_difference(open_page: OpenPage) -> None:
    """By shared shingles a part that stands elsewhere is neither marked nor listed."""
    page = page_of([{"a": "one two three four five six", "b": "four five six one two three"}])
    table = PairTable(measure="jaccard", settings=nd.Settings())
    chrome = open_page(replace(page, table=table))
    first(chrome, "#list .opener").click()
    assert css(chrome, ".diff :is(del, ins, .stands)") == []
    assert "≈" not in first(chrome, ".legend").text


def test_all_clusters_are_in_the_document(open_page: OpenPage) -> None:
    """Keys, the search of the browser and screen readers reach each row, and so does paper."""
    chrome = open_page(large_page(300, 20))
    first(chrome, "#query").click()
    press(chrome, Keys.ARROW_DOWN)
    assert press(chrome, Keys.END).text == "doc-299a"
    assert press(chrome, Keys.HOME).text == "doc-0a"
    assert chrome.execute_script("return window.find('doc-250a')")
    assert len(set(column(chrome, 1))) == 300
    pages = base64.b64decode(chrome.print_page()).count(b"/Type /Page\n")
    assert 300 / 25 < pages < 300 / 10


def test_more_clusters_than_are_drawn(open_page: OpenPage) -> None:
    """Beyond a bound a line tells how many rows are left, and draws them; filters find all."""
    chrome = open_page(large_page(5, 20))
    chrome.execute_script("most = 2; show()")
    assert first(chrome, "#rest").text.startswith("3 more groups not shown yet")
    first(chrome, "#query").send_keys("doc-4b")
    count_becomes(chrome, "1 of 5 groups")
    assert column(chrome, 1) == ["doc-4a"]
    press(chrome, Keys.ESCAPE)
    count_becomes(chrome, "5 groups")
    first(chrome, "#rest button").click()
    assert len(column(chrome, 1)) == 5
    assert not first(chrome, "#rest").is_displayed()


def test_the_search_brings_hits_into_view(open_page: OpenPage) -> None:
    """Wherever the page is scrolled to, hits are in the window, and Enter goes from one to next."""
    chrome = open_page(large_page(300, 20))
    resize(chrome, 1000, 700)
    chrome.execute_script("scrollTo(0, document.body.scrollHeight)")
    press(chrome, "/")
    press(chrome, "doc-17")
    count_becomes(chrome, "11 of 300 groups")
    for id in ("doc-17a", "doc-170a", "doc-171a"):
        press(chrome, Keys.ENTER)
        hit = first(chrome, ".is-hit")
        assert hit.find_element(By.CSS_SELECTOR, ".opener").text == id
        top, bottom = chrome.execute_script(
            "const { top, bottom } = arguments[0].getBoundingClientRect(); return [top, bottom]",
            hit,
        )
        assert 0 <= top < bottom <= 700


def test_a_cluster_says_how_many_of_its_pairs_are_there(open_page: OpenPage) -> None:
    """Each cluster is there with some of its pairs, and says of how many."""
    large = {f"copy-{number}": f"some words {number}" for number in range(220)}
    chrome = open_page(page_of([large, {"a": "other words", "b": "other words"}]))
    count_becomes(chrome, "2 groups")
    assert "shows only 20,000 of the 24,091 pairs" in first(chrome, "#left").text
    first(chrome, "#list .opener").click()
    heading = css(chrome, ".detail h3")[1].text
    assert heading.startswith("19,999 of 24,090 pairs of this group are in this page")
    assert len(css(chrome, ".pairs > li")) == 10
    css(chrome, ".detail section > .quiet")[1].click()
    assert len(css(chrome, ".pairs > li")) == 60


def test_an_empty_report_opens(open_page: OpenPage) -> None:
    """A collection without near-duplicates has a page too."""
    chrome = open_page(page_of([]))
    assert first(chrome, "#count").text == "No near-duplicates were found."
    assert complaints(chrome) == []


def test_keyboard_only(open_page: OpenPage) -> None:
    """Filter, open, compare, close and sort without a mouse, with the focus in sight."""
    chrome = open_page(small_page())
    assert press(chrome, "/").get_attribute("id") == "query"
    press(chrome, "anchor")
    count_becomes(chrome, "1 of 5 groups")
    opener = press(chrome, Keys.ARROW_DOWN)
    assert opener.text == "Anchor-1"
    assert computed(chrome, ":focus", "outlineStyle") == "solid"
    press(chrome, Keys.ARROW_RIGHT)
    assert opener.get_attribute("aria-expanded") == "true"
    pair = press(chrome, Keys.ARROW_RIGHT)
    assert "↔" in pair.text
    assert len(css(chrome, ".diff")) == 1  # the only pair opens with its cluster
    press(chrome, Keys.ENTER)
    assert css(chrome, ".diff") == []
    press(chrome, Keys.SPACE)
    assert len(css(chrome, ".diff")) == 1
    assert press(chrome, Keys.TAB).text == "Inline"
    ActionChains(chrome).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
    assert chrome.switch_to.active_element == pair
    press(chrome, Keys.ARROW_LEFT)
    assert press(chrome, Keys.ARROW_LEFT) == opener
    press(chrome, Keys.ARROW_LEFT)
    assert css(chrome, ".detail") == []
    assert press(chrome, Keys.ARROW_UP).get_attribute("id") == "query"
    press(chrome, Keys.ESCAPE)
    count_becomes(chrome, "5 groups")
    reached = [press(chrome, Keys.TAB) for _ in range(4)]
    assert [element.text for element in reached[2:]] == ["Group", "Documents"]
    press(chrome, Keys.ENTER)
    assert column(chrome, 2) == ["2", "3", "4", "5", "6"]


def test_text_is_readable(open_page: OpenPage) -> None:
    """All text has a contrast of 4.5 or more, in open clusters and diffs too."""
    notes = ["A note."]
    chrome = open_page(replace(small_page(), complete=False, notes=notes))
    for opener in css(chrome, "#list .opener")[2:4]:
        opener.click()
    for opener in css(chrome, ".pairs .opener")[:2]:
        opener.click()
    first(chrome, "#how summary").click()
    for scheme in ("light", "dark"):
        prefer(chrome, scheme)
        told = chrome.execute_script(CONTRASTS)
        assert len(told) > 100
        assert [name for contrast, name in told if contrast < READABLE] == [], scheme


def test_light_and_dark_differ(open_page: OpenPage) -> None:
    """The page follows the system, until its button says otherwise; paper is light and bare."""
    chrome = open_page(small_page())
    light = computed(chrome, "body", "backgroundColor")
    prefer(chrome, "dark")
    dark = computed(chrome, "body", "backgroundColor")
    assert light != dark
    assert computed(chrome, ".plot .fill-text", "fill") == "rgb(163, 169, 176)"
    toggle = first(chrome, "#theme")
    toggle.click()
    assert (toggle.text, computed(chrome, "body", "backgroundColor")) == ("Theme: light", light)
    prefer(chrome, "light")
    toggle.click()
    assert (toggle.text, computed(chrome, "body", "backgroundColor")) == ("Theme: dark", dark)
    toggle.click()
    assert (toggle.text, computed(chrome, "body", "backgroundColor")) == ("Theme: auto", light)
    media: dict[str, Any] = {"media": "print", "features": []}
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    assert not first(chrome, "#filters").is_displayed()
    assert "Documents and pairs of closed groups" in first(chrome, ".paper").text
    assert first(chrome, "#list").is_displayed()
    assert computed(chrome, "body", "backgroundColor") == "rgb(255, 255, 255)"
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_thousands_of_pairs(open_page: OpenPage) -> None:
    """However many pairs there are, each cluster is a row, and the search stays fast."""
    count, hits = sized(usual=(1_000, 11), full=(10_000, 111))
    chrome = open_page(large_page(count, 20))
    count_becomes(chrome, f"{count:,} groups")
    first(chrome, "#query").send_keys("doc-77")
    count_becomes(chrome, f"{hits} of {count:,} groups")
    assert len(css(chrome, "#list .row")) == hits
    first(chrome, "#list .opener").click()
    assert css(chrome, ".diff")
    assert complaints(chrome) == []


def test_a_cluster_of_thousands(open_page: OpenPage) -> None:
    """A crowded cluster opens on its first documents, and shows more when asked to."""
    chrome = open_page(crowded_page(3_000))
    first(chrome, "#list .opener").click()
    assert elements(chrome) < MOST_ELEMENTS
    assert len(css(chrome, ".members > li")) == 10
    more = first(chrome, ".detail section > .quiet")
    assert more.text == "Show 50 more of 2,990"
    more.click()
    assert more.text == "Show 50 more of 2,940"
    assert css(chrome, ".members > li")[59].text.startswith("copy-59")
    assert elements(chrome) < MOST_ELEMENTS


def hostile_page() -> Page:
    """Clusters of texts and ids that want to be more than that."""
    groups = [{name: text, f"{name} again": f"{text} twice"} for name, text in HOSTILE.items()]
    title = "<script>alert(7)</script>\u202e title"
    return replace(page_of(groups), title=title, notes=["<img src=x onerror=alert(8)>"],
                   parameters={"</script>": "<b>"})  # fmt: skip


def click_all(chrome: Chrome, selector: str) -> None:
    """Click on all elements that a selector matches, in sight or not."""
    script = "document.querySelectorAll(arguments[0]).forEach((each) => each.click())"
    chrome.execute_script(script, selector)


def open_everything(chrome: Chrome) -> None:
    """Open every cluster; as each has one pair, its diff opens too. Then show all of them."""
    click_all(chrome, "#list .row .opener")
    click_all(chrome, ".tools button:last-child")


def test_hostile_texts_are_texts(open_page: OpenPage) -> None:
    """Markup, control characters and giants are shown, and nothing of them acts."""
    chrome = open_page(hostile_page())
    count_becomes(chrome, f"{len(HOSTILE)} groups")
    open_everything(chrome)
    assert len(css(chrome, ".diff")) == len(HOSTILE)
    with pytest.raises(NoAlertPresentException):
        _ = chrome.switch_to.alert.text
    assert chrome.execute_script("return window.harm") is None
    assert css(chrome, "img, iframe, object, embed, a, base, b, [onerror], [onload]") == []
    assert len(css(chrome, "script:not([type])")) == 1
    assert complaints(chrome) == []
    shown = str(chrome.execute_script("return document.getElementById('list').textContent"))
    assert "</script><script>window.harm = 1; alert(1)</script>" in shown
    assert all(f"U+{code}" in shown for code in ("202E", "0000", "001B", "FEFF", "D83D"))
    assert not set("\u202e\u2066\u200f\x00\x1b") & set(shown)
    assert first(chrome, "h1").text == "<script>alert(7)</script>U+202E title"
    assert first(chrome, "h1 .escape").get_attribute("title") == "changes the reading direction"


# What tries to run or to load, in markup, in templates, in scripts, in styles and in addresses.
PAYLOADS = (
    "<script>HARM</script>", "</script><script>HARM</script>", "<ScRiPt>HARM</sCrIpT>",
    '<script src="//127.0.0.1:9/x.js"></script>', "<img src=x onerror=HARM>",
    "<img src=http://127.0.0.1:9/x.png>", "<svg onload=HARM>", "<svg><script>HARM</script></svg>",
    "<svg><animate onbegin=HARM attributeName=x dur=1s>", "<math><mtext><img src=x onerror=HARM>",
    "<iframe src=javascript:HARM>", '<iframe srcdoc="<script>parent.HARM</script>">',
    '<a href="javascript:HARM">x</a>', "javascript:HARM", "<object data=javascript:HARM>",
    "<embed src=//127.0.0.1:9/x>", "<link rel=stylesheet href=//127.0.0.1:9/x.css>",
    "<style>@import '//127.0.0.1:9/x.css'; *{background:url(//127.0.0.1:9/x)}</style>",
    "<base href=//127.0.0.1:9/>", "<meta http-equiv=refresh content='0;url=//127.0.0.1:9/'>",
    "<form action=//127.0.0.1:9/><input autofocus onfocus=HARM>", "<details open ontoggle=HARM>",
    "<video><source onerror=HARM></video>", "<body onload=HARM>", "<input onblur=HARM autofocus>",
    "<template><script>HARM</script></template>", "<noscript><p title='</noscript><img src=x "
    "onerror=HARM>'>", "{{constructor.constructor('HARM')()}}", "${HARM}", "`${HARM}`", "#{HARM}",
    '"><img src=x onerror=HARM>', "'><img src=x onerror=HARM>", "'-HARM-'", '";HARM;//',
    "</title><img src=x onerror=HARM>", "</textarea><img src=x onerror=HARM>",
    "</style><img src=x onerror=HARM>", "--><img src=x onerror=HARM>", "<!--<script>",
    "]]><img src=x onerror=HARM>", "<x style=behavior:url(#default)>", "&lt;img src=x&gt;",
    "\\u003cimg src=x onerror=HARM\\u003e", "<\x00script>HARM</script>",
    "\u202e<img src=x onerror=HARM>", "\uff1cscript\uff1eHARM\uff1c/script\uff1e",
    '<img src="x` `<script>HARM</script>"` `>', "__proto__", "constructor",
)  # fmt: skip
HARMS = [payload.replace("HARM", "(window.harm=1,alert(1))") for payload in PAYLOADS]


def dialogs(chrome: Chrome) -> int:
    """How many dialogs are open."""
    try:
        _ = chrome.switch_to.alert.text
    except NoAlertPresentException:
        return 0
    return 1


def test_hostile_ids_texts_and_names(open_page: OpenPage, record_property: Recorded) -> None:
    """Payloads in every place that takes a text: no dialog, no request, no code of theirs."""
    groups = [{harm: f"{harm} some words {harm}", f"{harm} 2": f"{harm} words"} for harm in HARMS]
    parts = dict.fromkeys(HARMS, HARMS[0]) | dict.fromkeys(HARMS[:3], HARMS[1])
    page = replace(page_of(groups), title=HARMS[1], notes=HARMS, parameters=parts, summary=parts)
    chrome = open_page(page)
    count_becomes(chrome, f"{len(HARMS)} groups")
    for harm in ("", "<img src=x", "</script>", "javascript:"):  # what is found is marked
        first(chrome, "#query").clear()
        first(chrome, "#query").send_keys(harm or "some")
        chrome.execute_script("return new Promise((resume) => setTimeout(resume, 50))")
        open_everything(chrome)
        click_all(chrome, "#how summary")
    assert chrome.execute_script("return window.harm") is None
    assert dialogs(chrome) == 0
    assert complaints(chrome) == []
    asked = [url for url in requests(chrome) if not url.startswith("data:")]
    assert asked == [chrome.current_url]
    record_property("S4", f"HTML: {len(HARMS)} payloads, 0 dialogs, {len(asked) - 1} requests")


def test_hostile_values_in_a_notebook(chromium: Chrome, tmp_path: Path) -> None:
    """A notebook has no policy of ours: its cells are harmless by themselves."""
    documents = [nd.Document(id=f"{harm} {copy}", text=f"{at} {harm} some words here")
                 for at, harm in enumerate(HARMS) for copy in (1, 2)]  # fmt: skip
    found = nd.duplicates(documents, texts=True, min_similarity=0.99)
    path = tmp_path / "cells.html"
    parts = [found.clusters[at : at + MOST_SHOWN] for at in range(0, len(HARMS), MOST_SHOWN)]
    html = "".join(with_groups(found, (), part)._repr_html_() for part in parts)
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{html}", "utf-8")
    requests(chromium)  # those before do not count
    chromium.get(path.as_uri())
    assert len(css(chromium, "tbody tr")) == len(found.clusters) > 40
    assert chromium.execute_script("return window.harm") is None
    assert dialogs(chromium) == 0
    assert [url for url in requests(chromium) if "127.0.0.1" in url] == []
    assert css(chromium, "img, script, svg, iframe, a, style, link, object, embed, form") == []


def test_marks_are_the_same_everywhere(open_page: OpenPage) -> None:
    """The page's script and the notebook's HTML mark the same characters, and say the same."""
    chrome = open_page(small_page())
    rest = range(0x20000, 0x110000, sized(usual=0x61, full=1))
    codes = [*range(0x20000), *range(0xE0000, 0xE0200), *rest]
    marked = chrome.execute_script(
        """const found = [];
        for (const code of arguments[0]) {
          const text = String.fromCodePoint(code);
          if (text.replace(IN_IDS, "") === "") found.push([code, meaning(text)]);
        }
        return found;""",
        codes,
    )
    ours = [(code, re.search('title="(.*)"', show_invisibles(chr(code), is_id=True)))
            for code in codes if unicodedata.category(chr(code)) != "Cn"]  # fmt: skip
    known = {code for code, _ in ours}
    assert [[code, mark[1]] for code, mark in ours if mark] == [
        one for one in marked if one[0] in known
    ]


@pytest.mark.parametrize(("width", "count"), [(1280, 4), (390, 2)])  # a telephone lists numbers
def test_marks_are_within_their_tracks(open_page: OpenPage, width: int, count: int) -> None:
    """Also those of 1, of equal texts, which are at the end."""
    words = "The anchor at the old harbour is open until late"
    groups = [
        {f"{name}-{copy}": f"{words} {name}{' and' * copy * changed}" for copy in (1, 2)}
        for changed, name in enumerate(("equal", "near"))
    ]
    chrome = open_page(page_of(groups))
    resize(chrome, width, 800)
    open_everything(chrome)
    chrome.execute_script(
        "document.querySelectorAll('details').forEach((fold) => (fold.open = true))"
    )
    drawn = chrome.execute_script(
        """return [...document.querySelectorAll(".track")].filter((one) => one.checkVisibility())
        .map((track) => {
          const [all, part] = [track, track.firstChild].map((one) => one.getBoundingClientRect());
          return [part.left - all.left, all.right - part.right, part.width];
        });"""
    )
    assert len(drawn) == count
    for before, after, size in drawn:
        assert min(before, after) > -1
        assert size >= 1


@pytest.mark.parametrize("width", [1280, 390])
def test_names_of_fields_are_not_broken(chromium: Chrome, tmp_path: Path, width: int) -> None:
    """However long the values beside them are."""
    rows = [
        {
            "id": f"{number}-{copy}",
            "name": f"ferry {number} to the island",
            "description": f"a long text about the harbour number {number} " * 6,
            "availability": f"open from {number} until late in the evening {'x' * copy}",
        }
        for number in range(12)
        for copy in (0, 1)
    ]
    names, path = [*rows[0]][1:], tmp_path / "report.html"
    nd.duplicates(rows, fields=names, texts=True).write(path)
    resize(chromium, width, 800)
    chromium.get(path.as_uri())
    open_everything(chromium)
    assert {*names} <= {each.text for each in css(chromium, ".fields th[scope=row]")}
    assert broken_words(chromium, ".fields tr > :first-child") == []


def test_a_narrow_window_does_not_scroll_sideways(open_page: OpenPage) -> None:
    """On telephone and tablet everything fits, with the longest words and both views of a diff."""
    chrome = open_page(hostile_page())
    resize(chrome, 320, 800)
    open_everything(chrome)
    assert not is_wider_than_the_window(chrome)
    for width, place in product((320, 390, 700, 1000), (1, 2)):
        resize(chrome, width, 800)
        click_all(chrome, f".tools button:nth-of-type({place})")
        assert len(css(chrome, ".diff.side")) == (len(HOSTILE) if place == 2 else 0)
        assert not is_wider_than_the_window(chrome), width
