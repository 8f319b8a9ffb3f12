"""`neardup serve` under load: latency, overload, a Solr that is killed, and the fields of texts.

    python benchmarks/serve.py [--documents 400000] [--segments 10] [--seconds 300] [--rate 200]
        [PART ...]

A core of so many documents, merged as docs/gate.md advises (`--segments 0`: left as `index` leaves
it), in the embedded Solr in a temporary folder, and the service beside it;
clients in a process of their own (lib/clients.py) ask about further documents of the same corpus,
one a request, each text once, at random moments. What the service decides is held against `gate`.
The parts: `load`, so many checks a second; `overload`, 500 connections that ask again at once, and
how soon all is well after them; `kills`, the load while Solr is killed ten times; `entries`, the
fields of 100,000 texts beside what `index` sends. Results go to serve.md and .json beside this
script.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import orjson
import psutil
import requests
from lib import clients, results
from lib.clients import Asked
from lib.corpus import corpus
from lib.solr import running_solr

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.minhash import encode_documents
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import choose_fields
from neardup_solr.solr.collection import Collection
from neardup_solr.testing import fresh_core
from neardup_solr.verbs.gate.decision_rows import make_match
from tests.services import Served, serving

FIELDS = Settings(fields=choose_fields("content,content_bands,signature,md5_hash,num_words"))
BOUNDS: dict[str, Any] = {"reject": 0.95, "hold": 0.8, "tag": 0.5}
WARMING = 10.0  # seconds at the same rate, before anything is measured
CONNECTIONS, FLOODED = 500, 15.0  # that ask at once, and for how many seconds
RECOVERING = 30.0  # seconds at the usual rate after that
WELL_MS = 25.0
KILLS = 10
LOOK = 0.05  # seconds between two looks whether Solr, or the service, is ready
ENTRIES, A_REQUEST = 100_000, 100
Spent = tuple[float, dict[str, float], int]  # when, processor seconds by process, the service's RSS


def main() -> None:
    """Measure the parts that are asked for, print and keep them."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or Solr and its folder would stay
    a_part = round(options.rate * (options.seconds + max(WARMING, RECOVERING)))
    made = corpus(options.documents + len(PARTS) * a_part, 1).documents
    documents = [nd.Document(id=f"d{at}", text=text) for at, text in enumerate(made)]
    old, new = documents[: options.documents], documents[options.documents :]
    found: dict[str, Any] = {"conditions": results.conditions(), "options": vars(options)}
    with tempfile.TemporaryDirectory() as folder, running_solr() as base, fresh_core(base) as solr:
        nd.index(old, solr, settings=FIELDS)
        if options.segments:
            wanted = {"optimize": {"maxSegments": options.segments}}
            requests.post(f"{solr.url}/update", json=wanted, timeout=600).raise_for_status()
        gc.freeze()  # or Python would look through the corpus again and again while others wait
        for at, part in enumerate(options.parts):
            asked = old[:ENTRIES] if part == "entries" else new[at * a_part :][:a_part]
            words = [word for name, bound in BOUNDS.items() for word in (f"--{name}", f"{bound}")]
            with serving(solr.url, Path(folder) / part, *words) as served:
                place = Place(solr=solr, served=served, documents=asked)
                found[part] = PARTS[part](place, options)
            results.keep("serve", found, list(_sections(found)))  # if a later part is ended


@dataclass(slots=True, kw_only=True)
class Place:
    """A service, its Solr, the documents to ask about, and what the processes have spent."""

    solr: Collection
    served: Served
    documents: Sequence[nd.Document]
    spent: list[Spent] = field(default_factory=list)

    @property
    def port(self) -> int:
        """The port of the service."""
        return urlsplit(self.served.address).port or 0

    @contextmanager
    def asking(self, *asked: Any) -> Iterator[Future[Any]]:
        """Let clients ask, as `clients.ask` does, and look each second what that takes."""
        bodies = [orjson.dumps({"id": one.id, "text": one.text}) for one in self.documents]
        ended = threading.Event()
        looking = threading.Thread(target=self._look, args=(ended,))
        looking.start()
        try:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                yield pool.submit(clients.ask, self.port, bodies, *asked)
        finally:
            ended.set()
            looking.join()

    def _look(self, ended: threading.Event) -> None:
        service, java = psutil.Process(self.served.process.pid), psutil.Process(_solr_pid())
        while not ended.wait(1):
            spent = {"service": sum(service.cpu_times()[:2])}
            if java.is_running():
                spent["Solr"] = sum(java.cpu_times()[:2])
            self.spent.append((time.monotonic(), spent, service.memory_info().rss))

    def usage(self, first: float, last: float) -> dict[str, Any]:
        """Processor seconds between two times by process, and megabytes of the service."""
        within = [one for one in self.spent if first <= one[0] <= last]
        (_, before, _), (_, after, _) = within[0], within[-1]
        seconds = within[-1][0] - within[0][0]
        return {
            "cores": {name: (after[name] - before[name]) / seconds for name in after},
            "megabytes": [rss / 2**20 for *_, rss in within],
        }

    def differing(self, answers: Sequence[Asked]) -> int:
        """Count the answers that are not what `gate` decides about the document alone."""

        def compare(some: Sequence[Asked]) -> int:
            own = nd.connect(self.solr.url)
            return sum(self._expect(one, own) != orjson.loads(one.body) for one in some)

        parts = [answers[at::4] for at in range(4)]
        with ThreadPoolExecutor(len(parts)) as pool:
            return sum(pool.map(compare, parts))

    def _expect(self, one: Asked, solr: Collection) -> dict[str, Any]:
        (made,) = nd.gate([self.documents[one.number]], solr, **BOUNDS)
        return {
            "id": made.id,
            "action": made.action,
            "reason": made.reason,
            "matches": [make_match(match) for match in made.matches],
            "complete": made.complete,
        }


