"""Marks on a real Solr: written in place, cleared, undone, and what queries make of them."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import mmh3
import orjson
import pytest
import requests

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests import ROOT
from tests.refusals import refusal
from tests.solr import api
from tests.solr.api import MARKS as FIELDS

TIMEOUT = 30
PAGE = (ROOT / "docs" / "collapse.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```solr\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)

TEXTS = {
    "9": "the quick brown fox jumps over the lazy dog in the park",
    "10": "the quick brown fox jumps over the lazy dog in the garden",
    "11": "the quick brown fox jumps over the lazy cat in the garden",
    "x": "plain words that are about a fox",
    "y": "plain words that were about a fox",
    "lone": "nothing else is like this fox",
    "a,b {!x} ${y} é": "quite another text without the animal",
    "empty": "",
}
KEPT = {"city": ["New York"], "tags": ["b", "a"], "note": "", "seats_i": 2**40, "price_d": 12.5,
        "open_b": True, "opened_dt": "2020-01-31T00:00:00Z"}  # fmt: skip
DOCUMENTS = [nd.Document(id=id, text=text, kept=KEPT) for id, text in TEXTS.items()]
SETTINGS = nd.Settings(fields=nd.Settings().fields | {"profile_hash"})


def cluster(id: str, *members: str) -> nd.Cluster:
    """A cluster of these members, the canonical one first."""
    return nd.Cluster(
        id=id,
        canonical=members[0],
        members=tuple(nd.types.Member(id=each, similarity=1.0, distance=0) for each in members),
        pairs=len(members) - 1,
        diameter=1,
        bridges=(),
    )


FOXES, WORDS = cluster("9", "10", "9", "11"), cluster("x", "x", "y")
BOTH = (FOXES, WORDS)
FOX, WORD = 306574160, 525159821
MARKS = {"10": (FOX, 1, 0), "9": (FOX, 0, 1), "11": (FOX, 0, 2),
         "x": (WORD, 1, 0), "y": (WORD, 0, 1)}  # fmt: skip


@pytest.fixture
def filled(solr: nd.Collection) -> nd.Collection:
    """A core with all documents and every field."""
    nd.index(DOCUMENTS, solr, settings=SETTINGS)
    return solr


def select(solr: nd.Collection, **params: Any) -> dict[str, Any]:
    """The whole answer to a search for all documents, or for `q`."""
    data = {"q": "*:*", "rows": 100, "sort": "id asc", **params}
    answer = requests.post(f"{solr.url}/select", data=data, timeout=TIMEOUT)
    assert answer.status_code == 200, answer.text
    decoded: dict[str, Any] = answer.json()
    return decoded


def ids(solr: nd.Collection, **params: Any) -> list[str]:
    """The ids that a search finds."""
    return [found["id"] for found in select(solr, fl="id", **params)["response"]["docs"]]


def documents(solr: nd.Collection) -> list[dict[str, Any]]:
    """Every field of every document but its version, marks included."""
    found: list[dict[str, Any]] = select(solr, fl="*")["response"]["docs"]
    return [{name: each[name] for name in sorted(each) if name != "_version_"} for each in found]


def unmarked(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same documents without the fields of marks."""
    return [{n: each[n] for n in each if n not in FIELDS} for each in documents]


def marks(solr: nd.Collection) -> dict[str, tuple[int, ...]]:
    """The marks of all documents that have any."""
    rows = select(solr, fl=",".join(["id", *FIELDS]))["response"]["docs"]
    return {row["id"]: tuple(row[n] for n in FIELDS) for row in rows if FIELDS[0] in row}


def lucene(solr: nd.Collection) -> dict[str, int]:
    """Lucene's own number of each document: another one once the document is written anew."""
    found = select(solr, fl="id,[docid]")["response"]["docs"]
    return {each["id"]: each["[docid]"] for each in found}


