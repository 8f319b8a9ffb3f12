"""References to literature, in RIS or BibTeX: an entry is a record, each field a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from neardup_solr.regex import regex
from neardup_solr.sources.blocks import read_whole
from neardup_solr.sources.objects import Numbered, name_document, open_rows
from neardup_solr.sources.part import SourcePart, SourceTable
from neardup_solr.sources.values import Unusable, decode

_TAG: Final = regex(r"\s*([A-Z][A-Z0-9])  ?-(?: (.*)|$)")
# Columns by tags: of several tags, the first that an entry has counts.
_COLUMNS: Final = {
    "id": ("ID", "AN"), "entry_type": ("TY",), "title": ("TI", "T1", "CT", "BT"),
    "author": ("AU", "A1"), "year": ("PY", "Y1", "DA"), "journal": ("JO", "JF", "T2", "JA", "J2"),
    "volume": ("VL",), "number": ("IS",), "start_page": ("SP",), "end_page": ("EP",),
    "doi": ("DO",), "publisher": ("PB",), "issn": ("SN",), "keywords": ("KW",), "url": ("UR",),
    "abstract": ("AB", "N2"),
}  # fmt: skip
_KNOWN: Final = {tag for tags in _COLUMNS.values() for tag in tags}
MOST_BYTES: Final = 2**28  # of references, which are held as a whole


def parse_ris(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Parse references, each with the number of the line in which it begins.

    Several values of a field are joined by semicolons. What no column has is under its tag.
    """
    fields: dict[str, list[str]] = {}
    first, last = 0, ""
    for number, line in enumerate(lines, 1):
        tag = _TAG.match(line)
        if tag is None:
            if last and line.strip():
                fields[last][-1] += f" {line.strip()}"
            continue
        name, value = tag[1], (tag[2] or "").strip()
        if name in ("TY", "ER") and fields:
            yield first, _name_fields(fields)
            fields = {}
        last = "" if name == "ER" else name
        if name == "TY" or (name != "ER" and not fields):
            first = number
        if last:
            fields.setdefault(last, []).append(value)
    if fields:
        yield first, _name_fields(fields)


def _name_fields(fields: dict[str, list[str]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, tags in _COLUMNS.items():
        tag = next((tag for tag in tags if any(fields.get(tag, ()))), None)
        row[name] = None if tag is None else "; ".join(filter(None, fields[tag]))
    if row["year"]:
        row["year"] = row["year"].partition("/")[0]
    others = {tag: "; ".join(values) for tag, values in fields.items() if tag not in _KNOWN}
    return {**row, **others}


def parse_bibtex(library: Any, written: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Parse entries by bibtexparser, each with its line, or with what is wrong with it."""
    import logging

    logging.getLogger("bibtexparser").setLevel(logging.ERROR)
    from bibtexparser.middlewares import LatexDecodingMiddleware

    parsed = library.parse_string(written, append_middleware=[LatexDecodingMiddleware()])
    for block in parsed.blocks:
        line = (block.start_line or 0) + 1
        is_twice = type(block).__name__ == "DuplicateFieldKeyBlock"
        entry = block if is_twice else getattr(block, "ignore_error_block", None) or block
        if hasattr(entry, "fields_dict"):
            fields = {field.key.lower(): _flat(field.value) for field in entry.fields}
            yield line, {**fields, "id": entry.key, "entry_type": entry.entry_type}
        elif hasattr(block, "error"):
            why = str(block.error).partition("\n")[0]
            yield line, f"malformed BibTeX ({why})" if why else "malformed BibTeX"


def _flat(value: Any) -> str:
    return " ".join(str(value).replace("{", "").replace("}", "").split())


def open_references(part: SourcePart) -> SourceTable:
    """Open references in RIS or BibTeX: the fields of each. Without a key, they are numbered."""
    format = part.format or ""

    def entries() -> Iterator[Numbered]:
        try:
            written = decode(read_whole(part, MOST_BYTES), part.reading)
        except Unusable as problem:
            reason = f"cannot be read: {problem}"
            step = "split it, or set its `encoding`"
            raise part.error(reason, step, code="encoding") from problem
        if format == "ris":
            parsed: Iterator[Numbered] = parse_ris(written.split("\n"))
        else:
            library = part.require("BibTeX", "bibtexparser")
            parsed = parse_bibtex(library, written)
        for count, (number, row) in enumerate(parsed, 1):
            if isinstance(row, dict) and not row.get("id"):
                row["id"] = name_document(part, count)
            yield number, row

    return open_rows(part, format, entries())
