"""Beginnings of texts with mark-up that are not read, what each is, and the next step."""

from __future__ import annotations

import re
from typing import Final

from neardup_solr.regex import regex
from neardup_solr.sources.magic_bytes import AS_TABLE, NO_TEXT, UNPACK, Kind

_SPOKEN: Final = "save what is said as .txt, or as a table, without numbers and times"
_RECORDS: Final = "write its records as CSV or JSON lines"
_REFERENCES: Final = "save them as RIS (.ris), BibTeX (.bib) or CSV"
# The beginning, what it is, and what to do.
_KINDS: Final = (
    (regex(r"\s*BEGIN:VCARD[ \t]*\n"), "a file of address cards (vCard)", AS_TABLE),
    (regex(r"\s*BEGIN:VCALENDAR[ \t]*\n"), "a calendar (iCalendar)", AS_TABLE),
    (regex(r"\s*PMID ?- ?\d+\n(?:[A-Z]{2,4} *- )"), "a file of references (MEDLINE)", _REFERENCES),
    (regex(r"\s*%0 [A-Z][\w ]+\n%[A-Z0-9] "), "a file of references (EndNote)", _REFERENCES),
    (regex(r"\s*FN .+\nVR \d"), "a file of references (Web of Science)", _REFERENCES),
    (regex(r"\s*=LDR  "), "a file of library records (MARC)", _RECORDS),
    (regex(r"\s*WEBVTT\b.*\n"), "a file of subtitles (WebVTT)", _SPOKEN),
    (regex(r"\s*\d+[ \t]*\n\d\d:\d\d:\d\d[,.]\d{3} --> "), "a file of subtitles (SubRip)", _SPOKEN),
    (regex(r"(?:%.*\n|\s)*\\documentclass\b"), "LaTeX",
     "extract its text first, for example with: pandoc --to plain FILE.tex -o FILE.txt"),
    (regex(r"(?:#.*\n|\s)*msgid \".*\n(?:\".*\n)*msgstr \""), "a file of translations (gettext)",
     AS_TABLE),
    (regex(r"(?:--.*\n|\s)*-- (?:MySQL|MariaDB|PostgreSQL database|SQLite) dump\b"
           r"|PRAGMA foreign_keys=OFF;"), "a dump of a database (SQL)", AS_TABLE),
    (regex(r"(?:%.*\n|\s)*@relation\b.*\n(?:%.*\n|\s)*@attribute\b", re.IGNORECASE),
     "a table of Weka (ARFF)", AS_TABLE),
    (regex(r"\s*0 HEAD[ \t]*\n1 [A-Z]"), "a family tree (GEDCOM)", AS_TABLE),
    (regex(r'\s*\[Event "[^"\n]*"\][ \t]*\n\['), "a file of chess games (PGN)", AS_TABLE),
    (regex(r"(?:#.*\n|\s)*(?:---[ \t]*\n)?- [\w-]+:(?: .*)?\n  [\w-]+:"), "YAML", AS_TABLE),
    (regex(r"(?:#.*\n|\s)*\[\[[\w.-]+\]\][ \t]*\n(?:#.*\n|\s)*[\w-]+ *= *\S"), "TOML",
     AS_TABLE),
    (regex(r"(?:[#;].*\n|\s)*\[[\w .-]+\][ \t]*\n[\w.-]+ *= *\S"),
     "a file of settings (INI or TOML)", AS_TABLE),
    (regex(r"\s*-----BEGIN (?!PGP SIGNED)[A-Z0-9 ]+-----\n"), "a key or an encrypted message",
     NO_TEXT),
    (regex(r"\s*begin(?:-base64)? [0-7]{3} \S+\n\S{20}"), "an encoded file (uuencode)", UNPACK),
    (regex(r"\x1e\s*\{"), "a sequence of JSON texts",
     r"remove its separators, for example with: tr -d '\036' < FILE > FILE.jsonl"),
)  # fmt: skip
_PICKLE: Final = regex(r"(?:\((?:[ld]p\d+|dp?)|ccopy_reg|c__builtin__)\n")  # protocol 0
_TAG: Final = regex(
    r"\s*<([A-Za-z_][\w.:-]*)(?:\s[^<>\n]*)?>[ \t]*\n\s*<"
)  # alone in the first line
# Tags of HTML, with which a part of a page may begin.
_OF_PAGES: Final = regex(
    "a|article|aside|b|blockquote|br|center|code|dd|details|div|dl|dt|em|fieldset|figure|font"
    "|footer|form|h[1-6]|header|hr|i|img|label|li|main|nav|ol|p|pre|q|s|script|section|small|span"
    "|strong|style|sub|summary|sup|table|tbody|td|tfoot|th|thead|title|tr|tt|u|ul",
    re.IGNORECASE,
)


def find_markup(text: str) -> Kind | None:
    """Tell what a text with mark-up is that is not read, None if it is a text like any other."""
    for beginning, words, step in _KINDS:
        if beginning.match(text):
            return Kind(words, step, "", True)
    if _PICKLE.match(text):
        return Kind("a pickle of Python", "write a table from it, such as Parquet or JSON lines")
    tag = _TAG.match(text)
    if tag is None or _OF_PAGES.fullmatch(tag[1]):
        return None
    has_end = re.search(rf"^\s*</{re.escape(tag[1])}>\s*$", text, re.MULTILINE)
    return Kind("XML", _RECORDS, "", True) if has_end else None
