"""What `duplicates` tells of a collection that is not as it was signed, or changes meanwhile."""

from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.refusals import refusal
from tests.solr import api

TEXTS = [f"number {n % 40} of the {n % 40} old lamps in street {n % 40 * 7}" for n in range(80)]
DOCUMENTS = [nd.Document(id=f"d{n:02}", text=text) for n, text in enumerate(TEXTS)]
EQUAL: dict[str, Any] = {"by": "bands", "max_distance": 0}


def change(solr: nd.Collection, stage: str, document: dict[str, object] | None) -> dict[str, Any]:
    """Work during which, at a stage, a document of the collection is changed or deleted."""
    done: list[bool] = []

    def on_progress(told: nd.types.Progress) -> None:
        if told.stage == stage and not done:
            done.append(True)
            if document is None:
                solr.delete_ids(["d03"])
            else:
                api.set_fields(solr, document)
            solr.commit()

    return {"on_progress": on_progress}


def test_an_unchanged_collection_is_complete(solr: nd.Collection) -> None:
    """All documents compared, none changed: complete."""
    nd.index(DOCUMENTS, solr)
    found = nd.duplicates(solr, **EQUAL)
    assert len(found.pairs) == 40
    assert (found.complete, found.gaps) == (True, ())


def test_a_document_deleted_meanwhile(solr: nd.Collection) -> None:
    """It is in no pair, and the report says that it went."""
    nd.index(DOCUMENTS, solr)
    found = nd.duplicates(solr, **EQUAL, **change(solr, "joining", None))
    assert len(found.pairs) == 39
    assert found.gaps == (
        "the collection has changed in the meantime; run this again",
        "documents deleted during the run: 1",
    )


def test_a_document_changed_meanwhile(solr: nd.Collection) -> None:
    """Its text of now is compared, and the report says that the signature is of another."""
    nd.index(DOCUMENTS, solr)
    working = change(solr, "joining", {"id": "d03", "content": {"set": "quite another text"}})
    found = nd.duplicates(solr, **EQUAL, **working)
    assert "d03" not in {id for pair in found.pairs for id in (pair.id, pair.other_id)}
    assert found.gaps == (
        "the collection has changed in the meantime; run this again",
        "documents whose text has changed: 1; index them again",
    )


def test_documents_without_a_signature(solr: nd.Collection) -> None:
    """What another program has added is counted, not passed over in silence."""
    nd.index(DOCUMENTS, solr)
    solr.add([{"id": "foreign", "content": TEXTS[0]}])
    found = nd.duplicates(solr, **EQUAL)
    assert found.gaps == ("documents without a signature: 1; index them again",)
    assert not found.complete


def test_mixed_settings_are_refused(solr: nd.Collection) -> None:
    """Signatures of different settings cannot be compared: both are shown."""
    nd.index(DOCUMENTS, solr)
    api.set_fields(solr, {"id": "odd", "signature_settings": {"set": "n1 words2 affine128"}})
    with refusal(nd.SettingsError, "settings-differ"):
        nd.duplicates(solr)


@pytest.mark.parametrize("signature", ["AAAA", "not base64!"])
def test_a_damaged_signature_is_refused(solr: nd.Collection, signature: str) -> None:
    """A signature that is none is named, or its length."""
    nd.index(DOCUMENTS, solr)
    api.set_fields(solr, {"id": "d03", "signature": {"set": signature}})
    with refusal(nd.SettingsError, "signature-invalid"):
        nd.duplicates(solr)


def test_an_interrupted_comparison_goes_on(
    solr: nd.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was compared is kept in the checkpoint; the same call goes on."""
    monkeypatch.setattr(SIZES, "compared_block", 8)
    nd.index(DOCUMENTS, solr)
    path = tmp_path / "pairs.tsv.unfinished"
    steps: list[int] = []

    def interrupt(told: nd.types.Progress) -> None:
        if told.stage == "comparing":
            steps.append(told.done)
            if len(steps) == 4:  # the first tells what is done before
                raise KeyboardInterrupt

    every: dict[str, Any] = {"by": "bands", "min_similarity": 0.3}
    whole = nd.duplicates(solr, **every)
    with pytest.raises(KeyboardInterrupt):
        nd.duplicates(solr, **every, checkpoint=path, on_progress=interrupt)
    assert path.exists()
    steps.clear()
    working: dict[str, Any] = {
        "checkpoint": path,
        "on_progress": lambda told: steps.append(told.done) if told.stage == "comparing" else None,
    }
    assert nd.duplicates(solr, **every, **working) == whole
    assert steps[0] == 24, "three blocks were kept"


def test_a_checkpoint_of_other_work_is_not_used(
    solr: nd.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the collection has changed, or with other limits, all is compared anew."""
    monkeypatch.setattr(SIZES, "compared_block", 8)
    nd.index(DOCUMENTS, solr)
    path = tmp_path / "pairs.tsv.unfinished"

    def interrupt(told: nd.types.Progress) -> None:
        if told.stage == "comparing" and told.done >= 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nd.duplicates(solr, by="bands", checkpoint=path, on_progress=interrupt)
    api.set_fields(solr, {"id": "d03", "content": {"set": "quite another text"}})
    found = nd.duplicates(solr, **EQUAL, checkpoint=path)
    assert found.pairs == nd.duplicates(solr, **EQUAL).pairs
    assert len(found.pairs) == 39
