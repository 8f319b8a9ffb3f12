"""Tools that find passages in common, each as a command that reads JSON lines and writes passages.

    python benchmarks/lib/reuse_peers.py TOOL SOURCE OUTPUT

writes JSON lines of a, b, a_start, a_end, b_start and b_end (characters). Tools:

plain        runs of five words, in small letters, that are in 2 to 50 texts; those of a pair that
             are at most 30 words apart make a passage if it has 15 words or more.
copydetect   of `$REUSE_PYTHON`, an environment of its own, compares each text with each other one
             by runs of 25 characters, as it is without options; names of `.java` are code to it.
             It does not say which place of one text is like which of the other.
passim       of `$PASSIM`, a folder of its repository, by `$PASSIM_PYTHON`, which has its pyspark.
suffixes     `$DEDUP_DATASET`, the program of deduplicate-text-datasets: strings of 100 bytes.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

TOOLS = ("neardup_solr", "neardup_solr, 10 words", "plain", "plain, 10 words", "copydetect",
         "passim", "suffixes")  # fmt: skip
SIZE, MOST, GAP, LEAST = 5, 50, 30, 20  # of plain
RUN, WINDOW = 25, 1  # characters, of copydetect
BYTES = 100  # of suffixes


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of two texts; `relation` is empty if the tool names none."""

    a: str
    b: str
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    relation: str = ""


def command(tool: str, source: Path, output: Path) -> list[str]:
    """Spell the command by which a tool writes passages."""
    name, _, rest = tool.partition(", ")
    if name == "neardup_solr":
        least = ["--min-words", rest.split()[0]] if rest else []
        return [sys.executable, "-m", "neardup_solr", "passages", str(source), "--output",
                str(output), *least]  # fmt: skip
    python = os.environ["REUSE_PYTHON"] if tool == "copydetect" else sys.executable
    return [python, __file__, tool, str(source), str(output)]


def read_passages(tool: str, output: Path, texts: Mapping[str, str]) -> Iterator[Passage]:
    """Read what a tool has written; the only place that knows the columns of ours."""
    with output.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if "other_id" in record:  # ours
                one, other = str(record["id"]), str(record["other_id"])
                passage = Passage(one, other, record["start"], record["end"],
                                  record["other_start"], record["other_end"],
                                  record["relation"])  # fmt: skip
            else:
                passage = Passage(**record)
            if not 0 <= passage.a_start < passage.a_end <= len(texts[passage.a]) or not (
                0 <= passage.b_start < passage.b_end <= len(texts[passage.b])
            ):
                raise ValueError(f"{tool}: {record} is outside its texts")
            yield passage


def find_plain(texts: Mapping[str, str], least: int = LEAST) -> Iterator[Passage]:
    """Find runs of five words in common, and join those of a pair that are near each other."""
    pattern = re.compile(r"[\u3040-\u9fff]|[^\W_\u3040-\u9fff]+")
    words = {id: [match.span() for match in pattern.finditer(text)] for id, text in texts.items()}
    places: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for id, spans in words.items():
        small = [texts[id][start:end].casefold() for start, end in spans]
        for at in range(len(small) - SIZE + 1):
            places[hash(tuple(small[at : at + SIZE]))].append((id, at))
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for same in places.values():
        if 2 <= len({id for id, _ in same}) <= MOST and len(same) <= 2 * MOST:
            for (one, at), (other, place) in itertools.combinations(same, 2):
                if one != other:
                    pairs[one, other].append((at, place))
    for (one, other), matches in pairs.items():
        for run in _join(sorted(matches)):
            ends = [(min(column), max(column) + SIZE) for column in zip(*run, strict=True)]
            if min(end - start for start, end in ends) >= least:
                (a, a_end), (b, b_end) = ends
                yield Passage(one, other, words[one][a][0], words[one][a_end - 1][1],
                              words[other][b][0], words[other][b_end - 1][1])  # fmt: skip


