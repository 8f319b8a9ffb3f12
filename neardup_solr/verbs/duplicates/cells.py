"""A result in a notebook: what was found, and the largest clusters, as a short table."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from neardup_solr.records import largest
from neardup_solr.reports.html.invisibles import shown

if TYPE_CHECKING:
    from neardup_solr.records import Cluster
    from neardup_solr.verbs.duplicates import Duplicates

MOST = 10  # clusters, and members of each
LONGEST = 80  # characters of a text


def page(found: Duplicates) -> str:
    """The HTML that a notebook shows for a result."""
    clusters = largest(found.clusters, MOST)
    rows = "".join(f"<tr>{''.join(_cells(found, one))}</tr>" for one in clusters)
    heads = "".join(f"<th>{name}</th>" for name in ("documents", "similarity", "keep", "near it"))
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
    more = len(found.clusters) - len(clusters)
    note = f"<p>… and {more:,} more: <code>.to_pandas('clusters')</code></p>"
    return f"<p>{escape(repr(found)[1:-1])}</p>{table}{note if more else ''}"


def _cells(found: Duplicates, cluster: Cluster) -> Iterator[str]:
    others = [member.id for member in cluster.members[1 : MOST + 1]]
    least = min(member.similarity for member in cluster.members)
    for value in (len(cluster.members), f"{least:.3f}"):
        yield f"<td>{value}</td>"
    yield f"<td>{_shown(found, cluster.canonical)}</td>"
    more = ["…"] if len(cluster.members) > MOST + 1 else []
    yield f"<td>{'<br>'.join([*(_shown(found, id) for id in others), *more])}</td>"


def _shown(found: Duplicates, id: str) -> str:
    text = found.texts.get(id, "")
    cut = f"{text[:LONGEST]}…" if len(text) > LONGEST else text
    return f"<b>{shown(id, is_id=True)}</b> {shown(cut)}"
