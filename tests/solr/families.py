"""Invented texts in families."""

from __future__ import annotations

import random
from collections.abc import Sequence

import neardup_solr as nd


def families(count: int, seed: int, *, copied: float, wordless: Sequence[str]) -> list[nd.Document]:
    """Texts of invented words, a share of them edited copies of others; before them `wordless`."""
    rng = random.Random(seed)
    texts: list[list[str]] = [text.split() for text in wordless]
    for _ in range(count):
        words = [f"w{rng.randrange(4000)}" for _ in range(rng.randrange(10, 40))]
        if rng.random() < copied:
            words = list(rng.choice(texts)) or words
            for _ in range(rng.choice((0, 1, 2, 4, 8))):
                words[rng.randrange(len(words))] = f"w{rng.randrange(4000)}"
        texts.append(words)
    return [
        nd.Document(id=str(number), text=" ".join(words), kept={"half_i": number % 2})
        for number, words in enumerate(texts)
    ]
