"""The report of a collection's near-duplicates as one HTML file that needs no other file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources

from neardup_solr.records import Cluster, Duplicate
from neardup_solr.reports.html import embed
from neardup_solr.reports.html.embed import listing
from neardup_solr.reports.html.figures import similarities_figure, sizes_figure

__all__ = ["Page", "listing", "page_lines"]

_SLOT = re.compile(r"<!-- ([a-z]+) -->\n?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a report page shows.

    `summary` has the large figures and `parameters` how they were found, both by label, in order;
    `texts` the texts by id, of which any may be missing (an estimate reads none); `curve` the
    (bands, rows) that found the candidates. `complete` is False if something may be missing;
    `notes` are sentences that say what.
    """

    title: str
    pairs: Sequence[Duplicate]
    clusters: Sequence[Cluster]
    parameters: Mapping[str, str] = field(default_factory=dict)
    summary: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    curve: tuple[int, int] | None = None
    complete: bool = True
    notes: Sequence[str] = ()


def page_lines(page: Page) -> Iterator[str]:
    """The HTML of a page, piece by piece; the same page gives the same file.

    If there are more than 10,000 pairs, it lists those of the largest clusters, and says so; its
    figures count all. The file loads nothing and runs only its own code; texts are data in it,
    never markup.
    """
    style, script = _asset("report.css"), _asset("report.js")
    listed = listing(page.clusters, page.pairs)
    fill: dict[str, Callable[[], Iterator[str]]] = {
        "policy": lambda: iter((_policy(style, script),)),
        "style": lambda: iter((f"<style>{style}</style>\n",)),
        "script": lambda: iter((f"<script>{script}</script>\n",)),
        "similarities": lambda: iter((_similarities(page),)),
        "sizes": lambda: iter((sizes_figure([len(c.members) for c in page.clusters]),)),
        "facts": lambda: embed.facts(_about(page, listed.note), page.curve),
        "rows": lambda: embed.rows(listed.clusters, listed.pairs, page.texts),
    }
    for place, piece in enumerate(_SLOT.split(_asset("report.html"))):
        if place % 2:
            yield from fill[piece]()
        else:
            yield piece


def _about(page: Page, note: str | None) -> dict[str, object]:
    return {
        "title": page.title,
        "complete": page.complete,
        "notes": [*page.notes, *([] if note is None else [note])],
        "summary": list(page.summary.items()),
        "parameters": list(page.parameters.items()),
        "measure": page.pairs[0].measure if page.pairs else "",
    }


def _similarities(page: Page) -> str:
    return similarities_figure([pair.similarity for pair in page.pairs], page.curve)


def _policy(style: str, script: str) -> str:
    """The Content Security Policy: this style, this script, and nothing else."""
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
