"""Word by word, where two texts differ: compared in normal form, shown as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from neardup_solr.pure.normalize import normalize

_REMEMBERED = 1 << 16  # texts repeat their words
_LONG = 64  # characters; longer tokens hardly come back


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text twice: as they are `shown`, and their normal `forms`; equally many.

    What has no word of its own, as "&", is shown with the word before it, after a space.
    """

    shown: tuple[str, ...]
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A run of words of one text beside a run of the other.

    `kind` is "equal", "replace", "delete" or "insert"; `first` and `second` are slices of the
    words of either text, empty in the second of a deletion and in the first of an insertion.
    """

    kind: str
    first: slice
    second: slice


def split(text: str) -> Words:
    """The words of a text for display and for comparison; `forms` are those of its normal form.

    Shown are the pieces of the text itself; where they do not line up with the words of the
    normal form (a mark that composes across a space), those words are shown instead.
    """
    pieces = list(_with_wordless(piece for token in text.split() for piece in _pieces(token)))
    forms = tuple(normalize(text).split())
    if tuple(form for _, form in pieces) != forms:
        return Words(forms, forms)
    return Words(tuple(shown for shown, _ in pieces), forms)


def changes(first: Sequence[str], second: Sequence[str]) -> list[Change]:
    """What turns one sequence of words into another by the fewest words changed, in order.

    Give the forms of `split`. The runs cover both sequences; those that are not "equal" add up to
    the word-level Levenshtein distance (the longer side of each counts).
    """
    return [
        Change(
            run.tag,
            slice(run.src_start, run.src_end),
            slice(run.dest_start, run.dest_end),
        )
        for run in Levenshtein.opcodes(first, second)
    ]


def _with_wordless(pieces: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Pieces that all have a word: one without is shown with the one before it, or the next."""
    shown = form = ""
    for piece, word in pieces:
        if form and word:
            yield shown, form
            shown, form = piece, word
        else:
            shown, form = f"{shown} {piece}".strip(), form or word
    if form:
        yield shown, form


def _pieces(token: str) -> tuple[tuple[str, str], ...]:
    """A token without spaces as pieces of one word each ("and/or": "and/", "or"), or of none."""
    return _read(token) if len(token) > _LONG else _remembered(token)


def _read(token: str) -> tuple[tuple[str, str], ...]:
    words = normalize(token).split()
    if len(words) < 2:
        return ((token, "".join(words)),)
    pieces = tuple((piece, normalize(piece)) for piece in _cut(token))
    if [word for _, word in pieces] == words:
        return pieces
    return tuple((word, word) for word in words)


_remembered = lru_cache(maxsize=_REMEMBERED)(_read)


def _cut(token: str) -> Iterator[str]:
    """A token cut where its words begin: at a letter after a separator that follows a letter."""
    start, has_word, is_over = 0, False, False
    for at, character in enumerate(token):
        if normalize(character):
            if has_word and is_over:
                yield token[start:at]
                start = at
            has_word, is_over = True, False
        else:
            is_over = is_over or " " in normalize(f"a{character}a")
    yield token[start:]
