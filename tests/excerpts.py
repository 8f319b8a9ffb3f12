"""Articles, and excerpts of some of them, verbatim or with a few words changed."""

import random

ARTICLES, EXCERPTS = 2_100, 100


def articles(*, seed: int = 1, foot: str = "") -> dict[str, str]:
    """2,100 articles of 250 words and more by id, each with the same foot."""
    rng = random.Random(seed)
    letters = "etaoinshrdlu"
    vocabulary = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(4_000)]
    weights = [1 / (rank + 10) for rank in range(len(vocabulary))]
    return {
        f"a{number}": " ".join([*rng.choices(vocabulary, weights, k=rng.randint(250, 400)), foot])
        for number in range(ARTICLES)
    }


def excerpts(texts: dict[str, str], *, changed: int = 0, words: int = 50) -> dict[str, str]:
    """100 excerpts by id, e0 of a0 and so on: their last 50 words, so many of them changed."""
    rng = random.Random(2)
    found = {}
    for number in range(EXCERPTS):
        taken = texts[f"a{number}"].split()[-words:]
        for place in rng.sample(range(words), changed):
            taken[place] = f"x{number}"
        found[f"e{number}"] = " ".join(taken)
    return found
