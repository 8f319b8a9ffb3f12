"""The function `nd.answer`: its signature, and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import Id, Judgement, OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Collection
    from neardup_solr.types import Answer, SourceLike


@public
def answer(
    source: Collection | SourceLike | None,
    one: Id,
    other: Id,
    answer: Judgement,
    *,
    answers: str | Path,
    who: str | None = None,
    id: str | None = None,
    text: OneOrMore = "text",
) -> Answer:
    """Record in a file that a pair is the same, different or unsure, for later runs to apply.

    Example: `nd.answer("listings.csv", "12", "13", "same", answers="answers.jsonl")`

    With a source, the answer applies until either text changes. If `source` is None, changed texts
    do not matter. The latest answer about a pair counts.

    Raises ArgumentError if both ids are the same, DocumentNotFound if the collection lacks an id,
    SourceError if the source lacks an id or a file cannot be read or written.
    """
    from neardup_solr.verbs.answer import record_answer

    return record_answer(source, one, other, answer, answers=answers, who=who, id=id, text=text)
