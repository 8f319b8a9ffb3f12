"""Rules beside a measure by which `duplicates` reports a pair or not: `same`, and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neardup_solr.answers import DIFFERENT, SAME
from neardup_solr.answers.format import read_answers
from neardup_solr.answers.verdicts import TextKey, TextVerdicts, key_text
from neardup_solr.sources.values import plain
from neardup_solr.verbs.duplicates.same_fields import make_key


def find_unequal(fields: Sequence[str], records: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Find the fields of `same` in which two records differ, or that one of them lacks."""
    first, second = (
        {name: make_key(plain(record.get(name))) for name in fields} for record in records
    )
    return tuple(name for name in fields if not first[name] or first[name] != second[name])


def find_answer(answers: str | Path | None, texts: Mapping[str, str]) -> str:
    """Find what answers say of the two documents, by their ids: same, different, or ""."""
    if answers is None:
        return ""
    verdicts = TextVerdicts(read_answers(answers))
    first, second = (key_text(id, text) for id, text in texts.items())
    allowed: list[tuple[TextKey, TextKey]] = [*verdicts.obey([(first, second)], lambda pair: pair)]
    word = "" if allowed else DIFFERENT
    return str(SAME if verdicts.are_same(first, second) else word)
