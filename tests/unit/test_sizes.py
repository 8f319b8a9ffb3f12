"""Sizes as people write them."""

from __future__ import annotations

import pytest

from neardup_solr.errors import SettingsError
from neardup_solr.sizes import as_seconds, in_bytes


@pytest.mark.parametrize(
    ("size", "expected"),
    [("0", 0), ("1000", 1000), ("1000b", 1000), ("2k", 2048), (" 1.5M ", 3 << 19),
     ("4G", 4 << 30), ("4gb", 4 << 30), ("1e3", 1000)],
)  # fmt: skip
def test_in_bytes(size: str, expected: int) -> None:
    """Units are powers of 1024, in any case, with or without a b."""
    assert in_bytes(size) == expected


@pytest.mark.parametrize("size", ["", "b", "g", "3x", "1 2", "inf", "nan", "2gg", "2tb"])
def test_what_is_no_size(size: str) -> None:
    """The line quotes it and shows a good one."""
    with pytest.raises(SettingsError, match="is not a size; give one such as 512M or 4G") as error:
        in_bytes(size)
    assert str(error.value).startswith(size)


@pytest.mark.parametrize(("given", "seconds"), [("5m", 300), ("90s", 90), ("0", 0), (2.5, 2.5)])
def test_times_are_texts_or_numbers(given: float | str, seconds: float) -> None:
    """`patience` is the same in the command and in Python."""
    assert as_seconds(given, "patience") == seconds
