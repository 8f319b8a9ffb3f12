"""What sources keep, as Solr has it afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import neardup_solr as nd

VALUES = {
    "order": {"add": "x"},
    "removal": {"set": None},
    "document": {"id": "inner", "text": "c d"},
    "unknown": {"colour": "red"},
    "listed": [{"colour": "red"}, "y", None, ["z", 1]],
    "plain": ["x", "y"],
    "empty": [],
}
STORED = {
    "order": ['{"add":"x"}'],
    "removal": ['{"set":null}'],
    "document": ['{"id":"inner","text":"c d"}'],
    "unknown": ['{"colour":"red"}'],
    "listed": ['{"colour":"red"}', "y", '["z",1]'],
    "plain": ["x", "y"],
    "empty": None,
}


def test_a_kept_object_is_stored_as_its_json(solr: nd.Collection, tmp_path: Path) -> None:
    """It is no order to Solr and no document of its own, however often it is indexed."""
    source = tmp_path / "a.jsonl"
    source.write_text(
        "".join(
            json.dumps({"id": id, "text": "a b c d", "tags": value}) + "\n"
            for id, value in VALUES.items()
        )
    )
    for _ in range(3):
        assert nd.index(source, solr, keep=("tags",)).failed == 0
    assert {id: solr.document(id, ["tags"]).get("tags") for id in VALUES} == STORED
    assert solr.count() == len(VALUES)
