"""annotate --follow beside a writer: how long texts wait for fields, and that nothing is lost.

    python benchmarks/follow.py [plain|kills] [--seconds 600] [--rate 500] [--kills 10]
                                [--documents 0]

A collection of somebody else's, prepared by `init`, and a program that writes into it as such
programs do: mostly new documents of about 200 words, some replaced, some whose text or another
field is set, some deleted, five requests a second. It commits softly each second, or in every other
minute leaves that to commitWithin. `--documents` are there before.

In part `plain` the command `neardup annotate --follow` runs beside it. In part `kills`, which goes
on with the same collection, it is killed (SIGKILL) at a random moment of each `--kills`th of the
time, and started again two seconds later. An observer asks twice a second for what has changed.

The delay of a text is the time from when a search first finds it until a search finds the document
with the MD5 of that text and the settings. If the text is replaced before, the time goes on. So
delays are known to half a second. At the end of each part all documents are compared with what was
written. The first twenty seconds, in another collection, warm Java up and do not count.

Results go to follow.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
import tempfile
import threading
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import psutil
import requests
from lib import results
from lib.corpus import growing
from lib.solr import running_solr

sys.path.insert(0, str(Path(__file__).parents[1]))

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.settings_by_name import ANNOTATED
from neardup_solr.solr.collection import Collection
from neardup_solr.text.normalize import md5, normalize
from neardup_solr.verbs.annotate.rewrite import pages
from tests.command import NEARDUP
from tests.solr import foreign

PARTS = ("plain", "kills")
WARM_UP = 20  # seconds
SHARES = {"new": 0.70, "replaced": 0.12, "text set": 0.08, "other set": 0.06, "deleted": 0.04}
REQUESTS = 5  # a second
LOOK = 0.5  # seconds between two looks of the observer
OVERLAP = 500 << 20  # half a second in versions: requests that run side by side
ROWS = 50_000
RESTART = 2.0  # seconds, as a service manager would wait
SETTLED = 120.0  # seconds, at most
SIZED = 10.0  # seconds between two looks at the memory of the follower
SAMPLE = 10_000  # documents that doctor computes anew
# Solr updates the stock in place. Hard commits come every 15 seconds, as Solr's own configset says.
STOCK = '<field name="stock" type="plong" indexed="false" stored="false" docValues="true"/>'
COMMITS = "<autoCommit><maxTime>15000</maxTime><openSearcher>false</openSearcher></autoCommit>"
BEHIND = re.compile(r"at most ([\d.]+) s behind")

Fields = dict[str, Any]
Log = list[tuple[float, list[Any]]]  # when a request was sent; ids and versions in turn
Row = tuple[float, str, int, str | None, str | None]  # when, id, version, MD5, settings


def main() -> None:
    """Measure the parts, print the figures and keep them."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or Solr and its folder would stay
    found: dict[str, Any] = {"conditions": results.conditions(), "options": vars(options)}
    brief = argparse.Namespace(**{**vars(options), "seconds": WARM_UP, "documents": 0})
    with running_solr():
        with _prepared(brief) as scene:
            _measured("plain", scene)
        with _prepared(options) as scene:
            for part in options.parts:
                found[part] = _measured(part, scene)
    results.keep("follow", found, list(_sections(found)))


@dataclass(frozen=True, slots=True)
class Scene:
    """A prepared collection, who writes into it and looks at it, and a folder for files."""

    options: argparse.Namespace
    solr: Collection
    shop: Shop
    observer: Observer
    folder: Path


