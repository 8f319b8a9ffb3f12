"""Band keys of documents that arrive one batch after the other."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr import Document, Settings
from neardup_solr.minhash.sign import hash_bands
from neardup_solr.minhash.signature import make_band_keys
from neardup_solr.verbs.batch import SignedBatch
from neardup_solr.verbs.gate import band_index, matcher
from neardup_solr.verbs.gate.band_index import BandIndex

BANDS = 3
rows = st.lists(st.integers(0, 4), min_size=BANDS, max_size=BANDS)
batches = st.lists(st.lists(rows, min_size=1, max_size=6), max_size=12)


def keys(batch: list[list[int]]) -> band_index.Keys:
    """The keys of documents whose bands hash to these small numbers."""
    hashed = np.array(batch, dtype=np.uint64).reshape(-1, BANDS) << np.uint64(16)
    return band_index.term_keys(hashed)


def shared(one: list[int], other: list[int]) -> int:
    """In how many bands two documents agree."""
    return sum(a == b for a, b in zip(one, other, strict=True))


@given(batches, st.lists(rows, min_size=1, max_size=4))
def test_who_shares_a_band_is_found(arrived: list[list[list[int]]], asked: list[list[int]]) -> None:
    """However the documents came, each that shares a band is found once, with how many."""
    kept, known = BandIndex(), [row for batch in arrived for row in batch]
    first = 0
    for batch in arrived:
        kept.add(keys(batch), np.arange(first, first + len(batch)))
        first += len(batch)
    found = list(zip(*(column.tolist() for column in kept.sharing(keys(asked))), strict=True))
    expected = {
        (row, number, shared(own, other))
        for row, own in enumerate(asked)
        for number, other in enumerate(known)
        if shared(own, other)
    }
    assert Counter(found) == Counter(expected)


@given(st.lists(rows, min_size=1, max_size=8))
def test_pairs_within_a_batch(batch: list[list[int]]) -> None:
    """Each pair of a batch that shares a band is found once, the earlier row first."""
    signed = SignedBatch(
        documents=[Document(id=str(row), text="") for row in range(len(batch))],
        words=np.ones(len(batch), np.int64),
        keys=np.array(batch, dtype=np.uint64) << np.uint64(16),
        forms=[""] * len(batch),
    )
    near = matcher._in_batch(signed, np.arange(len(batch)))
    found = [(candidate.row, later, candidate.shared) for later, candidate in near]
    pairs = [(a, b) for b in range(len(batch)) for a in range(b)]
    expected = [(a, b, shared(batch[a], batch[b])) for a, b in pairs if shared(batch[a], batch[b])]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("count", [42, 300])
def test_keys_are_those_that_are_indexed(count: int) -> None:
    """Keys are the numbers that `make_band_keys` spells, also beyond 256 bands."""
    settings = Settings(hashes=count, bands=count, rows=1)
    signature = np.random.default_rng(1).integers(2**32, size=count, dtype=np.uint32)
    hashed = hash_bands(signature[None, :], count, 1)
    expected = list(make_band_keys(signature, settings))
    assert band_index.term_keys(hashed)[0].tolist() == [int(term, 16) for term in expected]


def test_runs_stay_few() -> None:
    """A thousand batches lie in about as many runs as their number has bits."""
    kept = BandIndex()
    for number in range(1_000):
        kept.add(keys([[number, number, number]]), np.array([number]))
    assert len(kept._runs) <= 11
    assert kept.sharing(keys([[7, 7, 0]]))[1].tolist() == [0, 7]
