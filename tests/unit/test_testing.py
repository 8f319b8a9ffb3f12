"""The public fixture where there is no Solr."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.solr.test_testing import LINE, run


def test_an_address_where_no_solr_is(tmp_path: Path) -> None:
    """The tests fail, and the line names the variable."""
    with pytest.raises(AssertionError, match=r"check \$NEARDUP_TEST_SOLR_URL, or unset it") as told:
        run(tmp_path, LINE, NEARDUP_TEST_SOLR_URL="http://127.0.0.1:1/solr")
    assert "4 errors" in str(told.value)