def _solr_pid() -> int:
    found = embedded.running()
    assert found is not None
    return found.pid


def _gaps(options: argparse.Namespace, seconds: float) -> list[float]:
    """Random pauses between requests of many clients that do not know each other."""
    count = round(options.rate * seconds)
    gaps: list[float] = np.random.default_rng(1).exponential(1 / options.rate, count).tolist()
    return gaps


def _told(answers: Sequence[Asked]) -> dict[str, Any]:
    """How many answers there are of each kind, and how long they took."""
    statuses = Counter(one.status for one in answers)
    late = [one for one in answers if one.status in (429, 503)]
    times = [one.ms for one in answers]
    right = [one for one in answers if one.status == 200]
    return {
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
        "without Retry-After": sum(not one.has_retry_after for one in late),
        "ms": {f"p{at}": float(np.percentile(times, at)) for at in (50, 95, 99, 100)},
        "actions": Counter(orjson.loads(one.body)["action"] for one in right),
    }


def _load(place: Place, options: argparse.Namespace) -> dict[str, Any]:
    """So many checks a second, and what they take."""
    with place.asking(_gaps(options, WARMING + options.seconds)) as asking:
        _, answers, busy = asking.result()
    first, last = answers[0].due + WARMING, max(one.done for one in answers)
    counted = [one for one in answers if one.due >= first]
    usage = place.usage(first, last)
    usage["cores"]["clients"] = busy / (last - answers[0].due)
    right = [one for one in counted if one.status == 200]
    seconds = [[one.ms for one in counted if int(one.due - first) == at]
               for at in range(options.seconds)]  # fmt: skip
    return {
        **_told(counted),
        **usage,
        "checks/s": len(counted) / (counted[-1].due - first),
        "p95 of the worst second": max(float(np.percentile(one, 95)) for one in seconds if one),
        "differing": place.differing(right),
    }


