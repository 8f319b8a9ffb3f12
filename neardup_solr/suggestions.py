"""Suggestions for words that are unknown: near names, and those of other tools."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

QUOTES = "'", "`"  # before what is typed, unlike a step
LONG = 6  # letters of a word that is looked for among those of other tools in spite of an error
# What other tools put before or behind the name of an option: `--num-hashes`, `--output-file`.
_COUNTS = ("n", "num", "number", "of")
_SUFFIXES = ("file", "path", "name", "column", "columns", "col", "field", "fields", "dir", "url")


@cache
def read_words(table: str) -> dict[str, Any]:
    """Read a table of suggestions.toml, which says what its words are."""
    import tomllib
    from importlib.resources import files

    text = files("neardup_solr").joinpath("suggestions.toml").read_text("utf-8")
    return dict(tomllib.loads(text)[table])


def suggest(word: str, table: str, existing: Mapping[str, str], place: str = "") -> str:
    """Name the equivalent of an unknown word, or the step instead, or "" if nothing is near.

    `existing` says how each name is typed, in quotes, or what to do instead of it. The table of
    suggestions.toml has the words of other tools; only other words are taken for typing errors.
    """
    parts, near = _split(word), list[str]()
    while parts and not near:
        near = [name for name in existing if _split(name) == parts]
        words = (key for key in read_words(table) if "".join(parts) in key.split())
        if not near and (key := next(words, "")):
            forms = [existing[name] for name in existing if _is_form(_split(word), _split(name))]
            answers = _choose_answers(read_words(table)[key], existing, place)
            return _join([*forms, *(each for each in answers if not forms or each[0] in QUOTES)])
        parts = _shorten(parts)
    near = near or nearest(word, existing)
    if not near and len(word) >= LONG:  # maybe a word of another tool, mistyped
        keys = {each: key for key in read_words(table) for each in key.split()}
        of_others = nearest(word, (each for each in keys if len(each) >= LONG))
        answers = [read_words(table)[keys[each]] for each in of_others]
        return _join(chain.from_iterable(_choose_answers(a, existing, place) for a in answers))
    return _join(existing[name] for name in near)


def _is_form(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return True if names are the same but for the ends of words: field and fields, removed."""
    pairs = [sorted(pair, key=len) for pair in zip(one, other, strict=False)]
    ends = {long.removeprefix(short) for short, long in pairs}
    return len(one) == len(other) and ends <= {"", "s", "es", "d", "ed"}


def _shorten(parts: list[str]) -> list[str]:
    """Take away a word, or the end of one, that other tools add to a name, or all if none does."""
    *rest, last = parts
    if rest and parts[0] in _COUNTS:
        return parts[1:]
    if last in _SUFFIXES:
        return rest
    shorter = [last.removesuffix(end) for end in _SUFFIXES if last.endswith(end)]
    return [*rest, min(shorter, key=len)] if shorter else []


def _split(name: str) -> list[str]:
    """Split a name into its words in lower case: --min-size, min_size and minSize are the same."""
    return re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())


def _choose_answers(answers: str, existing: Mapping[str, str], place: str) -> list[str]:
    for answer in answers.split("|"):
        names = re.findall(r"`([^`]+)`", answer)
        only, step = re.findall(r"(?:(neardup|nd): )?(.+)", answer)[0]
        if answer in existing or (names and answer[0] == "`" and all(map(existing.get, names))):
            return [existing[name] for name in names or [answer]]
        if " " in step and only in ("", place) and all(map(existing.get, names)):
            return [re.sub(r"`([^`]+)`", lambda name: existing[name[1]], step)]
    return []


def _join(texts: Iterable[str]) -> str:
    """Ask whether one of these was meant, or say what to do if one is a step."""
    *others, last = dict.fromkeys(texts) or [""]
    steps = [text for text in (*others, last) if text[:1] not in QUOTES]
    return steps[0] if steps else f"did you mean {', '.join(others)}{' or ' * bool(others)}{last}?"


def nearest(word: str, names: Iterable[str]) -> list[str]:
    """List the names that are a typing error or two away from a word, or that it abbreviates."""
    from rapidfuzz.distance import OSA  # only for an error

    def differ(name: str) -> float:
        """Return how much a name differs, infinitely if it means something else."""
        typed, other, parts = "".join(_split(word)), "".join(_split(name)), iter(_split(name))
        if not typed:  # signs alone abbreviate nothing
            return math.inf
        least = 1 if len(typed) > 3 else len(typed)  # of the letters of an abbreviated part
        if all(any(p[: max(least, len(t))] == t for p in parts) for t in _split(word)):
            return 1
        edits, longest = OSA.distance(typed, other), max(len(typed), len(other))
        begins = typed[:1] == other[:1] or typed[:2] == other[1::-1]
        is_other = longest < 7 and len(typed) == len(other) and sorted(typed) != sorted(other)
        is_near = begins and not is_other and edits <= (longest + 1) // 4
        return edits + 0.5 * (word[:1].isupper() != name[:1].isupper()) if is_near else math.inf

    by_name = {name: differ(name) for name in names if " " not in name}
    least = min(by_name.values(), default=math.inf)
    return [name for name, edits in by_name.items() if edits == least < math.inf]
