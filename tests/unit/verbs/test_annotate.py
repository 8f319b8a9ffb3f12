"""The pace of annotate."""

from __future__ import annotations

from neardup_solr.solr.update import Order
from neardup_solr.verbs.annotate.rate_limit import RateLimit


def test_no_more_is_sent_at_once_than_in_a_second() -> None:
    """A low rate is a steady one; without a rate, batches are whole."""
    made = [Order(str(n), 1, {}) for n in range(50)]
    for pace, sizes in (
        (RateLimit(rate=20), [20, 20, 10]),
        (RateLimit(rate=0.5, batch=40), [1] * 50),
        (RateLimit(batch=40), [40, 10]),
        (RateLimit(rate=float("inf"), batch=50), [50]),
    ):
        assert [len(each) for each in pace.portions(made)] == sizes
