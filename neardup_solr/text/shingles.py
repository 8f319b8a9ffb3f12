"""Shingles: the pieces of a normalised text whose sets are compared, in four kinds.

| kind | a shingle is | for |
|---|---|---|
| words | `size` consecutive words | texts of all kinds (default) |
| chars | `size` consecutive characters, the blanks between words included | strings of few words |
| stops | a stop word and the words after it, `size` in all | prose among menus and other boilerplate, which has no stop words |
| stems | `size` consecutive stems, stop words left out | inflected texts, paraphrases |

A text too short for a shingle is its only one; a text without words has none. The text profile
is a fuzzy hash of a whole text instead. `Packed` has many texts as UTF-8 in one array.
"""  # noqa: E501 - a table

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.settings import Settings

# Function words of English, frozen: signatures depend on them.
_ENGLISH = (
    "a about above after again against all also am an and any are as at be because been before"
    " being below between both but by can could did do does doing down during each few for from"
    " further had has have having he her here hers him his how i if in into is it its itself just"
    " me more most my no nor not now of off on once only or other our ours out over own s same she"
    " should so some such t than that the their theirs them then there these they this those"
    " through to too under until up us very was we were what when where which while who whom why"
    " will with would you your yours"
)
STOP_WORDS = frozenset(_ENGLISH.split())
_TOKEN = re.compile(r"[^ -]+")  # of a normal form: words are cut at "-" too


def shingles(normal: str, settings: Settings) -> list[str]:
    """List the set of shingles of a normalised text, in order of first appearance.

    Raises SettingsError if the kind needs a package that is not installed.
    """
    return _KINDS[settings.kind](normal, settings) if normal else []


def _words(normal: str, settings: Settings) -> list[str]:
    return word_shingles(normal, settings.shingle_size)


def word_shingles(normal: str, size: int) -> list[str]:
    """List `size` consecutive words with a blank between, as a set in order of first appearance.

    Broder, "On the resemblance and containment of documents" (1997).
    """
    listed = normal.split()
    if len(listed) <= size:
        return [normal] if listed else []
    shifted = (listed[at:] for at in range(size))
    return list(dict.fromkeys(map(" ".join, zip(*shifted, strict=False))))


def _chars(normal: str, settings: Settings) -> list[str]:
    size = settings.shingle_size
    last = max(len(normal) - size, 0)
    return list(dict.fromkeys(normal[at : at + size] for at in range(last + 1)))


def _stops(normal: str, settings: Settings) -> list[str]:
    """Begin at stop words: "Mining of Massive Datasets", section 3.2.4 (of three words)."""
    listed, size = normal.split(), settings.shingle_size
    starts = range(len(listed) - size + 1)
    runs = [" ".join(listed[at : at + size]) for at in starts if listed[at] in STOP_WORDS]
    return list(dict.fromkeys(runs)) or [normal]


def _stems(normal: str, settings: Settings) -> list[str]:
    return word_shingles(stem_words(normal, settings.language), settings.shingle_size)


def stem_words(normal: str, language: str) -> str:
    """Stem the words of a normalised text, without stop words if it is English.

    Snowball stemmers (Porter 2001, snowballstem.org). A text of stop words only stays as it is.

    Raises SettingsError if the package PyStemmer is missing, ArgumentError if it does not know the
    language.
    """
    listed: Sequence[str] = normal.split()
    if language == "english":
        listed = [word for word in listed if word not in STOP_WORDS]
    return " ".join(_stemmer(language)(listed)) or normal


@cache
def _stemmer(language: str) -> Callable[[Sequence[str]], list[str]]:
    try:
        import Stemmer
    except ModuleNotFoundError:
        raise SettingsError(
            "stems need the Python package PyStemmer",
            'install it with: pip install "neardup-solr[stems]"',
        ) from None
    try:
        stem: Callable[[Sequence[str]], list[str]] = Stemmer.Stemmer(language).stemWords
    except KeyError:
        raise ArgumentError(
            f"`language` cannot be {language!r}: it has no stemmer",
            f"choose one of {', '.join(Stemmer.algorithms())}",
        ) from None
    return stem


_KINDS: dict[str, Callable[[str, Settings], list[str]]] = {
    "words": _words,
    "chars": _chars,
    "stops": _stops,
    "stems": _stems,
}


