"""Families of texts for reuse.py: made articles and Chinese, licences, and Python's own modules."""

from __future__ import annotations

import random
import re
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from lib.collection import licences
from lib.corpus import DATA, sentences
from lib.reuse import Family

SHORTEST, LONGEST, MEDIAN = 80, 3_000, 350  # words of a text
SITES, ON_SITES = 20, 0.12  # of all articles, which have the menu and the foot of a site
FORMULAS, WITH_FORMULA = 80, 0.4  # of all articles, which have one or two formulas
SAME = 6  # words in common, of sentences that are left out
RUN = 4  # words in their order in the sentences, after which a chain goes on elsewhere
LEXICON, SIGNS = 5_000, 3_000


def articles(count: int, seed: int = 1, *, is_plain: bool = False) -> Family:
    """Make articles: news, sentences of which each is in one article, and chains of their words.

    Chains go from a word to one that follows it somewhere, so common phrases are common in them as
    well. Menus and feet of sites, and formulas by Zipf's law, are in many articles, unless
    they are plain.
    """
    rng = random.Random(seed)
    source = _unlike(rng)
    formulas = [one for one in source[:2_000] if 8 <= len(one.split()) <= 22][:FORMULAS]
    sites = [(" | ".join(" ".join(one.split()[:3]) for one in source[at : at + 14]),
              " ".join(source[at + 14 : at + 16]))
             for at in range(2_000, 2_000 + 16 * SITES, 16)]  # fmt: skip
    lengths = [_length(rng) for _ in range(count)]
    news = [] if is_plain else _news()[: count // 12]  # they share sentences
    bodies = _bodies(source[3_000:], lengths, count // 5, rng)
    texts, commons = dict[str, str](), dict[str, frozenset[str]]()
    for number, parts in enumerate(bodies):
        shared = set[str]()
        if number < len(news):
            parts, shared = [news[number]], {"news"}
        if rng.random() < WITH_FORMULA and not is_plain:
            for _ in range(rng.randint(1, 2)):
                at = int(len(formulas) ** rng.random()) - 1
                shared.add(f"formula {at}")
                parts.insert(rng.randrange(len(parts) + 1), formulas[at])
        if rng.random() < ON_SITES and not is_plain:
            at = rng.randrange(SITES)
            shared.add(f"site {at}")
            parts = [sites[at][0] + "\n\n", *parts, "\n\n" + sites[at][1]]
        id = f"a{number}"
        texts[id] = "".join(part if part.endswith("\n\n") else part + " " for part in parts).strip()
        commons[id] = frozenset(shared)
    return Family(name="articles", texts=texts, commons=commons)


def _length(rng: random.Random) -> int:
    return max(SHORTEST, min(LONGEST, round(rng.lognormvariate(np.log(MEDIAN), 0.8))))


def _unlike(rng: random.Random) -> list[str]:
    """Take the sentences, in any order, without those that have six words in common with another.

    Those with long words, such as addresses, or of scripts without blanks are left out as well.
    """
    source, seen, kept = list(sentences()), set[int](), list[str]()
    rng.shuffle(source)
    for sentence in source:
        words = re.findall(r"\w+", sentence.casefold())
        runs = {hash(tuple(words[at : at + SAME])) for at in range(len(words) - SAME + 1)}
        odd = len(words) > 1.4 * len(sentence.split()) or max(map(len, sentence.split())) > 22
        if seen.isdisjoint(runs) and not odd and max(sentence) < "\u2e80":
            kept.append(sentence)
        seen |= runs
    return kept


def _news() -> list[str]:
    lines = (DATA / "articles" / "articles_2500.train").read_text("utf-8").splitlines()
    return [line.partition(" ")[2] for line in lines]


def _bodies(
    source: Sequence[str], lengths: Sequence[int], real: int, rng: random.Random
) -> Iterator[list[str]]:
    """Make sentences of so many words: the first bodies of the source, the others of chains."""
    left = iter(source)
    for length in lengths[:real]:
        size, parts = 0, list[str]()
        while size < length and (sentence := next(left, None)) is not None:
            size += len(sentence.split())
            parts.append(sentence + ("\n\n" if rng.random() < 0.15 else ""))
        yield parts
    words = [word for sentence in source for word in sentence.split()]
    vocabulary, stream = np.unique(np.array(words, dtype=object), return_inverse=True)
    order = np.argsort(stream, kind="stable")
    starts = np.searchsorted(stream[order], np.arange(len(vocabulary) + 1))
    dice = np.array([rng.random() for _ in range(1 << 16)])
    chain = _chain(stream, order, starts, sum(lengths[real:]), dice)
    at = 0
    for length in lengths[real:]:
        part = list[str]()
        parts = []
        for word in vocabulary[chain[at : at + length]]:
            part.append(word)
            if word[-1] in ".!?" and len(part) > 5:
                parts.append(" ".join(part) + ("\n\n" if rng.random() < 0.15 else ""))
                part = []
        at += length
        yield [*parts, " ".join(part)] if part else parts


@njit(cache=True)
def _chain(stream: Any, order: Any, starts: Any, count: int, dice: Any) -> Any:
    chain = np.empty(count, dtype=np.int64)
    place, run, state = 0, 0, 1
    for at in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
        share = dice[(state >> 30) & 0xFFFF]
        if run >= RUN or place + 1 >= len(stream):
            place, run = int(((state >> 20) & 0xFFFFFFFF) % len(stream)), 0
        else:
            first, end = starts[stream[place]], starts[stream[place] + 1]
            other = order[first + int(share * (end - first))]
            run = run + 1 if other == place else 0
            place = other + 1 if other + 1 < len(stream) else 0
        chain[at] = stream[place]
    return chain


def chinese(count: int, seed: int = 1) -> Family:
    """Make texts of invented Chinese words, by Zipf's law, without blanks."""
    rng = random.Random(seed)
    weights = [1 / (rank + 10) for rank in range(SIGNS)]
    lexicon = [
        "".join(chr(0x4E00 + 5 * sign) for sign in rng.choices(range(SIGNS), weights, k=size))
        for size in rng.choices((1, 2, 2, 3), k=LEXICON)
    ]
    sums = list(np.cumsum([1 / (rank + 3) for rank in range(LEXICON)]))
    texts = {}
    for number in range(count):
        words = rng.choices(lexicon, cum_weights=sums, k=_length(rng))
        for at in range(rng.randint(6, 14), len(words), 12):
            words[at] += "。" if rng.random() < 0.5 else "、"
        texts[f"a{number}"] = "".join(words)
    nothing = dict.fromkeys(texts, frozenset[str]())
    return Family(name="Chinese", texts=texts, commons=nothing, is_spaced=False)


def notices(count: int, seed: int = 1) -> Family:
    """Take licences and notices, which have many passages in common."""
    texts = [text for text in licences(seed).texts if len(text.split()) >= SHORTEST]
    return _sample("licences", texts, count, seed, is_lined=False)


def code(count: int, seed: int = 1) -> Family:
    """Take the modules of Python's own library, most of which are tests."""
    folder = Path(sysconfig.get_path("stdlib"))
    paths = sorted(path for path in folder.rglob("*.py") if "site-packages" not in path.parts)
    texts = [text for path in paths if SHORTEST <= len((text := _read(path)).split()) <= LONGEST]
    return _sample("Python modules", texts, count, seed, is_lined=True)


def _read(path: Path) -> str:
    return path.read_text("utf-8", errors="replace")


def _sample(name: str, texts: list[str], count: int, seed: int, *, is_lined: bool) -> Family:
    chosen = random.Random(seed).sample(texts, min(count, len(texts)))
    numbered: dict[str, str] = {f"a{number}": text for number, text in enumerate(chosen)}
    return Family(name=name, texts=numbered, is_lined=is_lined)
