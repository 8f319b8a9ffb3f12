"""Records of a collection compared by fields: those that were kept, and those of somebody else."""

import json
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import SettingsError
from tests.refusals import refusal
from tests.solr import api, foreign
from tests.unit.verbs.test_duplicates_fields import FIELDS, ids_of, invent

COLUMNS = list(FIELDS)


@pytest.fixture
def people(solr: nd.Collection) -> nd.Collection:
    """Invented people, whose columns are kept and are the text, too."""
    nd.index(invent()[0], solr, text=COLUMNS, keep=COLUMNS)
    return solr


def test_what_a_file_gives(people: nd.Collection, tmp_path: Path) -> None:
    """The pairs, their probabilities and the weights are those of the file that was indexed."""
    frame, known = invent()
    found, of_file = nd.duplicates(people, fields=FIELDS), nd.duplicates(frame, fields=FIELDS)
    assert len(ids_of(found) & known) > 0.93 * len(known)
    assert _by_ids(found) == pytest.approx(_by_ids(of_file))
    assert found.weights is not None
    assert of_file.weights is not None
    of_found, of_known = (
        [one.bits for one in each.table()] for each in (found.weights, of_file.weights)
    )
    assert of_found == pytest.approx(of_known)
    assert found.complete
    pair = found.pairs[0]
    facts = nd.explain(people, pair.id, pair.other_id, fields=FIELDS).facts
    assert facts.probability == pytest.approx(pair.similarity)
    assert [one.field for one in facts.evidence] == ["", *COLUMNS]
    found.write(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf-8")
    assert f'"compared":{json.dumps(COLUMNS, separators=(",", ":"))}' in html
    assert '"together",[],[],"probability' in html
    with pytest.raises(nd.errors.DocumentNotFound):
        nd.explain(people, "nobody", pair.id, fields=FIELDS)


def _by_ids(found: nd.Duplicates) -> dict[tuple[int, ...], float]:
    pairs = found.pairs
    return {tuple(sorted((int(one.id), int(one.other_id)))): one.similarity for one in pairs}


def test_fields_of_somebody_else(home: object) -> None:
    """Fields of other types, stored or in docValues alone, are read; others are refused."""
    frame, known = invent()
    with foreign.collection() as solr:
        solr.add([
            {"sku": id, "title": name, "body": [street or ""], "zip_s": code}
            | ({"price": int(born[:4])} if born else {})
            for id, name, street, code, born in frame.itertuples(index=False)
        ])  # fmt: skip
        solr.commit()
        nd.init(solr, text=["title", "body"], prefix="nd_")
        nd.annotate(solr)
        kinds: dict[str, nd.types.FieldKind] = {
            "title": "text",
            "body": "text",
            "zip_s": "exact",
            "price": "date",
        }
        found = nd.duplicates(solr, fields=kinds)
        assert len(ids_of(found) & known) > 0.9 * len(known)
        with refusal(SettingsError, "field-missing", "'shop'"):
            nd.duplicates(solr, fields=["title", "shop"])


def test_a_record_that_changes_meanwhile(people: nd.Collection) -> None:
    """It is named as such, and so is one that was deleted; the others are found."""
    done: list[str] = []

    def change(told: nd.types.Progress) -> None:
        if told.stage == "reading" and told.done == told.total and not done:
            done.append(told.stage)
            people.delete_ids(["1"])
            api.set_fields(people, {"id": "2", "content": {"set": "quite another text"}})
            people.commit()

    found = nd.duplicates(people, fields=FIELDS, on_progress=change)
    assert found.pairs
    assert "documents deleted during the run: 1" in found.gaps
    assert any(gap.startswith("documents whose text has changed: 1") for gap in found.gaps)
    assert not {"1", "2"} & {id for pair in found.pairs for id in (pair.id, pair.other_id)}


def test_kept_columns(people: nd.Collection) -> None:
    """They come as they were in the file, each a value; of several values all are given."""
    frame = invent()[0].set_index("id")
    found = nd.duplicates(people, fields=FIELDS, keep=["name", "zip"])
    assert found.kept
    for id, row in found.kept.items():
        assert row == {name: frame.at[int(id), name] for name in ("name", "zip")}
    api.set_fields(people, {"id": found.pairs[0].id, "zip": {"add": "9999"}})
    people.commit()
    several = nd.duplicates(people, fields=FIELDS, keep=["name", "zip"]).kept
    assert all(isinstance(row["name"], str) and isinstance(row["zip"], list)
               for row in several.values())  # fmt: skip


def test_marks_and_answers(people: nd.Collection, tmp_path: Path) -> None:
    """Clusters by fields are marked, and an answer takes a pair out of them."""
    first = nd.duplicates(people, fields=FIELDS).pairs[0]
    nd.answer(people, first.id, first.other_id, "different", answers=tmp_path / "answers.jsonl")
    found = nd.duplicates(people, fields=FIELDS, answers=tmp_path / "answers.jsonl")
    assert (first.id, first.other_id) not in {(pair.id, pair.other_id) for pair in found.pairs}
    assert nd.mark(people, found).clusters == len(found.clusters)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (
            {"fields": ["nme", "city"]},
            "no record has a value in nme or city; .* these columns in `keep`",
        ),
        ({"fields": ["name:date"]}, "has no date"),
    ],
)
def test_fields_that_are_not_there(people: nd.Collection, how: dict[str, Any], said: str) -> None:
    """A name that no document has is one clear message."""
    with pytest.raises((SettingsError, nd.ArgumentError), match=said):
        nd.duplicates(people, **how)


def test_a_field_without_values_is_refused_beside_another(people: nd.Collection) -> None:
    """Or all documents that agree in the other were pairs."""
    with refusal(SettingsError, "field-empty", "nosuch"):
        nd.duplicates(people, fields=["name", "nosuch:exact"])


def test_new_records_of_a_collection_are_compared_by_what_is_remembered(
    people: nd.Collection, tmp_path: Path
) -> None:
    """One that comes has the pairs that a full run gives it."""
    frame, _ = invent()
    first = nd.duplicates(people, fields=FIELDS, remember=tmp_path / "known")
    twin = frame.iloc[[0]].assign(id="99999")
    nd.index(twin, people, text=COLUMNS, keep=COLUMNS)
    found = nd.duplicates(people, fields=FIELDS, remember=tmp_path / "known")
    assert found.since is not None
    assert (found.since.reason, found.since.came, found.since.changed) == ("", 1, 0)
    assert ids_of(found) == ids_of(nd.duplicates(people, fields=FIELDS))
    assert len(found) > len(first)