def all_searches(solr: nd.Collection) -> list[object]:
    """What each kind of search, whole-collection duplicates and the settings give."""
    found: list[object] = [
        nd.search(solr, text=TEXTS["9"], by=by, same=("first_word",))
        for by in ("shingles", "bands", "signatures", "profile", "md5")
    ]
    kept = ids(solr, fq="tags:a AND seats_i:[1 TO *] AND price_d:12.5 AND open_b:true")
    return [*found, nd.duplicates(solr), solr.values("signature_settings"), kept]


def counts(**given: int) -> nd.types.Marks:
    """Marks whose other counts are 0."""
    names = ("clusters", "marked", "unchanged", "vanished", "cleared")
    assert given.keys() <= set(names)
    return nd.types.Marks(**{name: given.get(name, 0) for name in names})  # type: ignore[arg-type]


def interrupt(_: nd.types.Progress) -> None:
    """Stop the run after the batch that was just sent."""
    raise KeyboardInterrupt


def test_members_get_cluster_canonical_and_rank(filled: nd.Collection) -> None:
    """Members are marked in their order, and documents outside of clusters are not."""
    assert nd.mark(filled, BOTH) == counts(clusters=2, marked=5)
    assert marks(filled) == MARKS


def test_marks_are_written_in_place(filled: nd.Collection) -> None:
    """Marking, for the first time and anew, leaves each document where it lies in the index."""
    before = lucene(filled)
    nd.mark(filled, BOTH)
    assert lucene(filled) == before
    nd.mark(filled, [replace(FOXES, canonical="11", members=FOXES.members[::-1]), WORDS])
    assert marks(filled)["11"] == (FOX, 1, 0)
    assert lucene(filled) == before


def test_clearing_writes_documents_anew(filled: nd.Collection) -> None:
    """Solr removes a value only by writing the document anew: the proof above can fail."""
    nd.mark(filled, BOTH)
    before = lucene(filled)
    nd.mark(filled, ())
    assert lucene(filled) != before


def test_marking_changes_nothing_else(filled: nd.Collection) -> None:
    """Every field of every document, every kind of search and the settings stay."""
    before, found = documents(filled), all_searches(filled)
    nd.mark(filled, BOTH)
    assert unmarked(documents(filled)) == before
    assert all_searches(filled) == found


def test_undo_leaves_everything_as_before(filled: nd.Collection) -> None:
    """After undo all fields and searches are as if nothing had ever been marked."""
    before, found = documents(filled), all_searches(filled)
    nd.mark(filled, BOTH)
    assert nd.mark(filled, ()) == counts(cleared=5)
    assert documents(filled) == before
    assert all_searches(filled) == found
    assert nd.mark(filled, ()) == counts()


def test_a_dry_run_only_counts(filled: nd.Collection) -> None:
    """A dry run gives the counts of the real one and sends nothing, for undo as well."""

    def never(_: nd.types.Progress) -> None:
        raise AssertionError("a dry run sent something")

    gone = cluster("gone", "gone", "lone")
    expected = nd.mark(filled, [*BOTH, gone], dry_run=True, on_progress=never)
    assert expected == counts(clusters=3, marked=6, vanished=1)
    assert marks(filled) == {}
    assert nd.mark(filled, [*BOTH, gone]) == expected
    assert nd.mark(filled, (), dry_run=True, on_progress=never) == counts(cleared=6)
    assert len(marks(filled)) == 6


def test_a_second_run_sends_nothing(filled: nd.Collection) -> None:
    """The same clusters again change no document, not even its version."""
    nd.mark(filled, BOTH)
    versions = select(filled, fl="id,_version_")["response"]["docs"]
    sent: list[int] = []
    again = nd.mark(filled, BOTH, on_progress=lambda told: sent.append(told.done))
    assert (again, sent) == (counts(clusters=2, unchanged=5), [])
    assert select(filled, fl="id,_version_")["response"]["docs"] == versions


def test_other_clusters_replace_the_marks(filled: nd.Collection) -> None:
    """Marks that no longer hold are cleared, others change, and the rest is left alone."""
    nd.mark(filled, BOTH)
    hostile = "a,b {!x} ${y} é"
    smaller, other = cluster("9", "10", "9"), cluster("y", "y", hostile)
    assert nd.mark(filled, [smaller, other]) == counts(
        clusters=2, marked=2, unchanged=2, cleared=2
    )  # fmt: skip
    number = mmh3.hash("y", signed=False) >> 1
    assert marks(filled) == {
        "10": MARKS["10"],
        "9": MARKS["9"],
        "y": (number, 1, 0),
        hostile: (number, 0, 1),
    }


