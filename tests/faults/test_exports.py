"""Exports: cut anywhere and put together again, whole or refused."""

import json
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.faults.scripted import Answer, connected
from tests.refusals import refusal

NO_SHARDS = Answer(body=b'{"responseHeader":{"status":0},"response":{"numFound":9,"docs":[]}}')
IDS = st.lists(st.text(alphabet='a"\\{}[],:\n\t🙂', max_size=6), max_size=12, unique=True)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are repeated without a pause."""
    monkeypatch.setattr(SIZES, "longest_wait", 0.0)


def exported(ids: list[str], *, found: int | None = None) -> bytes:
    """An answer as Solr's /export writes it, each document on lines of its own."""
    docs = "},{\n".join(f'      "id":{json.dumps(id)}\n    ' for id in ids)
    body = f"[{{\n{docs}}}]" if ids else "[ ]"
    return (
        '{\n  "responseHeader":{\n    "status":0\n  },\n  "response":{\n'
        f'    "numFound":{len(ids) if found is None else found},\n    "docs":{body}\n  }}\n}}'
    ).encode()


@example(ids=["a},{b"], size=1, block=1)
@given(ids=IDS.map(sorted), size=st.integers(1, 40), block=st.integers(1, 60))
def test_an_answer_cut_anywhere_is_the_same(ids: list[str], size: int, block: int) -> None:
    """However the bytes come in, the parts hold every document once, in order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SIZES, "answer_piece", size)
        patch.setattr(SIZES, "export_block", block)
        with connected(NO_SHARDS, Answer(body=exported(ids))) as (solr, _):
            assert [one["id"] for one in solr.export(["id"])] == ids


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(body=exported(["1"], found=2)), "the export stopped after 1 of 2 documents"),
        (Answer(body=exported([], found=2)), "the export stopped after 0 of 2 documents"),
        (
            Answer(body=exported(["1", "2"]).replace(b'"id":"2"', b'"EXCEPTION":"x"')),
            "after 1 of 2 documents: x",
        ),
        (Answer(body=exported(["1", "2"])[:-9]), "is not a Solr export"),
        (Answer(body=b"<html>", kind="text/html"), "is not a Solr export"),
        (Answer(body=b'{"responseHeader":{"status":0}}'), "is not a Solr export"),
        (Answer(status=500, body=b'{"error":{"msg":"disk"}}'), "Solr says: disk"),
    ],
)
def test_an_export_that_is_not_whole_is_refused(answer: Answer, reason: str) -> None:
    """An export that is not whole is an error, although Solr calls it a success."""
    with (
        connected(NO_SHARDS, answer) as (solr, _),
        pytest.raises(nd.errors.SolrAnswerError, match=reason),
    ):
        solr.export(["id"])


def test_an_export_that_breaks_off_between_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read before the break is never taken for the whole."""
    monkeypatch.setattr(SIZES, "export_block", 1)
    body = exported([str(id) for id in range(9)])
    cut = Answer(body=body[: body.index(b'"id":"7"')])
    with (
        connected(NO_SHARDS, cut) as (solr, _),
        pytest.raises(nd.errors.SolrAnswerError, match="stopped after"),
    ):
        solr.export(["id"])


def test_a_field_that_cannot_be_exported_is_refused_at_once() -> None:
    """It lacks docValues, however long it is waited for."""
    message = b'"EXCEPTION":"java.io.IOException: key{x} must have DocValues to use this feature."'
    body = exported(["1"], found=1).replace(b'"id":"1"', message)
    with (
        connected(NO_SHARDS, *[Answer(body=body)] * 3) as (solr, asked),
        refusal(nd.errors.SolrAnswerError, "collection-unfit", "DocValues") as caught,
        solr.session.outages.waited_for(300),
    ):
        solr.export(["id"])
    assert len(asked) == 2
    assert not caught.value.may_pass


@pytest.mark.parametrize(
    "damaged",
    [
        lambda body: body[: body.index(b'"id":"7"')],
        lambda body: body.replace(b'"id":"6"', b'"EXCEPTION":"x"'),
        lambda body: body[: body.index(b'"id":"5"')] + b"<html>",
        lambda body: b"<html>",
    ],
)
def test_an_export_that_breaks_off_is_gone_on_with(
    damaged: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came before is not given twice; as often as something new came, it is asked again."""
    monkeypatch.setattr(SIZES, "export_block", 1)
    ids = [str(id) for id in range(9)]
    body = exported(ids)
    faults = [Answer(body=damaged(body))] * 2
    with connected(NO_SHARDS, *faults, Answer(body=body)) as (solr, asked):
        assert [one["id"] for one in solr.export(["id"])] == ids
    assert len(asked) == 4


PARTS = [["1", "4", "5"], ["0", "2", "3", "7"], []]


def in_parts(*answers: Answer) -> list[str]:
    """The ids of an export in as many parts, each of which gets one of the answers.

    What is asked for again is never whole.
    """
    with connected(NO_SHARDS, *answers, Answer(body=exported([], found=9))) as (solr, _):
        blocks = solr.exported(["id"], parts=len(answers))
        return [one["id"] for block in blocks for one in block]


def test_parts_are_put_together_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long they are; a part may be empty."""
    monkeypatch.setattr(SIZES, "export_block", 1)
    found = in_parts(*(Answer(body=exported(ids)) for ids in PARTS))
    assert found == sorted(id for ids in PARTS for id in ids)


@pytest.mark.parametrize("damaged", [0, 1, 2])
def test_a_part_that_is_not_whole_is_refused(damaged: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of them it is, the others do not stand for it."""
    monkeypatch.setattr(SIZES, "export_block", 1)
    found = [len(ids) + (part == damaged) for part, ids in enumerate(PARTS)]
    answers = [
        Answer(body=exported(ids, found=count)) for ids, count in zip(PARTS, found, strict=True)
    ]
    with pytest.raises(nd.errors.SolrAnswerError, match="stopped after"):
        in_parts(*answers)


def test_parts_that_overlap_are_refused() -> None:
    """As from a server that does not know how to part documents, and gives all of them twice."""
    with refusal(nd.errors.SolrAnswerError, "answer-partial", "twice"):
        in_parts(Answer(body=exported(["1", "2"])), Answer(body=exported(["1", "2"])))
