"""Commands that messages propose can be pasted: they name the collection, its Solr and fields."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator

import pytest

import neardup_solr as nd
from neardup_solr import errors
from tests import command
from tests.refusals import refusal
from tests.solr import foreign

Ran = subprocess.CompletedProcess[str]
TEXT = "the night ferry to Orla leaves the old pier at"


def neardup(*words: str, code: int = 0) -> str:
    """What a command prints where no address is set: the embedded Solr would be another one."""
    nowhere = "/nonexistent/neardup"
    ran = command.neardup(
        *words, env={"NEARDUP_SOLR_URL": None, "NEARDUP_HOME": nowhere, "COLUMNS": "300"}
    )
    assert ran.returncode == code, ran.stderr
    return ran.stdout + ran.stderr


def proposed(said: str, command: str) -> list[str]:
    """The words of the first command of that name in a message: its options, each with a value."""
    found = re.search(rf"neardup ({command}(?: -\S+ [^\s;)]+)*)", said)
    assert found, said
    return shlex.split(found[1])


@pytest.fixture
def shop(home: object) -> Iterator[nd.Collection]:
    """Books of somebody else, one of whose fields has a name of ours."""
    clash = '<field name="signature" type="string" indexed="true" stored="true"/>'
    with foreign.collection(more=clash) as solr:
        solr.add([
            {"sku": str(at), "title": "ferry", "body": [f"{TEXT} {hour}"], "signature": "Anna"}
            for at, hour in enumerate(("nine", "ten"))
        ])  # fmt: skip
        solr.commit()
        yield solr


def test_a_chain_of_hints_leads_from_lint_to_a_filter(shop: nd.Collection) -> None:
    """Each command is the one that the message before proposes, as it stands there."""
    asked = ("-c", shop.name, "--solr", shop.base)
    texts = ("--text-field", "title", "--text-field", "body")
    linted = neardup("lint", *asked, *texts, code=3)
    init = proposed(linted, "init")
    assert init == ["init", *asked, *texts, "--prefix", "nd_"]
    before = neardup("duplicates", *asked, code=3)
    assert proposed(before, "lint") == ["lint", *asked]
    made = neardup(*init)
    assert proposed(made, "annotate") == ["annotate", *asked]
    lacking = neardup("duplicates", *asked, code=3)
    assert proposed(lacking, "annotate") == ["annotate", *asked]
    neardup(*proposed(lacking, "annotate"))
    marked = neardup("duplicates", *asked, "--mark")
    assert "Marked 2 documents of 1 cluster." in marked
    query = re.findall(r"fq=(\S+)\n", marked)[0]
    assert query == "-nd_neardup_canonical:0"
    assert list(nd.connect(shop.url).ids([query])) == ["0"]
    refused = neardup("init", *asked, "--remove", code=3)
    strip = proposed(refused, "strip")
    assert strip == ["strip", *asked]
    neardup(*strip)
    assert f"(to undo: neardup init {shop.place} --remove)" in made
    assert "removed from the schema" in neardup("init", *asked, "--remove")


def test_an_unprepared_collection_is_led_to_its_text_field(home: object) -> None:
    """Also if that is a dynamic field: init alone would look for a field "content"."""
    with foreign.collection() as solr:
        solr.add([{"sku": str(at), "blurb_txt": f"{TEXT} {at}"} for at in range(2)])
        solr.commit()
        asked = ("-c", solr.name, "--solr", solr.base)
        for words in (
            ["duplicates"],
            ["duplicates", "--mark"],
            ["annotate"],
            ["search", "--id", "1"],
        ):
            said = neardup(*words, *asked, code=3)
            assert proposed(said, "lint") == ["lint", *asked]
        assert "nothing to remove" in neardup("strip", *asked, code=3)
        likely = "set --text-field to a field that contains text: blurb_txt or body or title"
        assert likely in neardup("init", *asked, code=3)
        assert likely in neardup("lint", *asked, "--text-field", "blurb_text", code=3)
        init = proposed(neardup("lint", *asked), "init")
        assert init == ["init", *asked, "--text-field", "blurb_txt"]
        neardup(*init)


def test_what_others_index_is_annotated_again(home: object) -> None:
    """A text that was changed, and a document that came: annotate writes their fields."""
    with foreign.collection() as made:
        made.add([{"sku": str(at), "blurb_txt": f"{TEXT} {at}"} for at in range(2)])
        made.commit()
        nd.init(made, text="blurb_txt", prefix="nd_")
        solr = nd.connect(made.url)
        nd.annotate(solr)
        later = {"blurb_txt": {"set": f"the boat and {TEXT} one"}}
        solr.add([{"id": "0", **later}, {"id": "late", "blurb_txt": f"{TEXT} 1"}])
        solr.commit()
        asked = ("-c", solr.name, "--solr", solr.base)
        changed = f"changed: 1; neardup annotate {solr.place} renews their fields"
        assert changed in neardup("duplicates", *asked)
        said = neardup("explain", "0", "late", *asked)
        assert f"match its text; neardup annotate {solr.place} writes them." in said
        assert "'late': it has no signature, content_bands, md5_hash; neardup annotate" in said
        advised = proposed(said.partition("match its text;")[2], "annotate")
        assert advised == ["annotate", "-c", solr.name, "--solr", solr.base]
        assert "neardup index" not in said


def test_a_name_that_is_misspelt(solr: nd.Collection) -> None:
    """The one that is meant is named; only what indexes would create another one."""
    server, typo = ("--solr", solr.base), solr.name[:-1]
    meant = f"there is no core or collection {typo!r}; did you mean {solr.name!r}?"
    for words in (["lint"], ["strip"], ["annotate"], ["search", "--id", "1"]):
        said = neardup(*words, "-c", typo, *server, code=3)
        assert said.endswith(f"{meant}\n")
        said = neardup(*words, "-c", "zzz", *server, code=3)
        assert re.search(rf"'zzz'; available: .*{solr.name}", said)
    index = neardup("index", "tests/examples/listings.csv", "-c", typo, *server, code=3)
    made = f"neardup init -c {typo} --solr {solr.base}"
    assert f"{meant} If not, create it with: {made}\n" in index
    with refusal(nd.ArgumentError, "collection-unfit", "`min_replicas`", "2"):
        nd.index([("1", TEXT)], solr.beside(typo), min_replicas=2)


def test_a_name_taken_for_a_file_keeps_its_address() -> None:
    """The collection that may be meant is in the Solr that was named."""
    said = neardup("duplicates", "jobs", "--solr", "http://anna:secret@host:1/solr", code=3)
    assert "neardup duplicates -c jobs --solr http://host:1/solr\n" in said
    assert "secret" not in said


def test_the_place_of_a_collection(shop: nd.Collection) -> None:
    """Of the embedded Solr no address is needed, and a password is never part of one."""
    assert shop.place == f"-c {shop.name} --solr {shop.base}"
    assert shop.beside("other").place == f"-c other --solr {shop.base}"
    assert errors.place("ads", None) == "-c ads"
    assert errors.place("ads", "http://anna:secret@host/solr") == "-c ads --solr http://host/solr"


def test_the_bands_of_tune_are_for_the_same_collection(solr: nd.Collection) -> None:
    """As it was named; the password of the address is not repeated."""
    nd.index([(str(at), f"{TEXT} {at}") for at in range(9)], solr)
    address = solr.base.replace("://", "://anna:secret@")
    said = neardup("tune", "-c", solr.name, "--solr", address)
    assert proposed(said, "reband")[-4:] == ["-c", solr.name, "--solr", solr.base]
    assert "secret" not in said


def test_words_that_no_query_finds(solr: nd.Collection) -> None:
    """What searches for words instead is asked of the same collection."""
    asked = ("-c", solr.name, "--solr", solr.base)
    said = neardup("delete", *asked, "--query", "content:boat", "--dry-run")
    assert f"neardup search {solr.place} --text 'SOME WORDS' finds" in said
