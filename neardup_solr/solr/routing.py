"""Which shard of a SolrCloud a document belongs to, by its id.

The rule is that of Solr's CompositeIdRouter, the router of all collections that ask for no other:
the murmur3 hash of the id decides. In an id such as `tenant!42` or `land!town!42` the first parts
give its upper bits, so that documents with equal ones are neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import mmh3

BETWEEN, BITS = "!", "/"
_ALL: Final = 0xFFFFFFFF
# How many bits the parts before the last one give, in ids of two and of three parts.
_OF_TWO, _OF_THREE = (16,), (8, 8)


@dataclass(frozen=True, slots=True)
class Range:
    """Hashes from `low` to `high`, both included, as signed numbers of 32 bits."""

    low: int
    high: int

    def __contains__(self, hashed: int) -> bool:
        return self.low <= hashed <= self.high

    @classmethod
    def of(cls, written: object) -> Range | None:
        """A range as Solr writes it, such as "80000000-ffffffff"; None if it is none."""
        if not isinstance(written, str):
            return None
        low, _, high = written.partition("-")
        try:
            return cls(_signed(int(low, 16)), _signed(int(high, 16)))
        except ValueError:
            return None


def hash_of(id: str) -> int | None:
    """The hash by which Solr finds the shard of an id; None for ids whose rule we do not follow.

    Those say themselves how many bits a part gives (`tenant/4!42`).
    """
    if BETWEEN not in id:
        return mmh3.hash(id)
    parts = _parts(id)
    if any(BITS in part for part in parts[:-1]):
        return None
    if len(parts) == 1:  # nothing after the separator: all ids of that part
        return None
    left, mask = 0, _ALL
    for part, bits in zip(parts[:-1], _OF_TWO if len(parts) == 2 else _OF_THREE, strict=True):
        own = mask & ~(mask >> bits)
        left |= mmh3.hash(part, signed=False) & own
        mask >>= bits
    return _signed(left | (mmh3.hash(parts[-1], signed=False) & mask))


def _parts(id: str) -> list[str]:
    """The parts of an id, at most three; a separator at its end makes no part."""
    parts = id.split(BETWEEN, 2)
    return parts[:-1] if not parts[-1] else parts


def _signed(number: int) -> int:
    return number - 2**32 if number >= 2**31 else number
