"""Machine code that runs by itself, and numba where that was not tried."""

import weakref
from pathlib import Path

import numpy as np
import pytest

from neardup_solr import Settings, kernel
from neardup_solr.clusters.components import components
from neardup_solr.kernel import Compiled, joins, store
from neardup_solr.minhash import sign

TEXTS = ["one two three four", "ünë twö thréé", "", "漢字 かな 交じり 文"] * 3


def test_this_numba_is_one_that_was_tried() -> None:
    """The bounds name the releases that the tests have run with: widen them once they pass."""
    release = store.release("numba")
    assert store.is_tried(), f"numba {release} lies outside of store.TRIED"


def test_a_numba_that_was_not_tried_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With another release numba calls what it compiles, and keeps it in a folder of ours."""
    settings = Settings()
    pairs = np.array([[0, 1], [2, 3], [1, 3]], dtype=np.uint32)
    expected = sign.sign(TEXTS, settings, keep_normal=True), components(5, pairs)
    monkeypatch.setattr(kernel, "is_tried", lambda: False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    store.open_store.cache_clear()
    waits: list[str] = []
    try:
        sign.compile_kernel(on_wait=lambda: waits.append("said"))
        sign.compile_kernel(on_wait=lambda: waits.append("said again"))
        found = sign.sign(TEXTS, settings, keep_normal=True), components(5, pairs)
    finally:
        store.open_store.cache_clear()
    assert waits == ["said"]
    assert list(tmp_path.glob("neardup-*/**/*.sign-*.nbi"))
    assert list(found[0].normal) == list(expected[0].normal)
    for name in ("words", "signatures", "keys"):
        has_words = expected[0].words > 0
        one, other = getattr(found[0], name), getattr(expected[0], name)
        assert np.array_equal(one[has_words], other[has_words])
    assert np.array_equal(found[1], expected[1])


def test_a_call_keeps_its_arrays() -> None:
    """Machine code goes on after an interrupt, when nobody else has its arrays any more."""
    numbers, places = np.arange(9, dtype=np.uint64), np.empty(9, dtype=np.int64)
    are_held = weakref.ref(numbers)
    function = joins.lookup_sorted
    assert isinstance(function, Compiled)
    call = function._bind((numbers, numbers, places))
    del numbers
    assert are_held() is not None
    call()
    assert places.tolist() == list(range(9))
