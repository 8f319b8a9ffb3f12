"""The report of a collection's near-duplicates as an HTML file that needs no other file."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import Way
from neardup_solr.measures import Frequencies
from neardup_solr.minhash import plans
from neardup_solr.records import AnyId, Borderline, Cluster, Duplicate
from neardup_solr.reports.html import embed
from neardup_solr.reports.html.embed import Listed, list_clusters

BINS = 50
WIDTH, HEIGHT = 432, 216
TOP, BOTTOM = 18, 181  # of the bars; titles are above, the axis and its name below
CHARACTER = 7  # its approximate width in the largest font that the page uses in figures

EACH_SIZE = 24  # up to this size, each cluster size has a bar
LEAST_SIZES = 8  # bars at least, for which room is left, or a few would be huge
LOG_FROM = 40  # if a bar is this many times as high as another, the axis is logarithmic
POWERS = [10**power for power in range(12)]
ROUND = [digit * power for power in POWERS for digit in (1, 2, 5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis with the value `low` at the coordinate `start` and `high` at `end`."""

    low: float
    high: float
    start: float
    end: float
    ticks: Sequence[float]
    is_logarithmic: bool = False

    def place(self, value: float) -> float:
        """Compute the coordinate of a value."""
        low, high = self.low, self.high
        if self.is_logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 2)


CHANCE = Axis(low=0, high=105, start=BOTTOM, end=TOP, ticks=range(0, 101, 25))


