"""Columns that part the pairs of records that were taken for copies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup_solr.answers import SAME
from neardup_solr.errors import counted
from neardup_solr.guard import LOOK
from neardup_solr.measures.columns import MISSING, FieldColumn, Marks
from neardup_solr.measures.keys import list_by_chance
from neardup_solr.measures.levels import Levels, compare_fields, mark_equal
from neardup_solr.measures.pairs import take_evenly
from neardup_solr.measures.variants import FEWEST, count_by_chance, is_telling
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.graph import Graph, RowNumbers

LOOKED_AT = 5_000  # pairs whose fields are compared again
DIFFERING = 0.4  # of the pairs, in a column that tells records apart


def describe_parting(comparison: Comparison, graph: Graph, rows: RowNumbers) -> str:
    """Describe in which columns pairs differ that may be no copies, and what separates them.

    "" if there are none. `rows` are those of the documents of the graph. Pairs that are the same by
    an answer do not count.
    """
    matcher = comparison.matcher
    # Two lists may describe the same things in other words.
    if matcher is None or comparison.corpus.is_across or matcher.border:
        return ""
    columns = matcher.columns
    pairs = rows[graph.pairs]
    if graph.answers is not None:
        pairs = pairs[[answer != SAME for answer in graph.answers]]
    levels = compare_fields(columns, take_evenly(pairs, LOOKED_AT))
    equal = mark_equal(levels, [column.kind for column in columns])
    return _describe_things(columns, levels, equal) or _describe_mixed(columns, levels, equal)


def _describe_things(columns: Sequence[FieldColumn], levels: Levels, equal: Marks) -> str:
    """Describe the columns in which pairs agree by chance, as records of one thing do."""
    rest = list_by_chance(columns, levels)
    if not rest:
        return ""
    *names, last = (columns[at].name for at in rest)
    such = f"the pairs agree in {', '.join(names)} and {last} by chance alone"
    filled = [at for at in rest if (columns[at].numbers != MISSING).all()]
    if not filled:  # without a value, no document is near to others
        return f"{such}; {LOOK}"
    at = min(filled, key=lambda at: columns[at].share_equal)
    left = f"{100 * np.mean(equal[:, at]):.0f} % of {counted(len(levels), 'pair')}"
    return f"{such}; use `same` {columns[at].name}, which would leave {left}"


def _describe_mixed(columns: Sequence[FieldColumn], levels: Levels, equal: Marks) -> str:
    """Describe a column that tells records apart, and in which many pairs differ, "" if none is."""
    for at, column in enumerate(columns):
        present = int(np.count_nonzero(levels[:, at] != MISSING))
        differ, agree = (np.count_nonzero(side) for side in (levels[:, at] == 0, equal[:, at]))
        is_mixed = differ >= max(FEWEST, DIFFERING * present)
        if is_telling(column) and is_mixed and agree >= count_by_chance(column, present):
            return (
                f"{column.name} differs in {100 * differ / present:.0f} % of the pairs, and is"
                f" equal in {100 * agree / present:.0f} %: if it tells things apart, `same`"
                f" {column.name} separates them"
            )
    return ""