@pytest.mark.parametrize("finish", ["mark", "undo"])
@pytest.mark.parametrize("interrupted", ["mark", "undo"])
def test_an_interrupted_run_can_be_finished_or_undone(
    filled: nd.Collection, monkeypatch: pytest.MonkeyPatch, interrupted: str, finish: str
) -> None:
    """Marking or undoing, stopped halfway over older marks, can be finished and can be undone."""
    verbs: dict[str, Callable[..., nd.types.Marks]] = {
        "mark": partial(nd.mark, clusters=BOTH),
        "undo": partial(nd.mark, clusters=()),
    }
    before = documents(filled)
    nd.mark(filled, [cluster("9", "9", "lone", "y")])
    monkeypatch.setattr(SIZES, "mark_batch", 2)
    with pytest.raises(KeyboardInterrupt):
        verbs[interrupted](filled, on_progress=interrupt)
    verbs[finish](filled)
    assert marks(filled) == {"mark": MARKS, "undo": {}}[finish]
    assert unmarked(documents(filled)) == before


def test_an_interruption_leaves_a_part(
    filled: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stopped after two documents has marked these two, seen after the next commit."""
    monkeypatch.setattr(SIZES, "mark_batch", 2)
    with pytest.raises(KeyboardInterrupt):
        nd.mark(filled, BOTH, on_progress=interrupt)
    assert marks(filled) == {}
    filled.commit()
    assert marks(filled) == {id: MARKS[id] for id in ("10", "9")}
    assert nd.mark(filled, BOTH) == counts(clusters=2, marked=3, unchanged=2)


def test_undo_finds_what_no_search_sees_yet(
    filled: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Marks of an interrupted run are undone although they have not been committed."""
    monkeypatch.setattr(SIZES, "mark_batch", 2)
    with pytest.raises(KeyboardInterrupt):
        nd.mark(filled, BOTH, on_progress=interrupt)
    assert nd.mark(filled, ()) == counts(cleared=2)
    filled.commit()
    assert marks(filled) == {}


def test_documents_deleted_before_are_not_created_again(filled: nd.Collection) -> None:
    """A member that is not in the collection is counted as vanished and stays away."""
    nd.delete(filled, ids=["9", "y"])
    assert nd.mark(filled, BOTH) == counts(clusters=2, marked=3, vanished=2)
    assert sorted(ids(filled)) == sorted(TEXTS.keys() - {"9", "y"})


@pytest.mark.parametrize("undo", [False, True], ids=["mark", "undo"])
def test_documents_deleted_meanwhile_are_not_created_again(
    filled: nd.Collection, monkeypatch: pytest.MonkeyPatch, undo: bool
) -> None:
    """Solr refuses marks of a document that was deleted after it was read; the rest goes on."""
    if undo:
        nd.mark(filled, BOTH)
    monkeypatch.setattr(SIZES, "mark_batch", 4)

    def delete(told: nd.types.Progress) -> None:
        if told.total is not None and told.done < told.total:
            nd.delete(filled, ids=["y"])

    ran = nd.mark(filled, () if undo else BOTH, on_progress=delete)
    assert (ran.marked, ran.vanished) == ((0, 0) if undo else (4, 1))
    assert marks(filled) == ({} if undo else {id: MARKS[id] for id in MARKS if id != "y"})
    assert sorted(ids(filled)) == sorted(TEXTS.keys() - {"y"})


def test_documents_indexed_meanwhile_are_marked_again(
    filled: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that was indexed again during the run has its marks at the end."""
    monkeypatch.setattr(SIZES, "mark_batch", 4)
    again = [document for document in DOCUMENTS if document.id == "10"]

    def index(told: nd.types.Progress) -> None:
        if (told.done, told.total) == (4, 5):
            nd.index(again, filled)

    assert nd.mark(filled, BOTH, on_progress=index) == counts(clusters=2, marked=5)
    assert marks(filled) == MARKS


OTHER = "words of another kind that nobody compared with anything"


@pytest.mark.parametrize("id", ["11", "y", "10"])
@pytest.mark.parametrize("earlier", [(), (WORDS,), (cluster("11", "11", "y", "10"),)])
@pytest.mark.parametrize("is_foreign", [False, True], ids=["by us", "by others"])
def test_documents_of_another_text_do_not_get_their_marks_back(
    filled: nd.Collection,
    monkeypatch: pytest.MonkeyPatch,
    id: str,
    earlier: tuple[nd.Cluster, ...],
    is_foreign: bool,
) -> None:
    """What is replaced after it was marked, before it is, or while others are, has no mark."""
    nd.mark(filled, earlier)
    monkeypatch.setattr(SIZES, "mark_batch", 2)
    passes: list[int] = []

    def put(told: nd.types.Progress) -> None:
        passes.append(told.done)
        if len(passes) == 1 and is_foreign:
            assert not filled.add([orjson.dumps({"id": id, "content": OTHER})])
        elif len(passes) == 1:
            nd.index([nd.Document(id=id, text=OTHER, kept=KEPT)], filled, settings=SETTINGS)

    ran = nd.mark(filled, BOTH, on_progress=put)
    assert marks(filled) == {each: MARKS[each] for each in MARKS if each != id}
    assert (ran.marked + ran.unchanged, ran.vanished, ran.cleared) == (4, 1, 0)
    assert nd.mark(filled, ()).cleared == 4


def test_documents_that_others_update_all_the_time_are_marked(
    filled: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A field that another program sets meanwhile stays, and holds no mark up."""
    monkeypatch.setattr(SIZES, "mark_batch", 2)
    passes: list[int] = []

    def count(told: nd.types.Progress) -> None:
        passes.append(told.done)
        if len(passes) <= 4:
            api.set_fields(filled, *[{"id": id, "seats_i": {"set": len(passes)}} for id in MARKS])

    assert nd.mark(filled, BOTH, on_progress=count) == counts(clusters=2, marked=5)
    assert marks(filled) == MARKS
    assert {each["seats_i"] for each in documents(filled) if each["id"] in MARKS} == {4}


def test_a_collection_that_never_settles_is_an_error(filled: nd.Collection) -> None:
    """If others overwrite marks pass after pass, the run says so and ends."""
    again = [document for document in DOCUMENTS if document.id == "10"]
    passes: list[int | None] = []

    def index(told: nd.types.Progress) -> None:
        nd.index(again, filled)
        passes.append(told.total)

    with refusal(nd.errors.SolrAnswerError, "write-incomplete", "1 document"):
        nd.mark(filled, BOTH, on_progress=index)
    assert passes == [5, *[1] * 8]


def test_marks_survive_the_updates_of_others(filled: nd.Collection) -> None:
    """Atomic updates and reband keep marks; a document that is indexed again loses them."""
    nd.mark(filled, BOTH)
    api.set_fields(filled, {"id": "9", "city": {"set": "Paris"}})
    nd.reband(filled, bands=21, rows=6)
    assert marks(filled) == MARKS
    nd.index([document for document in DOCUMENTS if document.id == "9"], filled)
    assert marks(filled) == {id: values for id, values in MARKS.items() if id != "9"}


def test_overlapping_clusters_are_refused(filled: nd.Collection) -> None:
    """A document in two clusters is refused before anything is sent."""
    with refusal(nd.SettingsError, "id-repeated", "'9'"):
        nd.mark(filled, [FOXES, cluster("lone", "lone", "9")])
    assert marks(filled) == {}


def expected_of_docs() -> list[dict[str, Any]]:
    """What each query of docs/collapse.md gives, in their order: ids and facets."""
    alone = ["a,b {!x} ${y} é", "empty", "lone"]
    kept = {"ids": sorted(["10", "x", *alone])}
    clusters = {"10": ["10", "9", "11"], "x": ["x", "y"]} | {id: [] for id in alone}
    sizes = [{"val": FOX, "count": 3}, {"val": WORD, "count": 2}]
    return [
        kept,
        kept,
        {**kept, "clusters": clusters},
        {"ids": ["9", "11", "y"]},
        {"ids": [], "sizes": sizes},
        {"ids": ["10", "9", "11", "x", "y"]},
    ]


def seen(answer: dict[str, Any]) -> dict[str, Any]:
    """What a search gave, as `expected_of_docs` spells it."""

    def ids_of(found: dict[str, Any]) -> list[str]:
        return [each["id"] for each in found["docs"]]

    given: dict[str, Any] = {"ids": ids_of(answer["response"])}
    documents = answer["response"]["docs"]
    if documents and "cluster" in documents[0]:
        given["clusters"] = {each["id"]: ids_of(each["cluster"]) for each in documents}
    if "facets" in answer:
        given["sizes"] = answer["facets"]["clusters"]["buckets"]
    return given


@pytest.mark.parametrize("number", range(len(expected_of_docs())))
def test_queries_of_the_documentation(filled: nd.Collection, number: int) -> None:
    """Each query of docs/collapse.md gives what the text above it promises."""
    assert len(BLOCKS) == len(expected_of_docs())
    nd.mark(filled, BOTH)
    params = dict(line.split("=", 1) for line in BLOCKS[number].splitlines())
    assert seen(select(filled, **{"fl": "id", **params})) == expected_of_docs()[number]


@pytest.mark.parametrize("number", range(len(expected_of_docs())))
def test_queries_of_the_documentation_where_little_or_nothing_is_marked(
    filled: nd.Collection, number: int
) -> None:
    """No query is an error before the first marks, nor where a segment has none."""
    params = dict(line.split("=", 1) for line in BLOCKS[number].splitlines())
    select(filled, **{"fl": "id", **params})
    nd.mark(filled, BOTH)
    nd.index([nd.Document(id="new", text="words that nobody had before")], filled)
    assert select(filled, q="id:new")["response"]["numFound"] == 1
    select(filled, **{"fl": "id", **params})


def test_collapsing_and_filtering_differ_where_the_canonical_does_not_match(
    filled: nd.Collection,
) -> None:
    """A cluster of which only another member matches is kept by collapse, and lost by the flag."""
    nd.mark(filled, BOTH)
    query = {"q": 'content_ng:"the lazy cat"'}
    collapse = "{!collapse field=neardup_cluster nullPolicy=expand min=neardup_rank}"
    assert ids(filled, **query, fq=collapse) == ["11"]
    assert ids(filled, **query, fq="-neardup_canonical:0") == []


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("nullPolicy=expand min=neardup_rank", ["10", "lone"]),
        ("nullPolicy=expand", ["11", "lone"]),
        ("min=neardup_rank", ["10"]),
    ],
)
def test_who_represents_a_cluster(filled: nd.Collection, options: str, found: list[str]) -> None:
    """By rank the one to keep, else the best match; without nullPolicy others disappear."""
    nd.mark(filled, BOTH)
    query = 'content_ng:"in the garden"^=1 content_ng:"the lazy cat"^=1 first_word:nothing^=1'
    assert ids(filled, q=query, fq=f"{{!collapse field=neardup_cluster {options}}}") == found


