"""What is stored in Solr of documents, as `nd.explain` shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import neardup_solr as nd


def entries_of(documents: Sequence[nd.Document], settings: nd.Settings | None = None) -> list[Any]:
    """The entries of documents: normal forms, shingles, signatures, band keys."""
    entries = []
    for first, second in zip(documents[::2], documents[1::2], strict=False):
        facts = nd.explain(
            [first, second], first.id, second.id, measure="words", settings=settings
        ).facts
        entries += [facts.first.entry, facts.second.entry]
    if len(documents) % 2:
        entries.append(entry_of(documents[-1].text, settings, id=documents[-1].id))
    return entries


def entry_of(text: str, settings: nd.Settings | None = None, *, id: str = "1") -> Any:
    """The entry of a text, beside a copy of it."""
    pair = [nd.Document(id=each, text=text) for each in (id, f"{id}, copied")]
    return entries_of(pair, settings)[0]
