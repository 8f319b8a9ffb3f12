"""Pages without their menus and feet: what `passages --strike` leaves, beside what a person would.

    python benchmarks/strike.py [--pages 1000]

Invented pages as plain text, one line a paragraph or an item, and the same with all in one line:
nine sites, each with its own menu
and foot, and pages of no site. The menu of a page marks its own section, the date and a counter
differ, and on two sites lines name other pages. One page of 20 has the body of an earlier page.
The first page of each site keeps its menu and foot, as all repeated passages stay once, and is not
judged. Words are counted: those left that a person would leave, of all left (precision) and of all
that a person would leave (recall). Beside it a rule: strike each line that an earlier page has.
Results go to strike.md and strike.json.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lib import results
from lib.drafts import MONTHS
from lib.reuse_families import articles
from passages import measure

SECTIONS = (
    "Home", "News", "Politics", "Business", "Local business directory", "Sport", "Culture",
    "Film and television", "Weather", "Travel", "Health", "Science and technology", "Opinion",
    "Letters to the editor", "Photo galleries", "Obituaries", "Jobs", "Property to rent or buy",
    "Classified advertisements", "Subscribe to our newsletter", "Log in", "Search the archive",
)  # fmt: skip
FEET = (
    "All rights reserved. No part of these pages may be copied without written consent.",
    "About us", "Contact the newsroom", "Terms of use", "Privacy and cookies", "Advertise with us",
    "Accessibility statement", "Prices include value added tax where it applies.",
    "Follow us on the networks, or have the headlines sent to you every morning at seven.",
    "The editor is not responsible for the content of other sites.", "Imprint", "Help",
    "Delivered by the regional publishing house, registered at the court of the county.",
)  # fmt: skip
# Of each site: items of the menu, lines of the foot, share of the pages, whether it names others.
SITES = ((22, 13, 0.28, False), (18, 9, 0.18, True), (20, 7, 0.14, False), (12, 9, 0.12, False),
         (16, 5, 0.08, True), (14, 11, 0.07, False), (19, 4, 0.04, False), (6, 3, 0.04, False),
         (13, 8, 0.02, False))  # fmt: skip
KINDS = ("body", "menu", "marked", "dated", "named", "foot", "reprint")
LAYOUTS = {"lines": "\n", "one line": " "}
LEFT = "body"  # what a person leaves


@dataclass(slots=True)
class Page:
    """Lines with their kinds, and the number of the site, or -1."""

    site: int
    lines: list[tuple[str, str]] = field(default_factory=list)
    is_judged: bool = True

    def text(self, end: str = "\n") -> str:
        """The page as it is in the source."""
        return end.join(line for _, line in self.lines)


def make_pages(count: int, seed: int = 1) -> list[Page]:
    """Invent pages."""
    rng = random.Random(seed)
    bodies = [
        text.split("\n\n") for text in articles(count, seed + 1, is_plain=True).texts.values()
    ]
    titles = [" ".join(body[0].split()[:7]).rstrip(".,;:") for body in bodies]
    menus = [rng.sample(SECTIONS, site[0]) for site in SITES]
    names = [f"The {rng.choice(MONTHS)} {name}" for name in ("Post", "Echo", "Sun", "Observer",
             "Journal", "Star", "Bulletin", "Record", "Argus")]  # fmt: skip
    feet = [[f"© {names[at]}", *rng.sample(FEET, site[1])] for at, site in enumerate(SITES)]
    pages, seen = list[Page](), set[int]()
    for number, body in enumerate(bodies):
        site = _choose(rng)
        page = Page(site)
        kind = "body"
        if rng.random() < 0.05 and number > 50:
            originals = [page for page in pages[:-10] if LEFT in dict(page.lines)]
            original = originals[rng.randrange(len(originals))]
            paragraphs = [line for one, line in original.lines if one == LEFT]
            kind = "reprint"
        else:
            paragraphs = [titles[number], *body]
        if site >= 0:
            page.is_judged = site in seen
            seen.add(site)
            page.lines.append(("menu", names[site]))
            marked = rng.randrange(len(menus[site]))
            page.lines += [("marked", f"» {item} «") if at == marked else ("menu", item)
                           for at, item in enumerate(menus[site])]  # fmt: skip
            day, month = rng.randint(1, 28), rng.choice(MONTHS)
            page.lines.append(("dated", f"{day} {month} 2025, {rng.randint(0, 23)}:{day + 20}"))
        page.lines += [(kind, line) for line in paragraphs if line.strip()]
        if site >= 0:
            page.lines.append(("dated", f"{rng.randint(0, 900)} comments"))
            if SITES[site][3] and number > 3:
                page.lines += [("named", titles[rng.randrange(number)]) for _ in range(2)]
            page.lines += [("foot", line) for line in feet[site]]
        pages.append(page)
    return pages


def _choose(rng: random.Random) -> int:
    share = rng.random()
    for at, site in enumerate(SITES):
        share -= site[2]
        if share < 0:
            return at
    return -1


def strike(pages: Sequence[Page], folder: Path, end: str) -> tuple[list[str], dict[str, float]]:
    """Strike repeated passages by this package; the only place that knows what it writes."""
    source, output = folder / "pages.jsonl", folder / "struck.jsonl"
    with source.open("w", encoding="utf-8") as lines:
        for number, page in enumerate(pages):
            record = {"id": f"p{number}", "text": page.text(end)}
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
    run = measure([sys.executable, "-m", "neardup_solr", "passages", str(source), "--strike",
                   str(output)])  # fmt: skip
    with output.open(encoding="utf-8") as lines:
        texts = {record["id"]: record["text"] or "" for record in map(json.loads, lines)}
    left = [texts.get(f"p{number}", "") for number in range(len(pages))]
    return left, {"seconds": run.seconds, "megabytes": run.megabytes}


def strike_lines(pages: Sequence[Page], end: str) -> list[str]:
    """Strike each line that an earlier page has."""
    seen, left = set[str](), list[str]()
    for page in pages:
        lines = page.text(end).split("\n")
        left.append("\n".join(line for line in lines if line not in seen))
        seen.update(lines)
    return left


def judge(pages: Sequence[Page], left: Sequence[str]) -> dict[str, Any]:
    """Count words that are left, of each kind."""
    kept, totals, both, words_left = Counter[str](), Counter[str](), 0, 0
    sites: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for page, text in zip(pages, left, strict=True):
        if not page.is_judged:
            continue
        words, budget = Counter(text.split()), Counter(text.split())
        person = Counter(word for kind, line in page.lines if kind == LEFT for word in line.split())
        counts = ((words & person).total(), words.total(), person.total())
        for at, count in enumerate(counts):
            sites[page.site][at] += count
        both, words_left = both + counts[0], words_left + counts[1]
        for kind in KINDS:  # the body first, so that its words are not taken for those of others
            own = Counter(word for one, line in page.lines if one == kind for word in line.split())
            kept[kind] += (budget & own).total()
            totals[kind] += own.total()
            budget -= own
    return {
        "precision": both / words_left,
        "recall": both / totals[LEFT],
        "f1": 2 * both / (words_left + totals[LEFT]),
        "kept": {kind: kept[kind] / max(1, totals[kind]) for kind in KINDS},
        "words": dict(totals),
        "sites": {str(site): 2 * counts[0] / (counts[1] + counts[2])
                  for site, counts in sorted(sites.items())},
    }  # fmt: skip


def sections(runs: Mapping[str, dict[str, Any]], pages: int) -> list[tuple[str, str]]:
    """Tabulate what is left."""
    heads = ["", "F1", "precision", "recall", *(f"{kind}, left" for kind in KINDS)]
    rows = [[name, run["f1"], run["precision"], run["recall"],
             *(run["kept"][kind] for kind in KINDS)] for name, run in runs.items()]  # fmt: skip
    rows.append(["words", "", "", "", *(next(iter(runs.values()))["words"][kind]
                                        for kind in KINDS)])  # fmt: skip
    sites = list(next(iter(runs.values()))["sites"])
    by_site = [[name, *(run["sites"][site] for site in sites)] for name, run in runs.items()]
    names = ["no site" if site == "-1" else f"{SITES[int(site)][0]} + {SITES[int(site)][1]} lines"
             for site in sites]  # fmt: skip
    return [(f"{pages:,} pages, by words", results.table(heads, rows)),
            ("F1 by site", results.table(["", *names], by_site))]  # fmt: skip


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--rule-only", action="store_true", help="keep nothing")
    options = parser.parse_args()
    pages = make_pages(options.pages)
    runs = {"as it is": judge(pages, [page.text() for page in pages])}
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        for layout, end in LAYOUTS.items():
            if not options.rule_only:
                left, cost = strike(pages, Path(folder), end)
                runs[f"neardup_solr, {layout}"] = judge(pages, left) | cost
            runs[f"rule, {layout}"] = judge(pages, strike_lines(pages, end))
    parts = sections(runs, len(pages))
    if options.rule_only:
        print("\n\n".join(f"## {heading}\n\n{body}" for heading, body in parts))
    else:
        results.keep("strike", {"conditions": results.conditions(), "runs": runs}, parts)


if __name__ == "__main__":
    main()
