"""The counts of a run of annotate or strip."""

from __future__ import annotations

from dataclasses import dataclass

from neardup_solr.errors import RecordError
from neardup_solr.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateSummary:
    """Counts of an annotation run.

    `read`: documents read, the sum of the next five; `annotated`: documents that got fields;
    `unchanged`: documents whose fields were current; `without_text`: documents without text;
    `gone`: documents deleted meanwhile; `failed`: documents that could not be annotated; `errors`:
    their first 1,000 errors; `redone`: annotated documents read again because others changed them;
    `settings`: settings used; `marked`: documents whose cluster marks changed; `cleared`: documents
    no longer in a cluster.
    """

    read: int
    annotated: int
    unchanged: int
    without_text: int
    gone: int
    failed: int
    errors: tuple[RecordError, ...]
    redone: int
    settings: Settings
    seconds: float
    marked: int = 0
    cleared: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StripSummary:
    """Counts of a `strip` run.

    `stripped`: documents whose fields were removed; `redone`: documents read again because others
    changed them; `failed`: documents that could not be changed; `errors`: their first 1,000 errors.
    """

    stripped: int
    redone: int
    failed: int
    errors: tuple[RecordError, ...]
    seconds: float
