"""Rows as a workbook of Excel (ECMA-376): a ZIP archive of XML, written in one pass.

Texts are cells of text, so that none is run; what CSV marks as a formula is marked here, too, for
whoever saves the sheet as CSV. Characters that XML lacks are escaped as Excel escapes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

from neardup_solr.errors import counted
from neardup_solr.files import whole
from neardup_solr.progress import LOG

MOST_ROWS: Final = 2**20  # of a sheet, with its header
LONGEST: Final = 2**15 - 1  # characters of a cell, in UTF-16
LARGEST: Final = 2**53  # whole numbers beyond it would be rounded
ROWS_AT_ONCE: Final = 1_000

# What XML 1.0 cannot hold, and what would be taken for such an escape.
_ESCAPED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)", re.ASCII
)
_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def write_sheets(
    path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]], spell: Callable[[str], str]
) -> None:
    """Write rows of texts, numbers and None below their names, completely or not at all.

    A sheet that is full is followed by another one, and texts are cut to what a cell can hold; a
    line is logged for either. `spell` says how a text is written.

    Raises SourceError if the file cannot be written.
    """
    columns = [_letters(at) for at in range(len(names))]
    sheets = count = cut = 0

    def cell(place: str, value: Any) -> str:
        nonlocal cut
        if isinstance(value, bool):
            return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
        if isinstance(value, int | float) and abs(value) <= LARGEST:
            return f'<c r="{place}"><v>{value!r}</v></c>'
        text = spell(value if isinstance(value, str) else str(value))
        short = _cut(text)
        cut += short is not text
        content = escape(_ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", short))
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{content}</t></is></c>'

    def line(number: int, row: Sequence[Any]) -> str:
        cells = (
            cell(f"{column}{number}", value)
            for column, value in zip(columns, row, strict=True)
            if value is not None
        )
        return f'<row r="{number}">{"".join(cells)}</row>'

    left = iter(rows)
    following = list(islice(left, 1))
    with whole(path) as unfinished, ZipFile(unfinished, "x", ZIP_DEFLATED) as archive:
        while following or not sheets:
            sheets += 1
            name = f"xl/worksheets/sheet{sheets}.xml"
            with archive.open(name, "w", force_zip64=True) as file:
                file.write(f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
                some = chain([names], following, islice(left, MOST_ROWS - 1 - len(following)))
                lines = (line(number, row) for number, row in enumerate(some, 1))
                while part := list(islice(lines, ROWS_AT_ONCE)):
                    count += len(part)
                    file.write("".join(part).encode())
                file.write(b"</sheetData></worksheet>")
            following = list(islice(left, 1))
        _write_frame(archive, sheets)
    if sheets > 1:
        rows_there = counted(count - sheets, "row")
        LOG.warning("%s: its %s are in %d sheets, as one is full", path, rows_there, sheets)
    if cut:
        what = counted(cut, "text is", "texts are")
        reason = f"{what} cut to the {LONGEST:,} characters that a cell can hold"
        LOG.warning("%s: %s; .csv, .jsonl and .parquet have them whole", path, reason)


def _letters(at: int) -> str:
    """Name a column: A to Z, then AA and so on."""
    before, own = divmod(at, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + own)


def _cut(text: str) -> str:
    """Cut a text to what fits into a cell."""
    if len(text) <= LONGEST // 2 or len(written := text.encode("utf-16-le")) <= 2 * LONGEST:
        return text
    return written[: 2 * (LONGEST - 1)].decode("utf-16-le", "ignore") + "…"


def _write_frame(archive: ZipFile, sheets: int) -> None:
    """Write the parts of a workbook that say where its sheets are."""
    numbers = range(1, sheets + 1)
    listed = "".join(f'<sheet name="{n}" sheetId="{n}" r:id="rId{n}"/>' for n in numbers)
    archive.writestr(
        "xl/workbook.xml",
        f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{listed}</sheets></workbook>',
    )
    links = {f"worksheets/sheet{n}.xml": ("worksheet", n) for n in numbers}
    archive.writestr("xl/_rels/workbook.xml.rels", _links(links))
    archive.writestr("_rels/.rels", _links({"xl/workbook.xml": ("officeDocument", 1)}))
    kinds = {"/xl/workbook.xml": "sheet.main"}
    kinds |= {f"/xl/worksheets/sheet{n}.xml": "worksheet" for n in numbers}
    overrides = "".join(
        f'<Override PartName="{part}" ContentType="{_TYPE}.{kind}+xml"/>'
        for part, kind in kinds.items()
    )
    archive.writestr(
        "[Content_Types].xml",
        f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{overrides}'
        "</Types>",
    )


def _links(targets: Mapping[str, tuple[str, int]]) -> str:
    found = "".join(
        f'<Relationship Id="rId{number}" Type="{_LINKS}/{kind}" Target="{target}"/>'
        for target, (kind, number) in targets.items()
    )
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{found}</Relationships>'
