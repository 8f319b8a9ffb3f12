"""annotate on a collection of somebody else's: nothing lost, killed and resumed, and how fast.

    python benchmarks/annotate.py [--documents 200000] [--changes 10000] [--kills 5]

The collection has a schema of its own (stored, indexed-only, docValues-only, copied, dynamic and
nested fields) and is filled by plain pysolr, the texts being those of corpus.py. Then, in turn:

1. `index` of the same texts into a collection of ours, and `annotate`, on that collection, on one
   like it whose update chain makes all updates atomic, and on a plain one without children and
   copies, each in a fresh process: documents a second. Beside them, what Solr takes of the same
   documents posted whole.
2. every field of every document and a number of searches, before and after; then `strip`, and the
   same again.
3. `annotate` killed (SIGKILL) at random moments and started again until it ends, while somebody
   else changes documents: counters incremented, texts changed. All changes have to be there, every
   other field as it was, and the fields of ours those of the texts as they are at the end.

Results go to annotate.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import pysolr
import requests
from lib import results
from lib.corpus import corpus
from lib.solr import running_solr

sys.path.insert(0, str(Path(__file__).parents[1]))

import neardup_solr as nd
from neardup_solr.minhash import sign
from neardup_solr.solr import collection
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import PLAIN, Names
from neardup_solr.testing import fresh_core
from neardup_solr.verbs.annotate.rate_limit import RateLimit
from tests.solr import theirs

PAGE = 1_000
WHOLE = 50_000  # documents that are posted whole
TRIMMING = '<processor class="solr.TrimFieldUpdateProcessorFactory"/>'
ENDED_WITHIN = 3_600  # seconds


def main() -> None:
    """Measure everything, print it and keep it."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or Solr and its folder would stay
    found: dict[str, Any] = {"conditions": results.conditions(), "documents": options.documents}
    with running_solr() as base, theirs.collection() as solr:
        _fill(solr, options.documents)
        before = theirs.everything(solr)
        found["speed"] = _speed(base, solr) | {"atomic": _atomic(options.documents)}
        found["same"] = _same(solr, before)
        found["killed"] = _killed(solr, options)
    results.keep("annotate", found, list(_sections(found)))


def _fill(solr: Collection, count: int) -> None:
    """Their documents, texts of the corpus in their bodies, by plain pysolr."""
    theirs_made, texts = theirs.documents(count), corpus(count, seed=1).documents
    plain = pysolr.Solr(solr.url, timeout=600)
    for at in range(0, count, PAGE):
        page = theirs_made[at : at + PAGE]
        for number, document in enumerate(page, start=at):
            if "body" in document:
                document["body"] = [texts[number], "", "a second part"]
        plain.add(page)
    plain.commit()


def _speed(base: str, solr: Collection) -> dict[str, float]:
    """Documents a second of `index`, and of `annotate` on the same texts, each in a fresh process.

    Annotated is their collection, and a plain one beside it that has no children and copies
    nothing: what those cost is Solr's own work.
    """
    taken = {}
    for work in ("index", "annotate", "annotate plain"):
        with fresh_core(base) as own, multiprocessing.get_context("spawn").Pool(1) as pool:
            written, seconds = pool.apply(perform, [work, solr.url, solr.names, own.url])
        taken[work] = written / seconds
    return taken | {"whole": _whole(solr)}


def _atomic(count: int) -> float:
    """Documents a second of `annotate` where a processor of theirs makes all updates atomic."""
    with theirs.collection(processors=TRIMMING) as solr:
        _fill(solr, count)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            written, seconds = pool.apply(perform, ["annotate", solr.url, solr.names, solr.url])
    return float(written / seconds)


def _whole(solr: Collection) -> float:
    """Documents a second that Solr takes whole into their schema, ready-made, with our fields.

    What an update costs Solr at least: it, too, writes the whole document anew.
    """
    copied = {"_version_", "shown"}
    found = islice(theirs.selected(solr, "*:* -_nest_path_:*", fl="*"), WHOLE)
    made = [{name: one[name] for name in one.keys() - copied} for one in found]
    bodies = [orjson.dumps(made[at : at + PAGE]) for at in range(0, len(made), PAGE)]
    with theirs.collection() as other, ThreadPoolExecutor(RateLimit().threads) as pool:

        def send(body: bytes) -> None:
            headers = {"Content-Type": "application/json"}
            sent = requests.post(f"{other.url}/update", data=body, headers=headers, timeout=600)
            sent.raise_for_status()

        started = time.perf_counter()
        list(pool.map(send, bodies))
        other.commit()
        return len(made) / (time.perf_counter() - started)


def perform(work: str, url: str, names: Names, own_url: str) -> tuple[int, float]:
    """Documents written by a task, and its seconds."""
    sign.compile_kernel()
    solr, own = _connected(url, names), _connected(own_url, PLAIN)
    if work == "annotate":
        done = nd.annotate(solr)
        return done.annotated, done.seconds
    texts = _texts(solr)
    if work == "index":
        indexed = nd.index([nd.Document(id=id, text=text) for id, text in texts.items()], own)
        return indexed.indexed, indexed.seconds
    for at in range(0, len(texts), PAGE):
        own.add([{"id": id, "content": text} for id, text in list(texts.items())[at : at + PAGE]])
    done = nd.annotate(own)
    return done.annotated, done.seconds


