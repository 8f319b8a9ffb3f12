"""The clusters of `duplicates` as a table in a notebook."""

from __future__ import annotations

from collections.abc import Mapping

from neardup_solr import records
from neardup_solr.records import AnyId, Cluster, Member
from neardup_solr.verbs.duplicates.graph import Grouped

MOST_SHOWN, MOST_CHARACTERS = 10, 80  # clusters, members of each; of a text


def make_table(grouped: Grouped, texts: Mapping[AnyId, str]) -> str:
    """Make a table of the largest clusters, "" without any."""
    from neardup_solr.reports.html_table import make_html_table

    largest = grouped.make_largest(MOST_SHOWN)
    if not largest:
        return ""
    rows = (_show_cluster(each, texts) for each in largest)
    table = make_html_table(("documents", "similarity", "keep", "near it"), rows)
    more = len(grouped.rows) - len(largest)
    note = f"<p>… and {more:,} more: <code>.to_pandas('clusters')</code></p>" if more else ""
    return f"{table}{note}"


def _show_cluster(cluster: Cluster, texts: Mapping[AnyId, str]) -> list[object]:
    from neardup_solr.reports.html_table import Markup

    kept, *others = (_show_member(each, texts) for each in cluster.members[: MOST_SHOWN + 1])
    more = ["…"] if len(cluster.members) > MOST_SHOWN + 1 else []
    least = min(member.similarity for member in cluster.members)
    near = Markup("<br>".join([*others, *more]))
    return [len(cluster.members), f"{least:.3f}", Markup(kept), near]


def _show_member(member: Member, texts: Mapping[AnyId, str]) -> str:
    from neardup_solr.reports.html.invisibles import show_invisibles

    text = texts.get(records.key_of(member.id, member.side), "")
    cut = f"{text[:MOST_CHARACTERS]}…" if len(text) > MOST_CHARACTERS else text
    side = " (other side)" if member.side else ""
    return f"<b>{show_invisibles(str(member.id), is_id=True)}</b>{side} {show_invisibles(cut)}"
