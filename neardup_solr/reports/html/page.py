"""The report of a collection's near-duplicates as an HTML file that needs no other file."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from neardup_solr.argument_types import Way
from neardup_solr.errors import counted
from neardup_solr.records import AnyId, Borderline, Cluster, Duplicate, as_text
from neardup_solr.regex import regex
from neardup_solr.reports.html import embed
from neardup_solr.reports.html.embed import Listed, list_clusters
from neardup_solr.reports.pair import PairTable, Record

if TYPE_CHECKING:
    from neardup_solr.measures.weights import Evidence

BINS = 50  # of similarities in a picture

_SLOT = regex(r"<!-- ([a-z]+) -->\n?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Contents of a report page.

    `summary` has the large figures and `parameters` how they came about, both by label, in order;
    `texts` the texts by key (see `key_of`), of which any may be missing (an estimate reads none),
    `fields` the values that were compared, `kept` the columns to keep. `table` and `evidence` say
    why two are a pair. `by` says how candidates were searched, `curve` has the (bands, rows) of the
    search; `borderline` says how much depends on the threshold. `complete` is False if something
    may be missing; `notes` are sentences that say what. `made` says when and by which version the
    page was made, `command` by which command.
    """

    title: str
    pairs: Sequence[Duplicate]
    clusters: Sequence[Cluster]
    parameters: Mapping[str, str] = field(default_factory=dict)
    summary: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[AnyId, str] = field(default_factory=dict)
    kept: Mapping[AnyId, Record] = field(default_factory=dict)
    fields: Mapping[AnyId, Record] = field(default_factory=dict)
    table: PairTable = field(default_factory=PairTable)
    evidence: Mapping[tuple[AnyId, AnyId], Sequence[Evidence]] = field(default_factory=dict)
    by: Way = "bands"
    curve: tuple[int, int] | None = None
    borderline: Borderline | None = None
    complete: bool = True
    notes: Sequence[str] = ()
    made: str = ""
    command: str = ""

    def record_of(self, key: AnyId) -> Record:
        """The columns of a document: those that were compared, then those to keep."""
        compared = self.fields.get(key) or self.table.split(self.texts.get(key, "")) or {}
        cut = {name: as_text(value)[: embed.MOST_KEPT]
               for name, value in self.kept.get(key, {}).items()}  # fmt: skip
        whole = {name: as_text(value) for name, value in compared.items()}
        return {**whole, **cut, **whole}


def page_lines(page: Page) -> Iterator[str]:
    """Make the HTML of a page, piece by piece. The same page gives the same file.

    It lists all clusters, and of large ones some of their pairs and documents; its figures count
    all. The file loads nothing and runs only its script; texts are data in it, never markup.
    """
    style, script = _asset("report.css"), _asset("words.js") + _asset("report.js")
    listed = list(list_clusters(page.clusters, page.pairs))
    texts, records = embed.take_contents(embed.documents(listed), page.texts, page.record_of)
    left = _left_out(page, listed, len(texts.keys() | records.keys()))
    slots: dict[str, Iterable[str]] = {
        "policy": [_policy(style, script)],
        "style": [f"<style>{style}</style>\n"],
        "script": [f"<script>{script}</script>\n"],
        "facts": embed.facts(_about(page, list(embed.list_fields(records)), left)),
        "rows": embed.rows(listed, texts, records, page.table, page.evidence),
    }
    for place, piece in enumerate(_SLOT.split(_asset("report.html"))):
        yield from slots[piece] if place % 2 else [piece]


def _about(page: Page, names: Sequence[str], left: str) -> dict[str, object]:
    border = page.borderline
    similarities = [pair.similarity for pair in page.pairs]
    measure = page.pairs[0].measure if page.pairs else ""
    same = ("title", "complete", "notes", "by", "curve", "made", "command")
    return {name: getattr(page, name) for name in same} | {
        "summary": list(page.summary.items()),
        "parameters": list(page.parameters.items()),
        "measure": measure,
        "likeness": "Probability" if measure in ("fields", "model") else "Similarity",
        "bins": np.histogram(similarities, bins=BINS, range=(0.0, 1.0))[0].tolist(),
        "sizes": sorted(Counter(len(cluster.members) for cluster in page.clusters).items()),
        "border": border and [border.lower, border.min_similarity, border.higher, border.below],
        "threshold": _describe_border(border) if border else "",
        "border_figures": f"Threshold {border}." if border else "",
        "kept": names,
        "compared": [name for name in names if name in (*page.table.kinds, *page.table.texts)],
        "clusters": len(page.clusters),
        "left": left,
    }


def _describe_border(border: Borderline) -> str:
    """Say how much depends on the threshold, in plain words."""
    parts = [
        f"Documents are a pair from {border.min_similarity:g} on.",
        f"From {border.higher:g} on, there would be {counted(border.above, 'pair')} fewer",
    ]
    if border.below is not None and border.min_similarity > 0:
        parts[-1] += f", from {border.lower:g} on about {border.below:,} more"
    pale = " Pale: pairs just below that." if border.below else ""
    return f"{' '.join(parts)}.{pale}"


def _left_out(page: Page, listed: Sequence[Listed], texts: int) -> str:
    """Say what is not in a page with so many texts, "" if everything is."""
    clusters, all_pairs = len(page.clusters), sum(each.pairs for each in page.clusters)
    pairs = sum(len(each.pairs) for each in listed)
    documents = sum(len(cluster.members) for cluster in page.clusters)
    if not (page.texts or page.fields):  # none were to be shown
        texts = documents
    counts = {
        f"the {len(listed):,} largest of {clusters:,} groups": len(listed) < clusters,
        f"{pairs:,} of the {all_pairs:,} pairs in groups": pairs < all_pairs,
        f"the texts of {texts:,} of {documents:,} documents": texts < documents,
    }
    parts = [part for part, is_said in counts.items() if is_said]
    if not parts:
        return ""
    *first, last = parts
    what = f"{', '.join(first)} and {last}" if first else last
    return f"To keep it small, this page shows only {what}. The figures count everything."


def _policy(style: str, script: str) -> str:
    """Make the Content Security Policy: this style, this script, and nothing else."""
    code = f"style-src '{_sha256(style)}'; script-src '{_sha256(script)}'; img-src data:"
    rules = f"default-src 'none'; {code}; base-uri 'none'; form-action 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">\n'


def _sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
