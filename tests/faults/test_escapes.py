"""Sources that try to get out of bounds: links, paths, and bombs within Excel files."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import openpyxl
import pytest

import neardup_solr as nd
from neardup_solr.errors import RecordError, SourceError
from tests.refusals import refusal

BEYOND = 2**20 + 1  # a row that no sheet has
MOST_WHOLE = 2**24  # bytes that any part but a sheet may have
SECRET = "the secret text outside"


def ids_and_errors(path: Path) -> tuple[list[str], list[RecordError]]:
    errors: list[RecordError] = []
    return [found.id for found in nd.read(path, on_error=errors.append)], errors


def _out_of_root(root: Path, secret: Path) -> None:
    (root / "x.txt").symlink_to(secret)


def _relative(root: Path, secret: Path) -> None:
    (root / "x.txt").symlink_to(Path("..") / secret.name)


def _chain(root: Path, secret: Path) -> None:
    (root / ".hop").symlink_to(secret)
    (root / "x.txt").symlink_to(root / ".hop")


def _through_a_folder(root: Path, secret: Path) -> None:
    (root / ".out").symlink_to(secret.parent)
    (root / "x.txt").symlink_to(root / ".out" / secret.name)


def _folder_out(root: Path, secret: Path) -> None:
    (root / "x.txt").symlink_to(secret.parent)


def _sibling_of_a_like_name(root: Path, secret: Path) -> None:
    beside = root.with_name(root.name + "2")
    beside.mkdir()
    (beside / "b.txt").write_text(SECRET)
    (root / "x.txt").symlink_to(beside / "b.txt")


def _device(root: Path, secret: Path) -> None:
    (root / "x.txt").symlink_to("/dev/zero")


def _process(root: Path, secret: Path) -> None:
    (root / "x.txt").symlink_to("/proc/self/environ")


LINKS = [
    _out_of_root, _relative, _chain, _through_a_folder, _folder_out, _sibling_of_a_like_name,
    _device, _process,
]  # fmt: skip


@pytest.mark.parametrize("link", LINKS)
def test_no_link_leaves_the_root(tmp_path: Path, link: Callable[[Path, Path], None]) -> None:
    """A link to anything outside is an error of its own, and nothing outside is read."""
    (tmp_path / "secret.txt").write_text(SECRET)
    root = tmp_path / "texts"
    root.mkdir()
    for name in ("a.txt", "b.txt"):
        (root / name).write_text("some text")
    link(root, tmp_path / "secret.txt")
    ids, errors = ids_and_errors(root)
    assert ids == ["a.txt", "b.txt"]
    assert [str(error) for error in errors] == [
        "texts/x.txt (id 'x.txt'): a link that leaves the folder is not followed"
    ]
    assert errors[0].record is None
    progress: list[nd.types.Progress] = []
    unique = tmp_path / "written" / "unique.jsonl"
    unique.parent.mkdir()  # as links may lead to the folder beside it
    nd.duplicates(root, on_error=errors.append, on_progress=progress.append).write_unique(unique)
    assert SECRET not in unique.read_text()
    assert progress[0].share is not None  # of the bytes, which can be counted


def test_links_within_the_root_are_followed(tmp_path: Path) -> None:
    """A link to a file beside it is a document; one to a folder is not read twice."""
    root = tmp_path / "texts"
    (root / "in").mkdir(parents=True)
    (root / "in" / "a.txt").write_text("some text")
    (root / "link.txt").symlink_to(Path("in") / "a.txt")
    (root / "again").symlink_to("in")
    (tmp_path / "door").symlink_to(root)
    for given in (root, tmp_path / "door"):
        ids, errors = ids_and_errors(given)
        assert ids == ["in/a.txt", "link.txt"]
        assert errors == []


def test_the_id_of_a_file_never_leads_out_of_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However its name is written: ids are relative, without a part that goes up."""
    root = tmp_path / "texts"
    (root / "..a").mkdir(parents=True)
    names = ["b.txt", "...", "..%2fetc.txt", "..\\etc.txt", "~root.txt", "c:d.txt"]
    for name in names:
        (root / f"x{name}").write_text("some text")
    monkeypatch.chdir(tmp_path)
    for given in (root, Path("texts"), Path("texts/../texts"), Path("./texts/")):
        ids, _ = ids_and_errors(given)
        assert ids == sorted(f"x{name}" for name in names)
        assert all((root / id).resolve().is_relative_to(root.resolve()) for id in ids)


