"""Differences of two texts word by word: compared in normal form, shown as they were written."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from rapidfuzz.distance import Levenshtein

from neardup_solr.text.characters import is_mark, unspaced
from neardup_solr.text.normalize import pieces_of, words_of

_REMEMBERED = 1 << 16  # texts repeat their words
LONG = 150  # words; of longer texts, passages say more than all changes
MOST_COMPARED = 20_000  # words of texts that are compared as wholes, in a third of a second
_PART, _ANCHOR = 4_000, 8  # words that are compared at once, and of a run between two parts
_LONG = 64  # characters; longer tokens are hardly repeated

_Piece = tuple[str, str, str]  # as shown, its normal form, the gap before it
_JOINED, _SPACE, _BREAK = "", " ", "\n"


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text twice: as they are `shown`, and their normal `forms`, as many.

    What is not a word, such as "&", is shown after the word before it and a space. `joined` are
    the places of words without a space before them, such as "or" in "and/or"; `begun` those of
    the first words of lines.
    """

    shown: tuple[str, ...]
    forms: tuple[str, ...]
    joined: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()

    def text(self, part: slice) -> str:
        """Join some of the words as they are shown, a space between those that are not joined."""
        places = range(*part.indices(len(self.shown)))
        parted = ("" if place in self.joined else " " for place in places)
        return "".join(
            gap + word for gap, word in zip(parted, self.shown[part], strict=True)
        ).lstrip(" ")


@dataclass(frozen=True, slots=True)
class Change:
    """A run of words of a text beside a run of the other.

    `kind` is "equal", "replace", "delete" or "insert", or "same" if only the places or the spelling
    differ; `first` and `second` are slices of the words of either text, empty in the second of a
    deletion and in the first of an insertion.
    """

    kind: str
    first: slice
    second: slice


def split(text: str) -> Words:
    """Split a text into words for display and for comparison. `forms` are those of its normal form.

    Of scripts without blanks they are characters with their marks, while the normal form has pairs.
    The pieces of the text itself are shown; if they do not line up with the words of the normal
    form (a mark that composes across a space), those words are shown instead.
    """
    pieces = list(_with_wordless(_all_pieces(text)))
    forms = tuple(pieces_of(text) or words_of(text))
    if tuple(form for _, form, _ in pieces) != forms:
        return Words(forms, forms)
    shown, _, gaps = zip(*pieces, strict=True) if pieces else ((), (), ())
    joined, begun = (
        frozenset(place for place, gap in enumerate(gaps) if gap == wanted)
        for wanted in (_JOINED, _BREAK)
    )
    return Words(shown, forms, joined, begun)


def changes(first: Sequence[str], second: Sequence[str]) -> list[Change]:
    """Compute the changes from a sequence of words to another, by the fewest words, in order.

    Give the forms of `split`. The runs cover both sequences; those that are not "equal" add up to
    the Levenshtein distance of these forms (the longer side of each counts).
    """
    return [
        Change(run.tag, slice(run.src_start, run.src_end), slice(run.dest_start, run.dest_end))
        for run in Levenshtein.opcodes(first, second)
    ]


def changes_in_parts(first: Sequence[str], second: Sequence[str]) -> list[Change]:
    """Compute changes of sequences of any length that are mostly equal, in time that grows with it.

    Each part ends in the middle of its last long run of equal words, and the next begins there.
    """
    at = other = 0
    computed: list[Change] = []
    while at < len(first) or other < len(second):
        runs = changes(first[at : at + _PART], second[other : other + _PART])
        if at + _PART < len(first) or other + _PART < len(second):
            long = [
                place for place, run in enumerate(runs)
                if run.kind == "equal" and run.first.stop - run.first.start >= _ANCHOR
            ]  # fmt: skip
            if long:
                *runs, last = runs[: long[-1] + 1]
                half = (last.first.stop - last.first.start) // 2
                ends = last.first.start + half, last.second.start + half
                runs.append(Change("equal", *(slice(end - half, end) for end in ends)))
        for run in runs:
            one, two = (slice(part.start + start, part.stop + start)
                        for part, start in ((run.first, at), (run.second, other)))  # fmt: skip
            if computed and computed[-1].kind == run.kind == "equal":
                before = computed.pop()
                one, two = slice(before.first.start, one.stop), slice(before.second.start, two.stop)
            computed.append(Change(run.kind, one, two))
        at, other = at + runs[-1].first.stop, other + runs[-1].second.stop
    return computed


def mark_same(runs: Iterable[Change], places: Sequence[Container[int]]) -> Iterator[Change]:
    """Part the runs that differ by side, and call those at some `places` of a side the same."""
    for change in runs:
        if change.kind in ("equal", "same"):
            yield change
            continue
        for side, run in enumerate((change.first, change.second)):
            for is_same, part in groupby(range(run.start, run.stop), places[side].__contains__):
                first, *more = part
                words = slice(first, first + 1 + len(more))
                kind = "same" if is_same else ("delete", "insert")[side]
                yield Change(kind, *((slice(0, 0), words) if side else (words, slice(0, 0))))


def _all_pieces(text: str) -> Iterator[_Piece]:
    for line in text.splitlines():
        gap = _BREAK
        for token in line.split():
            for shown, form in _pieces(token):
                yield shown, form, gap
                gap = _JOINED
            gap = _SPACE


def _with_wordless(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Yield pieces that all have a word: others are shown with the piece before or after."""
    shown, form, before = list[str](), "", _BREAK
    for piece, word, gap in pieces:
        if form and word:
            yield " ".join(shown), form, before
            shown, form, before = [piece], word, gap
        else:
            shown.append(piece)
            form = form or word
    if form:
        yield " ".join(shown), form, before


def _pieces(token: str) -> tuple[tuple[str, str], ...]:
    """Cut a token without spaces into pieces of a word ("and/or": "and/", "or"), or of none."""
    return _read(token) if len(token) > _LONG else _remembered(token)


def _read(token: str) -> tuple[tuple[str, str], ...]:
    words = pieces_of(token)
    if len(words) < 2:
        return ((token, "".join(words)),)
    pieces = tuple((piece, _form(piece)) for piece in _cut(token))
    if [word for _, word in pieces] == words:
        return pieces
    return tuple((word, word) for word in words)


_remembered = lru_cache(maxsize=_REMEMBERED)(_read)


@lru_cache(maxsize=_REMEMBERED)
def _form(piece: str) -> str:
    return " ".join(pieces_of(piece))


def _cut(token: str) -> Iterator[str]:
    """Cut a token where its words begin: at a letter after a separator that follows a letter.

    A character of a script without blanks is a word with the marks behind it.
    """
    start, has_word, is_over = 0, False, False
    for at, character in enumerate(token):
        if form := _form(character):
            is_unspaced = unspaced().match(form) is not None
            if has_word and (not is_mark(character) if is_unspaced else is_over):
                yield token[start:at]
                start = at
            has_word, is_over = True, is_unspaced
        else:
            is_over = is_over or len(pieces_of(f"a{character}a")) > 1
    yield token[start:]
