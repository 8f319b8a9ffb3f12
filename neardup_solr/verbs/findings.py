"""Findings of `lint` and `doctor`: what is wrong, how serious it is, and the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

DANGER, WARNING, NOTE = "danger", "warning", "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a collection: how serious, what it is about, why, and the remedy.

    `level` is "danger" (documents would lose something, or cannot be written), "warning" or
    "note"; `rule` is a short name that does not change; `about` is a field, a handler or the like.
    """

    level: str
    rule: str
    about: str
    reason: str
    remedy: str


def by_level(listed: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings, the most serious first."""
    levels = (DANGER, WARNING, NOTE)
    return tuple(sorted(listed, key=lambda finding: levels.index(finding.level)))


def select(*cases: tuple[Any, ...]) -> Iterator[Finding]:
    """Yield the findings of the cases that hold: whether one does, then what it finds."""
    return (Finding(*finding) for holds, *finding in cases if holds)