def excel(path: Path, rows: int = 3) -> Path:
    """A good sheet."""
    book = openpyxl.Workbook()
    book.active.append(["id", "text"])
    for number in range(rows):
        book.active.append([str(number), f"text {number}"])
    book.save(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings.xml", "<sst/>")
    return path


def rewritten(path: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """The same archive with changed parts."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, change(name, content))
    return path


LAUGHS = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 10))
DOCUMENT_TYPES = {
    "billion laughs": f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]>',
    "external entity": '<!DOCTYPE x [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
    "after a long comment": f'<!--{"-x" * 50_000}--><!DOCTYPE x [<!ENTITY l9 "ha">]>',
}


@pytest.mark.parametrize("kind", DOCUMENT_TYPES)
@pytest.mark.parametrize(
    "part",
    [
        "xl/worksheets/sheet1.xml",
        "xl/workbook.xml",
        "xl/styles.xml",
        "[Content_Types].xml",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_an_entity_in_any_part_is_refused(
    tmp_path: Path, part: str, kind: str, encoding: str
) -> None:
    """By defusedxml, which the extra has: a bomb, or an external one; no spreadsheet has any."""
    pytest.importorskip("defusedxml")

    def change(name: str, content: bytes) -> bytes:
        if name != part:
            return content
        root = content.decode().partition("?>")[2] or content.decode()
        head = f'<?xml version="1.0" encoding="{encoding}"?>'
        return f"{head}{DOCUMENT_TYPES[kind]}{root}".encode(encoding)

    path = rewritten(excel(tmp_path / "a.xlsx"), change)
    ids = list[str]()
    with suppress(SourceError):
        ids, _ = ids_and_errors(path)
    assert not ids


@pytest.mark.parametrize(
    "part",
    [
        "xl/worksheets/sheet1.xml",
        "xl/sharedStrings.xml",
        "xl/workbook.xml",
        "xl/styles.xml",
        "[Content_Types].xml",
    ],
)
def test_a_part_that_grows_too_much_is_refused(tmp_path: Path, part: str) -> None:
    """A ZIP bomb is told by the sizes in the archive, before anything of it is decompressed."""

    def change(name: str, content: bytes) -> bytes:
        return content if name != part else content + b" " * (MOST_WHOLE + 1)

    path = rewritten(excel(tmp_path / "a.xlsx"), change)
    assert path.stat().st_size < MOST_WHOLE / 200
    refused = r"expands to .* bytes: possibly a ZIP bomb; save it again"
    with pytest.raises(SourceError, match=refused):
        ids_and_errors(path)


def test_a_part_that_lies_about_its_size_is_read_no_further(tmp_path: Path) -> None:
    """What goes beyond the size that the archive tells is not decompressed."""
    resource = pytest.importorskip("resource")
    path = excel(tmp_path / "a.xlsx")
    name = "xl/worksheets/sheet1.xml"

    def change(part: str, content: bytes) -> bytes:
        return content if part != name else content + b" " * (4 * MOST_WHOLE)

    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo(name).file_size
    rewritten(path, change)
    told, lie = ((size + by).to_bytes(4, "little") for by in (4 * MOST_WHOLE, 0))
    content = path.read_bytes()
    assert content.count(told) == 2  # before the part, and in the list of parts
    path.write_bytes(content.replace(told, lie))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        ids, _ = ids_and_errors(path)
        assert ids == ["0", "1", "2"]
    except SourceError as error:
        assert "Excel" in str(error)  # noqa: PT017 - either is right
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert sys.platform != "linux" or after - before < MOST_WHOLE // 1024


SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c>'
    '<c r="B1" t="inlineStr"><is><t>text</t></is></c></row>'
    '<row r="2"><c r="A2"><v>1</v></c><c r="B2" t="inlineStr"><is><t>good</t></is></c></row>'
    '<row r="3"><c r="A3"><v>2</v></c><c r="B3" t="inlineStr"><is><t>good</t></is></c></row>'
    "{}</sheetData></worksheet>"
)
FAR = {
    "row": '<row r="900000000000"><c r="A900000000000"><v>3</v></c></row>',
    "row of many digits": f'<row r="{"9" * 5_000}"><c><v>3</v></c></row>',
    "first row beyond": f'<row r="{BEYOND}"><c r="A{BEYOND}"><v>3</v></c></row>',
}


@pytest.mark.parametrize("kind", FAR)
def test_a_row_that_says_to_be_far_below_ends_the_sheet(tmp_path: Path, kind: str) -> None:
    """The rows between are not made up: the good ones are read, then there is an error."""
    path = rewritten(
        excel(tmp_path / "a.xlsx"),
        lambda name, content: SHEET.format(FAR[kind]).encode() if "sheet1" in name else content,
    )
    ids, errors = ids_and_errors(path)
    assert ids == ["1", "2"]
    assert [error.position for error in errors] == ["a.xlsx, after row 3"]
    assert errors[0].code == "file-damaged"


def test_a_cell_that_says_to_be_far_to_the_right_ends_the_sheet(tmp_path: Path) -> None:
    """The cells between are not made up, neither in the header nor below."""
    far = '<c r="ZZZZZZZZ4"><v>5</v></c>'
    below = SHEET.format(f'<row r="4"><c r="A4"><v>3</v></c><c r="B4"><v>4</v></c>{far}</row>')
    path = rewritten(
        excel(tmp_path / "a.xlsx"),
        lambda name, content: below.encode() if "sheet1" in name else content,
    )
    ids, errors = ids_and_errors(path)
    assert ids == ["1", "2"]
    assert [error.position for error in errors] == ["a.xlsx, after row 3"]
    above = SHEET.format("").replace("</row>", f"{far}</row>", 1)
    rewritten(path, lambda name, content: above.encode() if "sheet1" in name else content)
    with refusal(SourceError, "file-damaged", "a.xlsx"):
        ids_and_errors(path)
