"""Spans struck from a text, at the borders of sentences and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neardup_solr.regex import regex

# A sentence with the blanks behind it, or a line without such an end.
_SENTENCE = regex(
    r"[^\n]*?(?:[.!?\u2026\u061f\u06d4\u0964](?=[\s\"'\u201d\u2019\u00bb)\]])|[\u3002\uff01\uff1f])"
    r"[\"'\u201d\u2019\u00bb\u300d\u300f)\]]*[^\S\n]*\n*|[^\n]+\n*|\n+"
)
WHOLE = 0.9  # of the letters of a sentence or a line, which then is struck whole
MOST = 0.5  # of the letters of a sentence, of which the beginning or the end is struck then
_OPEN = "\"'\u201c\u2018\u00ab\u201e\u201a(["
Span = tuple[int, int]


def choose_strikes(text: str, spans: Sequence[Span]) -> list[Span]:
    """Choose what to strike of spans that other texts have: whole sentences and lines.

    Of a sentence that is mostly in them, its beginning or its end is struck, if that is an item by
    itself: what is left does not go on in it, and it is no quotation. Returns rising spans.
    """
    marks = bytearray(len(text))
    for start, end in spans:
        marks[start:end] = b"\1" * (end - start)
    strikes: list[Span] = []
    is_struck = False  # the sentence before
    for match in _SENTENCE.finditer(text):
        start, end = match.span()
        letters = [at for at in range(start, end) if text[at].isalnum()]
        if not letters:
            if is_struck:
                strikes.append((start, end))
            continue
        covered = sum(marks[at] for at in letters)
        is_struck = covered >= WHOLE * len(letters)
        if is_struck:
            strikes.append((start, end))
        elif covered >= MOST * len(letters):
            strikes.extend(_find_items(text, start, end, marks, letters))
    return _join(strikes)


def _find_items(
    text: str, start: int, end: int, marks: bytearray, letters: Sequence[int]
) -> Iterator[Span]:
    """Find the beginning and the end of a sentence that are marked, and items by themselves."""
    bare = [at for at in letters if not marks[at]]
    first, last = bare[0], bare[-1]
    if marks[letters[0]] and _begins(text, first) and text[first - 1] not in _OPEN:
        yield start, first
    behind = next(at for at in letters if at > last) if marks[letters[-1]] else end
    if behind < end and _begins(text, behind) and text[behind - 1] not in _OPEN:
        yield behind, end - (len(text[start:end]) - len(text[start:end].rstrip()))


def _begins(text: str, at: int) -> bool:
    """Tell whether an item may begin with a letter: it is no small one, and begins a word."""
    return not text[at].islower() and not text[at - 1].isalnum()


def _join(spans: Sequence[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif start < end:
            joined.append((start, end))
    return joined


def strike(text: str, spans: Sequence[Span]) -> str:
    """Strike spans from a text. What was a line of its own before them stays one."""
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        at = end
    rest = "".join([*parts, text[at:]])
    return rest.rstrip() if spans and spans[-1][1] == len(text) else rest