def hash_profile(normal: str, *, min_token_len: int = 2, quant_rate: float = 0.01) -> str:
    """Hash the profile of a normalised text to 32 hexadecimal digits, "" if it has no token.

    Tokens longer than `min_token_len` characters are counted; counts are rounded down to a
    multiple of max(2, round(highest · `quant_rate`)), or of 1 if no token repeats; tokens that
    fall to 0 are dropped; the MD5 of "token count" lines, by falling count, is the profile.
    Nutch's and Solr's TextProfileSignature (Apache Nutch, 2005), with two differences: ties
    are in the order of code points, while theirs follow a hash map and change with the words that
    were dropped; and tokens are those of our normal form (NFKC, case folding, marks kept), while
    theirs are runs of Java's letters and digits. So the values differ from Solr's.
    """
    counts = Counter(t for t in _TOKEN.findall(normal) if len(t) > min_token_len)
    if not counts:
        return ""
    highest = max(counts.values())
    quant = max(int(highest * quant_rate + 0.5), 2 if highest > 1 else 1)
    rounded = ((count // quant * quant, token) for token, count in counts.items())
    kept = sorted((-count, token) for count, token in rounded if count)
    profile = "\n".join(f"{token} {-count}" for count, token in kept)
    return hashlib.md5(profile.encode(), usedforsecurity=False).hexdigest()


# Bytes that are free behind texts: hashes read up to 8 of them, a last character may need some.
SPARE = 64
_SURROGATE = re.compile("[\ud800-\udfff]")


class Packed(Sequence[str]):
    """Texts that are decoded when they are read: t is data[bounds[t]:bounds[t + 1]].

    `data` (uint8) is valid UTF-8, `bounds` (uint64) has the ends of texts after the first start.
    """

    __slots__ = ("bounds", "data")

    def __init__(self, data: NDArray[np.uint8], bounds: NDArray[np.uint64]) -> None:
        self.data, self.bounds = data, bounds

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            first, last, step = at.indices(len(self))
            if step != 1:
                return [self[text] for text in range(first, last, step)]
            return Packed(self.data, self.bounds[first : max(first, last) + 1])
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        first, last = self.bounds[at % len(self)], self.bounds[at % len(self) + 1]
        return self.data[first:last].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        ends = (self.bounds - self.bounds[0]).tolist()
        whole = self.data[self.bounds[0] : self.bounds[-1]].tobytes()
        if whole.isascii():  # decoded at once, which takes a third of the time for short texts
            return map(whole.decode().__getitem__, map(slice, ends, ends[1:]))
        return (whole[first:last].decode() for first, last in pairwise(ends))

    def parts(self, size: int) -> Iterator[Packed]:
        """Yield the texts in parts of at most so many bytes, or of a longer text."""
        first = 0
        while first < len(self):
            most = self.bounds[first] + np.uint64(size)
            last = int(np.searchsorted(self.bounds, most, side="right")) - 1
            last = max(first + 1, last)
            yield self[first:last]
            first = last

    @property
    def longest(self) -> int:
        """The bytes of the longest text."""
        return int(np.diff(self.bounds).max(initial=0))

    @property
    def size(self) -> int:
        """The bytes of all texts."""
        return int(self.bounds[-1] - self.bounds[0])


def pack(texts: Sequence[str]) -> Packed:
    """Pack texts. A lone surrogate becomes a space."""
    if isinstance(texts, Packed):
        return texts
    try:
        encoded = list(map(str.encode, texts))
    except UnicodeEncodeError:
        encoded = [_SURROGATE.sub(" ", text).encode() for text in texts]
    bounds = np.zeros(len(texts) + 1, dtype=np.uint64)
    np.cumsum(np.fromiter(map(len, encoded), np.uint64, len(texts)), out=bounds[1:])
    return Packed(np.frombuffer(b"".join((*encoded, bytes(SPARE))), dtype=np.uint8), bounds)


def join_packed(parts: Sequence[Packed]) -> Packed:
    """Join the texts of all parts."""
    if len(parts) == 1:
        return parts[0]
    pieces = [part.data[part.bounds[0] : part.bounds[-1]] for part in parts]
    sizes = [np.diff(part.bounds) for part in parts]
    bounds = np.zeros(1 + sum(map(len, sizes)), dtype=np.uint64)
    np.cumsum(np.concatenate([bounds[:0], *sizes]), out=bounds[1:])
    return Packed(np.concatenate([*pieces, np.zeros(SPARE, np.uint8)]), bounds)


def size_of(texts: Sequence[str]) -> int:
    """Measure texts: their bytes if they are packed, else their characters."""
    return texts.size if isinstance(texts, Packed) else sum(map(len, texts))
