"""Versions of Solr that this package was tried with, and what is to be done about others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neardup_solr.solr.admin import version_numbers
from neardup_solr.verbs.findings import NOTE, WARNING, Finding, select

TESTED = (9, 10, 1)
TRIED = ((8, 11), (10, 1))  # from this version on, before that
_TRIED = "8.11 to 10.0 are known to work"


def is_untried(version: str) -> bool:
    """Return True for a version of Solr that this package was never tried with."""
    numbers = version_numbers(version)
    return bool(numbers) and not TRIED[0] <= numbers < TRIED[1]


def check_versions(versions: Sequence[str]) -> Iterator[Finding]:
    """Find what is to be done about the versions of the nodes of a Solr, () if none tells."""
    yield from select(
        (len(versions) > 1, WARNING, "version", "versions of Solr",
         f"the nodes of this SolrCloud run {' and '.join(versions)}",
         "upgrade the older nodes before writing anything: a replica may move to one of them"),
        (not versions, NOTE, "version", "Solr",
         "this Solr does not report its version (/admin/info/system)",
         f"versions {_TRIED}: check which one this is"),
    )  # fmt: skip
    holes = "CVE-2026-22022, CVE-2026-22444, and more in older releases"
    for version in versions:
        numbers, about, is_new = version_numbers(version), f"Solr {version}", is_untried(version)
        is_old = is_new and numbers < TRIED[0]
        yield from select(
            (is_new, WARNING if is_old else NOTE, "version", about,
             f"this version is untested; {_TRIED}",
             "upgrade to 9.10.1" if is_old else "try it on a copy first"),
            (not is_new and numbers < TESTED, NOTE, "version", about,
             f"it has security vulnerabilities that 9.10.1 fixes ({holes})", "upgrade to 9.10.1"),
        )  # fmt: skip
