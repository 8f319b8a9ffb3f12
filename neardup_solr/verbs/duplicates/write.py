"""Write a result in the format of the file's suffix: rows, or a page to look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.errors import SourceError
from neardup_solr.files import check_place, write_lines
from neardup_solr.reports import html, parquet, rows

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates import Duplicates

PAGE, TABLE = ".html", ".parquet"


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written, before any work is done for it.

    Raises SourceError if its suffix is not known, no file can be created there, or pyarrow, which
    .parquet needs, is missing.
    """
    suffix = path.suffix.lower()
    if suffix == TABLE:
        parquet.check_parquet(path)
    if suffix in _FACES:
        check_place(path)
        return
    try:
        rows.check_output(path)
    except SourceError as error:
        if suffix in rows.SUFFIXES:
            raise
        known = ", ".join((*rows.SUFFIXES, *_FACES))
        raise SourceError(str(path), error.reason, f"choose one of {known}") from None


def write_duplicates(found: Duplicates, path: str | Path) -> None:
    """Write what `duplicates` found to a file; see `Duplicates.write`.

    Raises SourceError if the suffix is not known or the file cannot be written; an older file of
    that name then stays as it is.
    """
    path = Path(path)
    check_output(path)
    face = _FACES.get(path.suffix.lower(), _rows)
    face(found, path)


def _rows(found: Duplicates, path: Path) -> None:
    rows.write_duplicates(found.pairs, path)


def _table(found: Duplicates, path: Path) -> None:
    parquet.write_duplicates(found.pairs, path)


def _page(found: Duplicates, path: Path) -> None:
    settings, measure = found.settings, found.measure
    members = sum(len(cluster.members) for cluster in found.clusters)
    shown = html.Page(
        title=found.about,
        pairs=found.pairs,
        clusters=found.clusters,
        parameters={
            "Measure": measure,
            "At least": f"{found.min_similarity:g}",
            **_distance(found),
            "Candidates": f"{settings.bands} bands of {settings.rows}"
            if found.by_bands
            else f"by {found.by}",
            "Linkage": found.linkage,
            "Canonical": found.canonical,
            "Settings": settings.fingerprint,
        },
        summary={
            "Documents": f"{found.documents:,}",
            "Near-duplicate pairs": f"{len(found.pairs):,}",
            "Clusters": f"{len(found.clusters):,}",
            "Documents in them": f"{members:,}",
            "Pairs compared": f"{found.candidates:,}",
        },
        texts=found.texts or found.shown,
        curve=(settings.bands, settings.rows) if found.by_bands else None,
        complete=found.complete,
        notes=[f"{gap[0].upper()}{gap[1:]}." for gap in found.gaps] + _hot(found),
    )
    write_lines(path, html.page_lines(shown))


def _distance(found: Duplicates) -> dict[str, str]:
    most = found.max_distance
    return {} if most is None else {"At most": f"{most} words apart"}


def _hot(found: Duplicates) -> list[str]:
    if not found.hot_keys:
        return []
    return [
        f"{found.hot_keys:,} band keys or words are in more documents than the cap: not all pairs"
        " of those were compared."
    ]


_FACES: dict[str, Callable[[Duplicates, Path], None]] = {PAGE: _page, TABLE: _table}
