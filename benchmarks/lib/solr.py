"""The embedded Solr for one run, and what its collections hold."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup_solr import embedded
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import choose_fields
from neardup_solr.testing import private_home

BANDS_ONLY = "content_bands,signature,content"
FIELDS = {
    "as by default (8 fields)": Settings(),
    BANDS_ONLY: Settings(fields=choose_fields(BANDS_ONLY)),
}


@contextmanager
def running_solr(heap: str | None = None) -> Iterator[str]:
    """The address of an embedded Solr in a temporary folder that borrows the user's own jars."""
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder, private_home(Path(folder)):
        yield embedded.start(heap=heap).url
