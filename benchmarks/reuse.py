"""Reuse of texts and of code on public sets, beside tools that look for it, and plain scores.

    python benchmarks/reuse.py FOLDER [--tools neardup_solr plain copydetect ...]

FOLDER has
- `clough.csv`, answers and the articles that they may be from (Clough and Stevenson 2011; 95 of
  them are test/corpora/plagiarism-clough&stevenson.csv of clips/pattern): none, heavy or light
  revision, cut;
- `IR-Plag-Dataset`, Java programs and what was made of them at six levels (Karnalim and others
  2019);
- `korpus-plagiarisme-indonesia` (felikjunvianto; the format is PAN's, Potthast and others 2010),
  Indonesian texts with known passages of others: copied, rewritten by people, or words put into
  another order, or for others, by a program.

Of each set all texts are in one source; a pair is a text and the one that it may be from. What a
tool of lib/reuse_peers.py says of a pair is the share of the text's characters that its passages
cover. F1 as it is counts each pair with a passage; the best F1 is that of the best threshold,
chosen on the set itself; AUC needs none. Scores of pairs without passages: JPlag 4.3 (`$JPLAG`: a
folder of its jars and of those they need), mean and maximal similarity, and by words containment
of runs of five, the longest common subsequence beside the text's length, and difflib's ratio.
"All pairs" are reported by the first row. Of known passages, characters are counted: precision is
the share of those reported in suspicious texts that were taken from the text that is named,
recall the share of those taken. Results go to reuse.md and reuse.json; what is not measured again
is kept there.
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
from xml.etree import ElementTree

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


def read_known(folder: Path) -> tuple[dict[str, str], list[tuple[str, Pair, range]]]:
    """Read suspicious texts and sources, and of each passage its kind, pair and place."""
    root = folder / "korpus-plagiarisme-indonesia"
    texts = {path.stem: path.read_bytes().decode("utf-8") for path in root.glob("*/*.txt")}
    passages = []
    for path in sorted(root.glob("suspicious-documents/*.xml")):
        for case in ElementTree.parse(path).getroot().iter("feature"):
            start = int(case.attrib["this_offset"])
            kind = case.get("obfuscation", case.attrib["type"]).replace("none", "copied")
            pair = path.stem, case.attrib["source_reference"].removesuffix(".txt")
            passages.append((kind, pair, range(start, start + int(case.attrib["this_length"]))))
    return texts, passages


def run_tool(tool: str, public: PublicSet, seconds: float) -> dict[Pair, float]:
    """Run a tool on all texts; the share of a text that is covered, of pairs with a passage."""
    covered = run_passages(tool, public.texts, seconds)
    return {pair: len(covered[pair]) / len(public.texts[pair[0]])
            for pair in public.pairs if pair in covered}  # fmt: skip


def run_passages(tool: str, texts: Mapping[str, str], seconds: float) -> dict[Pair, set[int]]:
    """Run a tool on texts; of each pair the characters of the first that passages cover."""
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        source, output = Path(folder) / "source.jsonl", Path(folder) / "passages.jsonl"
        with source.open("w", encoding="utf-8") as lines:
            for id, text in texts.items():
                lines.write(json.dumps({"id": id, "text": text}, ensure_ascii=False) + "\n")
        measure(reuse_peers.command(tool, source, output), seconds)
        covered: dict[Pair, set[int]] = defaultdict(set)
        for passage in reuse_peers.read_passages(tool, output, texts):
            for pair, place in _sides(passage):
                covered[pair].update(place)
    return dict(covered)


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
        if is_tool:
            figures[level] = sum(pair in scores for pair in pairs) / len(pairs)
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
    parser.add_argument("--seconds", type=float, default=600, help="for a tool and a set")
    options = parser.parse_args()
    path = results.BENCHMARKS / "reuse.json"
    kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {"sets": {}}
    kept["conditions"] = results.conditions()
    parts: list[tuple[str, str]] = []
    for public in (read_clough(options.folder), read_programs(options.folder)):
        figures = kept["sets"].setdefault(public.name, {})
        for tool in options.tools:
            figures[tool] = measure_tool(tool, public, options.seconds)
            print(public.name, tool, figures[tool], file=sys.stderr, flush=True)
        title = f"{public.name}: {len(public.pairs)} pairs of {len(public.texts)} texts"
        body = format_figures(figures, sorted(set(public.pairs.values())), names)
        parts.append((f"{title}, and by level the share with a passage", body))
    known = kept["sets"].setdefault("known passages", {})
    for tool in (tool for tool in options.tools if tool in reuse_peers.TOOLS):
        known[tool] = measure_known(tool, options.folder, options.seconds)
        print("known passages", tool, known[tool], file=sys.stderr, flush=True)
    heads = list(dict.fromkeys(head for figures in known.values() for head in figures))
    rows = [[tool, *(known[tool].get(head, "") for head in heads)]
            for tool in reuse_peers.TOOLS if tool in known]  # fmt: skip
    title = "Known passages in Indonesian texts: characters, and by kind the share of each passage"
    parts.append((title, results.table(["", *heads], rows)))
    results.keep("reuse", kept, parts)


def measure_tool(tool: str, public: PublicSet, seconds: float) -> dict[str, Any]:
    """Measure a tool or a score, or say why it has no result."""
    if tool in SCORES:
        return judge(public, SCORES[tool](public), is_tool=False)
    try:
        return judge(public, run_tool(tool, public, seconds), is_tool=True)
    except TimeoutError as reason:
        return {"reason": str(reason)}


def measure_known(tool: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Count characters of known passages that a tool reports."""
    texts, passages = read_known(folder)
    try:
        covered = run_passages(tool, texts, seconds)
    except TimeoutError as reason:
        return {"reason": str(reason)}
    true: dict[Pair, set[int]] = defaultdict(set)
    for _, pair, place in passages:
        true[pair].update(place)
    reported = {pair: places for pair, places in covered.items()
                if pair[0].startswith("suspicious") and pair[1].startswith("source")}  # fmt: skip
    common = sum(len(places & true[pair]) for pair, places in reported.items())
    precision = common / max(1, sum(map(len, reported.values())))
    recall = common / sum(map(len, true.values()))
    figures = {"precision": precision, "recall": recall,
               "f1": 2 * precision * recall / max(1e-9, precision + recall)}  # fmt: skip
    for kind in sorted({kind for kind, _, _ in passages}):
        cases = [(pair, place) for other, pair, place in passages if other == kind]
        shares = [len(covered.get(pair, set()) & set(place)) / len(place) for pair, place in cases]
        figures[f"{kind} ({len(cases)})"] = sum(shares) / len(shares)
    return figures


def format_figures(
    figures: Mapping[str, dict[str, Any]], levels: Sequence[str], names: Sequence[str]
) -> str:
    """Tabulate the figures of all tools that have some."""
    columns = ["f1", "best", "threshold", "auc", *levels]
    rows = [[tool, *(figures[tool].get(column, "") for column in columns),
             figures[tool].get("reason", "")] for tool in names if tool in figures]  # fmt: skip
    heads = ["", "F1 as it is", "best F1", "its threshold", "AUC", *levels, ""]
    return results.table(heads, rows)


if __name__ == "__main__":
    main()
