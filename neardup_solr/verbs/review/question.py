"""Question of a review, as a page shows it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from neardup_solr.records import AnyId, Cluster, Duplicate, as_text, key_of
from neardup_solr.reports.html import embed
from neardup_solr.reports.html.passage_spans import list_spans
from neardup_solr.reports.pair import PairTable
from neardup_solr.text import diff
from neardup_solr.verbs.duplicates.result import Origin

MOST_SHOWN = 20_000  # of a text that are shown
BEFORE = 200  # characters that are shown before the first difference of longer texts
MOST_MEMBERS = 12  # of a cluster that is judged at once
PREVIEW = 160  # characters
NO_ORIGIN = Origin()


def make_question(
    pair: Duplicate,
    cluster: Cluster | None,
    texts: Mapping[AnyId, str],
    kept: Mapping[AnyId, Mapping[str, Any]],
    origin: Origin = NO_ORIGIN,
    threshold: float = 0.5,
) -> dict[str, Any]:
    """Make what a page shows of a question: both ids, the table of the pair, and its texts.

    The last rows of the table, as many as are `shown`, are columns that are not compared.
    """
    keys = key_of(pair.id, pair.sides[0]), key_of(pair.other_id, pair.sides[1])
    both = [texts.get(key, "") for key in keys]
    table = replace(origin.table, least=threshold)
    records = [{**(table.split(text) or {}), **kept.get(key, {})}
               for text, key in zip(both, keys, strict=True)]  # fmt: skip
    rows = [*table.list_rows(records, origin.evidence.get(keys, ()), pair.similarity)]
    compared = {*table.kinds, *table.texts} if table.kinds or all(map(table.split, both)) else {}
    shown = [row for row in rows if row.values and row.field not in compared]
    rows = [row for row in rows if row not in shown]
    words = [] if compared else [*map(diff.split, both)]
    spans = list_spans(*words) if words else []
    if words and not spans:
        rows.append(table.compare("Text", *map(diff.split, _shorten(both))))
    return {
        "ids": [str(pair.id), str(pair.other_id)],
        "rows": [[each.values and [*map(embed.pack, each.values)], *embed.describe(each)]
                 for each in (*rows, *shown)],
        "shown": len(shown),
        "texts": [*map(embed.pack, words)] if spans else [],
        "passages": embed.describe_spans(spans),
        "members": [] if cluster is None else [*_list_members(cluster, table, texts, kept)],
    }  # fmt: skip


def _shorten(texts: Sequence[str]) -> list[str]:
    """Take a part of long texts, which begins before the first difference."""
    first, second, begin = *texts, 0
    if max(len(first), len(second)) > MOST_SHOWN:
        most = range(min(len(first), len(second)))
        same = bisect_left(most, True, key=lambda at: first[: at + 1] != second[: at + 1])
        begin = max(0, same - BEFORE)
    return ["… " * (begin > 0) + text[begin : begin + MOST_SHOWN]
            + " …" * (len(text) > begin + MOST_SHOWN) for text in texts]  # fmt: skip


def _list_members(
    cluster: Cluster, table: PairTable, texts: Mapping[AnyId, str],
    kept: Mapping[AnyId, Mapping[str, Any]],
) -> Iterator[tuple[str, list[tuple[str, str]]]]:  # fmt: skip
    """List the records of a cluster that may be judged at once, by the names of their columns."""
    if 2 < len(cluster.members) <= MOST_MEMBERS:
        for member in cluster.members:
            key = key_of(member.id, member.side)
            text, values = texts.get(key, ""), kept.get(key, {})
            columns = {} if table.kinds else table.split(text) or {"": text}
            record = {name: as_text(value)[: 4 * PREVIEW]
                      for name, value in {**columns, **values}.items()}  # fmt: skip
            yield str(member.id), [(name, " ".join(value.split())[:PREVIEW])
                                   for name, value in record.items()]  # fmt: skip
