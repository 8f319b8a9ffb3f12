"""How often and how long a request is tried again, by a clock that only waiting moves on."""

from __future__ import annotations

import random
import time

import pytest

from neardup_solr.errors import CoreMissing, Passes, SolrAnswerError, SolrError, SolrUnreachable
from neardup_solr.progress import until
from neardup_solr.solr.connection_faults import Fault
from neardup_solr.solr.faults import answer_error
from neardup_solr.solr.retry import Retry, retrying

AWAY = SolrUnreachable("http://h/solr/x", "nothing is listening")


def passes(error: SolrError) -> bool:
    """What a session decides once a Solr has answered."""
    return error.passes <= Passes.ONCE_ANSWERED


class Clock:
    """A clock, what was waited for, and the bounds between which each wait was drawn."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self.bounds: list[tuple[float, float]] = []

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self.waits.append(seconds)
        self.now += seconds

    def longest(self, least: float, most: float) -> float:
        """The longest wait, as if chance always drew it."""
        self.bounds.append((least, most))
        return most


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that `retrying` looks at."""
    made = Clock()
    monkeypatch.setattr(time, "sleep", made.sleep)
    monkeypatch.setattr(time, "monotonic", lambda: made.now)
    monkeypatch.setattr(random, "uniform", made.longest)
    return made


def failing(error: SolrError, asked: list[int]) -> None:
    """A request that always fails."""
    asked.append(1)
    raise error


def test_the_bound_of_the_wait_doubles(clock: Clock) -> None:
    """Six attempts within a minute, unless asked otherwise; the last error is raised."""
    asked: list[int] = []
    with pytest.raises(SolrUnreachable):
        retrying(lambda: failing(AWAY, asked), retry=Retry(), passes=passes)
    assert len(asked) == 6
    assert clock.waits == [0.4, 0.8, 1.6, 3.2, 6.4]
    assert clock.bounds[:5] == [(0, wait) for wait in clock.waits]


def test_no_wait_is_longer_than_half_a_minute(clock: Clock) -> None:
    """However often it was tried before."""
    patient = Retry(attempts=11, seconds=10**6)
    with pytest.raises(SolrUnreachable):
        retrying(lambda: failing(AWAY, []), retry=patient, passes=passes)
    assert clock.waits[-4:] == [25.6, 30.0, 30.0, 30.0]


@pytest.mark.parametrize(("asks", "waits"), [(0.0, [0.4]), (5.0, [5.0])])
def test_a_server_that_asks_for_time_gets_it(clock: Clock, asks: float, waits: list[float]) -> None:
    """At least as long as Retry-After says."""
    busy = SolrAnswerError("http://h/solr/x", 503, "busy", "wait")
    busy.retry_after = asks
    with pytest.raises(SolrAnswerError):
        retrying(lambda: failing(busy, []), retry=Retry(attempts=2), passes=passes)
    assert clock.waits == waits


@pytest.mark.parametrize(("seconds", "waits"), [(1.25, [0.4, 0.8]), (1.15, [0.4]), (60.0, [])])
def test_nothing_is_waited_for_beyond_the_end(
    clock: Clock, seconds: float, waits: list[float]
) -> None:
    """A wait that would end too late is not begun; one that ends just in time is."""
    busy = SolrAnswerError("http://h/solr/x", 503, "busy", "wait")
    busy.retry_after = 61.0 if seconds == 60.0 else 0.0
    with pytest.raises(SolrAnswerError):
        retrying(lambda: failing(busy, []), retry=Retry(seconds=seconds), passes=passes)
    assert clock.waits == pytest.approx(waits)


def test_the_usual_time_is_a_minute(clock: Clock) -> None:
    """A server that asks for exactly that gets it."""
    busy = SolrAnswerError("http://h/solr/x", 503, "busy", "wait")
    busy.retry_after = 60.0
    with pytest.raises(SolrAnswerError):
        retrying(lambda: failing(busy, []), retry=Retry(), passes=passes)
    assert clock.waits == [60.0]


def test_what_does_not_pass_is_not_tried_again(clock: Clock) -> None:
    """Nor is what succeeds."""
    asked: list[int] = []
    missing = CoreMissing("http://h/solr", "x", False)
    with pytest.raises(CoreMissing):
        retrying(lambda: failing(missing, asked), retry=Retry(), passes=passes)
    assert len(asked) == 1
    assert retrying(lambda: 7, retry=Retry(), passes=passes) == 7
    assert clock.waits == []


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, Passes.ONCE_ANSWERED), (302, Passes.ONCE_ANSWERED), (400, Passes.ONCE_ANSWERED),
        (407, Passes.NEVER), (413, Passes.NEVER), (429, Passes.ALWAYS), (500, Passes.ONCE_ANSWERED),
        (502, Passes.ALWAYS), (503, Passes.ALWAYS), (504, Passes.ALWAYS),
    ],
)  # fmt: skip
def test_which_answers_pass(status: int, expected: Passes) -> None:
    """By the HTTP status; what Solr itself refuses, it would refuse again."""
    url = "http://h/solr/x"
    assert answer_error(url, status, Fault("no", "wait")).passes is expected
    of_solr = answer_error(url, status, Fault("Solr says: no", "wait")).passes
    assert of_solr is (Passes.NEVER if status == 400 else expected)


@pytest.mark.parametrize(("seconds", "asked", "expected"), [(0, 1, False), (1, 3, True)])
def test_a_condition_is_asked_with_pauses(
    clock: Clock, seconds: float, asked: int, expected: bool
) -> None:
    """At once, then after each pause, until it holds or the time is over."""
    answers = iter([False, False, True])
    left = [1, 2, 3]

    def is_so() -> bool:
        left.pop()
        return next(answers)

    assert until(is_so, seconds, 0.25) is expected
    assert len(left) == 3 - asked
    assert clock.waits == [0.25] * (asked - 1)
