"""Texts of scripts without blanks: how many edited copies are found, and how many pairs are false.

    python benchmarks/scripts_without_blanks.py [--no-solr]

For each script a lexicon of 2,000 invented words, of syllables as its language builds them; texts
draw words by Zipf's law until they have 20 to 200 characters. 200 texts, a copy of each in which
5 % of the characters are others of the same kind (letters or marks), and 200 unrelated texts of the
same lexicon. `duplicates` compares all 600 in a list (by aligned, those with a rare word in common;
"auto" is what it chooses if no measure is named); `search` and `gate` compare the copies and
half of the unrelated ones with a collection of the embedded Solr that has the rest. Found is the
share of the 200 pairs, false the share of pairs (or of matches) that are none of these, of 200.
"""

from __future__ import annotations

import argparse
import random
import sys
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from lib import results
from lib.solr import running_solr

import neardup_solr as nd
from neardup_solr.argument_types import MeasureName, Way

PAIRS, CHANGED = 200, 0.05
LATIN = 0.05  # of the syllables of mixed texts
LEXICON, SHORTEST, LONGEST = 2_000, 20, 200
MEASURES: tuple[MeasureName, ...] = ("auto", "words", "aligned", "jaccard")
HEADS = ["script", *(f"{measure}, {what}" for measure in (*MEASURES, "search", "gate")
                     for what in ("found", "false"))]  # fmt: skip

Syllable = Callable[[random.Random], str]


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--no-solr", action="store_true", help="of lists alone")
    options = parser.parse_args()
    found: dict[str, Any] = {"conditions": results.conditions()}
    found["runs"] = {script: _of_list(texts_of(script)) for script in SCRIPTS}
    if not options.no_solr:
        with running_solr() as url:
            for number, script in enumerate(SCRIPTS):
                found["runs"][script] |= _of_collection(texts_of(script), url, f"texts{number}")
    rows = [
        [script, *(share for each in runs.values() for share in each)]
        for script, runs in found["runs"].items()
    ]
    title = f"Shares of {PAIRS} edited copies found, and of {PAIRS} unrelated texts"
    results.keep("scripts_without_blanks", found, [(title, results.table(HEADS, rows))])


def texts_of(script: str) -> dict[str, str]:
    """Invent the texts of a script, by id: a-N, its copy b-N, and unrelated c-N."""
    rng = random.Random(script)
    lexicon = [
        "".join(SCRIPTS[script](rng) for _ in range(rng.choice((1, 2, 2, 3))))
        for _ in range(LEXICON)
    ]
    weights = [1 / (rank + 3) for rank in range(LEXICON)]
    alphabet = sorted({character for word in lexicon for character in word} - {" "})

    def invent() -> str:
        size, text = rng.randint(SHORTEST, LONGEST), ""
        while len(text) < size:
            text += rng.choices(lexicon, weights)[0]
        return text[:size]

    texts = {f"{letter}-{n}": invent() for letter in "ac" for n in range(PAIRS)}
    return texts | {f"b-{n}": _edit(texts[f"a-{n}"], alphabet, rng) for n in range(PAIRS)}


def _edit(text: str, alphabet: list[str], rng: random.Random) -> str:
    characters = list(text)
    for place in rng.sample(range(len(text)), max(1, round(CHANGED * len(text)))):
        kind = unicodedata.category(text[place])
        alike = [c for c in alphabet if unicodedata.category(c) == kind and c != text[place]]
        characters[place] = rng.choice(alike or alphabet)
    return "".join(characters)


def _of_list(texts: dict[str, str]) -> dict[str, tuple[float, float]]:
    documents = [nd.Document(id=id, text=text) for id, text in texts.items()]
    runs: dict[str, tuple[float, float]] = {}
    for measure in MEASURES:
        by: Way | None = "words" if measure == "aligned" else None
        pairs = nd.duplicates(documents, measure=measure, by=by).pairs
        runs[measure] = _shares((str(pair.id), str(pair.other_id)) for pair in pairs)
    print(runs, file=sys.stderr, flush=True)
    return runs


