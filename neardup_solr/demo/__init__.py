"""The demo corpus: listings of two invented guides, and which of them are the same place.

Places, people, streets and telephone numbers are made up. `listings.tsv` has the columns id, text,
city and kind; `pairs.tsv` has the pairs of ids (id, other_id) that are the same place: copied,
abbreviated, misspelt, reordered, re-worded, with another telephone number or other accents.
Branches of a chain and neighbours in a street look alike, but are different places.
"""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from importlib import resources
from pathlib import Path

_EXTRACTED = ExitStack()
atexit.register(_EXTRACTED.close)
CORE = "neardup_demo"  # the collection of `neardup demo`


def listings() -> Path:
    """The file of the listings, a TSV with the columns id, text, city and kind."""
    return _file("listings.tsv")


def pairs() -> Path:
    """The file of the labelled pairs, a TSV with the columns id and other_id."""
    return _file("pairs.tsv")


def _file(name: str) -> Path:
    # Of a package in an archive, a copy until the process ends.
    return _EXTRACTED.enter_context(resources.as_file(resources.files(__name__) / name))
