"""Precision, recall and F1 of measures on short records with known pairs.

    python benchmarks/linkage.py [--sets demo ...]

Restaurants of two guides, publications of two databases, bibliographic records of two searches,
and the invented listings of the demo. All pairs of the two sides (or of the one file) are
compared. Plain measures are given the threshold that is best for them by the known pairs, which
nobody has in practice; `aligned` is given its one default, and its best beside it. Results go to
linkage.md and .json.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from lib import results
from lib.records import SETS, Linkage
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from neardup_solr.candidates.by_word import WORD_DEFAULT, word_candidates
from neardup_solr.measures import alignment as aligning
from neardup_solr.measures.aligned import ALIGNED
from neardup_solr.measures.alignment import alignment
from neardup_solr.measures.frequencies import Frequencies, count_words
from neardup_solr.measures.pairs import mutual_best

THRESHOLDS = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85)
THREADS = os.cpu_count() or 1
LONG = 25  # words: for longer records the explained alignments take minutes

Similarities = NDArray[np.float32] | NDArray[np.float64]


class Quality(NamedTuple):
    """How good the pairs from a threshold on are."""

    threshold: float
    precision: float
    recall: float
    f1: float


def as_characters(forms: list[str]) -> list[str]:
    """Each form as a string of one character a word, from the private areas of Unicode on."""
    numbers = {
        word: at for at, word in enumerate({word for form in forms for word in form.split()})
    }
    return ["".join(chr(0xE000 + numbers[word]) for word in form.split()) for form in forms]


def by_rapidfuzz(scorer: Callable[..., float], by_words: bool = False) -> Any:
    """A measure of rapidfuzz, over texts or over words as characters."""

    def compared(of: Linkage) -> Similarities:
        texts = as_characters(of.forms) if by_words else of.forms
        firsts, seconds = np.unique(of.pairs[:, 0]), np.unique(of.pairs[:, 1])
        matrix = process.cdist(
            [texts[row] for row in firsts.tolist()],
            [texts[row] for row in seconds.tolist()],
            scorer=scorer,
            dtype=np.float32,
            workers=THREADS,
        )
        places = (
            np.searchsorted(rows, of.pairs[:, at]) for at, rows in enumerate((firsts, seconds))
        )
        return matrix[tuple(places)]

    return compared


def idf_containment(of: Linkage) -> Similarities:
    """Shared idf over the smaller sum of idf, words as sets."""
    sets = [set(form.split()) for form in of.forms]
    counts = Counter(word for words in sets for word in words)
    number = {word: at for at, word in enumerate(counts)}
    roots = np.zeros((len(sets), len(number)), dtype=np.float32)
    for row, words in enumerate(sets):
        for word in words:
            roots[row, number[word]] = log(len(sets) / counts[word]) ** 0.5
    weights = (roots**2).sum(axis=1)
    matrix = (roots @ roots.T) / np.maximum(np.minimum.outer(weights, weights), 1e-9)
    found: Similarities = matrix[of.pairs[:, 0], of.pairs[:, 1]]
    return found


def by_alignment(of: Linkage) -> NDArray[np.float64]:
    """Ours."""
    return aligning.compare_records(of.forms, of.pairs, count_words(of.forms), threads=THREADS)


PLAIN = {
    "word edit distance": by_rapidfuzz(Levenshtein.distance, by_words=True),
    "word edit similarity": by_rapidfuzz(Levenshtein.normalized_similarity, by_words=True),
    "character ratio": by_rapidfuzz(fuzz.ratio),
    "token_sort_ratio": by_rapidfuzz(fuzz.token_sort_ratio),
    "token_set_ratio": by_rapidfuzz(fuzz.token_set_ratio),
    "idf containment": idf_containment,
}
DISTANCES = ("word edit distance",)


def quality(of: Linkage, similarities: Similarities, threshold: float) -> Quality:
    """Precision, recall and F1 of the pairs from a threshold on."""
    found = similarities >= threshold
    right = int(of.is_known[found].sum())
    total = int(found.sum())
    return Quality(
        threshold, right / max(total, 1), right / of.known, 2 * right / (total + of.known)
    )


def best(of: Linkage, similarities: Similarities) -> Quality:
    """The quality at the threshold that the known pairs like best."""
    order = np.argsort(-similarities, kind="stable")
    levels = similarities[order]
    f1 = 2 * np.cumsum(of.is_known[order]) / (np.arange(1, len(order) + 1) + of.known)
    f1[:-1][levels[:-1] == levels[1:]] = 0  # a threshold takes all pairs of a level or none
    return quality(of, similarities, float(levels[f1.argmax()]))


class Flat(Frequencies):
    """The weight idf instead of its square."""

    def weight(self, word: str) -> float:
        """The root of the usual weight."""
        return sqrt(super().weight(word))


def plain_words(form: str) -> list[str]:
    """Words without the reading of numbers."""
    return form.replace("-", " ").split()


@contextmanager
def without(**changes: Any) -> Iterator[None]:
    """The measure with other constants."""
    kept = {name: getattr(aligning, name) for name in changes}
    for name, value in changes.items():
        setattr(aligning, name, value)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(aligning, name, value)


NO_ACRONYMS = range(0)
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "no abbreviations": {"ABBREVIATED": 0.0, "INITIAL": 0.0, "ACRONYM": NO_ACRONYMS},
    "no initials": {"INITIAL": 0.0},
    "no acronyms": {"ACRONYM": NO_ACRONYMS},
    "no slips": {"SLIPS": 0.0},
    "no number words, no ordinals": {"split_words": plain_words},
    "equal and joined words only": {
        "ABBREVIATED": 0.0,
        "INITIAL": 0.0,
        "ACRONYM": NO_ACRONYMS,
        "SLIPS": 0.0,
        "split_words": plain_words,
    },
    "weight idf, not its square": {"Frequencies": Flat},
}


def selected(of: Linkage) -> tuple[Linkage, int, float]:
    """The candidates by words of a collection, its hot words, and seconds taken."""
    start = time.perf_counter()
    joining = WORD_DEFAULT if of.sides is None else replace(WORD_DEFAULT, sides=of.sides)
    found = word_candidates(of.forms, joining)
    taken = time.perf_counter() - start
    joined = of.pairs[:, 0].astype(np.int64) << 32 | of.pairs[:, 1]
    wanted = found.pairs[:, 0].astype(np.int64) << 32 | found.pairs[:, 1]
    known = of.is_known[np.searchsorted(joined, wanted)]
    return Linkage(of.forms, of.sides, found.pairs, known, of.known), found.hot_keys, taken


def variant(of: Linkage, changes: dict[str, Any]) -> Quality:
    """The best quality of the measure with other constants."""
    with without(**changes):
        known = count_words(of.forms)
        if changes.get("Frequencies"):
            known = Flat(known.documents, known.counts)
        return best(of, aligning.compare_records(of.forms, of.pairs, known, threads=THREADS))


def combinations_of(of: Linkage) -> dict[str, Quality]:
    """The best quality of other ways to relate what is aligned to what there is."""
    known = count_words(of.forms)
    both, one, other = np.empty((3, len(of.pairs)))
    for at, (first, second) in enumerate(of.pairs.tolist()):
        rows = alignment(of.forms[first], of.forms[second], known)
        both[at] = sum(row.similarity * row.weight for row in rows)
        one[at] = max(sum(row.first_weight for row in rows), 1e-9)
        other[at] = max(sum(row.second_weight for row in rows), 1e-9)
    dice, containment = 2 * both / (one + other), both / np.minimum(one, other)
    ways = {
        "mean of Dice and containment (as it is)": (dice + containment) / 2,
        "Dice": dice,
        "Jaccard": both / (one + other - both),
        "containment": containment,
        "cosine (near to SoftTFIDF)": both / np.sqrt(one * other),
    }
    return {label: best(of, similarities) for label, similarities in ways.items()}


def measure(name: str) -> dict[str, Any]:
    """Everything about one data set."""
    of = SETS[name]()
    found: dict[str, Any] = {
        "records": len(of.forms),
        "pairs": len(of.pairs),
        "known": of.known,
        "words": float(np.mean([len(form.split()) for form in of.forms])),
        "plain": {},
    }
    for label, compared in PLAIN.items():
        similarities = compared(of)
        sign = -1 if label in DISTANCES else 1
        found["plain"][label] = best(of, sign * similarities)._asdict()
    start = time.perf_counter()
    by_us = by_alignment(of)
    found["seconds"] = time.perf_counter() - start
    found["default"] = quality(of, by_us, ALIGNED.default)._asdict()
    found["best"] = best(of, by_us)._asdict()
    found["sweep"] = [quality(of, by_us, level).f1 for level in THRESHOLDS]
    found["mutual"] = quality(
        of, np.where(mutual_best(of.pairs, by_us), by_us, 0.0), ALIGNED.default
    )._asdict()
    few, hot, taken = selected(of)
    start = time.perf_counter()
    quick = by_alignment(few)
    found["candidates"] = {
        "pairs": len(few.pairs),
        "hot_keys": hot,
        "recall": few.is_known.sum() / few.known,
        "seconds": taken,
        "seconds_aligned": time.perf_counter() - start,
        "default": quality(few, quick, ALIGNED.default)._asdict(),
    }
    found["variants"] = {label: variant(few, how)._asdict() for label, how in VARIANTS.items()}
    found["ways"] = {}
    if found["words"] < LONG:
        found["ways"] = {label: of._asdict() for label, of in combinations_of(few).items()}
    return found


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(description="aligned beside other measures of short records")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    conditions = results.conditions()
    measured = {name: measure(name) for name in parser.parse_args().sets}
    columns = list(measured)
    short = [name for name in columns if measured[name]["ways"]]

    def row(label: str, of: Callable[[dict[str, Any]], Any]) -> list[Any]:
        return [label, *(of(measured[name]) for name in columns)]

    def shown(found: dict[str, float]) -> str:
        return f"{found['f1']:.3f} at {found['threshold']:.3g}"

    def best_of(part: str, label: str) -> Callable[[dict[str, Any]], str]:
        return lambda m: shown(m[part][label])

    f1 = [
        *(row(f"{label}, best", best_of("plain", label)) for label in PLAIN),
        row("**aligned, default**", lambda m: f"**{m['default']['f1']:.3f}**"),
        row("precision of it", lambda m: f"{m['default']['precision']:.3f}"),
        row("recall of it", lambda m: f"{m['default']['recall']:.3f}"),
        row("aligned, best", lambda m: shown(m["best"])),
        row("default, candidates by words", lambda m: f"{m['candidates']['default']['f1']:.3f}"),
        row("default, mutual best only", lambda m: f"{m['mutual']['f1']:.3f}"),
    ]
    sizes = [
        row("records", lambda m: m["records"]),
        row("words a record", lambda m: m["words"]),
        row("known pairs", lambda m: m["known"]),
        row("all pairs", lambda m: m["pairs"]),
        row("µs a pair, all pairs", lambda m: m["seconds"] / m["pairs"] * 1e6),
        row("candidates by words", lambda m: m["candidates"]["pairs"]),
        row("share of known pairs in them", lambda m: f"{m['candidates']['recall']:.4f}"),
        row("hot words and pairs of words", lambda m: m["candidates"]["hot_keys"]),
        row("seconds to find them", lambda m: m["candidates"]["seconds"]),
        row("seconds to align them", lambda m: m["candidates"]["seconds_aligned"]),
    ]
    sweep = [
        [f"{level:g}", *(f"{measured[name]['sweep'][at]:.3f}" for name in columns)]
        for at, level in enumerate(THRESHOLDS)
    ]
    variants = [row(label, best_of("variants", label)) for label in VARIANTS]
    ways = [
        [label, *(shown(measured[name]["ways"][label]) for name in short)]
        for label in (measured[short[0]]["ways"] if short else ())
    ]
    results.keep(
        "linkage",
        {"conditions": conditions, "measured": measured},
        [
            ("F1 over all pairs", results.table(["measure", *columns], f1)),
            ("Sizes and times", results.table(["", *columns], sizes)),
            ("F1 of aligned by threshold", results.table(["threshold", *columns], sweep)),
            (
                "Best F1 of variants, candidates by words",
                results.table(["variant", *columns], variants),
            ),
            (
                "Best F1 of other ways to put it together, candidates by words",
                results.table(["similarity", *short], ways),
            ),
        ],
    )


if __name__ == "__main__":
    main()
