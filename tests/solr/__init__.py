"""Tests on a real Solr, and what the one in front of them cannot do."""

from __future__ import annotations

import pytest

from neardup_solr.embedded.layout import default_version
from neardup_solr.solr.admin import version_numbers

VERSION = version_numbers(default_version())
takes_json_updates = pytest.mark.skipif(
    (9, 0) <= VERSION < (9, 7),
    reason='takes {"set": 1} in JSON for a child, as our schema has a field "*" (docs/versions.md)',
)
