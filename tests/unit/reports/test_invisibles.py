"""Characters that nobody sees, in the HTML of a notebook."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.reports.html import show_invisibles

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
SPELLING = set("\u200c\u200d\ufe0e\ufe0f")


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
    assert show_invisibles(text) == html


def test_joiners_are_marked_in_ids() -> None:
    """Two ids that look alike are not the same; nor does a line break hide in one."""
    assert show_invisibles("a\u200db", is_id=True) != show_invisibles("ab", is_id=True)
    assert "U+200D" in show_invisibles("a\u200db", is_id=True)
    assert "U+000A" in show_invisibles("a\nb", is_id=True)


def test_every_hidden_character_is_marked() -> None:
    """All that Unicode calls control, format, private, a surrogate or a line separator."""
    every = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in HIDDEN]
    kept = [one for one in every if show_invisibles(one, is_id=True) == f"<bdi>{one}</bdi>"]
    assert (len(every) > 100_000, kept) == (True, [])


@given(st.text() | st.text(st.characters(categories=["Cf", "Sm", "Po", "Ll"])))
def test_no_text_makes_an_element(text: str) -> None:
    """There are a frame and marks, whatever the text says, and nothing hidden is left."""
    html = Elements(show_invisibles(text))
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
