"""init and lint by the command, on a collection of someone else's."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator

import pytest

import neardup_solr as nd
from tests.solr import api
from tests.solr.cli.conftest import Run
from tests.solr.foreign import MANAGED, SCHEMA, collection

Ran = subprocess.CompletedProcess[str]


@pytest.fixture
def shop(home: object) -> Iterator[nd.Collection]:
    """A collection of someone else's."""
    with collection() as made:
        yield made


@pytest.fixture
def on_shop(run: Run, shop: nd.Collection) -> Callable[..., Ran]:
    """Run `neardup` on it: the command, then what names the collection, then the rest."""

    def call(command: str, *words: str) -> Ran:
        return run(command, "-c", shop.name, *words, "--solr", shop.base)

    return call


def test_init_adds_and_takes_away(on_shop: Callable[..., Ran], shop: nd.Collection) -> None:
    """A dry run says what, init does it, once more it has nothing to do, --remove undoes it."""
    options = ("--prefix", "nd_", "--text-field", "title", "--text-field", "body")
    dry = on_shop("init", *options, "--dry-run")
    assert (dry.returncode, dry.stdout.count("<field "), dry.stdout.count("<fieldType ")) == (
        0, len(api.FIELDS) + 1, 4
    )  # fmt: skip
    assert f"{len(api.FIELDS) + 1} fields would be added, as shown above" in dry.stderr
    assert shop.kept_names().is_plain
    done = on_shop("init", *options)
    assert (done.returncode, done.stdout) == (0, "")
    assert (
        f"added; next: neardup annotate {shop.place} (to undo: neardup init {shop.place} --remove"
        in done.stderr
    )
    assert shop.kept_names().text == ("title", "body")
    assert "exists and has all fields" in on_shop("init").stderr
    assert "would be removed: nd_" in on_shop("init", "--remove", "--dry-run").stderr
    removed = on_shop("init", "--remove")
    assert (removed.returncode, removed.stderr) == (
        0, f"{len(api.FIELDS) + 1} fields removed from the schema of {shop.name}.\n"
    )  # fmt: skip
    assert "has no fields added by neardup init" in on_shop("init", "--remove").stderr


def test_init_says_what_annotate_will_refuse(run: Run, home: object) -> None:
    """A field that an update would lose, in a dry run as well."""
    more = '<field name="seen" type="text" indexed="true" stored="false"/>'
    with collection(more=more) as shop:
        shop.add([{"sku": "1", "title": "one text", "seen": "one"}])
        shop.commit()
        given = ("-c", shop.name, "--solr", shop.base)
        for how in (["--dry-run"], []):
            done = run("init", *given, "--text-field", "title", "--prefix", "nd_", *how)
            assert done.returncode == 0
            assert "\nBut annotate will refuse to run: seen: a partial update" in done.stderr
            assert f": neardup annotate {shop.place} --into OTHER.\n" in done.stderr
            assert f"neardup annotate {shop.place} " not in done.stderr.partition("But annotate")[0]
        again = run("init", *given, "--text-field", "title", "--text-field", "body")
        assert "next: store the field" in again.stderr
        assert "next: neardup annotate" not in again.stderr
        refused = run("annotate", *given)
        assert refused.stderr.startswith("neardup: seen: a partial update")


def test_init_prints_what_to_paste(run: Run, home: object) -> None:
    """A schema that cannot be changed is not done: exit code 1, and the XML on standard output."""
    with collection(factory=MANAGED.format("false")) as shop:
        done = run("init", "-c", shop.name, "--text-field", "title", "--solr", shop.base)
    assert done.returncode == 3
    assert "&quot;sku&quot;" in done.stdout
    assert "paste the lines above into it, before </schema>, and reload" in done.stderr


def test_init_of_a_collection_that_is_not_there(run: Run, solr: nd.Collection) -> None:
    """Options for one that is there are not dropped."""
    done = run("init", "-c", "nowhere", "--prefix", "nd_", "--solr", solr.base)
    assert done.returncode == 3
    assert done.stderr == (
        "neardup: the collection 'nowhere' does not exist yet; create it first, without"
        " --text-field, --prefix and --dry-run\n"
    )


def test_lint_tells_by_its_exit_code(on_shop: Callable[..., Ran], shop: nd.Collection) -> None:
    """0 where nothing is lost, 3 where something would be; rows can be read by machine."""
    fine = on_shop("lint", "--prefix", "nd_", "--text-field", "title")
    assert fine.returncode == 0
    assert "0 dangers, 0 warnings" in fine.stderr
    bad = on_shop("lint", "--text-field", "catchall", "--format", "jsonl")
    assert bad.returncode == 3
    rows = [json.loads(line) for line in bad.stdout.splitlines()]
    assert (rows[0]["level"], rows[0]["rule"], rows[0]["about"]) == ("danger", "text", "catchall")
    assert all(row["remedy"] for row in rows)
    shown = on_shop("lint", "--text-field", "catchall", "--format", "table")
    assert shown.stdout.startswith("danger: catchall: it cannot be read back")


@pytest.mark.parametrize("command", ["init", "lint"])
def test_a_key_under_a_name_of_ours_is_no_wrong_usage(home: object, run: Run, command: str) -> None:
    """The prefix is possible, but not in this collection: the code is that of data."""
    schema = SCHEMA.replace('name="sku"', 'name="nd_content_bands"')
    key = "<uniqueKey>nd_content_bands</uniqueKey>"
    with collection(schema=schema, key=key) as shop:
        words = ("-c", shop.name, "--solr", shop.base, "--text-field", "title")
        assert run(command, *words, "--prefix", "nd_").returncode == 3
        assert run(command, *words, "--prefix", "n d").returncode == 2
