"""Reuse of texts and of code on public sets, beside tools that look for it, and plain scores.

    python benchmarks/reuse.py FOLDER [--tools neardup_solr plain copydetect ...]

FOLDER has `clough.csv`, answers and the articles that they may be from (Clough and Stevenson 2011,
as test/corpora/plagiarism-clough&stevenson.csv of clips/pattern has 95 of them: none, heavy or
light revision, cut), and `IR-Plag-Dataset`, Java programs and what was made of them at six levels
(Karnalim and others 2019). Of each set all texts are in one source; a pair is a text and the one
that it may be from. What a tool of lib/reuse_peers.py says of a pair is the share of the text's
characters that its passages cover. F1 as it is counts each pair with a passage; the best F1 is that
of the best threshold, chosen on the set itself; AUC needs none. Scores of pairs without passages:
JPlag 4.3 (`$JPLAG`: a folder of its jars and of those they need), mean and maximal similarity,
and by words containment of runs of five, the longest common subsequence beside the text's length,
and difflib's ratio. "All pairs" are reported by the first row.
Results go to reuse.md and reuse.json.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib import results, reuse_peers
from lib.reuse_peers import Passage
from passages import measure
from rapidfuzz.distance import LCSseq

LEVELS = {"0": "none", "1": "heavy revision", "2": "light revision", "3": "cut"}
NONE = "none"
JAVA = """
import java.io.File; import java.util.Set; import de.jplag.*; import de.jplag.options.*;
public class Compare { public static void main(String[] words) throws Exception {
    Language language = words[1].equals("java") ? new de.jplag.java.Language()
        : new de.jplag.text.Language();
    JPlagOptions options = new JPlagOptions(language, Set.of(new File(words[0])), Set.of())
        .withSimilarityThreshold(0.0).withMaximumNumberOfComparisons(-1);
    for (JPlagComparison one : new JPlag(options).run().getAllComparisons())
        System.out.println(one.firstSubmission().getName() + "\\t"
            + one.secondSubmission().getName() + "\\t" + one.similarity() + "\\t"
            + one.maximalSimilarity());
} }
"""
Pair = tuple[str, str]  # a text and what it may be from


@dataclass(frozen=True, slots=True)
class PublicSet:
    """Texts by id, and the level of reuse of each pair."""

    name: str
    texts: dict[str, str]
    pairs: dict[Pair, str]
    suffix: str = "txt"


def read_clough(folder: Path) -> PublicSet:
    """Read answers, their articles and levels."""
    texts, pairs, sources = dict[str, str](), dict[Pair, str](), dict[str, str]()
    with (folder / "clough.csv").open(encoding="utf-8-sig", newline="") as rows:
        for number, (answer, source, level) in enumerate(csv.reader(rows)):
            source_id = sources.setdefault(source[:60], f"source{len(sources)}")
            texts[source_id] = source
            texts[f"answer{number}"] = answer
            pairs[f"answer{number}", source_id] = LEVELS[level]
    return PublicSet("Clough and Stevenson", texts, pairs)


def read_programs(folder: Path) -> PublicSet:
    """Read programs, those made of them, and others for the same task."""
    texts, pairs = dict[str, str](), dict[Pair, str]()
    for case in sorted((folder / "IR-Plag-Dataset").iterdir()):
        [original] = (case / "original").rglob("*.java")
        original_id = f"{case.name}.java"
        texts[original_id] = original.read_text("utf-8", errors="replace")
        for path in sorted(case.rglob("*.java")):
            parts = path.relative_to(case).parts
            if parts[0] != "original":
                id = "-".join((case.name, *parts[:-1])) + ".java"
                texts[id] = path.read_text("utf-8", errors="replace")
                pairs[id, original_id] = parts[1] if parts[0] == "plagiarized" else NONE
    return PublicSet("IR-Plag", texts, pairs, suffix="java")


def run_tool(tool: str, public: PublicSet) -> dict[Pair, float]:
    """Run a tool on all texts; the share of a text that is covered, of pairs with a passage."""
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        source, output = Path(folder) / "source.jsonl", Path(folder) / "passages.jsonl"
        with source.open("w", encoding="utf-8") as lines:
            for id, text in public.texts.items():
                lines.write(json.dumps({"id": id, "text": text}, ensure_ascii=False) + "\n")
        measure(reuse_peers.command(tool, source, output))
        spans: dict[Pair, set[int]] = defaultdict(set)
        for passage in reuse_peers.read_passages(tool, output, public.texts):
            for pair, place in _sides(passage):
                if pair in public.pairs:
                    spans[pair].update(place)
    return {pair: len(places) / len(public.texts[pair[0]]) for pair, places in spans.items()}


def _sides(passage: Passage) -> Iterator[tuple[Pair, range]]:
    yield (passage.a, passage.b), range(passage.a_start, passage.a_end)
    yield (passage.b, passage.a), range(passage.b_start, passage.b_end)


def run_jplag(public: PublicSet, column: int) -> dict[Pair, float]:
    """Compare all texts by JPlag, for Java or for texts."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "Compare.java"
        program.write_text(JAVA, "utf-8")
        for id, text in public.texts.items():
            path = Path(folder, "texts", id, f"Main.{public.suffix}")
            path.parent.mkdir(parents=True)
            path.write_text(text, "utf-8")
        ended = subprocess.run(
            ["java", "-cp", f"{os.environ['JPLAG']}/*", str(program), str(Path(folder, "texts")),
             public.suffix], check=True, capture_output=True, text=True,
        )  # fmt: skip
    scores: dict[Pair, float] = {}
    for line in ended.stdout.splitlines():
        if line.count("\t") == 3:
            one, other, *similarities = line.split("\t")
            for pair in ((one, other), (other, one)):
                if pair in public.pairs:
                    scores[pair] = float(similarities[column])
    return scores


