"""Passages that two texts share: recall by kind of reuse, places, direction, seconds, memory.

    python benchmarks/passages.py [--families articles Chinese ...] [--tools neardup_solr plain ...]

29,641 articles (and 2,964) with planted edited versions, excerpts, quotations and scans, of which
lib/reuse.py tells; and families of other texts: invented Chinese, licences, Python's own modules.
Each tool reads the same file of JSON lines in a process of its own, in turns with `duplicates
--measure words`. A pair is wrong if nothing was planted in it and it has no menu or formula in
common; of licences and modules nobody knows what they share, so they have no precision, but
for all it is checked that the two places of a passage have text in common (hollow: less than 0.3 of
its runs of five letters). Results go to passages.md and passages.json; what is not measured again
is kept there, with the figures of `duplicates` in the same run.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib import results, reuse_peers
from lib.reuse import NOISE, RATES, Collection, Family, Reuse, Span, plant
from lib.reuse_families import articles, chinese, code, notices
from lib.reuse_peers import Passage

LARGE, SMALL, FEW = 29_641, 2_964, 500
FAMILIES: Mapping[str, tuple[Callable[[int], Family], int]] = {
    "articles": (articles, LARGE), "articles, a tenth": (articles, SMALL),
    "articles, 500": (articles, FEW),
    "Chinese": (chinese, SMALL), "licences": (notices, SMALL), "Python modules": (code, SMALL),
}  # fmt: skip
MOST = {"copydetect": FEW, "passim": FEW, "plain": SMALL, "suffixes": SMALL}  # texts at most
LIMIT = 600  # seconds of a tool
CHECKED, HOLLOW = 5_000, 0.3  # passages that are checked; letters in common, at least
# What the planted text may be to its source, and the source to it.
RIGHT = {
    "edited": ({"edited", "copy"}, {"edited", "copy"}),
    "scan": ({"edited", "copy"}, {"edited", "copy"}),
    "excerpt": ({"part of"}, {"contains"}),
    "quotation": ({"quotes"}, {"quoted in"}),
    "quotation, unmarked": ({"shares"}, {"shares"}),
}
LAUNCHER = """
import json, os, sys, time
started = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[
    (os.POSIX_SPAWN_DUP2, 2, 1)])
_, status, used = os.wait4(child, 0)
seconds = time.perf_counter() - started
print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]), end="")
sys.exit(os.waitstatus_to_exitcode(status) not in (0, 1))  # 1: something is reported
"""
Figures = dict[str, Any]
OURS = "neardup_solr"


@dataclass(frozen=True, slots=True)
class Run:
    """A command's seconds by the clock and by the processors, and its peak of memory."""

    seconds: float
    processor: float
    megabytes: float


