"""A file without its near-duplicates, written in the steps of the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import neardup_solr as nd
from neardup_solr.sources import paths_of, reading_of
from neardup_solr.verbs.duplicates.result import Duplicates
from neardup_solr.verbs.duplicates.unique import Unique, check_files, require_copied


def write_copies(
    source: Any,
    *,
    unique: str | Path | None = None,
    removed: str | Path | None = None,
    rejected: str | Path | None = None,
    yes: bool = False,
    **arguments: Any,
) -> tuple[Duplicates, Unique]:
    """Check the files, find the near-duplicates, and write them; with the counts of records."""
    given = {"unique": unique, "removed": removed, "rejected": rejected}
    files = {name: Path(path) if path else None for name, path in given.items()}
    opened, reading = reading_of(
        source, "number", id=arguments.get("id"), text=arguments.get("text")
    )
    others = [*map(Path, paths_of(arguments.get("against")) or ())]
    check_files(require_copied(opened, reading), reading, files, others)
    found = nd.duplicates(source, **arguments)
    return found, found.write_unique(unique, removed=removed, rejected=rejected, yes=yes)