@contextmanager
def _prepared(options: argparse.Namespace) -> Iterator[Scene]:
    """A collection with the documents that are there before."""
    shop = Shop(options)
    with (
        tempfile.TemporaryDirectory(prefix="neardup-") as folder,
        foreign.collection(more=STOCK, log=foreign.LOG + COMMITS) as solr,
    ):
        plan = shop.plan(Path(folder) / "plan", options.documents // 1_000, 1_000, all_new=True)
        write(solr.url, plan.path, 0.0)
        nd.init(solr, text="body", prefix="nd_")
        observer = Observer(solr)
        with observer.watching():
            yield Scene(options, solr, shop, observer, Path(folder))


@dataclass(slots=True)
class Plan:
    """A file of requests, one a line, and for each the MD5s of the texts that it sets."""

    path: Path
    texts: list[dict[str, str]] = field(default_factory=list)


class Shop:
    """The writer's own view: its documents, as they have to be once all plans were carried out."""

    def __init__(self, options: argparse.Namespace) -> None:
        changes = options.rate * options.seconds * len(options.parts)
        self.documents: dict[str, Fields] = {}
        self.md5s: dict[str, str] = {}
        self._keys: list[str] = []
        self._made = 0
        self._texts = growing(options.documents + changes)
        self._draw = random.Random(1)

    def plan(self, path: Path, requests: int, size: int, *, all_new: bool = False) -> Plan:
        """Plan so many requests of so many changes, or new documents, each."""
        made = Plan(path)
        with path.open("wb") as lines:
            for _ in range(requests):
                body, texts = self._request(size, {"new": 1.0} if all_new else SHARES)
                lines.write(body + b"\n")
                made.texts.append(texts)
        return made

    def _request(self, size: int, shares: dict[str, float]) -> tuple[bytes, dict[str, str]]:
        kinds = self._draw.choices(list(shares), list(shares.values()), k=size)
        changed = self._draw.sample(range(len(self._keys)), min(size, len(self._keys)))
        adds, deleted, texts = [], [], dict[str, str]()
        for kind in kinds:
            if kind == "new" or not changed:
                self._made += 1
                self._keys.append(key := f"k{self._made}")
                adds.append(self._put(key, texts))
                continue
            place = changed.pop()
            key = self._keys[place]
            if kind == "deleted":
                deleted.append(place)
            elif kind == "replaced":
                adds.append(self._put(key, texts))
            elif kind == "text set":
                adds.append({"sku": key, "body": {"set": self._set_text(key, texts)}})
            else:
                adds.append({"sku": key, **self._set_other(key)})
        commands = [b'"add":{"doc":' + orjson.dumps(one) + b"}" for one in adds]
        if deleted:
            keys = [self._delete(place) for place in sorted(deleted, reverse=True)]
            commands.append(b'"delete":' + orjson.dumps(keys))
        return b"{" + b",".join(commands) + b"}", texts

    def _put(self, key: str, texts: dict[str, str]) -> Fields:
        made = self.documents[key] = {"sku": key, "price": self._draw.randrange(1000), "stock": 1}
        self._set_text(key, texts)
        made["title"] = " ".join(made["body"][0].split()[:5])
        return dict(made)

    def _set_text(self, key: str, texts: dict[str, str]) -> str:
        text = next(self._texts)
        self.documents[key]["body"] = [text]
        self.md5s[key] = texts[key] = md5(normalize(text))
        return text

    def _set_other(self, key: str) -> Fields:
        document = self.documents[key]
        if self._draw.random() < 0.5:
            document["stock"] += 1
            return {"stock": {"inc": 1}}
        document["title"] = f"{document['title']} changed"
        return {"title": {"set": document["title"]}}

    def _delete(self, place: int) -> str:
        key, self._keys[place] = self._keys[place], self._keys[-1]
        self._keys.pop()
        del self.documents[key], self.md5s[key]
        return key


def write(url: str, plan: Path, pause: float) -> tuple[Log, float, float]:
    """Post each line of a file, one every `pause` seconds, and commit softly each second.

    Returns what Solr answered, the seconds that it took, and those of this process' processor.
    """
    session, log = requests.Session(), list[tuple[float, list[Any]]]()
    session.headers["Content-Type"] = "application/json"
    began, busy = time.monotonic(), time.process_time()

    def post(body: bytes, params: dict[str, str]) -> dict[str, Any]:
        answer = session.post(f"{url}/update", body, params=params, timeout=600)
        answer.raise_for_status()
        return dict(orjson.loads(answer.content))

    with plan.open("rb") as lines:
        for number, line in enumerate(lines):
            time.sleep(max(0.0, began + number * pause - time.monotonic()))
            params = {"versions": "true"}
            if int(number * pause / 60) % 2:
                params["commitWithin"] = "1000"
            elif number % REQUESTS == REQUESTS - 1:
                params["softCommit"] = "true"
            sent = time.monotonic()
            log.append((sent, post(line, params).get("adds", [])))
    post(b'{"commit":{"softCommit":true}}', {})
    return log, time.monotonic() - began, time.process_time() - busy


class Observer:
    """A thread that asks for what has changed, again and again, and notes when it saw what."""

    def __init__(self, solr: Collection) -> None:
        self.rows: list[Row] = []
        self.latest: dict[str, tuple[int, str | None, str | None]] = {}
        self.busy = 0.0
        self._session = requests.Session()
        self._url = f"{solr.url}/select"
        found = self._ask("*:*", 1)
        self._newest = found[0]["_version_"] if found else 0
        self._ended = threading.Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch within the block."""
        with ThreadPoolExecutor(1) as pool:
            watching = pool.submit(self._watch)
            try:
                yield
            finally:
                self._ended.set()
            watching.result()

    def _watch(self) -> None:
        while not self._ended.is_set():
            now = time.monotonic()
            for one in self._ask(f"_version_:[{self._newest - OVERLAP} TO *]", ROWS):
                id, version = one["sku"], one["_version_"]
                seen = version, one.get("nd_md5_hash"), one.get("nd_signature_settings")
                if self.latest.get(id) != seen:
                    self.latest[id] = seen
                    self.rows.append((now, id, *seen))
                self._newest = max(self._newest, version)
            self.busy = time.thread_time()
            self._ended.wait(now + LOOK - time.monotonic())

    def _ask(self, query: str, rows: int) -> list[Fields]:
        params = {
            "q": query, "defType": "lucene", "rows": str(rows), "wt": "json",
            "fl": "sku,_version_,nd_md5_hash,nd_signature_settings", "sort": "_version_ desc",
        }  # fmt: skip
        answer = self._session.get(self._url, params=params, timeout=600)
        answer.raise_for_status()
        found = orjson.loads(answer.content)["response"]
        assert len(found["docs"]) == min(rows, found["numFound"])
        return list(found["docs"])


class Follower:
    """The command, which can be killed and started again. `busy` are its seconds of processor."""

    def __init__(self, solr: Collection, log: Path) -> None:
        self.log, self.busy = log, 0.0
        self._command = [*NEARDUP, "annotate", "-c", solr.name, "--solr", solr.base, "--follow"]
        self.start()

    def start(self) -> None:
        """Start it."""
        with self.log.open("ab") as log:
            self._running = psutil.Popen(self._command, stderr=log)

    def wait(self) -> None:
        """Wait until it follows."""
        while "following" not in self.told():
            self.megabytes()
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill it."""
        self._note()
        self._running.kill()
        self._running.wait()

    def end(self) -> None:
        """End it."""
        self._note()
        self._running.terminate()
        assert self._running.wait() == 0, self.told()

    def megabytes(self) -> float:
        """The memory that it holds."""
        assert self._running.poll() is None, self.told()
        return float(self._running.memory_info().rss / 2**20)

    def told(self) -> str:
        """Read what it has printed."""
        return self.log.read_text("utf-8")

    def _note(self) -> None:
        self.busy += _processor_seconds(self._running)


def _measured(part: str, scene: Scene) -> dict[str, Any]:
    """One part: the follower beside the writer, and what is there at the end."""
    options, solr, shop, observer = scene.options, scene.solr, scene.shop, scene.observer
    bare = {id: shop.md5s[id] for id in shop.md5s if not _is_right(observer, shop, [id])}
    count, size = options.seconds * REQUESTS, options.rate // REQUESTS
    plan = shop.plan(scene.folder / "plan", count, size)
    draw, kills = random.Random(2), options.kills if part == "kills" else 0
    moments = [(at + draw.uniform(0.2, 0.8)) / kills * options.seconds for at in range(kills)]
    first_row, follower = len(observer.rows), Follower(solr, scene.folder / part)
    follower.wait()
    server, sizes = psutil.Process(embedded.start().pid), list[float]()
    began, before = time.monotonic(), (_processor_seconds(server), observer.busy)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        writing = pool.submit(write, solr.url, plan.path, 1 / REQUESTS)
        while not writing.done():
            due = began + moments[0] if moments else float("inf")
            wait([writing], timeout=min(SIZED, max(0.0, due - time.monotonic())))
            sizes.append(follower.megabytes())
            if time.monotonic() >= due:
                moments.pop(0)
                follower.kill()
                time.sleep(RESTART)
                follower.start()
        log, seconds, writer_busy = writing.result()
    ended = time.monotonic()
    while not _is_right(observer, shop, shop.md5s) and time.monotonic() < ended + SETTLED:
        time.sleep(LOOK)
    settled, rows = time.monotonic(), observer.rows[first_row:]
    sizes.append(follower.megabytes())
    after = _processor_seconds(server), observer.busy
    follower.end()
    busy = {
        "follower": follower.busy, "Solr": after[0] - before[0], "writer": writer_busy,
        "observer": after[1] - before[1],
    }  # fmt: skip
    return {
        "changes": count * size,
        "a_second": count * size / seconds,
        "kills": kills - len(moments),
        "delays": _delays(rows, log, plan.texts),
        "looked_through": _looked_through(rows, bare, shop) - began if bare else None,
        "settled": settled - ended,
        "processor": {name: taken / (settled - began) for name, taken in busy.items()},
        "megabytes": sizes,
        "behind": list(map(float, BEHIND.findall(follower.told()))),
        "told": follower.told().splitlines(),
        "end": _compared(solr, shop),
    }


def _processor_seconds(process: psutil.Process) -> float:
    taken = process.cpu_times()
    return float(taken.user + taken.system)


def _is_right(observer: Observer, shop: Shop, ids: Iterable[str]) -> bool:
    """Whether the observer has seen these documents with the fields of their last text."""
    latest, never = observer.latest, (0, None, None)
    return all(latest.get(id, never)[1] == shop.md5s[id] for id in ids)


def _delays(rows: list[Row], log: Log, texts: list[dict[str, str]]) -> dict[str, Any]:
    """How long texts waited, since a search first found them and since they were sent.

    The text of a document is that of the writer's last version before its own.
    """
    sent: dict[str, list[tuple[int, float, str]]] = {}
    for (at, adds), md5s in zip(log, texts, strict=True):
        for id, version in zip(adds[::2], adds[1::2], strict=True):
            if id in md5s:
                sent.setdefault(id, []).append((version, at, md5s[id]))
    waiting: dict[str, tuple[float, float]] = {}  # when it was found, and sent
    done = set[tuple[str, int]]()
    since_found, since_sent, first_right = [], [], 0
    for at, id, version, hashed, settings in rows:
        own = sent.get(id, [])
        place = bisect_right(own, version, key=lambda one: one[0]) - 1
        if place < 0 or (id, place) in done:
            continue
        _, sent_at, wanted = own[place]
        found = waiting.setdefault(id, (at, sent_at))
        if (hashed, settings) == (wanted, ANNOTATED.fingerprint):
            since_found.append(at - found[0])
            since_sent.append(at - found[1])
            first_right += found[0] == at
            del waiting[id]
            done.add((id, place))
    return {
        "texts": sum(map(len, sent.values())),
        "measured": len(since_found),
        "right_when_found": first_right,
        "since_found": _spread(since_found),
        "since_sent": _spread(since_sent),
    }


def _spread(values: list[float]) -> dict[str, float]:
    percentiles = np.percentile(values, [50, 95, 99, 100]).tolist()
    return dict(zip(["p50", "p95", "p99", "max"], percentiles, strict=True))


def _looked_through(rows: list[Row], bare: dict[str, str], shop: Shop) -> float:
    """When the last of the bare documents that nobody changed was seen right."""
    right = dict[str, float]()
    for at, id, _, hashed, _ in rows:
        if id in bare and hashed == bare[id] == shop.md5s.get(id):
            right.setdefault(id, at)
    return max(right.values())


def _compared(solr: Collection, shop: Shop) -> dict[str, Any]:
    """All documents beside what the writer has sent, and what doctor finds."""
    missing, count = set(shop.documents), {"changed": 0, "undeleted": 0, "bare": 0, "stale": 0}
    for page in pages(solr.ids(), 1_000):
        for one in solr.whole(page):
            id = one["sku"]
            missing.discard(id)
            if id not in shop.documents:
                count["undeleted"] += 1
                continue
            wanted = shop.documents[id]
            theirs = {name for name in one if name != "_version_" and not name.startswith("nd_")}
            count["changed"] += {name: one[name] for name in theirs} != wanted
            count["bare"] += "nd_signature_settings" not in one
            count["stale"] += one.get("nd_md5_hash", shop.md5s[id]) != shop.md5s[id]
    problems = nd.doctor(solr, sample=SAMPLE).problems
    return {
        "documents": len(shop.documents),
        "missing": len(missing),
        **count,
        "doctor": [f"{one.rule}: {one.about}" for one in problems],
    }


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    parts = {part: found[part] for part in PARTS if part in found}
    spread = ["p50", "p95", "p99", "max"]
    heads = ["", "changes", "a second", "texts", "found and then right", *spread,
             "since sent: p50", *spread[1:]]  # fmt: skip
    rows = [
        [
            part, one["changes"], one["a_second"], one["delays"]["texts"],
            one["delays"]["measured"], *one["delays"]["since_found"].values(),
            *one["delays"]["since_sent"].values(),
        ]
        for part, one in parts.items()
    ]  # fmt: skip
    yield "Delay of texts, seconds since a search found them", results.table(heads, rows)
    heads = ["", "behind at most, by its own account, s", "right after the writer's end, s",
             "documents of before looked through within, s"]  # fmt: skip
    rows = [
        [part, max(one["behind"], default="–"), one["settled"], one["looked_through"] or "–"]
        for part, one in parts.items()
    ]
    yield "What the follower says, and its ends", results.table(heads, rows)
    heads = ["", *next(iter(parts.values()))["processor"], "follower: MB at first", "MB at the end",
             "most MB"]  # fmt: skip
    rows = [
        [part, *one["processor"].values(), one["megabytes"][0], one["megabytes"][-1],
         max(one["megabytes"])]
        for part, one in parts.items()
    ]  # fmt: skip
    yield "Processor, as a share of one core", results.table(heads, rows)
    heads = ["", "kills", "documents", "missing", "not as written", "there though deleted",
             "without fields", "with those of another text", "doctor finds"]  # fmt: skip
    names = ["documents", "missing", "changed", "undeleted", "bare", "stale"]
    rows = [
        [part, one["kills"], *(one["end"][name] for name in names),
         "; ".join(one["end"]["doctor"]) or "nothing"]
        for part, one in parts.items()
    ]  # fmt: skip
    yield "At the end", results.table(heads, rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="annotate --follow beside a writer")
    parser.add_argument("part", nargs="?", choices=PARTS, help="(default: both)")
    parser.add_argument("--seconds", type=int, default=600, help="of each part")
    parser.add_argument("--rate", type=int, default=500, help="changes a second")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--documents", type=int, default=0, help="that are there before")
    options = parser.parse_args()
    options.parts = [options.part] if options.part else list(PARTS)
    return options


if __name__ == "__main__":
    main()
