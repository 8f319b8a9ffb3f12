"""Golden vectors: what is stored in a collection may never change.

A failure here means that collections indexed before can no longer be searched. Mend the code, not
the vectors; a new behaviour gets a new name, and new vectors beside these.
"""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from neardup_solr import Document, Settings
from neardup_solr.minhash import encode_documents, make_entry
from neardup_solr.settings import FAMILIES, KINDS
from neardup_solr.settings_by_name import choose_fields
from neardup_solr.text.characters import table
from tests.unit.minhash.test_encode import as_fields

GOLDEN = Path(__file__).with_name("golden.jsonl")
OF_2 = Path(__file__).with_name("golden-2.jsonl")
TEXTS = {
    "ascii": "Mia's Tearoom, 41 Harbour Blvd. - Market Town!",
    "latin": "Café Größe – NAÏVE façade, ﬁne İstanbul ½",
    "mixed": "東京都 カフェ Москва Ελλάς ไทย हिन्दी 한국어 עברית عربي",
    "marks": "e\u0301a\u0323\u0307 co\u00adop \u1100\u1161 \u0378",
    "one": "pizza",
    "none": " . ",
    "long": " ".join(f"word{n * n % 101}" for n in range(300)),
}


TEXTS_OF_2 = TEXTS | {
    "unspaced": "iPhone手机壳 々ーｶﾞ ㌔ 𠀀𠀁 ทำน้ำ ລາວ ភាសាខ្មែរ မြန်မာ ꆈꌠꁱ ꦗꦮ",
    "signs": "C++, C#, F# g++ c++17 C＃ salt+pepper apt#5",
    "optional": "مُحَمَّــد שָׁלוֹם ܫܠܵܡܵܐ ❤\ufe0f",
    "symbols": ' ★★ ❤\ufe0f\u200d🔥 "\\" ',
}


def chosen(normalization: int = 1) -> list[Settings]:
    """Every family with words, every kind with the default family, other shapes."""
    base = Settings(fields=choose_fields("all"), normalization=normalization)
    families = [replace(base, family=family) for family in FAMILIES]
    kinds = [replace(base, kind=kind) for kind in KINDS if kind != "words"]
    other = replace(base, shingle_size=2, hashes=300, bands=270, rows=1, seed=7, signatures=3)
    return [*families, *kinds, other]


def vectors(normalization: int, texts: dict[str, str]) -> list[dict[str, object]]:
    """What this version makes of the texts, as it would be stored."""
    rows: list[dict[str, object]] = []
    for settings in chosen(normalization):
        documents = [Document(id=name, text=text) for name, text in texts.items()]
        rows += [orjson.loads(made) for made in encode_documents(documents, settings)]
    return rows


@pytest.mark.parametrize(
    ("normalization", "texts", "path"), [(1, TEXTS, GOLDEN), (2, TEXTS_OF_2, OF_2)]
)
def test_stored_fields_never_change(normalization: int, texts: dict[str, str], path: Path) -> None:
    """Every field of every family, kind and encoding equals its golden vector."""
    golden = [orjson.loads(line) for line in path.read_text().splitlines()]
    found = vectors(normalization, texts)
    assert len(found) == len(golden) == len(texts) * len(chosen())
    for row, expected in zip(found, golden, strict=True):
        assert row == expected


def test_other_texts_have_the_vectors_of_normalization_1() -> None:
    """What normalization 2 says nothing about is as before."""
    first, second = (
        {(row["id"], str(row["signature_settings"])[2:]): row for row in vectors(number, TEXTS)}
        for number in (1, 2)
    )
    for name, settings in first:
        if name not in ("mixed", "none"):
            row = second[name, settings] | {"signature_settings": f"n1{settings}"}
            assert row == first[name, settings]


LINES = [*GOLDEN.read_text().splitlines(), *OF_2.read_text().splitlines()]


@pytest.mark.parametrize("line", LINES[::5])
def test_golden_vectors_by_the_slow_path(line: str) -> None:
    """The library's entry of one text gives the same."""
    golden = orjson.loads(line)
    settings = Settings.parse(golden["signature_settings"])
    entry = make_entry(Document(id=golden["id"], text=TEXTS_OF_2[golden["id"]]), settings)
    made = {k: v for k, v in as_fields(entry, settings).items() if v != []}
    assert made == golden


def test_the_character_table_never_changes() -> None:
    """The table of normalization 1 is the one that was frozen."""
    import hashlib

    known = table(1)
    digest = hashlib.sha256(
        known.becomes.astype("<i2").tobytes()
        + known.classes.tobytes()
        + "\0".join(known.sequences).encode()
    )
    assert digest.hexdigest() == "610cf64c5ee04ecdc6d478ff26cb47beb05814bc9292d527eca974554d0cccd5"
