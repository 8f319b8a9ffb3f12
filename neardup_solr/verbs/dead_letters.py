"""dead_letters: the records that `index` could not index, to be looked at."""

from __future__ import annotations

from pathlib import Path

from neardup_solr.checks import require
from neardup_solr.dead_letter_file import Letter
from neardup_solr.index_job import folders_of, read_job, read_letters
from neardup_solr.solr.collection import Collection


def list_letters(collection: Collection | None, *, job: str | Path | None) -> list[Letter]:
    """List the records that could not be indexed."""
    reason = "dead letters belong to a collection or to a job"
    step = "give either `collection` or `job`"
    code = "argument-missing" if job is None else "arguments-conflict"
    require((collection is None) != (job is None), reason, step, code=code)
    if job is not None:
        read_job(Path(job))
        return list(read_letters(Path(job)))
    assert collection is not None
    folders = folders_of(collection.base, collection.name)
    return [letter for folder in folders for letter in read_letters(folder)]
