"""Floats of 32 bits that go through JSON: either they come back, or the document is not written."""

from __future__ import annotations

import numpy as np
import pytest

from neardup_solr.verbs.annotate.whole import _is_torn


def test_a_float_that_is_not_torn_comes_back() -> None:
    """By its shortest decimal, as Java spells it, read as a double and rounded: drawn from all."""
    bits = np.random.default_rng(1).integers(0, 2**32, 300_000, dtype=np.uint32)
    floats = bits.view(np.float32)
    floats = floats[np.isfinite(floats)]
    decimals = [float(str(one)) for one in floats]
    torn = np.fromiter(map(_is_torn, decimals), bool, len(decimals))
    back = np.array(decimals).astype(np.float32)
    assert np.array_equal(back[~torn].view(np.uint32), floats[~torn].view(np.uint32))
    assert torn.mean() < 0.01  # the subnormal ones


@pytest.mark.parametrize(
    ("value", "torn"),
    [
        (1 + 2**-24, True),  # halfway between 1 and its neighbour
        (-(1 + 2**-24), True),
        ([0.5, 1e-45], True),
        (16777217.0, False),  # halfway as well, and exact
        (0.0, False), (-0.0, False), (0.1, False), (1e30, False), ("NaN", False), (7, False),
    ],
)  # fmt: skip
def test_which_are_torn(value: object, torn: bool) -> None:
    """Those halfway that are not exact, and the smallest."""
    assert _is_torn(value) == torn
