"""Parameters and counts of a run of `duplicates`, for the report page."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from neardup_solr.answers.verdicts import Answered
from neardup_solr.argument_types import Way
from neardup_solr.errors import without_password
from neardup_solr.records import Cluster, Duplicate
from neardup_solr.settings import Settings


def list_parameters(
    *, measure: str, min_similarity: float, max_distance: int | None, by: Way, linkage: str,
    fq: Sequence[str], same: Sequence[str], canonical: str, settings: Settings
) -> dict[str, str]:  # fmt: skip
    """List how documents were compared, without what is empty."""
    ways = {
        "shingles": "share some of their shingles",
        "bands": f"share one of {settings.bands} bands of {settings.rows}",
        "passages": "share a passage",
        "words": "share a rare word",
        "all": "every pair",
    }
    parameters = {
        "Measure": measure,
        "At least": f"{min_similarity:g}",
        "At most": "" if max_distance is None else f"{max_distance} words apart",
        "Candidates": ways[by],
        "Linkage": linkage,
        "Filters": ", ".join(fq),
        "Same": ", ".join(same),
        "Canonical": canonical,
        "Settings": settings.fingerprint,
    }
    return {name: value for name, value in parameters.items() if value}


def list_counts(
    *, documents: int, pairs: Sequence[Duplicate], clusters: Sequence[Cluster], copies: int,
    unlike: int, candidates: int, answered: Answered | None
) -> dict[str, str]:  # fmt: skip
    """List what was found in how many documents, without what is empty.

    So many of the exact `copies` are `unlike` in what was left out of the comparison.
    """
    members = sum(len(cluster.members) for cluster in clusters)
    between = len(pairs) - sum(cluster.pairs for cluster in clusters)
    copies -= unlike
    counts = {
        "Documents": f"{documents:,}",
        "Near-duplicate pairs": f"{len(pairs):,}",
        "Pairs between groups": f"{between:,}" if between else "",  # of complete linkage
        "Groups": f"{len(clusters):,}",
        "Documents in groups": f"{members:,}",
        "Exact copies": f"{copies:,}" if copies else "",
        "Equal but for what was left out": f"{unlike:,}" if unlike else "",
        "Pairs compared": f"{candidates:,}",
        "Pairs judged by people": f"{len(answered.obeyed):,}" if answered else "",
    }
    return {name: count for name, count in counts.items() if count}


def describe_command() -> str:
    """Tell the command line of this process, without passwords, or "" if it is not neardup."""
    program, *arguments = sys.argv or [""]
    is_ours = Path(program).name in ("neardup", "neardup.exe") or (
        Path(program).parts[-2:] == ("neardup_solr", "__main__.py")
    )
    return shlex.join(["neardup", *map(without_password, arguments)]) if is_ours else ""