def _join(matches: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    runs: list[list[tuple[int, int]]] = []
    for at, place in matches:
        for run in reversed(runs[-8:]):
            if 0 <= at - run[-1][0] <= GAP and abs(place - run[-1][1]) <= GAP:
                run.append((at, place))
                break
        else:
            runs.append([(at, place)])
    yield from runs


def find_by_copydetect(texts: Mapping[str, str]) -> Iterator[Passage]:
    """Compare each text with each other one by copydetect's fingerprints."""
    import io

    from copydetect import (  # type: ignore[import-not-found]
        CodeFingerprint,
        compare_files,
    )

    made = {
        id: CodeFingerprint(id, RUN, WINDOW, filter=id.endswith(".java"), fp=io.StringIO(text))
        for id, text in texts.items()
    }
    for one, other in itertools.combinations(made, 2):
        _, _, slices = compare_files(made[one], made[other])
        # Its slices are of each text by itself: a passage has no partner, so each has the longest.
        spans = [[(int(a), int(end)) for a, end in side.T] for side in slices]
        if all(spans):
            whole = [max(side, key=lambda span: span[1] - span[0]) for side in spans]
            for span in spans[0]:
                yield Passage(one, other, *span, *whole[1])
            for span in spans[1]:
                yield Passage(one, other, *whole[0], *span)


def find_by_passim(texts: Mapping[str, str]) -> Iterator[Passage]:
    """Align texts by passim, as it is without an option."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source.json"
        _write(source, ({"id": id, "text": text} for id, text in texts.items()))
        python = os.environ["PASSIM_PYTHON"]
        settings = {"PYSPARK_PYTHON": python, "PYTHONPATH": os.environ["PASSIM"]}
        # It ends badly where GraphFrames' Java part is missing, which only makes clusters of these.
        subprocess.run(
            [Path(python).with_name("spark-submit"), "--master", "local[*]", "--driver-memory",
             "6G", Path(os.environ["PASSIM"]) / "passim" / "seriatim.py", "--all-pairs",
             "--pairwise", str(source), f"{folder}/out"],
            check=False, env={**os.environ, **settings}, stdout=2,
        )  # fmt: skip
        for path in sorted(Path(folder, "out", "align.json").glob("part-*")):
            for line in path.read_text("utf-8").splitlines():
                record: dict[str, Any] = json.loads(line)
                yield Passage(record["id"], record["id2"], record["begin"], record["end"],
                              record["begin2"], record["end2"])  # fmt: skip


def find_by_suffixes(texts: Mapping[str, str]) -> Iterator[Passage]:
    """Find equal strings of bytes by a suffix array, those of one length from all their places."""
    ids, starts, content = list(texts), list[int](), bytearray()
    for number, text in enumerate(texts.values()):
        starts.append(len(content))
        content += text.encode() + b"\xff" + number.to_bytes(4, "little")
    with tempfile.TemporaryDirectory() as folder:
        data, cache = Path(folder) / "data", Path(folder) / "cache"
        cache.mkdir()
        data.write_bytes(content)
        program, threads = os.environ["DEDUP_DATASET"], str(os.cpu_count())
        for words in (["make", "--data-file", str(data)],
                      ["self-similar", "--data-file", str(data), "--length-threshold", str(BYTES),
                       "--cache-dir", str(cache), "--num-threads", threads]):  # fmt: skip
            subprocess.run([program, *words], check=True, stdout=2)
        yield from _pair(cache, len(content), ids, starts, content)


def _pair(
    cache: Path, size: int, ids: Sequence[str], starts: Sequence[int], content: bytearray
) -> Iterator[Passage]:
    """Pair the places of equal strings, and join those that go on in both texts."""
    width = (size.bit_length() + 7) // 8
    strings: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for path in sorted(cache.glob("dups_*")):
        places = _numbers(path, width)
        for count in _numbers(path.with_name(path.name.replace("dups", "sizes")), width):
            group = sorted(itertools.islice(places, count))
            group = [place for place in group if content.find(b"\xff", place - 4, place) < 0]
            texts = [bisect_right(starts, place) - 1 for place in group]
            if len(group) <= MOST:
                for (one, at), (other, place) in itertools.combinations(
                    zip(texts, group, strict=True), 2
                ):
                    if one != other:
                        strings[one, other].append((at, place))
    for (one, other), matches in strings.items():
        last = None
        for at, place in sorted(matches, key=lambda match: (match[1] - match[0], match[0])):
            if last and place - at == last[1] - last[0] and at < last[2]:
                continue
            end = at
            while content[end] == content[place + end - at] != 255:
                end += 1
            last = (at, place, end)
            if end - at < BYTES:
                continue
            span = [
                len(content[starts[text] : byte].decode(errors="ignore"))
                for text, byte in ((one, at), (one, end), (other, place), (other, place + end - at))
            ]
            yield Passage(ids[one], ids[other], span[0], span[1], span[2], span[3])


def _numbers(path: Path, width: int) -> Iterator[int]:
    content = path.read_bytes()
    for at in range(0, len(content), width):
        yield int.from_bytes(content[at : at + width], "little")


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as lines:
        for record in records:
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


FINDERS: Mapping[str, Callable[[Mapping[str, str]], Iterator[Passage]]] = {
    "plain": find_plain,
    "plain, 10 words": partial(find_plain, least=10),
    "copydetect": find_by_copydetect,
    "passim": find_by_passim,
    "suffixes": find_by_suffixes,
}


def main() -> None:
    """Find passages by one tool."""
    tool, source, output = sys.argv[1:]
    with Path(source).open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    texts = {str(record["id"]): record["text"] for record in records}
    _write(Path(output), map(asdict, FINDERS[tool](texts)))


if __name__ == "__main__":
    main()