def _of_collection(texts: dict[str, str], url: str, name: str) -> dict[str, tuple[float, float]]:
    """Search, and hold at a gate, the copies and the second half of the unrelated texts."""
    collection = nd.connect(url, collection=name)
    nd.init(collection)
    documents = [nd.Document(id=id, text=text) for id, text in texts.items()]
    new = [one for one in documents if one.id[0] == "b" or _is_late(one.id)]
    nd.index([one for one in documents if one not in new], collection)
    searched = ((one.id, match.id) for one in new for match in nd.search(collection, text=one.text))
    runs = {"search": _shares(searched)}
    decisions = nd.gate(new, collection)
    runs["gate"] = _shares((one.id, match.id) for one in decisions for match in one.matches)
    print(name, runs, file=sys.stderr, flush=True)
    return runs


def _is_late(id: str) -> bool:
    return id[0] == "c" and int(id[2:]) >= PAIRS // 2


def _shares(pairs: Iterator[tuple[str, str]]) -> tuple[float, float]:
    given = {tuple(sorted(pair)) for pair in pairs}
    known = {(f"a-{n}", f"b-{n}") for n in range(PAIRS)}
    return len(given & known) / PAIRS, len(given - known) / PAIRS


def _drawn(*parts: str) -> Syllable:
    """Make a syllable of one of the blank-separated choices of each part; "." is none."""
    choices = [[each.replace(".", "") for each in part.split()] for part in parts]
    return lambda rng: "".join(map(rng.choice, choices))


def _han(rng: random.Random) -> str:
    return chr(0x4E00 + int(rng.paretovariate(0.5) * 7) % 3_000)


_KANA = _drawn(" ".join(map(chr, range(0x304B, 0x3090))), ". . ん っ う い")
_KATAKANA = _drawn(" ".join(map(chr, range(0x30AB, 0x30F0))), ". . ン ー ッ")
_LATIN = _drawn("b d g k l m n p r s t", "a e i o u", ". . n s r")
_THAI = _drawn(
    ". . เ แ โ", "ก ข ค ง จ ช ด ต ท น บ ป พ ม ย ร ล ว ส ห อ", ". ั ิ ี ุ ู ึ ื", ". . ่ ้ ็",
    ". า ำ ะ น ง ม ก",
)  # fmt: skip
_LAO = _drawn(
    ". . ເ ແ ໂ", "ກ ຂ ຄ ງ ຈ ຊ ຍ ດ ຕ ທ ນ ບ ປ ພ ມ ຢ ລ ວ ສ ຫ", ". ັ ິ ີ ຸ ູ", ". . ່ ້",
    ". າ ຳ ະ ນ ງ ມ",
)  # fmt: skip
_KHMER = _drawn(
    "ក ខ គ ង ច ជ ញ ដ ត ថ ទ ន ប ព ភ ម យ រ ល វ ស ហ អ", ". . ្រ ្ល ្ម ្ន", ". ា ិ ី ុ ូ េ ែ ោ ៅ",
    ". . ក ង ន ម រ",
)  # fmt: skip
_BURMESE = _drawn(
    "က ခ ဂ င စ ဆ ဇ ည တ ထ ဒ န ပ ဖ ဘ မ ယ ရ လ သ ဟ အ", ". . ြ ျ ွ ှ", ". ာ ိ ီ ု ူ ေ ော",
    ". . န် င် က် း ့",
)  # fmt: skip


def _japanese(rng: random.Random) -> str:
    return rng.choice((_KANA, _KANA, _KATAKANA, _han))(rng)


def _mixed(rng: random.Random) -> str:
    """Chinese with a Latin word now and then, which has no blank beside it."""
    return _LATIN(rng) + _LATIN(rng) if rng.random() < LATIN else _han(rng)


SCRIPTS: dict[str, Syllable] = {
    "Chinese": _han, "Japanese": _japanese, "Thai": _THAI, "Lao": _LAO, "Khmer": _KHMER,
    "Burmese": _BURMESE, "Chinese and Latin": _mixed,
    "Thai and Latin": lambda rng: (_LATIN if rng.random() < LATIN else _THAI)(rng),
}  # fmt: skip


if __name__ == "__main__":
    main()
