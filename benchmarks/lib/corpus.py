"""A corpus of any size with known near-duplicates: documents of about 200 words, made by a seed.

Every document has a title, a reference, a date, a city and sentences drawn at random, some of them
from a Zipf-weighted pool of boilerplate. Of 100 documents about 10 are edited copies of another
(nine kinds of edit) and 4 are siblings: the same template with a body of their own, which a
detector of near-duplicates has to tell apart. The word 3-shingle Jaccard similarity of each
planted pair is computed exactly, on the package's own normal form.

    PYTHONPATH=benchmarks python -m lib.corpus 10000 --seed 1 -o corpus.jsonl

writes its truth beside it, to corpus.tsv.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lib.drafts import CITIES, EDITS, Draft, pick, reference_of, some, title_of
from neardup_solr.text.normalize import normalize
from neardup_solr.text.shingles import word_shingles

DATA = Path(os.environ.get("NEARDUP_DATA", Path(__file__).parents[3] / "shared" / "data"))
COPIES, SIBLINGS = 0.10, 0.04  # of all documents
PART = 100_000  # documents of one seed in a corpus that grows
POOL = 80  # boilerplate sentences
SENTENCES = (7, 16)  # in a body, the last one not reached


@dataclass(frozen=True, slots=True)
class Planted:
    """Two documents (positions in the corpus) that were made alike, how, and how alike they are.

    `kind` is an edit, or "sibling" for a hard negative; `similarity` is the exact Jaccard
    similarity of their word 3-shingles.
    """

    first: int
    second: int
    kind: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, and the pairs of them that were planted."""

    documents: list[str]
    planted: list[Planted]


class Dice:
    """Random numbers that stay the same in every version: PCG64's raw stream (O'Neill 2014)."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def below(self, limit: int, count: int) -> NDArray[np.int64]:
        """So many whole numbers from 0 to limit - 1."""
        return (self.fractions(count) * limit).astype(np.int64)

    def fractions(self, count: int) -> NDArray[np.float64]:
        """So many numbers from 0 to 1, 1 not reached."""
        raw = self._bits.random_raw(count) >> np.uint64(11)
        return raw.astype(np.float64) * 2.0**-53


@cache
def sentences() -> list[str]:
    """The 220,000 English sentences that documents are drawn from."""
    with gzip.open(DATA / "sentences.txt.gz", "rt", encoding="utf-8") as lines:
        return lines.read().splitlines()


def corpus(count: int, seed: int, *, ascii_only: bool = False, boilerplate: bool = True) -> Corpus:
    """`count` documents and the pairs planted among them; the same for the same seed.

    `ascii_only` draws from the sentences without a character beyond ASCII. Without `boilerplate`
    no sentence is drawn more often than others.
    """
    source = [one for one in sentences() if one.isascii()] if ascii_only else sentences()
    copies, siblings = round(count * COPIES), round(count * SIBLINGS)
    rng = random.Random(seed)
    drafts = _originals(count - copies - siblings, source, Dice(seed), boilerplate)
    pairs = _plant_copies(drafts, copies, source, rng)
    pairs += _plant_siblings(drafts, siblings, source, rng)
    places = np.argsort(Dice(seed + 1).fractions(count), kind="stable").argsort().tolist()
    documents = [""] * count
    for draft, place in zip(drafts, places, strict=True):
        documents[place] = draft.text()
    planted = []
    for made_first, made_second, kind in pairs:
        first, second = places[made_first], places[made_second]
        similarity = jaccard(documents[first], documents[second])
        planted.append(Planted(first, second, kind, similarity))
    return Corpus(documents, planted)


def growing(count: int) -> Iterator[str]:
    """`count` documents of corpora of 100,000, of seeds 1, 2, …, each with boilerplate of its own.

    So documents have as many near-duplicates in a large corpus as in a small one.
    """
    for seed, first in enumerate(range(0, count, PART), start=1):
        yield from corpus(min(PART, count - first), seed).documents


def jaccard(first: str, second: str) -> float:
    """The exact Jaccard similarity of two texts' word 3-shingles."""
    one, other = (set(word_shingles(normalize(text), 3)) for text in (first, second))
    return len(one & other) / len(one | other)


