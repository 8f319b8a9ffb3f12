"""Parts of a text that near-duplicates have to have in common: numbers, symbols, patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial

from neardup_solr import argument_types, checks
from neardup_solr.errors import ArgumentError
from neardup_solr.text.numbers import list_numbers
from neardup_solr.text.symbols import list_symbols

NUMBERS, SYMBOLS = "numbers", "symbols"
_LISTS: dict[str, Callable[[str], list[str]]] = {NUMBERS: list_numbers, SYMBOLS: list_symbols}


@dataclass(frozen=True)
class Equality:
    """Parts of a text that near-duplicates have to have in common.

    `rules` are "numbers", "symbols" or regular expressions. Two texts fit together if `key` is the
    same of both. Without rules all texts do.

    Raises ArgumentError if a rule is impossible.
    """

    rules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for rule in self.rules:
            if (meant := f"{rule.lower()}s") in _LISTS:
                reason = f"`equal` cannot be {rule!r}"
                raise ArgumentError(reason, f"did you mean {meant}?", code="argument-invalid")
            try:
                re.compile(rule, re.I)
            except re.error as error:
                reason = f"`equal` cannot be {rule!r}: it is not a regular expression ({error})"
                step = r"give numbers, symbols, or a pattern such as '\bnot\b'"
                raise ArgumentError(reason, step, code="argument-invalid") from None

    @cached_property
    def _lists(self) -> tuple[Callable[[str], Iterable[str]], ...]:
        """The functions that list the parts of a text, one for each rule."""
        return tuple(
            _LISTS.get(rule) or partial(_find_all, re.compile(rule, re.I)) for rule in self.rules
        )

    def __bool__(self) -> bool:
        return bool(self.rules)

    def key(self, text: str) -> tuple[tuple[str, ...], ...]:
        """List, for each rule, what a text has of it in sorted order, whatever its place."""
        return tuple(tuple(sorted(list_parts(text))) for list_parts in self._lists)

    def describe(self, first: str, second: str) -> str:
        """Describe what differs in two texts by the first rule that tells them apart."""
        for rule, values, others in zip(self.rules, self.key(first), self.key(second), strict=True):
            if values != others:
                return f"{rule} {_show_rest(values, others)} and {_show_rest(others, values)}"
        return ""


ANYTHING = Equality()  # no part has to be equal


def parse_equality(rules: argument_types.OneOrMore) -> Equality:
    """Make the equality of a rule, or of several, also as "numbers,symbols".

    Raises ArgumentError if a rule is impossible.
    """
    parts = list[str]()
    for rule in checks.listed(rules):
        names = rule.split(",")
        parts += names if _LISTS.keys() >= {*names} else [rule]
    return Equality(tuple(dict.fromkeys(parts)))


def _find_all(pattern: re.Pattern[str], text: str) -> Iterable[str]:
    return (match[0].casefold() for match in pattern.finditer(text))


def _show_rest(values: tuple[str, ...], others: tuple[str, ...]) -> str:
    """Show the values that the others lack, or "none"."""
    left = list(values)
    for value in others:
        if value in left:
            left.remove(value)
    return ", ".join(left) or "none"
