"""`index` against the model of Solr, with faults in any order; the model against a real Solr."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson
import pytest
import requests
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.faults.history import checkpointed
from tests.faults.model import (
    Busy,
    Crash,
    Cut,
    DiskFull,
    Fault,
    Fields,
    Kind,
    Model,
    SoftCommit,
    client,
    running,
)
from tests.faults.tiers import sized, tier

PATIENCE: Final = 60.0  # seconds, which no run needs: the model is back after some requests
RUNS: Final = 60  # of a job; one ends at each refused request of a Solr that never answered yet
OnRepeat = Literal["last", "first", "fail"]
Plan = tuple[Kind, int, Fault]


@pytest.fixture(scope="module", autouse=True)
def no_pauses() -> Iterator[None]:
    """Look again at once whether Solr is back."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SIZES, "outage_pause", 0.0005)
        yield


def refusal(document: Fields) -> str | None:
    """The message for a document that Solr refuses."""
    if str(document.get("content")).startswith("refuse"):
        return f"ERROR: [doc={document['id']}] it is one of those"
    return None


def reasons(job: Path) -> list[str]:
    """List the reasons in the dead letters of a job, which is deleted at its end if it has none."""
    return [letter.reason for letter in nd.dead_letters(job=job)] if job.exists() else []


@dataclass(slots=True)
class Due:
    """What has to become of records: the text for each id, and the reasons of those that fail."""

    texts: dict[str, str]
    reasons: list[str]
    repeated: int


def due(records: Sequence[nd.Document], on_repeat: OnRepeat) -> Due:
    """What has to become of records, thought through one by one."""
    last: dict[str, nd.Document] = {}
    wrong = Due({}, [], 0)
    for one in records:
        if not one.id:
            wrong.reasons.append("the id is empty")
        elif one.id in last and on_repeat == "fail":
            wrong.reasons.append("its id came before")
        elif one.id in last:
            wrong.repeated += 1
            if on_repeat == "last":
                last[one.id] = one
        else:
            last[one.id] = one
    for id, one in last.items():
        message = refusal({"id": id, "content": one.text})
        if message is None:
            wrong.texts[id] = one.text
        else:
            wrong.reasons.append(f"Solr refused it: {message}")
    return wrong


crashes = st.builds(
    Crash,
    applied=st.integers(0, 3),
    keeps_logs=st.booleans(),
    away=st.integers(0, 3),
    loading=st.integers(0, 2),
    replay=st.integers(0, 12),
)
busy = st.builds(Busy, status=st.sampled_from([429, 502, 503, 504]))
cuts = st.builds(Cut, applied=st.sampled_from([0, 1, None]))
kinds = st.one_of(st.integers(0, 40), st.integers(0, 40), st.sampled_from(["bad", "refuse"]))
usual = st.one_of(crashes, crashes, busy, cuts)
# Not the very first commit and search: a Solr that never answered before is not waited for.
plans: st.SearchStrategy[Plan] = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 7), usual),
    st.tuples(st.just("commit"), st.integers(1, 5), usual),
    st.tuples(st.just("search"), st.integers(1, 5), st.one_of(usual, st.just(SoftCommit()))),
    st.tuples(st.just("probe"), st.integers(0, 3), usual),
    st.tuples(st.just("add"), st.integers(0, 20), st.just(DiskFull())),
)


