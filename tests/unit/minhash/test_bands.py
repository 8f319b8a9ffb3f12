"""Band keys."""

from neardup_solr import Settings, signature
from tests.entries import entry_of


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
    for text in ("a", "the quick brown fox jumps over the lazy dog", "天地玄黄宇宙洪荒"):
        entry = entry_of(text)
        values = signature.decode(entry.signature).tolist()
        expected = [
            f"{band:02x}{slow_key(values[3 * band : 3 * band + 3]) >> 16:012x}"
            for band in range(42)
        ]
        assert list(entry.bands) == expected


def test_more_than_256_bands_stay_distinct() -> None:
    """Keys of different bands never meet, whatever their number."""
    settings = Settings(hashes=600, bands=600, rows=1)
    bands = entry_of("a b c", settings).bands
    assert len({key[:-12] for key in bands}) == len(bands) == 600


def test_empty_signature_has_no_keys() -> None:
    """A document without shingles is in no band."""
    assert entry_of(" \u200b ").bands == ()
