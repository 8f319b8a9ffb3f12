"""Signs of scanned texts: shares in texts as they were written, and with wrong letters.

    python benchmarks/scanned.py

The texts are the manual pages of this machine by language, articles, sentences and the modules of
Python. Beside each is the share after one letter in a hundred, in thirty and in ten was read wrong.
Results go to scanned.md and scanned.json.
"""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lib import results
from lib.corpus import sentences
from lib.reuse_families import articles, code

from neardup_solr.text.scanned import FEWEST, MISREAD, describe_scan, share_misread

MANUALS = Path("/usr/share/man")
REQUESTS = re.compile(r"(?m)^[.'].*$|\\f.|\\-|\\&")
WRONG = (0.01, 0.03, 0.1)
FEWEST_CHARACTERS = 20_000


def families() -> Iterator[tuple[str, list[str]]]:
    """Yield texts by family."""
    yield "articles", list(articles(300, is_plain=True).texts.values())
    lines = list(sentences())[:20_000]
    yield "sentences, ten a text", [" ".join(lines[at : at + 10]) for at in range(0, 20_000, 10)]
    yield "modules of Python", list(code(300).texts.values())
    for folder in sorted(MANUALS.iterdir()):
        if folder.name.startswith("man") or not folder.is_dir():
            continue
        pages = [_read(path) for path in sorted(folder.rglob("*.gz"))]
        if sum(map(len, pages)) > FEWEST_CHARACTERS:
            yield f"manuals, {folder.name}", pages


def _read(path: Path) -> str:
    try:
        return REQUESTS.sub(" ", gzip.open(path, "rt", encoding="utf-8").read())
    except (OSError, UnicodeError):
        return ""


def misread(text: str, share: float, draw: random.Random) -> str:
    """Replace, drop and add letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    read = []
    for each in text:
        chance = draw.random() / share
        if chance > 1 or each.isspace():
            read.append(each)
        elif chance > 0.3:
            read.append(draw.choice(letters))
        elif chance > 0.15:
            read.append(each + draw.choice(letters))
    return "".join(read)


def measure(texts: Sequence[str]) -> tuple[int, float]:
    """Count the longer words that are looked at, and the share of misread ones."""
    return share_misread(texts)


def main() -> None:
    """Measure all families, print them and keep them."""
    rows, draw = list[list[object]](), random.Random(1)
    for name, texts in families():
        draw.shuffle(texts)
        words, share = measure(texts)
        wrong = [measure([misread(text, part, draw) for text in texts[:400]])[1] for part in WRONG]
        seen = "scanned" if describe_scan(texts) else "too few words" if words < FEWEST else ""
        rows.append([name, words, f"{share:.4f}", *(f"{each:.4f}" for each in wrong), seen])
    heads = ["", "longer words", "share misread", *(f"at {100 * part:g} %" for part in WRONG),
             "taken for"]  # fmt: skip
    sections = [(f"Scanned from a share of {MISREAD} on", results.table(heads, rows))]
    results.keep("scanned", {"conditions": results.conditions(), "rows": rows}, sections)


if __name__ == "__main__":
    main()