def _originals(count: int, source: Sequence[str], dice: Dice, boilerplate: bool) -> list[Draft]:
    least, most = SENTENCES
    sizes = (least + dice.below(most - least, count)).tolist()
    drawn = iter(dice.below(len(source), sum(sizes)).tolist())
    titles = dice.below(len(source), count).tolist()
    references = dice.below(90_000_000, count).tolist()
    cities = dice.below(len(CITIES), count).tolist()
    feet = _boilerplate(count, source, dice) if boilerplate else [[]] * count
    return [
        Draft(
            title=title_of(source[title]),
            reference=reference_of(reference),
            city=CITIES[city],
            sentences=(*(source[next(drawn)] for _ in range(size)), *foot),
        )
        for size, title, reference, city, foot in zip(
            sizes, titles, references, cities, feet, strict=True
        )
    ]


def _boilerplate(count: int, source: Sequence[str], dice: Dice) -> list[list[str]]:
    """No, one, two or three sentences for each document from the Zipf-weighted pool."""
    pool = [source[at] for at in dice.below(len(source), POOL).tolist()]
    weights = np.cumsum(1.0 / np.arange(1, POOL + 1))
    numbers = np.searchsorted([0.4, 0.7, 0.9], dice.fractions(count), side="right").tolist()
    chosen = np.searchsorted(weights, dice.fractions(sum(numbers)) * weights[-1]).tolist()
    drawn = iter(chosen)
    return [[pool[next(drawn)] for _ in range(number)] for number in numbers]


def _plant_copies(
    drafts: list[Draft], count: int, source: Sequence[str], rng: random.Random
) -> list[tuple[int, int, str]]:
    """Append edited copies; now and then a copy of a copy, so that some form groups."""
    kinds, pairs = list(EDITS), []
    for number in range(count):
        first = int(rng.random() * len(drafts))
        kind = kinds[number % len(kinds)]
        pairs.append((first, len(drafts), kind))
        drafts.append(EDITS[kind](drafts[first], source, rng))
    return pairs


def _plant_siblings(
    drafts: list[Draft], count: int, source: Sequence[str], rng: random.Random
) -> list[tuple[int, int, str]]:
    """Append groups of two to five documents from one template each: 66 to 84 % of the words."""
    pairs: list[tuple[int, int, str]] = []
    end = len(drafts) + count
    while len(drafts) < end:
        size = min(2 + int(rng.random() * 4), end - len(drafts))
        template = some(12, source, rng)
        words = sum(len(one.split()) for one in template)
        own = words * (1.0 / (0.66 + 0.18 * rng.random()) - 1.0)
        members = range(len(drafts), len(drafts) + size)
        drafts.extend(_sibling(template, own, source, rng) for _ in members)
        pairs.extend((a, b, "sibling") for a in members for b in members if a < b)
    return pairs


def _sibling(
    template: tuple[str, ...], own: float, source: Sequence[str], rng: random.Random
) -> Draft:
    body: list[str] = []
    while sum(len(one.split()) for one in body) < own:
        body.extend(some(1, source, rng))
    number = int(rng.random() * 90_000_000)
    return Draft(
        title=title_of(template[0]),
        reference=reference_of(number),
        city=pick(CITIES, rng),
        sentences=(*template[:6], *body, *template[6:]),
    )


def main() -> None:
    """Write a corpus as JSON Lines, and its planted pairs as a table beside it."""
    parser = argparse.ArgumentParser(description="a corpus with known near-duplicates")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    made = corpus(options.count, options.seed)
    with options.output.open("w", encoding="utf-8") as lines:
        for at, text in enumerate(made.documents):
            lines.write(json.dumps({"id": str(at), "text": text}, ensure_ascii=False) + "\n")
    with options.output.with_suffix(".tsv").open("w", encoding="utf-8") as rows:
        rows.write("id\tother_id\tkind\tjaccard\n")
        for pair in made.planted:
            rows.write(f"{pair.first}\t{pair.second}\t{pair.kind}\t{pair.similarity:.4f}\n")


if __name__ == "__main__":
    main()
