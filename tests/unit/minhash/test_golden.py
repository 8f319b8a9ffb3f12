"""Golden vectors: what is stored in a collection may never change.

A failure here means that collections indexed before can no longer be searched. Mend the code, not
the vectors; a new behaviour gets a new name, and new vectors beside these.
"""

from pathlib import Path

import numpy as np
import orjson
import pytest

from neardup_solr.minhash import encode, make_entry
from neardup_solr.records import Document
from neardup_solr.settings import FAMILIES, KINDS, Settings, choose_fields
from neardup_solr.text import normalize
from tests.unit.minhash.test_encode import as_fields

GOLDEN = Path(__file__).with_name("golden.jsonl")
TEXTS = {
    "ascii": "Mia's Tearoom, 41 Harbour Blvd. - Market Town!",
    "latin": "Café Größe – NAÏVE façade, ﬁne İstanbul ½",
    "mixed": "東京都 カフェ Москва Ελλάς ไทย हिन्दी 한국어 עברית عربي",
    "marks": "e\u0301a\u0323\u0307 co\u00adop \u1100\u1161 \u0378",
    "one": "pizza",
    "none": " . ",
    "long": " ".join(f"word{n * n % 101}" for n in range(300)),
}


def chosen() -> list[Settings]:
    """Every family with words, every kind with the default family, other shapes."""
    everything = choose_fields("all")
    families = [Settings(family=family, fields=everything) for family in FAMILIES]
    kinds = [Settings(kind=kind, fields=everything) for kind in KINDS if kind != "words"]
    other = Settings(
        shingle_size=2, hashes=300, bands=270, rows=1, seed=7, signatures=3, fields=everything
    )
    return [*families, *kinds, other]


def vectors() -> list[dict[str, object]]:
    """What this version makes of the texts, as it would be stored."""
    rows = []
    for settings in chosen():
        documents = [Document(id=name, text=text) for name, text in TEXTS.items()]
        for made, _ in encode.encode_documents(documents, settings):
            rows.append(orjson.loads(made))
    return rows


def test_stored_fields_never_change() -> None:
    """Every field of every family, kind and encoding equals its golden vector."""
    golden = [orjson.loads(line) for line in GOLDEN.read_text().splitlines()]
    found = vectors()
    assert len(found) == len(golden) == len(TEXTS) * len(chosen())
    for row, expected in zip(found, golden, strict=True):
        assert row == expected


@pytest.mark.parametrize("line", GOLDEN.read_text().splitlines()[::5])
def test_golden_vectors_by_the_slow_path(line: str) -> None:
    """The library's entry of one text gives the same."""
    golden = orjson.loads(line)
    settings = Settings.parse(golden["signature_settings"])
    entry = make_entry(Document(id=golden["id"], text=TEXTS[golden["id"]]), settings)
    made = {k: v for k, v in as_fields(entry, settings).items() if v != []}
    assert made == golden


def test_the_character_table_never_changes() -> None:
    """The table of normalization 1 is the one that was frozen."""
    import hashlib

    known = normalize.table()
    digest = hashlib.sha256(
        np.asarray(known.becomes).astype("<i2").tobytes()
        + known.classes
        + "\0".join(known.sequences).encode()
    )
    assert digest.hexdigest() == "610cf64c5ee04ecdc6d478ff26cb47beb05814bc9292d527eca974554d0cccd5"
