"""Tests on a real Solr, and what the one in front of them cannot do."""

from __future__ import annotations

import pytest

from neardup_solr.embedded.layout import find_layout
from neardup_solr.solr.admin import version_numbers
from neardup_solr.verbs.solr_versions import TESTED

VERSION = version_numbers(find_layout().version)
takes_json_updates = pytest.mark.skipif(
    (9, 0) <= VERSION < (9, 7),
    reason='takes {"set": 1} in JSON for a child, as our schema has a field "*" (docs/versions.md)',
)
TOLD = "lint and doctor have a finding about an older version"
IS_OLDER = VERSION < TESTED
has_no_finding = pytest.mark.skipif(IS_OLDER, reason=TOLD)
quotes_uuids = pytest.mark.skipif(
    VERSION[:2] == (9, 4), reason="writes UUIDs and binary values without quotes in JSON"
)
