"""doctor on a Solr that replays its log after a crash, and on one that is well."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.faults.killer import kill_solr
from tests.solr import api
from tests.solr.foreign import SLOW, SLOW_TEXT, collection
from tests.solr.homes import settled

DOCUMENTS = 20


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A home of its own, as the server is killed."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    with settled(tmp_path):
        yield


def test_a_replay_is_a_danger_until_it_has_ended(home: None) -> None:
    """A commit would do nothing meanwhile, so a command waits for its end."""
    with collection(more=SLOW) as core:
        nd.init(core, text="title")
        rows = [{"sku": f"{n}", "title": f"book {n}"} for n in range(DOCUMENTS)]
        assert core.add([row | {"slow": SLOW_TEXT} for row in rows]) == ()
        assert kill_solr()
        again = nd.connect(api.embedded_base(), core.name)
        [found] = (each for each in nd.doctor(again).findings if each.rule == "replaying")
        assert (found.level, found.about) == ("danger", "update log")
        again.count()
        with again.session.outages.waited_for(600):
            again.session.outages.until_ready()
        assert again.count() == DOCUMENTS
        assert nd.doctor(again).health.replaying is False


def test_of_a_solr_that_is_well_nothing_is_unknown(home: None) -> None:
    """Whatever its version, memory, disk, deleted documents and the log are known."""
    with collection() as core:
        nd.init(core, text="title")
        core.add([{"sku": "1", "title": "one"}, {"sku": "2", "title": "two"}])
        core.commit()
        core.delete_ids(["1"])
        core.commit()
        health = nd.doctor(core).health
        assert health.unknown == ()
        assert 0 < (health.heap or 0) < 1
        assert (health.disk or 0) > 1 << 20
        assert health.deleted in (0.5, 0.0)  # if the segment with it was merged
