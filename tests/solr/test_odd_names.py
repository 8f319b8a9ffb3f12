"""Fields whose names Solr would take for syntax, through each door that takes the name of a field.

Names of columns become names of fields, so they may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SettingsError
from tests.command import neardup
from tests.conftest import Cores
from tests.solr.foreign import collection
from tests.unit.verbs.test_training import judge, write_answers
from tests.unit.verbs.test_training import records as records

NAMES = (
    "the title", "a:b", "-lead", "x (y)", "größe", 'say "so"', "a,b", "1st", "OR", "a/b", "w~2^3",
    "日本 語", "😀", "a\\b", "{!x}", "w*",
)  # fmt: skip
TEXTS = {
    "1": "the old shop by the harbour sells fish and bread",
    "2": "the old shop by the harbour sells fish and wine",
    "3": "the old shop by the harbour sells fish and beer",
}
ALIKE = {"1": "red", "2": "red", "3": "blue"}
DOCUMENTS = [
    {"id": id, "text": text, **dict.fromkeys(NAMES, ALIKE[id])} for id, text in TEXTS.items()
]
FIELDS = {"the name": "text", "street (main)": "text", "zip:code": "exact", 'born "größe"': "date"}


@pytest.fixture(scope="module")
def shop(core_pool: Cores) -> Iterator[nd.Collection]:
    """Three documents with a value in each field."""
    core = core_pool.take()
    nd.index(DOCUMENTS, core, keep=NAMES, settings=nd.Settings())
    yield core
    core_pool.give_back(core.name)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_of_any_field_is_read(shop: nd.Collection, name: str) -> None:
    """Documents with the same value are found by it, and compared by it."""
    assert [match.id for match in nd.search(shop, id="1", same=[name])] == ["2"]
    assert [pair.other_id for pair in nd.report(shop, same=[name]).pairs] == ["2"]
    pairs = nd.duplicates(shop, same=[name]).pairs
    assert [(pair.id, pair.other_id) for pair in pairs] == [("1", "2")]
    new = [DOCUMENTS[0] | {"id": "new"}]
    between = nd.duplicates(new, against=shop, same=[name]).pairs
    assert sorted(pair.other_id for pair in between) == ["1", "2"]
    assert [each.action for each in nd.gate(new, shop, equal=[name])] == ["reject"]
    kept = nd.duplicates(shop, canonical=f"{name}=blue").clusters
    assert [cluster.canonical for cluster in kept] == ["3"]


def test_no_field_is_lost(shop: nd.Collection) -> None:
    """Documents that would replace others without them are refused."""
    with pytest.raises(SettingsError) as refused:
        nd.index(DOCUMENTS, shop)
    assert refused.value.reason.endswith(f": {', '.join(sorted(NAMES))}")


def test_the_command_takes_such_names(shop: nd.Collection) -> None:
    """A name with a comma in quotes."""
    place = ("--solr", shop.base, "-c", shop.name, "--format", "tsv")
    for name in NAMES:
        word = '"' + name.replace('"', '""') + '"' if {*name} & {*',"'} else name
        printed = neardup("search", "--id", "1", f"--same={word}", *place)
        assert printed.returncode == 0, printed.stderr
        assert len(printed.stdout.splitlines()) == 2, (name, printed.stdout)


def test_a_gate_decides_by_a_model_of_such_fields(
    solr: nd.Collection, records: Any, tmp_path: Path
) -> None:
    """Its fields are looked for, and read, in the collection."""
    answers = write_answers(tmp_path / "answers.jsonl", judge(records))
    rows = [dict(zip(("id", *FIELDS), row.values(), strict=True)) for row in records[0]]
    model = tmp_path / "model.json"
    nd.tune(rows, answers=answers, fields=FIELDS, output=model)
    nd.index(rows, solr, text=[*FIELDS], keep=[*FIELDS])
    copy = rows[0] | {"id": "n1", "the name": f"{rows[0]['the name']}e"}
    values = ("quinn abernathy", "harbour lane 7", "9911", "1931-02-03")
    other = dict(zip(FIELDS, values, strict=True))
    source = nd.Source([copy, other | {"id": "n2"}], text=[*FIELDS])
    decisions = nd.gate(source, solr, model=model, hold=0.9)
    assert [each.action for each in decisions] == ["hold", "allow"]
    first, second = (str(rows[at]["id"]) for at in (0, 1))
    assert nd.explain(solr, first, second, model=model).verdict != "found"


def test_texts_lie_in_fields_of_such_names(home: Path) -> None:
    """They are checked, annotated, found, and stripped."""
    made = "".join(f'<field name={quoteattr(name)} type="text" stored="true"/>' for name in NAMES)
    names = [name for name in NAMES if "*" not in name]
    with collection(more=made) as theirs:
        theirs.add([{"sku": id, **dict.fromkeys(names, text)} for id, text in TEXTS.items()])
        theirs.commit()
        assert not nd.lint(theirs, text=names).dangers
        nd.init(theirs, text=names)
        known = nd.connect(theirs.url)
        assert known.names.text == (*names,)
        assert nd.annotate(known).annotated == len(TEXTS)
        assert {match.id for match in nd.search(known, id="1")} == {"2", "3"}
        assert len(nd.duplicates(known).pairs) == 3
        assert nd.strip(known).stripped == len(TEXTS)
        with pytest.raises(ArgumentError):
            nd.lint(theirs, text=["w*"])
