"""Try each verb, and errors, on each version of Solr, and write the table of docs/versions.md.

    python -m tests.versions [VERSION…]

Each version is started in a home of its own, alone and as a cloud of two nodes. The table has the
verbs that do not do their work, with the first line of the reason.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import get_args

import pytest
import requests

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.argument_types import By
from neardup_solr.embedded import process
from neardup_solr.embedded.layout import CHOSEN, RELEASES, find_layout, recall
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import read_pairs
from neardup_solr.testing import fresh_core, private_home
from tests import ROOT
from tests.faults.killer import kill_solr
from tests.solr import foreign, nodes

PAGE = ROOT / "docs" / "versions.md"
BEGIN, END = "<!-- written by tests/versions.py -->\n", "<!-- end -->\n"
DATA = Path(os.environ.get("NEARDUP_DATA", ROOT.parent / "shared" / "data")) / "restaurants"
TEXTS = [f"number {n} in the street of the {n % 7} old lamps" for n in range(40)]
DOCUMENTS = [nd.Document(id=str(n), text=text) for n, text in enumerate([*TEXTS, TEXTS[3].upper()])]
SETTINGS = nd.Settings(fields=frozenset(nd.Settings().fields) | {"profile_hash"})
PAIR = ("3", "40")  # equal but for capitals


def index(core: Collection) -> None:
    """All documents arrive, and can be exported, deleted and counted."""
    assert nd.index(DOCUMENTS, core, settings=SETTINGS).indexed == len(DOCUMENTS)
    assert nd.index([("x", "to be deleted")], core).indexed == 1
    assert nd.delete(core, ids=["x"]) == 1
    assert [one["id"] for one in core.export(["id"])] == sorted(one.id for one in DOCUMENTS)


def search(core: Collection, by: By) -> None:
    """The copy finds its original first."""
    found = nd.search(core, id="40", by=by)
    assert (found[0].id, found[0].distance) == ("3", 0)


def report(core: Collection) -> None:
    """The report has just the one pair."""
    assert [(one.id, one.other_id) for one in nd.report(core, max_distance=0).pairs] == [PAIR]


def restaurants(core: Collection) -> None:
    """66 pairs of 864 listings, 62 of the 112 true ones."""
    assert nd.index(DATA / "addresses_verbatim.txt", core).indexed == 864
    found = nd.report(core, by="shingles", later_only=True, same=("first_word",), max_distance=2)
    pairs = {(one.id, one.other_id) for one in found.pairs}
    assert (len(pairs), len(pairs & set(read_pairs(DATA / "gold_pairs.tsv")))) == (66, 62)


def duplicates(core: Collection) -> None:
    """The pair is found by bands and by words."""
    for by in ("bands", "words"):
        found = nd.duplicates(core, by=by, max_distance=0).pairs
        assert [(one.id, one.other_id) for one in found] == [PAIR]


def mark(core: Collection) -> None:
    """A marked copy is left out, and no longer once marks are taken away."""
    nd.mark(core, nd.duplicates(core, max_distance=0))
    assert core.count(["-neardup_canonical:0"]) == len(DOCUMENTS) - 1
    nd.mark(core, ())
    assert core.count(["neardup_cluster:[* TO *]"]) == 0


def gate(core: Collection) -> None:
    """A copy is held, another text is let in."""
    new = [("a", TEXTS[5].upper()), ("b", "something else that nobody has said before now")]
    decisions = nd.gate(new, core, reject=0.9)
    assert [one.action for one in decisions] == ["reject", "allow"]


def lint(core: Collection) -> None:
    """No danger to a collection of ours."""
    assert nd.lint(core).dangers == ()


def doctor(core: Collection) -> None:
    """Nothing is wrong or unknown, and each document is computed anew."""
    found = nd.doctor(core)
    assert (found.problems, found.sampled) == ((), len(DOCUMENTS))
    assert found.health.unknown == ()


def annotate(core: Collection) -> None:
    """Fields are added to a collection of somebody else."""
    rows = [{"sku": str(n), "body": text, "price": n} for n, text in enumerate(TEXTS)]
    url = f"{core.url}/update?commit=true"
    requests.post(url, json=rows, timeout=60).raise_for_status()
    mine = nd.connect(core.url)
    nd.init(mine, text="body")
    mine = nd.connect(core.url)
    assert nd.annotate(mine).annotated == len(TEXTS)
    assert nd.doctor(mine).problems == ()


def strip(core: Collection) -> None:
    """The fields go again, and nothing else does."""
    mine = nd.connect(core.url)
    nd.strip(mine)
    assert core.count(["signature_settings:[* TO *]"]) == 0
    assert core.count(["price:[0 TO 39]"]) == len(TEXTS)


def immutable_schema() -> None:
    """lint says so, and init gives the lines to paste."""
    for factory in (foreign.MANAGED.format("false"), foreign.CLASSIC):
        with foreign.collection(factory=factory) as core:
            found = [one.rule for one in nd.lint(core, text="body").findings]
            assert "schema" in found
            prepared = nd.init(core, text="body")
            assert (prepared.is_done, prepared.is_mutable) == (False, False)


def missing_collection(address: str) -> None:
    """Whether it is read or written: Solr 10 answers the two in other ways."""
    lost = nd.connect(address, collection="lost")
    for ask in (
        partial(lost.count),
        partial(lost.add, [{"id": "1"}]),
        partial(nd.search, lost, id="1"),
        partial(nd.lint, lost),
    ):
        with pytest.raises(nd.CoreMissing):
            ask()


def inits_at_once() -> None:
    """One of them adds the fields, and all see them."""
    with foreign.collection() as core, ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(nd.init, nd.connect(core.url), text="body") for _ in range(4)]
        assert all(job.result().is_done for job in jobs)


def replay() -> None:
    """It is told after a crash, and ends; a core of ours takes what is indexed meanwhile."""
    with foreign.collection(more=foreign.SLOW) as core:
        nd.init(core, text="title")
        rows = [{"sku": f"{n}", "title": f"{n}", "slow": foreign.SLOW_TEXT} for n in range(20)]
        assert core.add(rows) == ()
        assert kill_solr()
        core = nd.connect(embedded.start(heap="512m").url, core.name)
        assert "replaying" in [one.rule for one in nd.doctor(core).findings]
        core.count()
        with core.session.outages.waited_for(600):
            core.session.outages.until_ready()
        assert (core.count(), nd.doctor(core).health.replaying) == (len(rows), False)


def errors_of_nodes(address: str) -> None:
    """What another node refuses has its reason; without the node, it is told what to start."""
    core = nd.connect(address, collection="apart")
    nd.init(core, shards=2)
    assert nd.index(DOCUMENTS, core, settings=SETTINGS).indexed == len(DOCUMENTS)
    refused = core.add([{"id": f"bad {n}", "num_words": "many"} for n in range(8)])
    assert [one.reason for one in refused if "num_words" not in one.reason] == []
    assert len(refused) == 8
    os.kill(recall(nodes.places(find_layout(), 2)[1]).pid, signal.SIGKILL)
    with pytest.raises(nd.SolrError, match=r"start its node|check that all nodes"):
        core.count()


def cloud(address: str) -> None:
    """The main path on two shards with two replicas, and marks."""
    core = nd.connect(address, collection="two")
    assert nd.init(core, shards=2, replicas=2).is_created
    assert nd.index(DOCUMENTS, core, settings=SETTINGS, min_replicas=2).indexed == len(DOCUMENTS)
    for by in ("bands", "shingles", "signatures"):
        search(core, by)
    for verb in (report, duplicates, mark, gate, lint, doctor):
        verb(core)


def tried(version: str) -> Iterator[tuple[str, str]]:
    """Try all verbs on a version: the verb, and "" or the reason why it does not do its work."""
    with embedded_solr(version) as address:
        with fresh_core(address) as core:
            yield "index", reason(partial(index, core))
            for by in get_args(By):
                yield f"search by {by}", reason(partial(search, core, by))
            for verb in (report, duplicates, mark, gate, lint, doctor):
                yield verb.__name__, reason(partial(verb, core))
        with fresh_core(address) as core:
            yield "restaurants 66/62", reason(partial(restaurants, core))
        with foreign.collection() as core:
            yield "annotate", reason(partial(annotate, core))
            yield "strip", reason(partial(strip, core))
        yield "immutable schema", reason(immutable_schema)
        yield "missing collection", reason(partial(missing_collection, address))
        yield "several init", reason(inits_at_once)
        yield "replay", reason(replay)
        try:
            started = nodes.start(find_layout(), 2, "512m", print)
            yield "cloud", reason(partial(cloud, started.url))
            yield "errors of nodes", reason(partial(errors_of_nodes, started.url))
        finally:
            nodes.stop(find_layout(), 2, timeout=0)


@contextmanager
def embedded_solr(version: str) -> Iterator[str]:
    """The address of the Solr of a version, in a home of its own."""
    os.environ[CHOSEN] = version
    if version.startswith("10."):
        subprocess.run([ROOT / "scripts" / "solr-10"], check=True)
    process.FIRST_PORT, nodes.FIRST_PORT = 17_000, 17_500  # where no tests run
    with tempfile.TemporaryDirectory() as folder, private_home(Path(folder)):
        yield embedded.start(heap="512m").url


def reason(verb: Callable[[], None]) -> str:
    """Run a verb, and return "" or the first line of what is wrong."""
    try:
        verb()
    except (Exception, pytest.fail.Exception) as error:
        line = traceback.extract_tb(error.__traceback__)[-1].line
        return f"{type(error).__name__}: {str(error) or line}".splitlines()[0][:120]
    return ""


def main() -> None:
    """Try the versions, and write their rows of the table."""
    tried_now = {}
    for version in sys.argv[1:] or list(RELEASES):
        failed = []
        for verb, why in tried(version):
            print(version, verb, why or "✔", flush=True)
            failed += [f"{verb}: {why}"] if why else []
        tried_now[version] = "; ".join(failed) or "nothing"
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_rows(page, tried_now), encoding="utf-8")


def with_rows(page: str, rows: Mapping[str, str]) -> str:
    """Put rows into the table of a page. Those of other versions stay, but of none we lack now."""
    written = re.compile(f"{BEGIN}(.*){END}", re.DOTALL)
    (table,) = written.findall(page)
    before = dict(re.findall(r"^\| (\d[^ ]*) \| (.*) \|$", table, flags=re.MULTILINE))
    every = {version: row for version, row in (before | dict(rows)).items()
             if version in {*RELEASES, *rows}}  # fmt: skip
    ordered = sorted(every.items(), key=lambda pair: [int(n) for n in re.findall(r"\d+", pair[0])])
    table = "| Solr | fails |\n| --- | --- |\n"
    table += "".join(f"| {version} | {row} |\n" for version, row in ordered)
    return written.sub(lambda _: BEGIN + table + END, page)


if __name__ == "__main__":
    main()
