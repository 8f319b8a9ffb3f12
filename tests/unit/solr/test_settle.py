"""Sending until a collection has everything: how often, and what ends it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from neardup_solr.errors import SolrUnreachable
from neardup_solr.solr.settle import MOST_ROUNDS, ROUNDS, settle
from neardup_solr.testing import SIZES
from tests.refusals import refusal


class Collection:
    """A collection that needs each document sent so many times, with `outages` in these rounds."""

    url = "http://127.0.0.1/solr/x"

    def __init__(
        self, needs: dict[str, int], *, cloud: bool = False, patience: float = 300.0,
        outages: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        self.needs, self.rounds, self.away = needs, 0, outages
        self.happened: list[str] = []
        ready = lambda: self.happened.append("ready")  # noqa: E731
        state = SimpleNamespace(count=0, patience=patience, until_ready=ready)
        self.session = SimpleNamespace(outages=state, nodes=SimpleNamespace(is_cloud=cloud))

    def commit(self) -> None:
        """Note a commit."""
        self.happened.append("commit")

    def send(self, ids: list[str]) -> None:
        """Send these, once more."""
        self.rounds += 1
        self.session.outages.count += self.rounds in self.away
        self.happened.append(f"send {','.join(ids)}")
        for id in ids:
            self.needs[id] -= 1

    def missing(self) -> list[str]:
        """List what was not sent often enough."""
        return [id for id, times in self.needs.items() if times > 0]

    def settle(self, *rest: Any) -> list[str]:
        """Send until all is there."""
        collection: Any = self
        return settle(collection, self.send, self.missing, *rest)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait between the rounds of a cloud."""
    monkeypatch.setattr(SIZES, "settle_pause", 0.0)


def test_what_is_missing_alone_is_sent_again() -> None:
    """Each time a commit comes before the question."""
    solr = Collection({"a": 0, "b": 2})
    assert solr.settle() == []
    assert solr.happened == ["commit", "send b", "commit", "send b", "commit"]


def test_a_rest_is_sent_at_once() -> None:
    """Nothing is asked before."""
    solr = Collection({"a": 1})
    assert solr.settle(["a"]) == []
    assert solr.happened == ["send a", "commit"]


def test_rounds_that_bring_nothing_end() -> None:
    """Those before, which brought something, do not count."""
    solr = Collection({"a": 3, "b": 10**9})
    assert solr.settle() == ["b"]
    assert solr.rounds == 3 + ROUNDS


def test_a_round_in_which_solr_was_away_does_not_count() -> None:
    """It has to be ready before the commit; but there is an end to that as well."""
    solr = Collection({"a": 10**9}, outages=(1, ROUNDS))
    assert solr.settle() == ["a"]
    assert solr.rounds == 2 * ROUNDS
    assert solr.happened[1:4] == ["send a", "ready", "commit"]
    assert Collection({"a": 10**9}, outages=tuple(range(1_000))).settle() == ["a"]


@pytest.mark.parametrize("patience", [300.0, 0.0])
def test_a_cloud_gets_as_long_as_patience_lasts(patience: float) -> None:
    """Until it has noticed that a node is away; without patience that is what it comes to."""
    solr = Collection({"a": 10**9}, cloud=True, patience=patience)
    if patience:
        assert solr.settle() == ["a"]
        assert solr.rounds == MOST_ROUNDS
    else:
        with refusal(SolrUnreachable, "solr-unreachable", "node"):
            solr.settle()
        assert solr.rounds == ROUNDS


def test_a_cloud_whose_node_is_away_at_the_end_is_an_error() -> None:
    """The documents are not to blame."""
    solr = Collection({"a": 10**9}, cloud=True, outages=(MOST_ROUNDS,))
    with refusal(SolrUnreachable, "solr-unreachable", "node"):
        solr.settle()