def similarities_figure(
    similarities: Sequence[float],
    curve: tuple[int, int] | None,
    borderline: Borderline | None = None,
    *,
    name: str = "similarity",
) -> str:
    """Draw pairs by similarity as an SVG, with the S-curve of (bands, rows) over them.

    P(s) = 1 - (1 - s^rows)^bands, "Mining of Massive Datasets", section 3.4.2. The threshold of
    `borderline` is marked, with the pairs just below it as a bar of the same area.
    """
    counts, edges = np.histogram(similarities, bins=BINS, range=(0.0, 1.0))
    below = 0
    if borderline is not None and borderline.below and borderline.lower < borderline.min_similarity:
        width = borderline.min_similarity - borderline.lower
        below = max(round(borderline.below / (BINS * width)), 1)
    up = _counts_axis(np.append(counts, below))
    right = WIDTH - (38 if curve else 4)
    across = Axis(low=0, high=1, start=_left(up), end=right, ticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
    parts = [*_axes(across, up, name, "pairs"), *_bars(counts, edges, across, up)]
    if borderline is not None:
        zone, *mark = _mark(borderline, below, across, up)
        parts = [zone, *parts, *mark]
    return _svg(f"Pairs by {name}", [*parts, *(_curve(across, *curve) if curve else ())])


def sizes_figure(sizes: Sequence[int]) -> str:
    """Draw clusters by their number of documents as an SVG, logarithmic if sizes differ much."""
    most = max(sizes, default=2)
    edges: NDArray[np.float64]
    ticks: Sequence[int]
    if most <= EACH_SIZE:
        last = max(most, LEAST_SIZES)
        edges, ticks = np.arange(2.0, last + 2) - 0.5, range(2, last + 1, 1 + most // 12)
    else:
        edges = np.unique(np.geomspace(2, most + 1, 25).round()) - 0.5
        steps = ROUND if most < 200 else [2, *POWERS[1:]]
        ticks = [at for at in steps if 2 <= at <= most]
    counts, _ = np.histogram(sizes, bins=edges)
    up = _counts_axis(counts)
    across = Axis(
        low=edges[0],
        high=edges[-1],
        start=_left(up),
        end=WIDTH - 4 - CHARACTER * len(f"{ticks[-1]:,}") // 2,  # the last label stands below it
        ticks=ticks,
        is_logarithmic=most > EACH_SIZE,
    )
    parts = [*_axes(across, up, "documents in the cluster", "clusters")]
    return _svg("Clusters by number of documents", [*parts, *_bars(counts, edges, across, up)])


def _counts_axis(counts: NDArray[np.int64]) -> Axis:
    """Make the vertical axis of bars, logarithmic if their heights differ much."""
    most = int(counts.max(initial=1))
    least = int(counts[counts > 0].min(initial=most))
    if most >= LOG_FROM * least:
        low, high = 0.7, most * 1.6
        ticks = [at for at in (ROUND if most < 200 else POWERS) if at <= most]
    else:
        low, high = 0.0, max(most, 4) * 1.05
        ticks = list(range(0, int(high) + 1, next(step for step in ROUND if 5 * step >= high)))
    return Axis(low=low, high=high, start=BOTTOM, end=TOP, ticks=ticks, is_logarithmic=low > 0)


def _left(up: Axis) -> int:
    """Compute the left end of the bars, with room for the labels beside them."""
    return 6 + CHARACTER * max(len(f"{tick:,}") for tick in up.ticks)


def _axes(across: Axis, up: Axis, below: str, above: str) -> Iterator[str]:
    """Draw the grid lines, and the labels and titles of both axes."""
    for tick in up.ticks:
        yield _line(across, up.place(tick))
        yield _text(across.start - 4, up.place(tick), f"{tick:,}", anchor="end")
    yield _line(across, BOTTOM)
    for tick in across.ticks:
        yield _text(across.place(tick), 191, f"{tick:,}")
    yield _text((across.start + across.end) / 2, 206, below)
    logarithmic = " (logarithmic)" if up.is_logarithmic else ""
    yield _text(across.start, 8, above + logarithmic, anchor="start")


def _bars(
    counts: NDArray[np.int64], edges: NDArray[np.float64], across: Axis, up: Axis
) -> Iterator[str]:
    """Draw bars between the edges, a little apart."""
    for count, low, high in zip(counts.tolist(), edges[:-1], edges[1:], strict=True):
        if count:
            gap, top = 0.06 * (high - low), up.place(count)
            yield _rectangle(across.place(low + gap), across.place(high - gap), top, "bars")


def _mark(borderline: Borderline, below: int, across: Axis, up: Axis) -> Iterator[str]:
    """Mark a threshold, what lies around it, and the pairs that are just below it."""
    low, at, high = map(
        across.place, (borderline.lower, borderline.min_similarity, borderline.higher)
    )
    yield _rectangle(low, high, TOP, "zone")
    if below:
        yield _rectangle(low, at, up.place(below), "below")
    yield f'<path d="M{at} {TOP}V{BOTTOM}" class="stroke-mark" stroke-width="1.2"/>'
    is_left = borderline.min_similarity < 0.3
    anchor, x = ("start", high + 4) if is_left else ("end", low - 4)
    yield _text(x, BOTTOM - 12, f"threshold {borderline.min_similarity:g}", anchor=anchor)


def _rectangle(left: float, right: float, top: float, colour: str) -> str:
    return (
        f'<rect x="{left}" y="{top}" width="{right - left:.2f}"'
        f' height="{BOTTOM - top:.2f}" class="fill-{colour}"/>'
    )


def _curve(across: Axis, bands: int, rows: int) -> Iterator[str]:
    """Draw the chance of a candidate along the similarities, with another axis."""
    points = " ".join(
        f"{across.place(at)},{CHANCE.place(100 * float(plans.curve(at, bands, rows)))}"
        for at in np.linspace(0, 1, 201).tolist()
    )
    yield f'<polyline points="{points}" class="fill-none stroke-curve" stroke-width="2"/>'
    yield _text(across.end, 8, "chance of being found", anchor="end", colour="curve")
    for tick in CHANCE.ticks:
        place = CHANCE.place(tick)
        yield _text(across.end + 4, place, f"{tick} %", anchor="start", colour="curve")


def _line(across: Axis, height: float) -> str:
    return (
        f'<path d="M{across.start} {height}H{across.end}" class="stroke-grid" stroke-width="0.8"/>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "middle", colour: str = "text") -> str:
    """Draw a text with its middle at the height `y`, whatever its font size."""
    return (
        f'<text x="{x}" y="{y}" dy="0.35em" text-anchor="{anchor}" class="fill-{colour}">'
        f"{text}</text>"
    )


def _svg(label: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
    return "\n".join([f'{head} aria-label="{label}" class="plot">', *parts, "</svg>"])


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