class Indexing(RuleBasedStateMachine):
    """Jobs of indexing, one after the other, into a Solr that fails as it was planned."""

    @initialize(tolerant=st.booleans(), most=st.sampled_from([None, 1, 3]))
    def start(self, tolerant: bool, most: int | None) -> None:
        """An empty Solr, and no records."""
        self.held = ExitStack()
        self.model = Model(tolerant=tolerant, most=most, refuses=refusal)
        self.address = self.held.enter_context(running(self.model))
        self.folder = Path(self.held.enter_context(tempfile.TemporaryDirectory()))
        self.records: list[nd.Document] = []
        self.durable: dict[str, str] = {}
        self.written = self.jobs = 0
        self.is_down = False

    def teardown(self) -> None:
        """Close what was opened."""
        if hasattr(self, "held"):
            self.held.close()

    @rule(crash=crashes)
    def crash_between(self, crash: Crash) -> None:
        """Solr is killed while nobody indexes, and may not be back when the next job begins."""
        self.model.crash(crash)
        self.is_down = self.is_down or crash.away + crash.loading > 0

    @rule(
        kinds=st.lists(kinds, min_size=8, max_size=30),
        planned=st.lists(plans, min_size=2, max_size=8),
        batch=st.integers(1, 5),
        threads=st.integers(1, 2),
        every=st.integers(1, 30),
        on_repeat=st.sampled_from(["last", "first", "fail"]),
    )
    def index(
        self,
        kinds: Sequence[int | str],
        planned: Sequence[Plan],
        batch: int,
        threads: int,
        every: int,
        on_repeat: OnRepeat,
    ) -> None:
        """A job that is resumed until it ends has done what it had to, and no more."""
        self.records = list(map(self._written, kinds))
        self.jobs += 1
        job = self.folder / f"job{self.jobs}"
        for kind, nth, fault in planned:
            self.model.plan(kind, nth, fault)
        may_raise = self.is_down or any(isinstance(one, DiskFull) for _, _, one in planned)
        lost, failed = len(self.model.lost), self.model.crashes
        done = None
        for number in range(RUNS):
            before = len(self.model.sent)
            reached = self._reached(job, on_repeat)
            try:
                done = nd.index(
                    nd.Source(self.records, on_repeat=on_repeat),
                    client(self.address, self.model),
                    keep=(),
                    batch=batch,
                    threads=threads,
                    checkpoint_every=every,
                    patience=PATIENCE,
                    job=job,
                    resume=number > 0,
                    on_error=lambda _: None,
                )
                break
            except nd.SolrHalted:
                assert may_raise
                self.model.crash()
            except nd.SolrError:
                assert may_raise or number > 0
            finally:
                self._require_only_later(before, reached)
        assert done is not None, f"{RUNS} runs were not enough"
        wanted = due(self.records, on_repeat)
        self._judge(done, job, wanted)
        # Each crash may cost the documents of one interval, and those are sent again.
        crashed = self.model.crashes - failed
        assert done.resent <= max(crashed * every, len(self.model.lost) - lost)
        self.durable |= wanted.texts
        self.is_down = False
        self.model.forget_plans()

    def _written(self, kind: int | str) -> nd.Document:
        self.written += 1
        id = {"bad": "", "refuse": f"r{self.written}"}.get(str(kind), f"d{kind}")
        text = f"{kind} is in text number {self.written}"
        return nd.Document(id=id, text=text, position=f"record {self.written}")

    def _reached(self, job: Path, on_repeat: OnRepeat) -> int:
        """How far the checkpoint says that a job is; all before that has to be durable."""
        reached = checkpointed(job)
        if not reached:
            return 0
        texts: dict[str, set[str]] = {}
        for one in self.records:  # a later record of the same id may be there already
            texts.setdefault(one.id, set()).add(one.text)
        there = self.model.durable()
        for id in due(self.records[:reached], on_repeat).texts:
            assert there[id].fields["content"] in texts[id]
        wanted = due(self.records[:reached], on_repeat).reasons
        assert Counter(reasons(job)) == Counter(wanted)
        return reached

    def _require_only_later(self, before: int, reached: int) -> None:
        """A run sends nothing of what the checkpoint that it began with calls done."""
        later = {one.id for one in self.records[reached:]}
        for ids in self.model.sent[before:]:
            assert later.issuperset(ids)

    def _judge(self, done: nd.types.IndexSummary, job: Path, wanted: Due) -> None:
        """Every record is durable, has failed for its reason, or is a repeated id."""
        assert done.read == len(self.records)
        assert done.read == done.indexed + done.repeated + done.failed
        assert (done.indexed, done.repeated) == (len(wanted.texts), wanted.repeated)
        told = reasons(job)
        assert Counter(told) == Counter(wanted.reasons)
        assert done.failed == len(told)
        there = {id: one.fields["content"] for id, one in self.model.durable().items()}
        assert there == {**self.durable, **wanted.texts}
        assert done.documents == len(there)

    @invariant()
    def no_commit_is_begun_while_the_disk_is_full(self) -> None:
        """It would lose what was acknowledged; one may be on its way when the disk gets full."""
        if hasattr(self, "model"):
            assert self.model.halted_commits <= self.model.halts

    @invariant()
    def only_requests_that_are_known(self) -> None:
        """The client asks for nothing that the model cannot answer as Solr does."""
        if hasattr(self, "model"):
            assert self.model.asked["unknown"] == 0


TestIndexing = Indexing.TestCase
TestIndexing.settings = settings(
    max_examples=sized(usual=30, full=300),
    stateful_step_count=sized(usual=4, full=8),
    deadline=None,
    derandomize=not tier(),  # what is new is found by the longer runs, and not by chance
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    print_blob=True,
)


