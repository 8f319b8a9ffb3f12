"""Invented texts of which many are edited copies of one another."""

from __future__ import annotations

from random import Random


def edited_copies(count: int, rng: Random) -> list[list[str]]:
    """The words of so many texts, each new or an earlier one with some words replaced."""
    texts: list[list[str]] = []
    for _ in range(count):
        words = [f"w{rng.randrange(4000)}" for _ in range(rng.randrange(20, 40))]
        if texts and rng.random() < 0.6:
            words = list(rng.choice(texts))
            for _ in range(rng.choice((0, 1, 2, 4, 8))):
                words[rng.randrange(len(words))] = f"w{rng.randrange(4000)}"
        texts.append(words)
    return texts