def test_searching_without_near_duplicates(filled: nd.Collection) -> None:
    """The filter of the documentation works as --fq of a search."""
    nd.mark(filled, BOTH)
    fq = "-neardup_canonical:0"
    found = nd.search(filled, text=TEXTS["9"], by="shingles", fq=fq)
    assert [each.id for each in found] == ["10"]


def upload(cloud: str, name: str, schema: Callable[[str], str]) -> None:
    """The bundled configset under a name, with its schema rewritten."""
    files = {
        file: (api.CONFIGSET / file).read_text("utf-8")
        for file in ("solrconfig.xml", "managed-schema.xml")
    }
    files["managed-schema.xml"] = schema(files["managed-schema.xml"])
    api.upload(cloud, name, files, overwrite="true")


def test_marks_on_two_shards(cloud: str) -> None:
    """In SolrCloud marks are set, cleared and undone across shards; the flag works everywhere."""
    solr = nd.connect(cloud, "sharded")
    nd.init(solr, shards=2)
    nd.index(DOCUMENTS, solr, settings=SETTINGS)
    before = documents(solr)
    apart = {shard["id"]: shard["[shard]"] for shard in
             select(solr, fl="id,[shard]")["response"]["docs"]}  # fmt: skip
    assert len({apart[member.id] for member in FOXES.members}) == 2
    gone = cluster("gone", "gone", "lone")
    assert nd.mark(solr, [*BOTH, gone]) == counts(clusters=3, marked=6, vanished=1)
    assert nd.mark(solr, BOTH) == counts(clusters=2, unchanged=5, cleared=1)
    assert marks(solr) == MARKS
    assert "gone" not in ids(solr)
    kept = sorted(["10", "x", "a,b {!x} ${y} é", "empty", "lone"])
    assert ids(solr, fq="-neardup_canonical:0") == kept
    collapse = "{!collapse field=neardup_cluster nullPolicy=expand min=neardup_rank}"
    assert len(ids(solr, fq=collapse)) > len(kept)
    for number, wanted in enumerate(expected_of_docs()):
        if "collapse" not in BLOCKS[number]:
            params = dict(line.split("=", 1) for line in BLOCKS[number].splitlines())
            assert seen(select(solr, fl="id", **params)) == wanted
    assert nd.mark(solr, ()) == counts(cleared=5)
    assert documents(solr) == before


