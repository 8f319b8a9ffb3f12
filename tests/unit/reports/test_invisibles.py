"""Characters that nobody sees, in the HTML of a notebook."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup_solr as nd

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
SPELLING = set("\u200c\u200d\ufe0e\ufe0f")


def show_id(id: str) -> str:
    """The HTML of an id, in a table of pairs that a result lacks."""
    html = nd.Evaluation(found=0, known=1, missed=((id, "other"),), false=())._repr_html_()
    (cell,) = re.findall(r"<td>missed</td><td>(.*?)</td><td><bdi>other<", html, re.DOTALL)
    return str(cell)


def show_text(text: str) -> str:
    """The HTML of a text in a table of clusters."""
    html = replace(CLUSTER, texts={"1": text, "2": "the other text"})._repr_html_()
    (cell,) = re.findall(r"<td><b><bdi>1</bdi></b> (.*?)</td>", html, re.DOTALL)
    return str(cell)


CLUSTER = nd.duplicates([("1", "a text"), ("2", "a text")])


class Elements(HTMLParser):
    """The names of a page's elements, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.text = set[str](), ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", "<bdi>plain</bdi>"),
        ("<b>&", "<bdi>&lt;b&gt;&amp;</bdi>"),
        ("\u202e", '<bdi><code title="changes the reading direction">U+202E</code></bdi>'),
        ("\x1b", '<bdi><code title="a control character">U+001B</code></bdi>'),
        ("\u200b", '<bdi><code title="an invisible character">U+200B</code></bdi>'),
        ("\U000e0041", '<bdi><code title="an invisible character">U+E0041</code></bdi>'),
        ("a\nb\u200dc", "<bdi>a b\u200dc</bdi>"),
    ],
)
def test_marks_by_hand(text: str, html: str) -> None:
    """A mark says which character it is, and its title what that does."""
    assert show_text(text) == html


def test_joiners_are_marked_in_ids() -> None:
    """Two ids that look alike are not the same; nor does a line break hide in one."""
    assert show_id("a\u200db") != show_id("ab")
    assert "U+200D" in show_id("a\u200db")
    assert "U+000A" in show_id("a\nb")


def test_every_hidden_character_is_marked() -> None:
    """All that Unicode calls control, format, private, a surrogate or a line separator."""
    every = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in HIDDEN]
    html = show_id("".join(every))
    assert len(every) == html.count("<code") > 100_000
    assert not set(every) & set(html)


@given(st.text() | st.text(st.characters(categories=["Cf", "Sm", "Po", "Ll"])))
def test_no_text_makes_an_element(text: str) -> None:
    """There are a frame and marks, whatever the text says, and nothing hidden is left."""
    html = Elements(show_text(text))
    assert html.tags <= {"bdi", "code"}
    left = {one for one in html.text if unicodedata.category(one) in HIDDEN}
    assert left <= SPELLING


def test_a_notebook_hides_nothing() -> None:
    """Ids and texts of the clusters that a notebook shows."""
    ids = ["\u202eevil", "<img src=x>", "plain"]
    twins = [nd.Document(id=id, text="same \u2066text\u2069 <script>here</script>") for id in ids]
    html = nd.duplicates(twins, texts=True)._repr_html_()
    assert not set("\u202e\u2066\u2069") & set(html)
    assert "U+202E" in html
    assert "U+2066" in html
    assert not {"script", "img"} & Elements(html).tags
