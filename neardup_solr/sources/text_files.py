"""Texts, each in a file: those of a folder, or a single one."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from neardup_solr.errors import RecordError, SourceError
from neardup_solr.files import is_inside
from neardup_solr.progress import map_in_order
from neardup_solr.records import Run
from neardup_solr.sizes import SIZES
from neardup_solr.sources.blocks import read_whole
from neardup_solr.sources.compression import is_compressed
from neardup_solr.sources.document import NO_TEXT_FILE, as_columns, make_document, make_run
from neardup_solr.sources.file_kinds import find_kind, is_binary
from neardup_solr.sources.html import decode_page
from neardup_solr.sources.html_text import parse_page
from neardup_solr.sources.mail import open_mbox, parse_mail
from neardup_solr.sources.part import ID, TEXT, Piece, Record, SourcePart, SourceTable, one_by_one
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.references import open_references
from neardup_solr.sources.source import file_size, walk
from neardup_solr.sources.values import Unusable, decode

# What is compared of files of several records, if others beside them are texts.
_ENTRY: Final = ("title", "author", "year", "journal", "abstract")
_SEVERAL: Final = {"mbox": ("text",), "ris": _ENTRY, "bibtex": _ENTRY}


class Several(Exception):
    """A file that was to be one text has several: these."""

    def __init__(self, records: Iterator[Record]) -> None:
        super().__init__()
        self.records = records


def read_contents(part: SourcePart) -> str:
    """Read the text of a file: of a page or an e-mail, only what it says.

    Raises Unusable, and Several for a mailbox or references.
    """
    written = read_whole(part, part.reading.room())
    kind = find_kind(written)
    if kind is not None and kind.format == "html":
        return parse_page(decode_page(written, part.reading))[1]
    if kind is not None and kind.format == "eml":
        return str(parse_mail(written)["text"])
    if kind is not None and kind.format in _SEVERAL:
        reading = replace(part.reading, text=_SEVERAL[kind.format], guess="none", keep=())
        opened = replace(part, format=kind.format, reading=reading, begun=iter([written]))
        table = open_mbox(opened) if kind.format == "mbox" else open_references(opened)
        raise Several(one_by_one(table.documents()))
    return decode(written, part.reading)


def open_folder(part: SourcePart) -> SourceTable:
    """Open the text files of a folder and its folders: the id is the path within it, with "/"."""
    return SourceTable(
        format="folder", reading=part.reading, contents=FolderTexts(part), names=(ID, TEXT)
    )


@dataclass(frozen=True, slots=True)
class FolderTexts:
    """Documents of the files of a folder, which are its records, too."""

    part: SourcePart

    def documents(self) -> Iterator[Piece]:
        """Read the documents, many at once if nothing about their files is odd."""
        return _read_folder(self.part)

    def records(self) -> Iterator[tuple[int, Record]]:
        """Number the documents."""
        return enumerate(one_by_one(self.documents()), 1)

    def parse(self, record: Record) -> list[str | None]:
        """Take the id and the text of a document, or of an error."""
        return [record.id, getattr(record, "text", None)]


def _read_folder(part: SourcePart) -> Iterator[Piece]:
    assert part.path is not None  # as formats see to
    paths, size, group = walk(part.path), 0, list[Path]()
    groups = iter(lambda: list(islice(paths, SIZES.read_files)), [])
    for group, run in map_in_order(partial(_read_run, part), groups, few=1, ahead=1):
        singly = (([path], _read_file(path, part, part.reading)) for path in group)
        for files, pieces in [(group, [run])] if run else singly:
            yield from pieces
            if part.on_progress:
                size += sum(map(file_size, files))
                part.on_progress(size)
    if not group:
        reason = "contains no files"
        raise part.error(reason, "name the folder that the text files are in", code="file-empty")


def _read_run(part: SourcePart, paths: Sequence[Path]) -> Run | None:
    """Make a run of the texts in files, None if one of them needs a closer look."""
    reading, texts = part.reading, list[str]()
    if reading.encoding or reading.lossy:
        return None
    try:
        ids = [path.relative_to(part.path or "").as_posix() for path in paths]
        if not "".join(ids).isascii():
            return None
        for path in paths:
            texts.append(_read_plain(path, min(SIZES.read_block, reading.room())))
    except (OSError, ValueError):
        return None
    where = os.fsencode(f"{part.name}/").decode("utf-8", "replace")
    return make_run(where, ids, ids, [texts], reading=reading)


def _read_plain(path: Path, most: int) -> str:
    """Read a file of UTF-8 with usual line ends that is nothing but text.

    Raises ValueError if it is anything else, OSError if it cannot be read.
    """
    state = path.lstat()
    if not stat.S_ISREG(state.st_mode) or state.st_size > most or is_compressed(path):
        raise ValueError
    with path.open("rb", buffering=0) as file:
        written = file.read()
    is_odd = (
        not written
        or b"\0" in written
        or written.startswith(codecs.BOM_UTF8)
        or written.count(b"\r") != written.count(b"\r\n")
    )
    if is_odd or find_kind(written) is not None or is_binary(written):
        raise ValueError
    return written.decode()


def _read_file(path: Path, part: SourcePart, reading: Reading) -> Iterator[Record]:
    """Read the document in a file, or several of a mailbox or of references."""
    try:
        document = _file(path, part, reading)
    except Several as several:
        yield from several.records
        return
    if document is not None:
        yield document


def _file(path: Path, part: SourcePart, reading: Reading) -> Record | None:
    """Read the document in a file, or None for a link to a folder that is read elsewhere.

    Raises Several if it has several.
    """
    assert part.path is not None
    id = path.relative_to(part.path).as_posix()
    position = os.fsencode(f"{part.name}/{id}").decode("utf-8", "replace")
    try:
        if path.is_symlink() and not is_inside(path, part.path):
            reason = "a link that leaves the folder is not followed"
            return RecordError(position, reason, id, code="file-unreadable")
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            unreadable = RecordError(
                position, "a folder that cannot be read", id, code="file-unreadable"
            )
            return None if path.is_symlink() else unreadable
        if not stat.S_ISREG(mode):  # reading a pipe or a device might never end
            return RecordError(position, "not a regular file", id, code="file-kind")
        opened = SourcePart(label=str(path), name=position, path=path, reading=reading, within=id)
        text = read_contents(opened)
    except Unusable as problem:
        raw = problem.raw
        columns = None if raw is None else as_columns((ID, TEXT), (id, raw))
        return RecordError(position, str(problem), id, record=columns, code=problem.code)
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        return RecordError(position, reason, id, code="file-unreadable")
    except SourceError as error:
        is_kind = NO_TEXT_FILE in error.reason
        reason = f"{error.reason}: {error.next_step}" if is_kind else error.reason
        return RecordError(position, reason, id, code=error.code)
    except RecordError as error:
        return RecordError(position, error.reason, id, code=error.code)
    record = make_document(position, id, text, reading=reading)
    if type(record) is RecordError:
        record.record = as_columns((ID, TEXT), (id, text))
    return record
