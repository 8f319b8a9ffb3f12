"""Shingles: the pieces of a normalised text whose sets are compared, in four kinds.

| kind | a shingle is | for |
|---|---|---|
| words | `size` consecutive words | texts of all kinds (default) |
| chars | `size` consecutive characters, the blanks between words included | strings of few words |
| stops | a stop word and the words after it, `size` in all | prose among menus and other boilerplate, which has no stop words |
| stems | `size` consecutive stems, stop words left out | inflected texts, paraphrases |

A text too short for a shingle is its only one; a text without words has none.
"""  # noqa: E501 - a table

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.regex import regex
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
TOKEN = regex(r"[^ -]+")  # of a normal form: words are cut at "-" too


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
        reason = "stems need the Python package PyStemmer"
        step = 'install it with: pip install "neardup-solr[stems]"'
        raise SettingsError(reason, step, code="package-missing") from None
    try:
        stem: Callable[[Sequence[str]], list[str]] = Stemmer.Stemmer(language).stemWords
    except KeyError:
        reason = f"`language` cannot be {language!r}: it has no stemmer"
        step = f"choose one of {', '.join(Stemmer.algorithms())}"
        raise ArgumentError(reason, step, code="argument-invalid") from None
    return stem


_KINDS: dict[str, Callable[[str, Settings], list[str]]] = {
    "words": _words,
    "chars": _chars,
    "stops": _stops,
    "stems": _stems,
}
