"""The report of a collection's near-duplicates as an HTML file that needs no other file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import Any

from neardup_solr.arguments import Way
from neardup_solr.measures import Frequencies
from neardup_solr.records import AnyId, Borderline, Cluster, Duplicate
from neardup_solr.reports.html import embed
from neardup_solr.reports.html.embed import Listed, list_clusters
from neardup_solr.reports.html.figures import similarities_figure, sizes_figure

__all__ = ["Page", "listing", "page_lines", "show_invisibles"]

_SLOT = re.compile(r"<!-- ([a-z]+) -->\n?")

# Characters that nobody sees, or that change how others are read: the same as in words.js.
_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROLS = "\x00-\x1f\x7f-\x9f"
_OTHERS = (
    "\xad\u034f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d"
    "\u2028\u2029\u2060-\u2065\u206a-\u206f\u2800\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\U000f0000-\U0010ffff"
)
_ANY = re.compile(f"[{_DIRECTIONS}{_CONTROLS}{_OTHERS}]")
_DIRECTION, _CONTROL = re.compile(f"[{_DIRECTIONS}]"), re.compile(f"[{_CONTROLS}]")
# Joiners and variants belong to the spelling of several scripts and of emoji.
_SPELLING = frozenset("\u200c\u200d\ufe0e\ufe0f")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Contents of a report page.

    `summary` has the large figures and `parameters` how they came about, both by label, in order;
    `texts` the texts by key (see `key_of`), of which any may be missing (an estimate reads none),
    `kept` the columns to keep. `by` says how candidates were searched, `curve` has the (bands,
    rows) of the search; `borderline` says how much depends on the threshold. With `frequencies`
    the words that stand for others are marked. `complete` is False if something may be missing;
    `notes` are sentences that say what. `made` says when and by which version the page was made,
    `command` by which command.
    """

    title: str
    pairs: Sequence[Duplicate]
    clusters: Sequence[Cluster]
    parameters: Mapping[str, str] = field(default_factory=dict)
    summary: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[AnyId, str] = field(default_factory=dict)
    kept: Mapping[AnyId, Mapping[str, Any]] = field(default_factory=dict)
    by: Way = "bands"
    curve: tuple[int, int] | None = None
    borderline: Borderline | None = None
    frequencies: Frequencies | None = None
    complete: bool = True
    notes: Sequence[str] = ()
    made: str = ""
    command: str = ""


def page_lines(page: Page) -> Iterator[str]:
    """Make the HTML of a page, piece by piece. The same page gives the same file.

    It lists all clusters, and of large ones some of their pairs and documents; its figures count
    all. The file loads nothing and runs only its script; texts are data in it, never markup.
    """
    style, script = _asset("report.css"), _asset("words.js") + _asset("report.js")
    listed = list(list_clusters(page.clusters, page.pairs))
    texts = dict(embed.within(embed.documents(listed), page.texts))
    likeness, similarities = _name_likeness(page).lower(), [pair.similarity for pair in page.pairs]
    slots: dict[str, Iterable[str]] = {
        "policy": [_policy(style, script)],
        "style": [f"<style>{style}</style>\n"],
        "script": [f"<script>{script}</script>\n"],
        "similarities": [
            similarities_figure(similarities, page.curve, page.borderline, name=likeness)
        ],
        "sizes": [sizes_figure([len(cluster.members) for cluster in page.clusters])],
        "facts": embed.facts(_about(page, listed, len(texts))),
        "rows": embed.rows(listed, texts, page.kept, page.frequencies),
    }
    for place, piece in enumerate(_SLOT.split(_asset("report.html"))):
        yield from slots[piece] if place % 2 else [piece]


def _about(page: Page, listed: Sequence[Listed], texts: int) -> dict[str, object]:
    has_below = page.borderline is not None and page.borderline.below
    pale = " Pale: compared pairs just below it." if has_below else ""
    return {
        "title": page.title,
        "complete": page.complete,
        "notes": list(page.notes),
        "summary": list(page.summary.items()),
        "parameters": list(page.parameters.items()),
        "measure": _measure_of(page),
        "likeness": _name_likeness(page),
        "by": page.by,
        "curve": page.curve,
        "threshold": f"Threshold {page.borderline}.{pale}" if page.borderline else "",
        "kept": list(next(iter(page.kept.values()), {})),
        "clusters": len(page.clusters),
        "left": _left_out(page, listed, texts),
        "made": page.made,
        "command": page.command,
    }


def _left_out(page: Page, listed: Sequence[Listed], texts: int) -> str:
    """Say what is not in a page with so many texts, "" if everything is."""
    clusters, all_pairs = len(page.clusters), sum(each.pairs for each in page.clusters)
    pairs = sum(len(each.pairs) for each in listed)
    documents = sum(len(cluster.members) for cluster in page.clusters)
    if not page.texts:  # none were to be shown
        texts = documents
    parts = []
    if len(listed) < clusters:
        parts.append(f"the {len(listed):,} largest of {clusters:,} clusters")
    elif pairs < all_pairs or texts < documents:
        parts.append("all clusters")
    if pairs < all_pairs:
        parts.append(f"{pairs:,} of the {all_pairs:,} pairs in clusters")
    if texts < documents:
        parts.append(f"the texts of {texts:,} of {documents:,} documents")
    if not parts:
        return ""
    return f"To stay small, this page has {_enumerate(parts)}. Its figures count everything."


def _enumerate(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _measure_of(page: Page) -> str:
    return page.pairs[0].measure if page.pairs else ""


def _name_likeness(page: Page) -> str:
    return "Probability" if _measure_of(page) in ("fields", "model") else "Similarity"


def _policy(style: str, script: str) -> str:
    """Make the Content Security Policy: this style, this script, and nothing else."""
    rules = (
        "default-src 'none'",
        f"style-src '{_sha256(style)}'",
        f"script-src '{_sha256(script)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">\n'


def _sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return (resources.files(__name__) / name).read_text(encoding="utf-8")


def show_invisibles(text: str, *, is_id: bool = False) -> str:
    """Make HTML of a text in which nothing acts and nothing is hidden.

    It stands apart from the reading direction around it. In an id joiners are marked, too.
    """

    def mark(match: re.Match[str]) -> str:
        character = match[0]
        if character in _SPELLING and not is_id:
            return character
        if character in "\t\n\r" and not is_id:
            return " "
        return f'<code title="{_meaning(character)}">U+{ord(character):04X}</code>'

    return f"<bdi>{_ANY.sub(mark, escape(text))}</bdi>"


def _meaning(character: str) -> str:
    if _DIRECTION.match(character):
        return "changes the reading direction"
    return "a control character" if _CONTROL.match(character) else "an invisible character"