def _texts(solr: Collection) -> dict[str, str]:
    ids = list(solr.ids(["-_nest_path_:[* TO *]"]))
    return {id: text for id, text in solr.texts(ids).items() if text}


def _connected(url: str, names: Names) -> Collection:
    base, _, core = url.rpartition("/")
    return collection.open_collection(base, core, names=names)


def _same(solr: Collection, before: dict[str, Any]) -> dict[str, Any]:
    """Whether all is as before: after annotate (which has run), and after strip."""
    annotated = theirs.everything(solr)
    stripped = nd.strip(solr)
    after = theirs.everything(solr)
    return {
        "documents": len(before) - len(theirs.SEARCHES),
        "after_annotate": annotated == before,
        "after_strip": after == before and theirs.ours(solr) == {},
        "stripped_per_second": stripped.stripped / stripped.seconds,
    }


def _killed(solr: Collection, options: argparse.Namespace) -> dict[str, Any]:
    """Annotate under fire, and what is there in the end."""
    before = theirs.everything(solr)
    writer = _Writer(solr, options.changes)
    writer.thread.start()
    draw, kills = random.Random(1), 0
    command = [sys.executable, "-m", "neardup_solr", "annotate", "-c", solr.name]
    env = os.environ | {"NEARDUP_SOLR_URL": solr.base}
    usual = options.documents / 4_000  # seconds of a whole run, more or less
    while kills < options.kills or writer.thread.is_alive():
        running = subprocess.Popen(command, env=env)
        try:
            within = draw.uniform(2, 2 + usual) if kills < options.kills else ENDED_WITHIN
            assert running.wait(within) == 0
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            kills += 1
        else:
            if kills < options.kills:
                nd.strip(solr)  # it was faster than the killer
    writer.thread.join()
    last = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    after = theirs.everything(solr)
    wrong = _wrong(solr, before, after, writer)
    health = nd.doctor(solr, sample=options.documents)
    return {
        "kills": kills,
        "changes": writer.made,
        "documents_not_as_they_should_be": len(wrong),
        "examples": wrong[:3],
        "findings": [f"{one.rule}: {one.about}" for one in health.findings],
        "last_run": last.stderr.strip(),
    }


class _Writer:
    """Somebody else: changes that leave a trace each, one request for ten of them."""

    def __init__(self, solr: Collection, changes: int) -> None:
        self.solr, self.changes, self.made = solr, changes, 0
        self.increments: dict[str, int] = {}
        self.titles: dict[str, str] = {}
        self.keys = [one["key"] for one in theirs.select(solr, "count:* -_nest_path_:*", fl="key")]
        self.thread = threading.Thread(target=self._write)

    def _write(self) -> None:
        draw = random.Random(2)
        for at in range(0, self.changes, 10):
            updates = []
            for key in draw.sample(self.keys, 10):
                if draw.random() < 0.5:
                    self.increments[key] = self.increments.get(key, 0) + 1
                    updates.append({"key": key, "count": {"inc": 1}})
                else:
                    self.titles[key] = f"changed {at} {key}"
                    updates.append({"key": key, "title": {"set": self.titles[key]}})
            theirs.update(self.solr, *updates, commit=at % 1_000 == 0)
            self.made += len(updates)
        self.solr.commit()


def _wrong(
    solr: Collection, before: dict[str, Any], after: dict[str, Any], writer: _Writer
) -> list[str]:
    """The documents that are not what they were but for the changes of the writer."""
    wrong = []
    for key, document in before.items():
        if key in theirs.SEARCHES:
            continue
        wanted = dict(document)
        if key in writer.increments:
            wanted["count"] += writer.increments[key]
        if key in writer.titles:
            wanted["title"], wanted["shown"] = writer.titles[key], [writer.titles[key]]
        if after.get(key) != wanted:
            wrong.append(f"{key}: {after.get(key)} is not {wanted}"[:300])
    return wrong


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    speed, same, killed = found["speed"], found["same"], found["killed"]
    heads = [
        "documents", "index, documents/s", "annotate, their schema", "ratio",
        "atomic, their schema", "ratio", "annotate, plain schema", "ratio",
        "posted whole, their schema", "strip, their schema",
    ]  # fmt: skip
    one, theirs_speed, plain = speed["index"], speed["annotate"], speed["annotate plain"]
    row = [found["documents"], one, theirs_speed, theirs_speed / one,
           speed["atomic"], speed["atomic"] / one, plain, plain / one,
           speed["whole"], same["stripped_per_second"]]  # fmt: skip
    yield "Speed", results.table(heads, [row])
    heads = ["documents compared, children included", "as before after annotate", "after strip"]
    row = [same["documents"], same["after_annotate"], same["after_strip"]]
    yield "Nothing lost: every field, and what searches find", results.table(heads, [row])
    heads = ["kills", "changes by others", "documents not as they should be", "doctor finds"]
    row = [killed["kills"], killed["changes"], killed["documents_not_as_they_should_be"],
           "; ".join(killed["findings"]) or "nothing"]  # fmt: skip
    yield "Killed and resumed, beside a writer", results.table(heads, [row])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="annotate on somebody else's collection")
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()
