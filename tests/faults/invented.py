"""Invented documents, of which it is known which ones can be indexed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random

WORDS = 30  # of a text
_SYLLABLES = ("ba", "de", "fi", "go", "lu", "mar", "nes", "pil", "rom", "tus", "var", "zen")


@dataclass(frozen=True, slots=True)
class Invented:
    """A file of documents: the ids of those that can be indexed, in order, and of the others."""

    path: Path
    good: list[str]
    bad: list[str]


def invent(path: Path, count: int, *, every_bad: int = 0, seed: int = 7) -> Invented:
    """Write a JSONL file of so many records; each `every_bad`-th one has a number as its text."""
    random = Random(seed)
    words = ["".join(random.choices(_SYLLABLES, k=3)) for _ in range(5_000)]
    good: list[str] = []
    bad: list[str] = []
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            id = f"d{number:07}"
            is_bad = every_bad > 0 and number % every_bad == every_bad - 1
            (bad if is_bad else good).append(id)
            text = number if is_bad else " ".join(random.choices(words, k=WORDS))
            file.write(json.dumps({"id": id, "text": text}) + "\n")
    return Invented(path, good, bad)