def shape(value: Any) -> Any:
    """What an answer is made of: names, and the kinds of values; of lists, one of each shape."""
    if isinstance(value, Mapping):
        return {name: shape(inner) for name, inner in sorted(value.items())}
    if isinstance(value, list):
        return sorted({repr(shape(inner)) for inner in value})
    return type(value).__name__


UPDATE: Final = "/update?expandMacros=false&versions=true&wt=json"
SELECT: Final = "/select?expandMacros=false&defType=lucene&wt=json"
WANTED: Final = {
    "query": "{!terms f=$field_id v=$any separator=$separator}",
    "params": {"any": "1\x1f2", "separator": "\x1f", "field_id": "id"},
    "limit": 2,
}
EXCHANGE: Final[tuple[tuple[str, object], ...]] = (
    (SELECT, {"query": "*:*", "limit": 0, "facet": {
        "values": {"type": "terms", "field": "signature_settings", "limit": -1}}}),
    (UPDATE, [{"id": "1", "content": "a", "signature_settings": "s"},
              {"id": "2", "content": "b", "signature_settings": "s"}]),
    (SELECT, {"query": "*:*", "filter": [], "limit": 0}),
    (UPDATE, {"commit": {"waitSearcher": True}}),
    (SELECT, {"query": "*:*", "filter": [], "limit": 0}),
    (SELECT, WANTED | {"limit": 0, "filter": ["{!cache=false}_version_:[5 TO *]"]}),
    (SELECT, WANTED | {"limit": 0, "filter": [f"{{!cache=false}}_version_:[{2**62} TO *]"]}),
    (SELECT, WANTED | {"fields": ["id", "_version_"]}),
    (SELECT, {"query": "*:*", "limit": 0, "facet": {
        "values": {"type": "terms", "field": "signature_settings", "limit": -1}}}),
    (UPDATE, [{"id": "3", "content": "refuse", "signature": ["x", "y"]}, {"id": "4"}]),
    (SELECT, {"query": "*:*", "filter": [], "limit": 0}),
    ("/select?q=*:*&rows=0&wt=json", None),
    ("/select?q=*:*&fl=id&sort=id+asc&rows=10&cursorMark=*&wt=json", None),
)  # fmt: skip


def told(url: str) -> Iterator[tuple[int, Any, Any]]:
    """The status, the shape and the counts of each answer of the exchange."""
    for path, content in EXCHANGE:
        if content is None:
            response = requests.get(url + path, timeout=60)
        else:
            headers = {"Content-Type": "application/json"}
            body = orjson.dumps(content)
            response = requests.post(url + path, data=body, headers=headers, timeout=60)
        decoded = response.json()
        found = decoded.get("response", {}).get("numFound"), len(decoded.get("adds", ()))
        yield response.status_code, shape(decoded), found


def test_the_model_answers_as_solr_does(solr: nd.Collection) -> None:
    """To each request of the client, a real Solr answers in the same shape with the same counts."""
    model = Model(refuses=refusal)
    with running(model) as address:
        modelled = list(told(f"{address}/model"))
        state = requests.get(f"{address}/admin/metrics?group=core", timeout=60).json()
    for asked, real, answer in zip(EXCHANGE, told(solr.url), modelled, strict=True):
        assert answer == real, asked
    url = f"{solr.base}/admin/metrics?group=core&prefix=TLOG.state&wt=json"
    (own,) = (
        one
        for core, one in requests.get(url, timeout=60).json()["metrics"].items()
        if core == f"solr.core.{solr.name}"
    )
    assert state["metrics"] == {"solr.core.model": own}


def test_the_model_is_durable_as_solr_is_measured_to_be() -> None:
    """A commit during the replay does nothing, and only the two newest logs are replayed."""
    model = Model()
    with running(model) as address:
        collection = client(address, model)
        for number in range(3):
            collection.take([{"id": str(number), "content": "x"}])
            assert collection.count() == 0
            model.crash(Crash(away=0, replay=99))
            collection = client(address, model)
            collection.commit()
            assert not model.durable()
        model.crash(Crash(away=0, replay=2))
        collection = client(address, model)
        assert not collection.session.outages.is_over()
        assert collection.session.outages.is_over()
        assert set(model.durable()) == {"1", "2"}
        assert model.lost == ["0"]
        assert collection.count() == 2