def measure(words: Sequence[str], limit: float | None = None) -> Run:
    """Run a command, which has to end well and in so many seconds.

    A small process starts it, because Linux counts what the parent held into `ru_maxrss`.
    """
    ended = subprocess.run(
        ["timeout", str(limit or 0), sys.executable, "-c", LAUNCHER, *words], check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    if ended.returncode == 124:
        raise TimeoutError(f"not done after {limit} s")
    if ended.returncode:
        raise RuntimeError(f"{words} failed: {ended.stderr[-400:]}")
    return Run(*json.loads(ended.stdout.rpartition("\n")[2]))


def measure_family(name: str, tools: Iterable[str], rounds: int) -> Figures:
    """Plant reuse in a family and have each tool find it."""
    make, count = FAMILIES[name]
    each = max(count // 100, min(99, count // 15))
    added = 3 * each + len(RATES) * len(NOISE) * (each // 3)  # a quotation is in a text of its own
    collection = plant(make(count - added), each)
    print(name, len(collection.texts), "texts", file=sys.stderr, flush=True)
    taken: dict[str, list[Run]] = defaultdict(list)
    figures: Figures = {"texts": len(collection.texts), "words": _count_words(collection)}
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        source, output = Path(folder) / "source.jsonl", Path(folder) / "passages.jsonl"
        with source.open("w", encoding="utf-8") as lines:
            for id, text in collection.texts.items():
                lines.write(json.dumps({"id": id, "text": text}, ensure_ascii=False) + "\n")
        pairs = str(Path(folder) / "pairs.jsonl")
        duplicates = [sys.executable, "-m", "neardup_solr", "duplicates", str(source),
                      "--measure", "words", "--output", pairs]  # fmt: skip
        for number in range(rounds):
            taken["duplicates"].append(measure(duplicates))
            for tool in (tool for tool in tools if count <= MOST.get(tool, count)):
                try:
                    run = measure(reuse_peers.command(tool, source, output), LIMIT)
                except TimeoutError as reason:
                    print(name, tool, reason, file=sys.stderr, flush=True)
                    continue
                taken[tool].append(run)
                if number == 0:
                    passages = reuse_peers.read_passages(tool, output, collection.texts)
                    figures[tool] = judge(collection, list(passages))
    beside = _least(taken.pop("duplicates"))
    for tool, runs in taken.items():
        figures[tool] |= _least(runs) | {"duplicates": beside}
        print(tool, {**figures[tool], "kinds": ...}, file=sys.stderr, flush=True)
    return figures


def _least(runs: Sequence[Run]) -> Figures:
    return {"seconds": min(run.seconds for run in runs),
            "processor": min(run.processor for run in runs),
            "megabytes": max(run.megabytes for run in runs)}  # fmt: skip


def _count_words(collection: Collection) -> int:
    return sum(len(text.split()) if collection.family.is_spaced else len(text)
               for text in collection.texts.values())  # fmt: skip


def judge(collection: Collection, passages: Sequence[Passage]) -> Figures:
    """Compare passages with those planted."""
    by_pair: dict[frozenset[str], list[Passage]] = defaultdict(list)
    for passage in passages:
        by_pair[frozenset((passage.a, passage.b))].append(passage)
    planted = {frozenset((each.id, each.source_id)): each for each in collection.planted}
    figures: Figures = {"passages": len(passages), "pairs": len(by_pair)}
    figures["kinds"] = dict(_judge_kinds(collection, by_pair))
    figures["recall"] = sum(pair in by_pair for pair in planted) / len(planted)
    others = [tuple(pair) for pair in by_pair if pair not in planted and len(pair) == 2]
    if collection.commons is not None:
        commons = collection.commons
        wrong = sum(not commons[first] & commons[second] for first, second in others)
        right = sum(pair in by_pair for pair in planted)
        figures |= {"precision": right / max(1, right + wrong), "commons": len(others) - wrong}
    checked = random.Random(1).sample(passages, min(CHECKED, len(passages)))
    hollow = sum(_is_hollow(passage, collection.texts) for passage in checked)
    return figures | {"hollow": hollow / max(1, len(checked))}


def _judge_kinds(
    collection: Collection, by_pair: Mapping[frozenset[str], list[Passage]]
) -> Iterator[tuple[str, Figures]]:
    """Recall of each kind; of the pairs that are reported, right relations and characters."""
    kinds: dict[str, list[Reuse]] = defaultdict(list)
    for each in collection.planted:
        kinds[each.kind].append(each)
    for kind, all_planted in kinds.items():
        reported, relations, right = 0, Counter[str](), 0
        common, covered, true = 0, 0, 0
        for planted in all_planted:
            passages = by_pair.get(frozenset((planted.id, planted.source_id)), [])
            reported += bool(passages)
            if passages:
                longest = max(passages, key=lambda passage: passage.a_end - passage.a_start)
                relations[longest.relation] += 1
                allowed = (RIGHT.get(kind) or RIGHT[kind.partition(",")[0]])[
                    longest.a != planted.id
                ]
                right += longest.relation in allowed
                for id, span in ((planted.id, planted.span), (planted.source_id,
                                                             planted.source_span)):  # fmt: skip
                    places = _places(id, passages)
                    covered += len(places)
                    true += span[1] - span[0]
                    common += sum(span[0] <= at < span[1] for at in places)
        yield kind, {"planted": len(all_planted), "recall": reported / len(all_planted),
                     "relation": right / max(1, reported), "relations": dict(relations),
                     "characters": common / max(1, true),
                     "characters, precision": common / max(1, covered)}  # fmt: skip


def _places(id: str, passages: Iterable[Passage]) -> set[int]:
    places = set[int]()
    for passage in passages:
        start, end = _span(passage, id)
        places.update(range(start, end))
    return places


def _span(passage: Passage, id: str) -> Span:
    if passage.a == id:
        return passage.a_start, passage.a_end
    return passage.b_start, passage.b_end


def _is_hollow(passage: Passage, texts: Mapping[str, str]) -> bool:
    one, other = (_letters(texts[id][slice(*_span(passage, id))]) for id in (passage.a, passage.b))
    return (one & other).total() < HOLLOW * min(one.total(), other.total())


def _letters(text: str) -> Counter[str]:
    letters = "".join(character for character in text.casefold() if character.isalnum())
    size = 5 if letters.isascii() else 3
    return Counter(letters[at : at + size] for at in range(len(letters) - size + 1))


def sections(runs: Mapping[str, Figures], tools: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Tabulate recall, places and cost."""
    heads = ["family", "texts", "tool", "recall", "precision", "hollow", "passages", "pairs",
             "only menus, formulas"]  # fmt: skip
    rows: list[list[object]] = []
    cost: list[list[object]] = []
    for name, run in runs.items():
        for tool in (tool for tool in tools if tool in run):
            one = run[tool]
            counts = (one["passages"], one["pairs"], one.get("commons", ""))
            rows.append([name, run["texts"], tool, one["recall"], one.get("precision", ""),
                         one["hollow"], *counts])  # fmt: skip
            ratios = [figure for unit in ("seconds", "processor", "megabytes")
                      for figure in (one[unit], one[unit] / one["duplicates"][unit])]  # fmt: skip
            cost.append([name, run["texts"], run["words"], tool, *ratios])
    yield "All", results.table(heads, rows)
    heads = ["family", "texts", "words", "", "seconds", "× duplicates", "processor s",
             "× duplicates", "MB", "× duplicates"]  # fmt: skip
    yield "Seconds and memory", results.table(heads, cost)
    kinds = list(dict.fromkeys(kind for run in runs.values() for tool in tools if tool in run
                               for kind in run[tool]["kinds"]))  # fmt: skip
    named = [tool for tool in tools if tool.startswith(OURS)]
    for title, figure, some in (
        ("Recall by kind", "recall", tools),
        ("Right relation, of the pairs reported", "relation", named),
        ("Characters of what was planted that are in passages", "characters", tools),
        ("Characters of passages that were planted", "characters, precision", tools),
    ):  # fmt: skip
        yield title, results.table(
            ["family", "tool", *kinds],
            [[name, tool, *(run[tool]["kinds"].get(kind, {}).get(figure, "") for kind in kinds)]
             for name, run in runs.items() for tool in some if tool in run],
        )  # fmt: skip


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--families", nargs="*", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--tools", nargs="+", choices=reuse_peers.TOOLS, default=[OURS, "plain"])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--print", action="store_true", help="keep nothing")
    options = parser.parse_args()
    path = results.BENCHMARKS / "passages.json"
    kept: dict[str, Figures] = json.loads(path.read_text("utf-8"))["runs"] if path.exists() else {}
    measured = {name: measure_family(name, options.tools, options.rounds)
                for name in options.families}  # fmt: skip
    runs = {name: kept.get(name, {}) | measured.get(name, {})
            for name in FAMILIES if name in {*kept, *measured}}  # fmt: skip
    parts = list(sections(runs, reuse_peers.TOOLS))
    if options.print:
        print("\n\n".join(f"## {heading}\n\n{body}" for heading, body in parts))
    else:
        results.keep("passages", {"conditions": results.conditions(), "runs": runs}, parts)


if __name__ == "__main__":
    main()
