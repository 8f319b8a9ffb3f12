"""What the files of the configset say, and their README."""

from __future__ import annotations

from xml.etree import ElementTree

from tests import ROOT

CONFIG = ROOT / "solr_config"
SCHEMA = ElementTree.parse(CONFIG / "conf" / "managed-schema.xml").getroot()
FIELDS = [*SCHEMA.iter("field"), *SCHEMA.iter("dynamicField")]
STORAGE = ("indexed", "stored", "docValues")


def test_no_attribute_of_a_field_is_left_to_a_default() -> None:
    """Every field says how it is stored, every type what the version's defaults would decide."""
    explicit = {*STORAGE, "multiValued"}
    assert [f.attrib["name"] for f in FIELDS if not explicit <= f.attrib.keys()] == []
    types = list(SCHEMA.iter("fieldType"))
    explicit = {"uninvertible", "useDocValuesAsStored"}
    assert [t.attrib["name"] for t in types if not explicit <= t.attrib.keys()] == []
    assert SCHEMA.attrib["version"] == "1.7"


def test_no_field_can_vanish() -> None:
    """Every field is stored, in docValues or copied from one that is: atomic updates keep it."""
    assert len(FIELDS) > 10
    copies = {copy.attrib["dest"] for copy in SCHEMA.iter("copyField")}
    lost = [
        field
        for field in FIELDS
        if "true" not in (field.attrib["stored"], field.attrib["docValues"])
        and field.attrib["name"] not in copies
    ]
    assert lost == []


def test_readme_table_is_the_schema() -> None:
    """The table of solr_config/README.md lists every field with the attributes of the schema."""
    lines = (CONFIG / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("| `")]
    table = {row[0].strip(" `"): [cell.strip() for cell in row[1:5]] for row in rows if row[5:]}
    assert table == {
        field.attrib["name"]: [
            field.attrib["type"] + (" …" if field.attrib["multiValued"] == "true" else ""),
            *("yes" if field.attrib[name] == "true" else "–" for name in STORAGE),
        ]
        for field in FIELDS
    }
