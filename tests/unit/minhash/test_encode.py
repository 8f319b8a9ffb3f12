"""The JSON of many documents equals that of their entries, one by one."""

import hashlib
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup_solr import Document, Settings
from neardup_solr.minhash import encode_documents, make_entry
from neardup_solr.records import Entry
from neardup_solr.settings import OPTIONAL_FIELDS
from neardup_solr.text.json_list import write_list
from tests.faults.tiers import sized


def as_fields(entry: Entry, settings: Settings) -> dict[str, Any]:
    """The fields of an entry as they are indexed: those that the settings name, and kept ones."""
    fields = {
        "content": entry.content,
        "md5_hash": entry.md5_hash,
        "num_words": entry.num_words,
        "first_word": entry.first_word,
        "content_ng": list(entry.shingles),
        "content_sg": list(entry.signatures),
        "content_bands": list(entry.bands),
        "signature": entry.signature,
        "profile_hash": entry.profile_hash,
    }
    chosen = {name: value for name, value in fields.items() if name in settings.fields}
    fixed = {"id": entry.id, "signature_settings": settings.fingerprint}
    return {**entry.kept, **chosen, **fixed}


TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    st.lists(st.sampled_from(["a", "b", "Cé", '"', "\\", "\n"]), max_size=20).map(" ".join),
)
DOCUMENTS = st.lists(
    st.builds(
        Document,
        id=st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
        text=TEXT,
        kept=st.dictionaries(st.sampled_from(["city", "n_i"]), st.integers(0, 9)),
    ),
    max_size=4,
)


@settings(max_examples=sized(usual=75, full=300), deadline=None)
@given(documents=DOCUMENTS, fields=st.frozensets(st.sampled_from(OPTIONAL_FIELDS)))
def test_json_is_that_of_the_entries(documents: list[Document], fields: frozenset[str]) -> None:
    """Whatever the texts and the chosen fields, both ways to a Solr document agree."""
    chosen = Settings(hashes=10, bands=3, rows=3, signatures=4, fields=fields)
    made_of = encode_documents(documents, chosen)
    for document, made in zip(documents, made_of, strict=True):
        entry = make_entry(document, chosen)
        expected = as_fields(entry, chosen)
        found = orjson.loads(made)
        # An empty list is no value at all, and is not sent.
        assert found == {name: value for name, value in expected.items() if value != []}


def test_many_bands_keep_their_numbers() -> None:
    """Band numbers of two and of three digits stand in one array."""
    chosen = Settings(hashes=300, bands=300, rows=1, signatures=300)
    document = Document(id="1", text="a b c d")
    [made] = encode_documents([document], chosen)
    assert orjson.loads(made)["content_bands"] == list(make_entry(document, chosen).bands)
    assert orjson.loads(made)["content_sg"] == list(make_entry(document, chosen).signatures)


def test_terms_over_the_limit_are_hashed() -> None:
    """A word longer than Lucene allows is hashed in every field that is a term."""
    [made] = encode_documents([Document(id="1", text="x" * 40_000)], Settings())
    fields = orjson.loads(made)
    assert fields["first_word"].startswith("md5:")
    assert fields["content_ng"][0].startswith("md5:")


def test_normal_forms_of_every_length_have_their_md5() -> None:
    """MD5 pads the last block, or adds one."""
    texts = ["x" * length for length in range(200)]
    documents = [Document(id=str(at), text=text) for at, text in enumerate(texts)]
    made = map(orjson.loads, encode_documents(documents, Settings()))
    assert [one["md5_hash"] for one in made] == [
        hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts
    ]


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), max_size=4))
def test_strings_are_escaped_as_by_orjson(texts: list[str]) -> None:
    """The bytes are those that a writer of JSON gives, and a list of them or of some is JSON."""
    documents = [Document(id=text, text=text) for text in texts]
    chosen = Settings(fields=frozenset({"content"}))
    made, stamp = encode_documents(documents, chosen), {"signature_settings": chosen.fingerprint}
    expected = [orjson.dumps({"id": text, "content": text} | stamp) for text in texts]
    assert list(made) == expected
    for rows in (slice(None), slice(1), slice(1, None), slice(1, 3)):
        assert write_list(made[rows]) == b"[" + b",".join(expected[rows]) + b"]"


def test_a_kept_column_gives_way_to_a_field_of_its_name() -> None:
    """No name comes twice in a document."""
    kept = {"id": "other", "content": 1, "city": ["Oslo"], "signature": "s", "first_word": "f"}
    fields = frozenset({"content", "signature"})
    [made] = encode_documents([Document(id="1", text="a", kept=kept)], Settings(fields=fields))
    assert made.count(b'"id"') == made.count(b'"content"') == made.count(b'"signature"') == 1
    found = orjson.loads(made)
    assert (found["id"], found["content"], found["city"]) == ("1", "a", ["Oslo"])
    assert found["first_word"] == "f"  # which this collection does not have


def test_the_fingerprint_has_the_measure() -> None:
    """Settings that are equal but for the measure have fingerprints of their own."""
    for chosen in (Settings(), Settings(measure="records"), Settings(measure="jaccard")):
        [made] = encode_documents([Document(id="1", text="a")], chosen)
        assert orjson.loads(made)["signature_settings"] == chosen.fingerprint
