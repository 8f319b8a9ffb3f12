"""Precision and recall on templates, with and without what most documents share.

Invented sets with planted near-duplicates: alerts, pages with one frame, mails with a footer, job
ads of an agency. `python benchmarks/templates.py` writes templates.md beside it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path

import neardup_solr as nd

SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu we xa yo zi".split()  # noqa: SIM905
Texts = tuple[list[str], list[int]]  # texts, and the number of the thing that each is about


def words(rng: random.Random, count: int, vocabulary: int = 5_000) -> str:
    """Words of an invented language, some much more frequent than others."""
    numbers = (int(vocabulary * rng.random() ** 3) for _ in range(count))
    return " ".join(
        SYLLABLES[n % 19] + SYLLABLES[n // 19 % 19] + SYLLABLES[n // 361 % 19] for n in numbers
    )


def edited(text: str, rng: random.Random, rate: float = 0.06) -> str:
    """A text of which some words are dropped or replaced."""
    kept = (
        word if rng.random() > rate else rng.choice(["", words(rng, 1)]) for word in text.split()
    )
    return " ".join(filter(None, kept))


def alerts(rng: random.Random) -> Texts:
    """Alerts of hosts and percentages; some come again with their time written otherwise."""
    texts, things = [], []
    for thing, number in enumerate(rng.sample(range(300 * 100), 300)):
        host, percent = divmod(number, 100)
        minute, hour = rng.randrange(60), rng.randrange(13, 24)
        times = [f"{hour}:{minute:02}", f"{hour - 12}:{minute:02} pm", f"{hour}h{minute:02}"]
        for time in times[: rng.choice([1, 1, 2, 3])]:
            texts.append(
                f"Warning: disk usage on web-{host:03} is {percent}.{number % 7} percent of the"
                f" volume at {time}, please check the service and free some space"
            )
            things.append(thing)
    return texts, things


def framed(head: int, body: int, foot: int, rate: float) -> Callable[[random.Random], Texts]:
    """Documents with a common head and foot, some of whose bodies come again, edited."""

    def make(rng: random.Random) -> Texts:
        texts, things = [], []
        top, bottom = words(rng, head), words(rng, foot)
        for thing in range(400):
            own = words(rng, body)
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                texts.append(f"{top} {edited(own, rng, rate)} {bottom}")
                things.append(thing)
        return texts, things

    return make


def job_ads(rng: random.Random) -> Texts:
    """Ads of one agency: five sentences of its own among those that tell of the job."""
    texts, things = [], []
    phrases = [words(rng, 25) for _ in range(5)]
    for thing in range(400):
        title, tasks, offer = words(rng, 3), words(rng, 25), words(rng, 15)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            parts = [edited(part, rng) for part in (title, tasks, offer)]
            texts.append(" ".join([parts[0], *phrases[:2], parts[1], *phrases[2:4], parts[2],
                                   phrases[4]]))  # fmt: skip
            things.append(thing)
    return texts, things


SETS = {
    "alerts": alerts,
    "pages, 60 % frame": framed(80, 80, 40, 0.06),
    "mails with a footer": framed(2, 40, 60, 0.06),
    "job ads of an agency": job_ads,
}


def rate(texts: list[str], things: list[int], **how: object) -> tuple[float, float]:
    """Precision and recall of the pairs."""
    found = nd.duplicates([(str(n), text) for n, text in enumerate(texts)], **how)  # type: ignore[arg-type]
    pairs = {(int(pair.id), int(pair.other_id)) for pair in found.pairs}
    true = {(a, b) for a, b in combinations(range(len(texts)), 2) if things[a] == things[b]}
    return len(pairs & true) / max(len(pairs), 1), len(pairs & true) / len(true)


def main() -> None:
    """Compare all sets, and write the table."""
    lines = [
        "# Templates", "",
        "Precision and recall of the pairs, by `python benchmarks/templates.py`: invented sets with"
        " planted near-duplicates.", "",
        "| set | documents | measure | whole texts | without_common |",
        "|---|---|---|---|---|",
    ]  # fmt: skip
    for name, measure in product(SETS, ("auto", "words")):
        texts, things = SETS[name](random.Random(1))
        cells = []
        for without_common in (False, True):
            how = {"measure": measure, "without_common": without_common}
            precision, recall = rate(texts, things, **how)
            cells.append(f"{precision:.3f} {recall:.3f}")
        lines.append(f"| {name} | {len(texts)} | {measure} | {cells[0]} | {cells[1]} |")
        print(lines[-1], flush=True)
    Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
