"""Characters of a text that nobody sees, shown in HTML."""

from __future__ import annotations

import re
from html import escape

from neardup_solr.regex import regex

# Characters that nobody sees, or that change how others are read: the same as in words.js.
_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROLS = "\x00-\x1f\x7f-\x9f"
_OTHERS = (
    "\xad\u034f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d"
    "\u2028\u2029\u2060-\u2065\u206a-\u206f\u2800\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\U000f0000-\U0010ffff"
)
_ANY = regex(f"[{_DIRECTIONS}{_CONTROLS}{_OTHERS}]")
_DIRECTION, _CONTROL = regex(f"[{_DIRECTIONS}]"), regex(f"[{_CONTROLS}]")
# Joiners and variants belong to the spelling of several scripts and of emoji.
_SPELLING = frozenset("\u200c\u200d\ufe0e\ufe0f")


def show_invisibles(text: str, *, is_id: bool = False) -> str:
    """Make HTML of a text in which nothing acts and nothing is hidden.

    It stands apart from the reading direction around it. In an id joiners are marked, too.
    """

    def mark(match: re.Match[str]) -> str:
        character = match[0]
        if character in _SPELLING and not is_id:
            return character
        if character in "\t\n\r" and not is_id:
            return " "
        return f'<code title="{_meaning(character)}">U+{ord(character):04X}</code>'

    return f"<bdi>{_ANY.sub(mark, escape(text))}</bdi>"


def _meaning(character: str) -> str:
    if _DIRECTION.match(character):
        return "changes the reading direction"
    return "a control character" if _CONTROL.match(character) else "an invisible character"
