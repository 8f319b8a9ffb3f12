"""The measure "auto": for the texts of a source, and in a collection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neardup_solr.argument_types import PairMeasure, StoredMeasure
from neardup_solr.settings import LONG_TEXT, Settings
from neardup_solr.text.scanned import describe_scan

CHOSEN = "are compared by `measure` {}; `measure` words counts edited words instead."
FEWEST, SHORT = 20, 12  # texts that tell which words are rare; half as many of so many words


def choose_measure(settings: Settings, words: Sequence[int]) -> tuple[StoredMeasure, str]:
    """Choose what "auto" is for texts of so many words each, and say why if it is not words.

    It is records if half of the texts are short; a few do not tell which words are rare, but by
    words, very short ones are near each other if they share half of their words. Texts
    whose shingles are made of characters are compared by these.
    """
    if settings.kind == "chars":
        return "jaccard", f"Shingles of characters {CHOSEN.format('jaccard')}"
    median = sorted(words)[len(words) // 2] if words else 0
    fewest = FEWEST // 2 if median <= SHORT else FEWEST
    if len(words) < fewest or median > LONG_TEXT:
        return "words", ""
    return "records", f"Short texts (median: {median} words) {CHOSEN.format('records')}"


def choose_for_scans(texts: Iterable[str]) -> tuple[PairMeasure, str] | None:
    """Choose passages for texts of which some look scanned, and say why, or return None."""
    scan = describe_scan(texts)
    if not scan:
        return None
    return "passages", f"Texts that look scanned ({scan}) {CHOSEN.format('passages')}"


def read_measure(settings: Settings) -> tuple[StoredMeasure, str]:
    """Read what "auto" is in a collection of these settings, and say so if it is not words."""
    measure = settings.measure or "words"
    return measure, "" if measure == "words" else f"Its texts {CHOSEN.format(measure)}"
