"""Words of records as they are aligned, how many documents contain each, and its weight."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from neardup_solr.regex import regex
from neardup_solr.settings import NORMALIZATION
from neardup_solr.text.characters import unspaced
from neardup_solr.text.links import NAME

Split = Callable[[str], list[str]]
_ORDINAL = regex(r"(\d+)(?:st|nd|rd|th)")
_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen twenty"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_NUMBERS = {
    word: str(number) for row in (_CARDINALS, _ORDINALS) for number, word in enumerate(row.split())
} | {"ii": "2", "iii": "3", "iv": "4", "vii": "7", "viii": "8", "ix": "9"}
PAIRED = 1.5  # power of the weight of pairs of characters


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Number of documents that contain each word."""

    documents: int
    counts: Mapping[str, int]
    normalization: int = NORMALIZATION

    def weight(self, word: str) -> float:
        """The weight of a word, ln(1 + documents / documents with it) squared.

        A word of no document weighs as much as a word of a single document. For pairs of
        characters of scripts without blanks, in which a slip makes two rare pairs of what may be
        frequent ones, it is the power `PAIRED` of the logarithm, times that of the rarest word to
        make up 2. A name, such as a link, that no two documents have weighs as little as a word of
        half of them.
        """
        documents = max(self.documents, 1)
        weight = math.log(1 + documents / max(self.counts.get(word, 1), 1))
        if word.startswith(NAME) and self.counts.get(word, 1) <= 1:
            return math.log(3) ** 2
        if len(word) <= 2 and self.normalization > 1 and unspaced().match(word):
            return math.pow(weight, PAIRED) * math.pow(math.log(1 + documents), 2 - PAIRED)
        return math.pow(weight, 2)


def split_words(form: str) -> list[str]:
    """Split a normal form into words as they are aligned: parts at "-", numbers in digits.

    English number words up to twenty, ordinals and Roman numerals of two letters or more up to nine
    become numbers, unless they are names: "5th" and "fifth" are "5".
    """
    return list(map(write_number, form.replace("-", " ").split()))


def write_number(word: str) -> str:
    """Write a word in digits if it is a number, or return it as it is."""
    if number := _NUMBERS.get(word):
        return number
    return word if word.isalpha() or word.isdecimal() else _ORDINAL.sub(r"\1", word)


def count_words(
    forms: Iterable[str], normalization: int = NORMALIZATION, split: Split = split_words
) -> Frequencies:
    """Count the documents that have each word. Pass both sides of a linkage together."""
    counts: Counter[str] = Counter()
    documents = 0
    for form in forms:
        documents += 1
        counts.update(set(split(form)))
    return Frequencies(documents, counts, normalization)
