"""The time from an answer to the next question of a review, with many pairs waiting.

    python benchmarks/review.py [--pairs 100000] [--answers 300]

A collection of invented records in clusters of five has as many pairs; the answers go to the server
of `neardup review` over HTTP, one after the other. Results go to review.md and .json beside this
script.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import requests
from lib import results

import neardup_solr as nd


def main() -> None:
    """Review as many pairs, and keep the times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--answers", type=int, default=300)
    options = parser.parse_args()
    records = [
        {"id": f"{group}-{own}", "text": f"{_name(group)} branch {own}"}
        for group in range(options.pairs // 10)
        for own in range(5)
    ]
    times: list[float] = []

    def answer(address: str) -> None:
        place, _, token = address.partition("#")
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {token}"
        asked: dict[str, Any] = {"reader": "one", "number": None, "answer": None}
        found = session.post(f"{place}next", json=asked).json()
        for turn in range(options.answers):
            asked |= {"number": found["number"], "answer": ("same", "different")[turn % 2]}
            began = time.perf_counter()
            found = session.post(f"{place}answer", json=asked).json()
            times.append(time.perf_counter() - began)
        os.kill(os.getpid(), signal.SIGINT)

    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        reviewed = nd.review(
            records,
            answers=Path(folder) / "answers.jsonl",
            on_ready=lambda address: threading.Thread(target=answer, args=(address,)).start(),
        )
    rising = sorted(times)
    found = {
        "pairs": reviewed.kept + reviewed.tally.left,
        "answers": reviewed.kept,
        "median ms": 1000 * statistics.median(times),
        "99 % ms": 1000 * rising[int(0.99 * len(rising))],
        "most ms": 1000 * rising[-1],
    }
    figures = found.values()
    cells = [f"{one:,.1f}" if isinstance(one, float) else one for one in figures]
    kept = {"conditions": results.conditions(), "options": vars(options), **found}
    results.keep(
        "review", kept, [(f"{found['pairs']:,} pairs waiting", results.table(list(found), [cells]))]
    )


def _name(group: int) -> str:
    """Eight words that no other group has."""
    return " ".join(f"w{group * 8 + place}" for place in range(8))


if __name__ == "__main__":
    main()