def test_a_collection_from_before_marks(cloud: str) -> None:
    """Its lack is one line with the remedy; with the new schema and a reload it is marked as is."""

    def without_marks(schema: str) -> str:
        return re.sub(r'<field name="neardup_[^>]*>', "", schema)

    upload(cloud, "old", without_marks)
    api.create(cloud, "old", "old")
    solr = nd.connect(cloud, "old")
    nd.index(DOCUMENTS, solr, settings=SETTINGS)
    before = lucene(solr)
    for verb in (
        partial(nd.mark, clusters=BOTH),
        partial(nd.mark, clusters=BOTH, dry_run=True),
        partial(nd.mark, clusters=()),
    ):
        with refusal(nd.SettingsError, "fields-missing", "neardup_cluster", "init -c old"):
            verb(solr)
    upload(cloud, "old", str)
    api.admin(cloud, "collections", action="RELOAD", name="old")
    assert nd.mark(solr, BOTH) == counts(clusters=2, marked=5)
    assert marks(solr) == MARKS
    assert lucene(solr) == before


def test_clusters_of_something_else_clear_no_marks(filled: nd.Collection) -> None:
    """Clusters of which no document is here are refused, and the marks stay."""
    nd.mark(filled, BOTH)
    before = filled.count(["neardup_cluster:[* TO *]"])
    others = nd.duplicates([("x1", "one two three"), ("x2", "one two three")])
    with refusal(nd.ArgumentError, "id-unknown"):
        nd.mark(filled, others)
    assert filled.count(["neardup_cluster:[* TO *]"]) == before > 0


@pytest.mark.usefixtures("home")
def test_a_core_of_the_embedded_solr_from_before_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its remedy is a start of the embedded Solr, which brings the new schema."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    name = f"old_{uuid.uuid4().hex[:12]}"
    base = nd.connect().base
    configset = api.configsets(base) / name
    shutil.copytree(api.CONFIGSET, configset / "conf")
    schema = configset / "conf" / "managed-schema.xml"
    schema.write_text(re.sub(r'<field name="neardup_[^>]*>', "", schema.read_text("utf-8")))
    api.admin(base, "cores", action="CREATE", name=name, configSet=name)
    solr = nd.connect(collection=name)
    try:
        nd.index(DOCUMENTS, solr, settings=SETTINGS)
        with refusal(nd.SettingsError, "fields-missing", "neardup solr stop"):
            nd.mark(solr, BOTH)
    finally:
        api.drop(solr)
        shutil.rmtree(configset)
