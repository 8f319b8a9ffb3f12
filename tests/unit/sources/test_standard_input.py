"""Standard input tells its format by its first lines."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import suppress

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SourceError
from tests.reading import told
from tests.refusals import refusal

EXPECTED = [("1", "Café Übermut"), ("2", "日本, 本屋")]


def piped(monkeypatch: pytest.MonkeyPatch, content: str | bytes) -> None:
    raw = content if isinstance(content, bytes) else content.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


PIPED: dict[str, tuple[str, str]] = {
    "csv": ('id,text\n1,Café Übermut\n2,"日本, 本屋"\n', "CSV"),
    "csv_semicolons": ("ID;Text\n1;Café Übermut\n2;日本, 本屋\n", "CSV"),
    "tsv": ("id\ttext\n1\tCafé Übermut\n2\t日本, 本屋\n", "TSV"),
    "jsonl": ('{"id":1,"text":"Café Übermut"}\n{"id": 2, "text":"日本, 本屋"}\n', "JSON"),
    "json": ('\n[\n {"id":1,"text":"Café Übermut"},\n{"id":2,"text":"日本, 本屋"}]', "JSON"),
}


@pytest.mark.parametrize("name", PIPED)
def test_a_pipe_tells_its_format(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Standard input is what its first lines say, and one line tells which."""
    content, format = PIPED[name]
    piped(monkeypatch, content)
    line = f"standard input looks like {format} and is read as such"
    assert told("-") == (EXPECTED, [], [line])


@pytest.mark.parametrize("content", [b"PAR1\x15\x04" + bytes(99), b"\x1f\x8b\x08" + bytes(99)])
def test_what_a_pipe_cannot_hold_has_a_step_for_pipes(
    monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """Standard input has no name that could end in a suffix."""
    piped(monkeypatch, content)
    with refusal(SourceError, "file-kind") as caught:
        told("-")
    assert "its name in" not in caught.value.next_step


PLAIN: dict[str, list[tuple[str, str]]] = {
    "[] a task\n[x] done\n": [("[]", "a task"), ("[x]", "done")],
    '{"said"} a word\n2 more\n': [('{"said"}', "a word"), ("2", "more")],
    "1 a, b\n2 c, d\n3 e, f\n": [("1", "a, b"), ("2", "c, d"), ("3", "e, f")],
    "1\ta\n2\tb\n3\tc\n": [("1", "a"), ("2", "b"), ("3", "c")],
    "a;b one two\nc;d three four\ne;f five\n": [("a;b", "one two"), ("c;d", "three four"),
                                              ("e;f", "five")],
    "[1] a\n[2] b\n": [("[1]", "a"), ("[2]", "b")],
    "{x} a\n": [("{x}", "a")],
    "a,b\n": [("a,b", "")],
    "1\n": [("1", "")],
    "id text\n": [("id", "text")],
}  # fmt: skip


@pytest.mark.parametrize("content", PLAIN)
def test_lines_on_a_pipe_are_lines(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    """What does not look like a table or JSON is lines of an id and a text, as ever."""
    piped(monkeypatch, content)
    assert told("-") == (PLAIN[content], [], [])
    piped(monkeypatch, content)
    assert told("-", source_format="lines") == (PLAIN[content], [], [])


AMBIGUOUS = {
    "csv": "ad_id,title,body\n1,a,b c\n2,d,e f\n",
    "semicolons": "ad_id;title\n1;a b\n2;d e\n",
    "tsv": "ad_id\ttitle\tbody\n1\ta\tb\n2\td\te\n",
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_a_table_of_other_columns_on_a_pipe_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Read as lines, it would be made nonsense of; one line names the way out."""
    piped(monkeypatch, AMBIGUOUS[name])
    with pytest.raises(SourceError) as caught:
        told("-")
    assert "standard input: looks like a table with the columns 'ad_id', 'title'" in str(
        caught.value
    )
    assert "`source_format`" in str(caught.value)
    piped(monkeypatch, AMBIGUOUS[name])
    assert told("-", id="ad_id", text="title")[0][0][0] == "1"
    piped(monkeypatch, AMBIGUOUS[name])
    assert len(told("-", source_format="lines")[0]) == 3


def test_a_table_whose_names_have_blanks_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows would be texts, and its header one of them; sentences with commas are lines."""
    piped(monkeypatch, "measured,patient,pulse rhythm\n1,Otto Holm,calm\n2,Lena Dahl,fast\n")
    with refusal(SourceError, "column-missing", "'pulse rhythm'", "`source_format`"):
        told("-")
    piped(monkeypatch, "k1 a man, his dog, a cat\nk2 a man, his dog, her cat\nk3 x, y, z\n")
    assert [id for id, _ in told("-")[0]] == ["k1", "k2", "k3"]


def test_columns_of_a_pipe_are_kept_and_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """`keep` and `delimiter` go with what was recognised."""
    piped(monkeypatch, "id,text,city\n1,a,x\n")
    assert [dict(one.kept) for one in nd.read("-", id="id", keep=("city",))] == [{"city": "x"}]
    piped(monkeypatch, "1 a\n")
    with refusal(ArgumentError, "arguments-conflict", "lines", "`keep`"):
        told("-", keep="city")
    piped(monkeypatch, "id~text\n1~a\n")
    assert told("-", delimiter="~") == ([("1", "a")], [], [])
    piped(monkeypatch, "id,text\n1,caf\xe9\n".encode("latin-1"))
    assert told("-", encoding="latin-1")[0] == [("1", "café")]


@pytest.mark.parametrize(
    "content", [b"", b"\n", b" ", b"\xff\xfe", bytes(range(256)), b"a" * 99_999]
)
def test_whatever_is_on_a_pipe_is_read_or_refused(
    monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """Nothing, blanks, binary data and endless lines are no reason for an error from inside."""
    piped(monkeypatch, content)
    with suppress(SourceError):
        found, errors, lines = told("-")
        assert len(found) + len(errors) + len(lines) > 0


def test_a_slow_pipe_is_read_as_it_comes() -> None:
    """The first documents are given before the rest of the lines are there."""
    code = (
        "import neardup_solr as nd\n"
        "for document in nd.read('-', id='id'): print(document.id, flush=True)\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for _ in range(1_000):
            process.stdin.write(b"1 some text\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"1\n"
        process.stdin.close()
