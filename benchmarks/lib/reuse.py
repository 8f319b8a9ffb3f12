"""Texts with known reuse: edited versions, excerpts, quotations and scans of texts of a family.

A text is cut into pieces, words or, in scripts without blanks, characters, each with the gap after
it, so that places are known by characters. The originals of each planted pair are others.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

QUOTED = 60  # pieces of a quotation
EXCERPT = (0.2, 0.6)  # of the pieces of its source
LEAST, LEAST_LONG = 80, 250  # pieces of a source; of one that is excerpted or quoted
CHANGED = (0.05, 0.15)  # of the words of an edited version
CLUMP = 4  # words that are changed at once, in every other edited version
RATES = (5, 10)  # wrong characters of a hundred
COLUMNS, LINES = (45, 75), 40  # of a line and of a page
Span = tuple[int, int]
Piece = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """Text of `source_id` in `id`, with its places in both."""

    kind: str
    id: str
    source_id: str
    span: Span
    source_span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Texts by id, without reuse but for what `commons` says.

    `commons` has for each id the menus, formulas and so on in its text; it is None if texts may
    share what nobody knows. `is_spaced` is false of scripts without blanks, `is_lined` true of
    texts whose sentences are lines.
    """

    name: str
    texts: dict[str, str]
    commons: dict[str, frozenset[str]] | None = None
    is_spaced: bool = True
    is_lined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A family with planted reuse."""

    family: Family
    texts: dict[str, str]
    planted: list[Reuse]
    commons: dict[str, frozenset[str]] | None


def plant(family: Family, each: int, seed: int = 1) -> Collection:
    """Plant so many edited versions, excerpts, excerpts with errors, quotations, and scans.

    Of scans there are a third as many of each model of noise and each rate.
    """
    rng = random.Random(seed)
    counts = {"edited": each, "excerpt": each, "excerpt, 3 % errors": each,
              "quotation": each - each // 2, "quotation, unmarked": each // 2}  # fmt: skip
    counts |= {f"scan, {rate} % {model}": each // 3 for rate in RATES for model in NOISE}
    pieces = {id: split(text, family) for id, text in family.texts.items()}
    words = [word for id in rng.sample(list(pieces), min(200, len(pieces)))
             for word, _ in pieces[id]]  # fmt: skip
    ids = [id for id in pieces if len(pieces[id]) >= LEAST]
    rng.shuffle(ids)
    ids.sort(key=lambda id: len(pieces[id]) >= LEAST_LONG)  # those that are long are taken first
    free, texts, planted = ids, dict(family.texts), list[Reuse]()
    commons = None if family.commons is None else dict(family.commons)
    for kind in sorted(counts, key=lambda kind: kind.startswith(("edited", "scan"))):
        for number in range(counts[kind]):
            source_id, id = free.pop(), f"p{len(planted)}"
            source, shared = pieces[source_id], [source_id]
            if kind.startswith("quotation"):
                id = next(other for other in free if len(pieces[other]) >= LEAST_LONG)
                free.remove(id)
                marks = ("", " ") if "unmarked" in kind else ("“", "” ")
                text, span, source_span = _quote(source, pieces[id], marks, rng, family)
                shared.append(id)
            elif kind.startswith("excerpt"):
                share = 0.03 if "errors" in kind else 0.0
                text, source_span = _excerpt(source, share, words, rng)
                span = (0, len(text))
            else:
                if kind == "edited":
                    text = _edit(source, words, number % 2 == 1, rng, family)
                else:
                    _, rate, _, model = kind.split(" ")
                    text = _scan(family.texts[source_id], int(rate) / 100, model, rng, family)
                span, source_span = (0, len(text)), (0, len(family.texts[source_id]))
            texts[id] = text
            planted.append(
                Reuse(kind=kind, id=id, source_id=source_id, span=span, source_span=source_span)
            )
            if commons is not None:
                commons[id] = frozenset().union(*(commons[other] for other in shared))
    order = list(texts)
    rng.shuffle(order)
    return Collection(
        family=family, texts={id: texts[id] for id in order}, planted=planted, commons=commons
    )


def split(text: str, family: Family) -> list[Piece]:
    """Split a text into words or characters, each with the gap after it."""
    return re.findall(r"(\S+)(\s*)" if family.is_spaced else r"(\S)(\s*)", text)


def join(pieces: Sequence[Piece]) -> str:
    """Join pieces to a text."""
    return "".join(word + gap for word, gap in pieces).rstrip()


def _sentences(pieces: Sequence[Piece], family: Family) -> list[list[Piece]]:
    sentences, current = [], list[Piece]()
    for word, gap in pieces:
        current.append((word, gap or (" " if family.is_spaced else "")))
        if "\n" in gap if family.is_lined else word[-1] in ".!?。" or "\n\n" in gap:
            sentences.append(current)
            current = []
    return [*sentences, current] if current else sentences


def _change(
    pieces: Sequence[Piece], share: float, words: Sequence[str], rng: random.Random, clump: int = 1
) -> list[Piece]:
    """Replace that share of the words, so many at once."""
    changed, left = list[Piece](), 0
    for word, gap in pieces:
        if left == 0 and rng.random() < share / clump:
            left = clump
        changed.append((rng.choice(words) if left else word, gap))
        left -= left > 0
    return changed


def _edit(
    source: Sequence[Piece], words: Sequence[str], is_clumped: bool, rng: random.Random,
    family: Family,
) -> str:  # fmt: skip
    """Change 5 to 15 % of the words, drop a sentence of 17, move one to three."""
    sentences = _sentences(source, family)
    kept = [sentence for sentence in sentences if rng.random() > 0.06] or sentences
    for _ in range(rng.randint(1, 3)):
        kept.insert(rng.randrange(len(kept)), kept.pop(rng.randrange(len(kept))))
    pieces = [piece for sentence in kept for piece in sentence]
    return join(_change(pieces, rng.uniform(*CHANGED), words, rng, CLUMP if is_clumped else 1))


def _excerpt(
    source: Sequence[Piece], share: float, words: Sequence[str], rng: random.Random
) -> tuple[str, Span]:
    size = round(len(source) * rng.uniform(*EXCERPT))
    first = rng.randrange(len(source) - size + 1)
    return join(_change(source[first : first + size], share, words, rng)), _place(
        source, first, size
    )


def _quote(
    source: Sequence[Piece], host: Sequence[Piece], marks: tuple[str, str], rng: random.Random,
    family: Family,
) -> tuple[str, Span, Span]:  # fmt: skip
    """Put 60 pieces of the source, between marks, between two sentences of the host."""
    first = rng.randrange(len(source) - QUOTED + 1)
    sentences = _sentences(host, family)
    place = rng.randrange(len(sentences) + 1)
    head = "".join(word + gap for sentence in sentences[:place] for word, gap in sentence)
    tail = "".join(word + gap for sentence in sentences[place:] for word, gap in sentence)
    quotation = join(source[first : first + QUOTED])
    text = (head + marks[0] + quotation + marks[1] + tail).rstrip()
    start = len(head) + len(marks[0])
    return text, (start, start + len(quotation)), _place(source, first, QUOTED)


def _place(pieces: Sequence[Piece], first: int, size: int) -> Span:
    start = sum(len(word) + len(gap) for word, gap in pieces[:first])
    return start, start + len("".join(word + gap for word, gap in pieces[first : first + size])
                              .rstrip())  # fmt: skip


CONFUSABLE: Mapping[str, str] = {
    "a": "o", "b": "h", "c": "e", "d": "cl", "e": "c", "f": "t", "g": "q", "h": "b", "i": "l",
    "j": "i", "k": "lc", "l": "1", "m": "rn", "n": "u", "o": "0", "p": "n", "q": "g", "r": "v",
    "s": "5", "t": "f", "u": "ii", "v": "y", "w": "vv", "x": "z", "y": "v", "z": "s", "B": "8",
    "C": "G", "D": "O", "E": "F", "I": "l", "O": "Q", "S": "5", "T": "I", ".": ",", ",": ".",
    "1": "l", "0": "O", "5": "S", "8": "B", "'": "`", "-": "~",
}  # fmt: skip
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _confuse(character: str, rng: random.Random) -> str:
    """Take a character for another that looks like it, a Han character for its neighbour."""
    if character == " ":
        return character
    return CONFUSABLE.get(character, chr(ord(character) ^ 1) if ord(character) > 0x2E80 else "?")


def _err(character: str, rng: random.Random) -> str:
    """Lose a character, double it with another, or take any other for it, blanks included."""
    other = rng.choice(LETTERS) if ord(character) < 0x2E80 else chr(rng.randrange(0x4E00, 0x5A00))
    return rng.choice(("", character + other, other, other))


def _break(character: str, rng: random.Random) -> str:
    """Break a word or join it with the next; or confuse a character."""
    if character == " ":
        return ""
    return character + " " if rng.random() < 0.6 else _confuse(character, rng)


NOISE: Mapping[str, Callable[[str, random.Random], str]] = {
    "confused": _confuse, "random": _err, "broken": _break,
}  # fmt: skip


def _scan(text: str, rate: float, model: str, rng: random.Random, family: Family) -> str:
    """Set a text in lines and pages, with words cut at their ends, and read it with errors."""
    spoil = NOISE[model]
    line, lines, width = "", list[str](), rng.randint(*COLUMNS)
    for word in re.findall(r"\S+" if family.is_spaced else r"\S", text):
        room = width - len(line)
        if len(word) < room:
            line += word + (" " if family.is_spaced else "")
        elif family.is_spaced and len(word) > 6 and room > 3 and rng.random() < 0.5:
            lines.append(line + word[: room - 1] + "-")
            line = word[room - 1 :] + " "
        else:
            lines.append(line)
            line = word + (" " if family.is_spaced else "")
    pages, title = list[str](), f"{rng.choice(('Herald', 'Gazette', 'Courier', 'Mercury'))} No."
    for first in range(0, len(lines) + 1, LINES):
        page = "\n".join(part.rstrip() for part in [*lines, line][first : first + LINES])
        pages.append(f"{title} {rng.randint(1, 400)}\n\n{page}")
    return "".join(
        spoil(character, rng) if character != "\n" and rng.random() < rate else character
        for character in "\n\n".join(pages)
    )
