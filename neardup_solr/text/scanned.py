"""Signs that texts were scanned: misread words, and hyphens at the ends of lines.

A word is misread if it comes once and differs in a letter from a word that comes `FREQUENT` times
or more, but not at its beginning or its end, where forms of a word differ. That share is below
.005 in texts as they were written, in 20 languages, and above .02 if one letter in a hundred is
wrong (benchmarks/scanned.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from neardup_solr.regex import regex

MISREAD, BROKEN = 0.02, 0.05  # shares of longer words, and of lines, from which texts are scanned
LOOKED_AT, FEWEST = 5_000, 1_000  # longer words
FREQUENT, END = 3, 2  # times that a word comes; letters of its end
FEWEST_LINES = 100
_WORD = regex(r"[^\W\d_]{7,}")  # a longer one
_BROKEN = regex(r"[^\W\d_]-\n\s*[^\W\d_]")


def describe_scan(texts: Iterable[str]) -> str:
    """Say what shows that texts were scanned, "" if nothing does. Looks at the first of them."""
    looked_at = list[str]()
    total, share = share_misread(_keep(texts, looked_at))
    if total >= FEWEST and share >= MISREAD:
        return f"{100 * share:.0f} % or more of the longer words are misread"
    lines = sum(text.count("\n") for text in looked_at)
    broken = sum(len(_BROKEN.findall(text)) for text in looked_at if "\n" in text)
    if lines >= FEWEST_LINES and broken >= BROKEN * lines:
        return f"{100 * broken / lines:.0f} % of the lines end with a hyphen"
    return ""


def _keep(texts: Iterable[str], kept: list[str]) -> Iterator[str]:
    """Yield texts, and keep them."""
    for text in texts:
        kept.append(text)
        yield text


def share_misread(texts: Iterable[str]) -> tuple[int, float]:
    """Count the longer words of the first texts, about `LOOKED_AT`, and the share misread."""
    counts: Counter[str] = Counter()
    total = 0
    for text in texts:
        words = _WORD.findall(text.lower())
        counts.update(words)
        total += len(words)
        if total >= LOOKED_AT:
            break
    return total, _count_misread(counts) / max(total, 1)


def _count_misread(counts: Counter[str]) -> int:
    """Count words that come once, and differ in a letter from a frequent one."""
    near = set[str]()
    for word, count in counts.items():
        if count >= FREQUENT:
            near.add(word)
            near.update(_shorten(word))
    once = (word for word, count in counts.items() if count == 1)
    return sum(word in near or not near.isdisjoint(_shorten(word)) for word in once)


def _shorten(word: str) -> list[str]:
    """List a word without each of its letters but the first and the last ones."""
    return [word[:at] + word[at + 1 :] for at in range(1, len(word) - END)]
