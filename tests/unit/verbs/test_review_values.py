"""review: the choice of a value where the records of a cluster disagree, by HTTP."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from tests.command import neardup
from tests.refusals import refusal
from tests.reviews import BY_NAME, MEMBERS, reviewing
from tests.unit.verbs.test_review import ask


def choose(address: str, shown: Any, reader: str = "x", **picks: int) -> dict[str, Any]:
    """Choose values by their places in what is shown, the first of each column by default."""
    picks = {column["name"]: 0 for column in shown["columns"]} | picks
    fields = {"number": shown["number"], "state": shown["state"], "picks": picks}
    reply: dict[str, Any] = ask(address, "choose", reader=reader, **fields).json()
    return reply


def list_values(shown: Any, name: str) -> list[str]:
    """The values of a column, as they are shown."""
    return next([text for text, *_ in each["values"]] for each in shown["columns"] if each["name"] == name)  # fmt: skip # noqa: E501


def test_a_choice_reaches_both_files(tmp_path: Path) -> None:
    """Those with most conflicts come first; --merge with the same answers writes the same files."""
    path, clean = tmp_path / "a.jsonl", tmp_path / "table.clean.csv"
    beside = tmp_path / "table.clean.values.csv"
    with reviewing(path, 0, *BY_NAME, lines=MEMBERS) as address:
        first = ask(address, "values").json()
        assert (first["groups"], first["left"], first["records"]) == (2, 2, 3)
        assert [column["name"] for column in first["columns"]] == ["street", "phone", "updated"]
        street = first["columns"][0]
        assert street["values"] == [["12 Mill Road", 2, ["1", "3"]], ["12 Mill Rd.", 1, ["2"]]]
        assert first["agreed"] == [["name", "Marta Linsen"], ["city", "Bonn"]]
        assert path.read_bytes() == b""
        second = choose(address, first, phone=1, updated=1)
        assert (second["left"], list_values(second, "phone")) == (1, ["0731 77", "0731 78"])
        beside.write_text("mine")
        asks = ask(address, "clean").json()["asks"]
        assert len(asks) == 1
        assert beside.read_text() == "mine"
        reply = ask(address, "clean", agreed=asks).json()
    assert (reply["values"], reply["chosen"], reply["open"]) == (beside.name, 3, 1)
    assert (reply["records"], reply["kept"], reply["removed"], reply["failed"]) == (6, 3, 3, 0)
    lines = clean.read_text().splitlines()
    assert lines[1:3] == [
        "1,Marta Linsen,12 Mill Road,Bonn,030 1234,2024-05-01",
        "4,Jonas Weber,3 Castle Lane,Ulm,0731 77,2024-01-01",
    ]
    assert "1,phone,030 1234,3,3,chosen by ann" in beside.read_text()
    assert "4,phone,0731 77,4,4,chosen\n" in beside.read_text()
    words = (str(tmp_path / "table.csv"), *BY_NAME, "--answers", str(path))
    ran = neardup("duplicates", *words, "--merge", str(tmp_path / "b.csv"))
    assert ran.returncode == 0
    assert (tmp_path / "b.csv").read_text() == clean.read_text()
    assert (tmp_path / "b.values.csv").read_text() == beside.read_text()
    rules = ("--merge-rule", "*:frequent")  # a person counts more than a rule
    ran = neardup("duplicates", *words, "--merge", str(tmp_path / "b.csv"), *rules)
    assert "3 conflicts decided by choices" in ran.stderr
    assert "1 conflict decided by rules" in ran.stderr
    assert (tmp_path / "b.csv").read_text() == clean.read_text()


def test_without_a_choice_the_clean_file_is_that_of_merge(tmp_path: Path) -> None:
    """Gaps are filled, also if all groups were skipped, and if what was chosen is undone."""
    path = tmp_path / "a.jsonl"
    with reviewing(path, 0, *BY_NAME, lines=MEMBERS) as address:
        first = ask(address, "values").json()
        assert ask(address, "undo").json()["note"] == {"did": "undo"}
        second = choose(address, first, street=1)
        last = ask(address, "pass", number=second["number"]).json()
        assert (last["number"], last["left"]) == (None, 0)
        assert ask(address, "undo").json()["note"]["undone"] == 0
        back = ask(address, "undo").json()
        assert (back["note"]["undone"], back["number"]) == (3, first["number"])
        assert back["columns"] == first["columns"]
        written = ask(address, "clean").json()
    assert (written["chosen"], written["filled"]) == (0, 1)
    other, name = tmp_path / "b.csv", "table.clean.csv"
    words = (str(tmp_path / "table.csv"), *BY_NAME, "--answers", str(path))
    assert neardup("duplicates", *words, "--merge", str(other)).returncode == 0
    assert (tmp_path / name).read_text() == other.read_text()
    values = tmp_path / written["values"]
    assert values.read_text() == (tmp_path / "b.values.csv").read_text()
    assert nd.Answers(path).latest == ()  # a choice is no answer about a pair
    with reviewing(path, 0, *BY_NAME, lines=MEMBERS) as address:  # it is saved
        assert ask(address, "values").json()["columns"] == first["columns"]


def test_the_value_of_most_records_is_chosen_at_first(tmp_path: Path) -> None:
    """The clean file has it if the group is saved, and that of the first record if it is not."""
    phones = ["030 1243", "030 1234", "030 1234"]
    lines = "".join(f"{id},Marta Linsen,{phone}\n" for id, phone in enumerate(phones, 1))
    lines = f"id,name,phone\n{lines}"
    for does, phone in (("choose", "030 1234"), ("pass", "030 1243")):
        folder = tmp_path / does
        folder.mkdir()
        with reviewing(folder / "a.jsonl", 0, "--field", "name", lines=lines) as address:
            shown = ask(address, "values").json()
            (column,) = shown["columns"]
            assert list_values(shown, "phone") == ["030 1234", "030 1243"]
            assert (column["kept"], column["who"]) == (1, None)
            if does == "choose":
                choose(address, shown)
            ask(address, "clean")
        rows = (folder / "table.clean.csv").read_text().splitlines()
        assert rows[1:] == [f"1,Marta Linsen,{phone}"]


def test_choices_survive_and_can_be_changed(tmp_path: Path) -> None:
    """After a new start, what was chosen is not asked about, but shown on demand."""
    path = tmp_path / "a.jsonl"
    with reviewing(path, 0, *BY_NAME, lines=MEMBERS) as address:
        choose(address, ask(address, "values").json(), phone=1)
    with reviewing(path, 0, *BY_NAME, lines=MEMBERS) as address:
        assert ask(address, "values", reader="y").json()["left"] == 1
        again = ask(address, "again").json()
        assert again["left"] == 2
        phone = again["columns"][1]
        assert phone["who"] == "ann"
        assert list_values(again, "phone") == ["030 1234", "030 9999"]  # the one that counts first
        before = path.read_bytes()
        choose(address, again)  # as it is
        assert path.read_bytes() == before
        ask(address, "undo")
        choose(address, again, phone=1)
        assert list_values(ask(address, "again").json(), "phone") == ["030 9999", "030 1234"]
        ask(address, "undo")  # of the second choice, so that the first counts
        assert list_values(ask(address, "again").json(), "phone") == ["030 1234", "030 9999"]


def test_two_people_choose_at_the_same_time(tmp_path: Path) -> None:
    """In one review each gets a group of their own, in two the first one counts."""
    path = tmp_path / "a.jsonl"
    with reviewing(path, 0, *BY_NAME, lines=MEMBERS) as address:
        mine, theirs = (ask(address, "values", reader=name).json() for name in "xy")
        assert mine["number"] != theirs["number"]
        assert ask(address, "values", reader="z").json()["number"] is None
        with reviewing(path, 0, *BY_NAME, lines=MEMBERS) as other:
            first = ask(other, "values").json()
            assert first["number"] == mine["number"]
            choose(other, first, phone=1)
            before = path.read_bytes()
            late = choose(address, mine, street=1)
            assert late["note"]["did"] == "changed"
            assert path.read_bytes() == before
            assert late["number"] is None or late["number"] != mine["number"]
            ask(other, "undo")
            assert choose(address, mine, street=1)["note"]["did"] == "choose"
            ask(other, "undo")  # what others chose stays
    assert neardup("duplicates", str(tmp_path / "table.csv"), *BY_NAME, "--answers", str(path),
                   "--merge", str(tmp_path / "b.csv")).returncode == 0  # fmt: skip
    assert "12 Mill Rd.,Bonn,030 9999" in (tmp_path / "b.csv").read_text()


CHANGES = {
    "value": ("030 1234", "030 4321"),
    "column": ("phone", "telephone"),
    "id": ("1,Marta", "9,Marta"),
}


@pytest.mark.parametrize("change", [*CHANGES, "split"])
def test_what_has_changed_is_not_chosen(tmp_path: Path, change: str) -> None:
    """It is counted in one line, and asked about again."""
    path, source = tmp_path / "a.jsonl", tmp_path / "table.csv"
    with reviewing(path, 0, *BY_NAME, lines=MEMBERS) as address:
        choose(address, ask(address, "values").json(), phone=1)
    if change == "split":
        for pair in (("1", "3"), ("2", "3")):
            assert neardup("answer", *pair, "different", "--answers", str(path)).returncode == 0
        lines = MEMBERS
    else:
        lines = MEMBERS.replace(*CHANGES[change])
        source.write_text(lines)
    words = ("duplicates", str(source), *BY_NAME, "--answers", str(path))
    ran = neardup(*words, "--merge", str(tmp_path / "b.csv"))
    told = [line for line in ran.stderr.splitlines() if "not applied" in line]
    expected = {"value": 1, "column": 1, "id": 3, "split": 2}[change]
    assert len(told) == 1
    assert told[0].startswith(f"{expected} choice")
    assert "Bonn,030 1234" not in (tmp_path / "b.csv").read_text()
    if change == "value":
        with reviewing(path, 0, *BY_NAME, lines=lines) as address:
            columns = ask(address, "values").json()["columns"]
            assert [each["who"] for each in columns] == ["ann", None, "ann"]
            assert ask(address, "clean").json()["outdated"] == 1


def test_what_is_refused(tmp_path: Path) -> None:
    """Requests that cannot be, a file that is away, and answers that contradict each other."""
    path = tmp_path / "a.jsonl"
    with reviewing(path, 0, *BY_NAME, lines=MEMBERS) as address:
        assert ask(address, "choose", picks={"phone": "1"}).status_code == 400
        assert ask(address, "choose", picks=[1]).status_code == 400
        assert ask(address, "values", token="wrong").status_code == 403
        first = ask(address, "values").json()
        for state in ({}, {"state": ""}, {"state": first["state"]}):
            reply = ask(address, "choose", number=99, picks={"phone": 1}, **state).json()
            assert reply["note"]["did"] == "changed"
        assert ask(address, "undo", number=first["number"]).json()["columns"] == first["columns"]
        assert path.read_bytes() == b""
        shutil.move(path, tmp_path / "away")
        reply = choose(address, first, phone=1)
        assert reply["code"] == "file-missing"
        assert "not saved" in reply["error"]
        shutil.move(tmp_path / "away", path)
        assert choose(address, first, phone=1)["left"] == 1
        choices = path.read_bytes()
        for *ids, word in (("1", "2", "different"), ("1", "3", "same"), ("2", "3", "same")):
            assert neardup("answer", *ids, word, "--answers", str(path)).returncode == 0
        refused = ask(address, "values")
        assert (refused.status_code, refused.json()["code"]) == (503, "data-at-risk")
        path.write_bytes(choices.replace(b'"values":"', b'"values":7,"x":"', 1))
        assert "choice" in ask(address, "values").json()["error"]
    with refusal(nd.SourceError, "line-invalid", "choice"):
        nd.duplicates(tmp_path / "table.csv", answers=path)


def test_records_of_two_lists_have_no_values_to_choose(tmp_path: Path) -> None:
    """As they are not merged."""
    other = tmp_path / "other.csv"
    other.write_text(MEMBERS)
    words = (*BY_NAME, "--against", str(other))
    with reviewing(tmp_path / "a.jsonl", 0, *words, lines=MEMBERS) as address:
        assert ask(address, "next").json()["merges"] is False
        assert ask(address, "values").status_code == 404


def test_long_values_are_cut_where_they_differ(tmp_path: Path) -> None:
    """So that the difference is seen, and chosen whole."""
    text = "a long report of the harbour " * 60
    lines = f"id,name,note\n1,Lantern Court,{text}one\n2,Lantern Court,{text}two\n"
    path = tmp_path / "a.jsonl"
    with reviewing(path, 0, "--field", "name", lines=lines) as address:
        shown = ask(address, "values").json()
        assert [value[-3:] for value in list_values(shown, "note")] == ["one", "two"]
        assert len(list_values(shown, "note")[0]) < 100
        choose(address, shown, note=1)
        ask(address, "clean", agreed=[])
    assert f"1,Lantern Court,{text}two\n" in (tmp_path / "table.clean.csv").read_text()


def test_old_lines_are_read_as_before(tmp_path: Path) -> None:
    """A column of that name beside an answer is none of ours."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"id":"1","other_id":"2","answer":"same","choice":"mine"}\n')
    assert [answer.answer for answer in nd.Answers(path).latest] == ["same"]
