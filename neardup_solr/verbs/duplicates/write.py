"""Write a result in the format of the file's suffix: rows, or a page to look at."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.errors import SourceError, counted, without_password
from neardup_solr.files import check_place, write_lines
from neardup_solr.records import key_of, largest
from neardup_solr.reports import tables

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup_solr.records import Cluster, Member
    from neardup_solr.verbs.duplicates.result import Duplicates

MOST = 10  # clusters in a notebook, and members of each
LONGEST = 80  # characters of a text there
PAGE, TABLE = ".html", ".parquet"
ROWS_AT_ONCE = 100_000  # of a table
HOT_KEYS = {"bands": "band key", "shingles": "shingle"}  # by the way candidates were found


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written, before any work is done for it.

    Raises SourceError if its suffix is not known, no file can be created there, or pyarrow, which
    .parquet needs, is missing.
    """
    suffix = path.suffix.lower()
    if suffix == TABLE:
        tables.check_parquet(path)
    if suffix in _FACES:
        check_place(path)
        return
    try:
        tables.check_output(path)
    except SourceError as error:
        if suffix in tables.SUFFIXES:
            raise
        known = ", ".join((*tables.SUFFIXES, *_FACES))
        raise SourceError(str(path), error.reason, f"choose one of {known}") from None


def write_duplicates(found: Duplicates, path: str | Path) -> None:
    """Write what `duplicates` found to a file. See `Duplicates.write`.

    Raises SourceError if the suffix is not known or the file cannot be written; an older file of
    that name then stays as it is.
    """
    path = Path(path)
    check_output(path)
    face = _FACES.get(path.suffix.lower(), _rows)
    face(found, path)


def _rows(found: Duplicates, path: Path) -> None:
    tables.write_duplicates(
        found.pairs, path, texts=found.texts, kept=found.kept, for_excel=found.for_excel
    )


def _table(found: Duplicates, path: Path) -> None:
    pairs = found.pairs
    # Beside our own columns, types are those of all values.
    at_once = len(pairs) if found.texts or found.kept or found.whole_ids else ROWS_AT_ONCE
    first, *others = range(0, max(len(pairs), 1), max(at_once, 1))

    def table(at: int) -> pa.Table:
        part = pairs[at : at + at_once]
        columns = tables.of_pairs(part, tables.name_columns(pairs), found.texts, found.kept)
        return tables.to_arrow(columns, found.whole_ids)

    begun = table(first)
    batches = chain.from_iterable(
        one.to_batches(ROWS_AT_ONCE) for one in chain([begun], map(table, others))
    )
    tables.write_parquet(path, begun.schema, batches)


def _page(found: Duplicates, path: Path) -> None:
    from neardup_solr import __version__
    from neardup_solr.reports import html

    settings = found.settings
    members = sum(len(cluster.members) for cluster in found.clusters)
    answered = found.answered
    is_obeyed = answered is None or not (answered.set_aside or answered.changed or answered.gone)
    warning = found.borderline.warning if found.borderline else ""
    between = len(found.pairs) - sum(cluster.pairs for cluster in found.clusters)
    ways = {
        "shingles": "share some of their shingles",
        "bands": f"share one of {settings.bands} bands of {settings.rows}",
        "words": "share a rare word",
        "all": "every pair",
    }
    parameters = {
        "Measure": found.measure,
        "At least": f"{found.min_similarity:g}",
        "At most": "" if found.max_distance is None else f"{found.max_distance} words apart",
        "Candidates": ways[found.by],
        "Linkage": found.linkage,
        "Filters": ", ".join(found.fq),
        "Same": ", ".join(found.same),
        "Canonical": found.canonical,
        "Settings": settings.fingerprint,
    }
    summary = {
        "Documents": f"{found.documents:,}",
        "Near-duplicate pairs": f"{len(found.pairs):,}",
        "Pairs between clusters": f"{between:,}" if between else "",  # of complete linkage
        "Clusters": f"{len(found.clusters):,}",
        "Documents in clusters": f"{members:,}",
        "Exact copies": f"{found.copies:,}" if found.copies else "",
        "Pairs compared": f"{found.candidates:,}",
        "Pairs judged by people": f"{len(answered.obeyed):,}" if answered else "",
    }
    page = html.Page(
        title=found.about,
        pairs=found.pairs,
        clusters=found.clusters,
        parameters={name: value for name, value in parameters.items() if value},
        summary={name: value for name, value in summary.items() if value},
        texts=found.texts or found.shown,
        kept=found.kept,
        by=found.by,
        frequencies=found.frequencies,
        curve=(settings.bands, settings.rows) if found.by_bands else None,
        complete=found.complete,
        borderline=found.borderline,
        notes=[f"{gap[0].upper()}{gap[1:]}." for gap in found.gaps]
        + [found.chosen] * bool(found.chosen)
        + _describe_hot(found)
        + [f"{answered}."] * (not is_obeyed)
        + [warning] * bool(warning),
        made=f"neardup_solr {__version__}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        command=_command(),
    )
    write_lines(path, html.page_lines(page))


def _describe_hot(found: Duplicates) -> list[str]:
    if found.beyond_cap:
        return [
            f"About {found.beyond_cap:,} more pairs share only words of more documents than the"
            " cap, judged by a sample: a higher cap finds them."
        ]
    if not (found.hot_keys and found.by in HOT_KEYS):
        return []
    keys = counted(found.hot_keys, HOT_KEYS[found.by])
    return [
        f"{keys} in more documents than the cap: not all pairs of those were compared;"
        " raise the cap to be sure."
    ]


def _command() -> str:
    """Tell the command line of this process, without passwords, or "" if it is not neardup."""
    program, *arguments = sys.argv or [""]
    is_ours = Path(program).name in ("neardup", "neardup.exe") or (
        Path(program).parts[-2:] == ("neardup_solr", "__main__.py")
    )
    return shlex.join(["neardup", *map(without_password, arguments)]) if is_ours else ""


def show_in_notebook(found: Duplicates) -> str:
    """Make the HTML that a notebook shows: what was found, and the largest clusters."""
    from neardup_solr.text.escape import make_html_table

    clusters = largest(found.clusters, MOST)
    heads = ("documents", "similarity", "keep", "near it")
    table = make_html_table(heads, [_cells(found, one) for one in clusters]) if clusters else ""
    more = len(found.clusters) - len(clusters)
    note = f"<p>… and {more:,} more: <code>.to_pandas('clusters')</code></p>"
    said = f"<p>{escape(repr(found)[1:-1])}</p>{table}{note if more else ''}"
    return said + (f"<p>{escape(found.chosen)}</p>" if found.chosen else "")


def _cells(found: Duplicates, cluster: Cluster) -> list[object]:
    from neardup_solr.text.escape import Markup

    others = [_show_member(found, member) for member in cluster.members[1 : MOST + 1]]
    more = ["…"] if len(cluster.members) > MOST + 1 else []
    least = min(member.similarity for member in cluster.members)
    keep = Markup(_show_member(found, cluster.members[0]))
    return [len(cluster.members), f"{least:.3f}", keep, Markup("<br>".join([*others, *more]))]


def _show_member(found: Duplicates, member: Member) -> str:
    from neardup_solr.reports.html import show_invisibles

    text = found.texts.get(key_of(member.id, member.side), "")
    cut = f"{text[:LONGEST]}…" if len(text) > LONGEST else text
    side = " (other side)" if member.side else ""
    return f"<b>{show_invisibles(str(member.id), is_id=True)}</b>{side} {show_invisibles(cut)}"


_FACES: dict[str, Callable[[Duplicates, Path], None]] = {PAGE: _page, TABLE: _table}
