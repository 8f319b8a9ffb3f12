"""Band keys and the S-curve."""

import numpy as np
import pytest

from neardup_solr import Settings
from neardup_solr.minhash import plans
from neardup_solr.minhash.signature import make_band_keys


def slow_key(rows: list[int]) -> int:
    """One band's hash by its formula."""
    value = 0
    for row in rows:
        value ^= row
        value = ((value ^ (value >> 33)) * 0xFF51AFD7ED558CCD) % 2**64
        value = ((value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53) % 2**64
        value ^= value >> 33
    return value


def test_keys_follow_the_formula() -> None:
    """Each key is the band's number and 48 bits of its rows' hash."""
    signature = np.random.default_rng(1).integers(0, 2**32, 128, dtype=np.uint32)
    expected = [
        f"{band:02x}{slow_key(signature[3 * band : 3 * band + 3].tolist()) >> 16:012x}"
        for band in range(42)
    ]
    assert list(make_band_keys(signature, Settings())) == expected


def test_more_than_256_bands_stay_distinct() -> None:
    """Keys of different bands never meet, whatever their number."""
    settings = Settings(hashes=600, bands=600, rows=1)
    assert len(set(make_band_keys(np.zeros(600, dtype=np.uint32), settings))) == 600


def test_empty_signature_has_no_keys() -> None:
    """A document without shingles is in no band."""
    assert make_band_keys(np.empty(0, dtype=np.uint32), Settings()) == ()


@pytest.mark.parametrize(("similarity", "chance"), [(0.5, 0.996), (0.05, 0.005), (0, 0), (1, 1)])
def test_worked_example_of_the_curve(similarity: float, chance: float) -> None:
    """42 bands of 3 rows: 0.5 is found with 99.6 %, 0.05 with 0.5 %."""
    assert plans.curve(similarity, 42, 3) == pytest.approx(chance, abs=5e-4)
