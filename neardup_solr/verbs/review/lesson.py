"""Lessons of answers, as sentences: what counts more or less for a pair from now on."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from neardup_solr.measures.model import ALIKE, UNLIKE

LEAST = 0.1  # bits by which a weight changes, to be told
NOTHING_NEW = "Nothing new was learned from this answer."
TOO_FEW = "Nothing was learned yet: learning begins with two answers “same” and two “different”."
TOO_UNLIKE = "Nothing was learned: these two have too little in common to learn from."
# A field by its level, and what a measure finds in texts.
LEVELS = {
    "equal": "the same {}",
    "equal and rare": "the same rare {}",
    "within 10 %": "a {} that differs by up to 10 %",
    "within 1 %": "a {} that differs by up to 1 %",
}
TEXTS = {
    ("aligned", ALIKE): "having the same rare words",
    ("aligned", UNLIKE): "having different rare words",
    ("words", ALIKE): "having the words in the same order",
    ("words", UNLIKE): "having the words in another order",
    ("jaccard", ALIKE): "having long passages in common",
    ("jaccard", UNLIKE): "having few passages in common",
    ("containment", ALIKE): "one text being within the other",
    ("containment", UNLIKE): "neither text being within the other",
}
Bits = Mapping[tuple[str, str], float]  # by a field and its level


def describe_lesson(
    before: Bits, after: Bits, met: Collection[tuple[str, str]], *, are_same: bool
) -> str:
    """Say which of the levels that were met counts otherwise than before.

    It is the one that changed most, of those that changed sides if there are any. Answers that two
    `are_same` teach what speaks for a pair, if they do, and others what speaks against one.
    """
    changes = {each: after[each] - before[each] for each in sorted(met) if each in after}
    changes = {each: size for each, size in changes.items() if abs(size) >= LEAST}
    expected = {each: size for each, size in changes.items() if (size > 0.0) == are_same}
    changes = expected or changes
    sides = {each: (_choose_side(before[each]), _choose_side(after[each])) for each in changes}
    turned = [each for each in changes if sides[each][0] != sides[each][1]]
    most = max(turned or changes, key=lambda each: abs(changes[each]), default=None)
    if most is None:
        return NOTHING_NEW
    (_, side), size = sides[most], abs(after[most]) - abs(before[most])
    more = "" if turned else "more " if size > 0.0 else "less "
    counts = f"counts {more}{side} a pair" if side else "hardly counts"
    return f"Learned: {_name(*most)} now {counts}."


def _choose_side(bits: float) -> str:
    """Say for which side so many bits are, "" if they are next to none."""
    return "" if abs(bits) < LEAST else "for" if bits > 0.0 else "against"


def _name(field: str, level: str) -> str:
    """Name what two records have, such as a different “first name”."""
    name = f"“{field.replace('_', ' ')}”"
    return TEXTS.get((field, level)) or LEVELS.get(level, f"a {level} {{}}").format(name)
