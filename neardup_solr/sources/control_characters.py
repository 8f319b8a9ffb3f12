"""Control characters, of which texts have few: more of them tell what is no text."""

from __future__ import annotations

import codecs
import unicodedata
from typing import Final

from neardup_solr.sources.magic import BEGINNING

# What texts have of control characters: tabs, line ends, escapes of terminals, the end of a file of
# DOS, and separators of fields.
_USUAL: Final = b"\x01\x02\x03\b\t\n\v\f\r\x1a\x1b\x1c\x1d\x1e\x1f"
_CONTROLS: Final = bytes(code for code in range(32) if code not in _USUAL) + b"\x7f"
FEW_CONTROLS: Final = 0.03  # of what is random, 7 % are
MANY_NULS: Final = 0.25
_FEWEST: Final = 8  # that tell


def is_binary(head: bytes) -> bool:
    """Tell whether what should be a text has too many control characters for one.

    What is UTF-8 without NUL bytes is a text, however odd, and so is a table with a few of them
    below its header. NUL bytes at the end may be room that a crash has left.
    """
    head = head[:BEGINNING].rstrip(b"\0")
    if share_of_controls(head) <= FEW_CONTROLS:
        return False
    first_line = head.partition(b"\n")[0]
    return (
        b"\0" in first_line
        or head.count(b"\0") > MANY_NULS * len(head)  # as in UTF-16 below a header
        or not _is_utf8(head)
    )


def _is_utf8(head: bytes) -> bool:
    """Tell whether bytes are UTF-8, the last character of which may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def share_of_controls(head: bytes) -> float:
    head = head[:BEGINNING]
    count = len(head) - len(head.translate(None, _CONTROLS))
    return count / len(head) if count >= _FEWEST else 0.0


def is_written(text: str) -> bool:
    """Tell whether nearly all characters of a decoded text are what people write."""
    odd = sum(unicodedata.category(sign) in ("Cc", "Cn", "Co", "Cs") for sign in text)
    return odd - sum(map(text.count, "\t\n\r")) <= len(text) / 100