def _overload(place: Place, options: argparse.Namespace) -> dict[str, Any]:
    """Many connections that ask again at once, then the usual rate."""
    with place.asking(_gaps(options, RECOVERING), (CONNECTIONS, FLOODED)) as asking:
        flooded, answers, _ = asking.result()
    end = flooded[0].due + FLOODED
    found = [(one.due - end, one.ms) for one in answers]
    starts = np.arange(0, RECOVERING - 1, 0.1)
    well = (
        start
        for start in starts
        if np.percentile([ms for at, ms in found if start <= at < start + 1], 95) <= WELL_MS
    )
    usage = place.usage(flooded[0].due, end)
    right = [one for one in flooded if one.status == 200]
    return {
        "during": _told(flooded),
        "answers/s": len(flooded) / FLOODED,
        "decisions/s": len(right) / FLOODED,
        "cores": usage["cores"],
        "after": _told(answers),
        "seconds until well": float(next(well, np.inf)),
        "differing": place.differing(right[:: max(1, len(right) // 2_000)]),
    }


def _kills(place: Place, options: argparse.Namespace) -> dict[str, Any]:
    """The load, while Solr is killed and started again."""
    pause = options.seconds / KILLS
    with place.asking(_gaps(options, WARMING + options.seconds)) as asking:
        time.sleep(WARMING)
        began, rounds = time.monotonic(), []
        for number in range(KILLS):
            time.sleep(max(0.0, began + number * pause - time.monotonic()))
            rounds.append(_kill(place))
        _, answers, _ = asking.result()
    right = [one for one in answers if one.status == 200]
    return {
        **_told(answers),
        "rounds": rounds,
        "differing": place.differing(right),
    }


def _kill(place: Place) -> dict[str, float]:
    """Kill Solr, start it again, and note when the service says so."""
    killed = time.monotonic()
    os.kill(_solr_pid(), signal.SIGKILL)
    away = _wait_for(lambda: _status(place) == 503)
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(embedded.start)
        back = _wait_for(lambda: _can_be_searched(place.solr))
        ready = _wait_for(lambda: _status(place) == 200)
        starting.result()
    return {"killed": killed, "ready": ready, "seconds until 503": away - killed,
            "seconds until Solr answers": back - away, "until 200": ready - back}  # fmt: skip


def _wait_for(is_so: Callable[[], bool]) -> float:
    """Return when something was first seen."""
    while not is_so():
        time.sleep(LOOK)
    return time.monotonic()


def _status(place: Place) -> int:
    """The status of /ready."""
    return place.served.ask("ready").status


def _can_be_searched(solr: Collection) -> bool:
    try:
        asked = {"q": "*:*", "rows": "0"}
        return requests.get(f"{solr.url}/select", params=asked, timeout=10).status_code == 200
    except requests.RequestException:
        return False


def _entries(place: Place, options: argparse.Namespace) -> dict[str, Any]:
    """The fields of texts by the service, beside what `index` sends."""
    requests_of = [
        place.documents[at : at + A_REQUEST] for at in range(0, len(place.documents), A_REQUEST)
    ]
    connection, differing, seconds = HTTPConnection("127.0.0.1", place.port), 0, 0.0
    for some in requests_of:
        body = orjson.dumps({"documents": [{"id": one.id, "text": one.text} for one in some]})
        began = time.perf_counter()
        connection.request("POST", "/entries", body)
        answer = connection.getresponse().read()
        seconds += time.perf_counter() - began
        made = list(encode_documents(some, FIELDS))
        differing += answer != b'{"entries":[%s]}' % b",".join(made)
    count = len(place.documents)
    return {"documents": count, "requests that differ": differing, "documents/s": count / seconds}


PARTS: dict[str, Callable[[Place, argparse.Namespace], dict[str, Any]]] = {
    "load": _load, "overload": _overload, "kills": _kills, "entries": _entries,
}  # fmt: skip


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    options = found["options"]
    there = f"{options['documents']:,} documents"
    if one := found.get("load"):
        sizes = one["megabytes"]
        early = sizes[min(60, len(sizes) // 5)]
        said = (
            f"{one['checks/s']:.0f} checks a second for {options['seconds']} s; {_listed(one)}."
            f" Memory of the service: {early:.0f} MB {min(60, len(sizes) // 5)} s after the start,"
            f" {sizes[-1]:.0f} MB at the end, {max(sizes):.0f} MB at most."
        )
        cores = {f"cores, {name}": share for name, share in one["cores"].items()}
        cells = {**one["ms"], "worst second, p95": one["p95 of the worst second"], **cores}
        yield f"Load, {there}", f"{_row(cells)}\n\n{said}"
    if one := found.get("overload"):
        during, after = one["during"], one["after"]
        said = (
            f"{CONNECTIONS} connections for {FLOODED:g} s: {_listed(during)}."
            f" Then {options['rate']} checks a second: {_listed(after)}."
        )
        cells = {
            "answers/s": one["answers/s"], "decisions/s": one["decisions/s"],
            "ms, p95": during["ms"]["p95"], "ms, longest": during["ms"]["p100"],
            f"seconds until p95 is {WELL_MS:g} ms again": one["seconds until well"],
            "decisions that differ": one["differing"],
        }  # fmt: skip
        yield f"Overload, {there}", f"{_row(cells)}\n\n{said}"
    if one := found.get("kills"):
        names = ["seconds until 503", "seconds until Solr answers", "until 200"]
        rows = [[at, *(each[name] for name in names)] for at, each in enumerate(one["rounds"], 1)]
        said = f"All answers: {_listed(one)}; the longest took {one['ms']['p100'] / 1e3:.1f} s."
        table = results.table(["kill", *names], rows)
        yield f"Solr killed {KILLS} times, {there}", f"{table}\n\n{said}"
    if one := found.get("entries"):
        yield "Entries, in requests of 100", _row(one)


def _row(cells: dict[str, Any]) -> str:
    return results.table(list(cells), [list(cells.values())])


def _listed(told: dict[str, Any]) -> str:
    """Say what the answers were. Status 0 is a request without one."""
    statuses = ", ".join(f"{count:,} of {status}" for status, count in told["statuses"].items())
    said = f"{statuses}; {told['without Retry-After']} of 429 and 503 without Retry-After"
    if "differing" in told:
        said += f"; {told['differing']} decisions differ from those of `gate`"
    return said


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="the service under load")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--documents", type=int, default=400_000)
    parser.add_argument("--segments", type=int, default=10, help="to merge into; 0: no merging")
    parser.add_argument("--seconds", type=int, default=300, help="of the load, and of the kills")
    parser.add_argument("--rate", type=int, default=200, help="checks a second")
    options = parser.parse_args()
    options.parts = options.parts or list(PARTS)
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"there is no part {', '.join(unknown)}")
    return options


if __name__ == "__main__":
    main()
