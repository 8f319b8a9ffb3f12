"""A result in a notebook: what was found, and the largest clusters, as a short table."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from neardup_solr.records import key_of, largest
from neardup_solr.reports.html import show_invisibles
from neardup_solr.text.escape import Markup, make_html_table

if TYPE_CHECKING:
    from neardup_solr.records import Cluster, Member
    from neardup_solr.verbs.duplicates.result import Duplicates

MOST = 10  # clusters, and members of each
LONGEST = 80  # characters of a text


def page(found: Duplicates) -> str:
    """The HTML that a notebook shows for a result."""
    clusters = largest(found.clusters, MOST)
    heads = ("documents", "similarity", "keep", "near it")
    table = make_html_table(heads, [_cells(found, one) for one in clusters]) if clusters else ""
    more = len(found.clusters) - len(clusters)
    note = f"<p>… and {more:,} more: <code>.to_pandas('clusters')</code></p>"
    advice = (
        f"<p>The records are short ({found.median_words} words by the median):"
        ' <code>measure="aligned"</code> tells such apart better.</p>'
    )
    said = f"<p>{escape(repr(found)[1:-1])}</p>{table}{note if more else ''}"
    return said + (advice if found.are_short else "")


def _cells(found: Duplicates, cluster: Cluster) -> list[object]:
    others = [_shown(found, member) for member in cluster.members[1 : MOST + 1]]
    more = ["…"] if len(cluster.members) > MOST + 1 else []
    least = min(member.similarity for member in cluster.members)
    keep = Markup(_shown(found, cluster.members[0]))
    return [len(cluster.members), f"{least:.3f}", keep, Markup("<br>".join([*others, *more]))]


def _shown(found: Duplicates, member: Member) -> str:
    text = found.texts.get(key_of(member.id, member.side), "")
    cut = f"{text[:LONGEST]}…" if len(text) > LONGEST else text
    side = " (other side)" if member.side else ""
    return f"<b>{show_invisibles(str(member.id), is_id=True)}</b>{side} {show_invisibles(cut)}"