def by_words(score: Callable[[list[str], list[str]], float]) -> Callable[[PublicSet], Any]:
    """Make a scorer of pairs of one of two lists of words."""

    def run(public: PublicSet) -> dict[Pair, float]:
        words = {id: re.findall(r"\w+|[^\w\s]", text.casefold())
                 for id, text in public.texts.items()}  # fmt: skip
        return {(id, source): score(words[id], words[source]) for id, source in public.pairs}

    return run


def compute_containment(words: list[str], source: list[str]) -> float:
    """Compute the share of a text's runs of five words that its source has."""
    runs, others = ({tuple(each[at : at + 5]) for at in range(len(each) - 4)}
                    for each in (words, source))  # fmt: skip
    return len(runs & others) / max(1, len(runs))


SCORES: Mapping[str, Callable[[PublicSet], dict[Pair, float]]] = {
    "all pairs": lambda public: dict.fromkeys(public.pairs, 1.0),
    "JPlag": lambda public: run_jplag(public, 0),
    "JPlag, maximal": lambda public: run_jplag(public, 1),
    "containment": by_words(compute_containment),
    "subsequence": by_words(lambda words, source: LCSseq.similarity(words, source) / len(words)),
    "difflib": by_words(
        lambda words, source: difflib.SequenceMatcher(None, source, words, False).ratio()
    ),
}


def judge(public: PublicSet, scores: Mapping[Pair, float], *, is_tool: bool) -> dict[str, Any]:
    """Compare scores with the levels of the pairs."""
    levels = dict.fromkeys(sorted(set(public.pairs.values())))
    figures: dict[str, Any] = {"f1": compute_f1(public, set(scores))} if is_tool else {}
    best = max(
        ((compute_f1(public, {pair for pair, score in scores.items() if score >= least}), least)
         for least in {*scores.values(), 0.0}),
    )  # fmt: skip
    figures["best"], figures["threshold"] = best
    reused = [scores.get(pair, 0.0) for pair, level in public.pairs.items() if level != NONE]
    others = [scores.get(pair, 0.0) for pair, level in public.pairs.items() if level == NONE]
    wins = sum((one > other) + (one == other) / 2 for one in reused for other in others)
    figures["auc"] = wins / (len(reused) * len(others))
    for level in levels:
        pairs = [pair for pair, known in public.pairs.items() if known == level]
        figures[level] = sum(pair in scores for pair in pairs) / len(pairs) if is_tool else ""
    return figures


def compute_f1(public: PublicSet, reported: set[Pair]) -> float:
    """Compute F1 of the pairs that are reported."""
    reused = {pair for pair, level in public.pairs.items() if level != NONE}
    return 2 * len(reported & reused) / max(1, len(reported) + len(reused))


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    names = ["all pairs", *reuse_peers.TOOLS, *list(SCORES)[1:]]
    parser.add_argument("--tools", nargs="+", choices=names, default=names)
    parser.add_argument("--print", action="store_true", help="keep nothing")
    options = parser.parse_args()
    kept: dict[str, Any] = {"conditions": results.conditions(), "sets": {}}
    parts: list[tuple[str, str]] = []
    for public in (read_clough(options.folder), read_programs(options.folder)):
        rows: list[Sequence[object]] = []
        for tool in options.tools:
            is_tool = tool in reuse_peers.TOOLS
            scores = run_tool(tool, public) if is_tool else SCORES[tool](public)
            figures = judge(public, scores, is_tool=is_tool)
            kept["sets"].setdefault(public.name, {})[tool] = figures
            heads = ["", "F1 as it is", "best F1", "its threshold", "AUC", *list(figures)[-len(
                set(public.pairs.values())):]]  # fmt: skip
            rows.append([tool, figures.get("f1", ""), *list(figures.values())[-len(heads) + 2 :]])
            print(public.name, tool, figures, file=sys.stderr, flush=True)
        title = f"{public.name}: {len(public.pairs)} pairs of {len(public.texts)} texts"
        parts.append((f"{title}, and by level the share with a passage",
                      results.table(heads, rows)))  # fmt: skip
    if options.print:
        print("\n\n".join(f"## {heading}\n\n{body}" for heading, body in parts))
    else:
        results.keep("reuse", kept, parts)


if __name__ == "__main__":
    main()
