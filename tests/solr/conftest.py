"""A real SolrCloud for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.solr.cloud import nodes, with_jars


@pytest.fixture(scope="module")
def cloud(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a SolrCloud of one node, with no collections yet."""
    with nodes(with_jars(home, tmp_path_factory.mktemp("cloud"))) as server:
        yield server.url
