"""The function `nd.dead_letters`: its signature, and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public

if TYPE_CHECKING:
    from neardup_solr import Collection
    from neardup_solr.types import Letter


@public
def dead_letters(
    collection: Collection | None = None, *, job: str | Path | None = None
) -> list[Letter]:
    """List the records that `index` could not index.

    Example: `nd.dead_letters(job="old")[0].reason`

    Give either a collection or `job` (the folder of an `index` call). For a collection, the jobs of
    the command `neardup index` are read.

    Raises ArgumentError if neither or both are given, JobError if the folder has no job or its
    files cannot be read.
    """
    from neardup_solr.verbs.dead_letters import list_letters

    return list_letters(collection, job=job)
