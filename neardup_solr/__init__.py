"""Near-duplicate text detection for Apache Solr.

The command's words are the library's functions: `connect`, `index`, `search`, `report`,
`evaluate`, `delete`, `init`. Everything public is imported on first use, so that importing the
package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from neardup_solr.edges.client import Solr
    from neardup_solr.edges.http.access import Access
    from neardup_solr.edges.pairs import read_pairs
    from neardup_solr.edges.report import write_pairs
    from neardup_solr.edges.sources import Reading, read
    from neardup_solr.pure.comparing.similarity import Limits
    from neardup_solr.pure.config import Settings
    from neardup_solr.pure.errors import (
        CoreMissing,
        DocumentNotFound,
        NeardupError,
        RecordError,
        SchemaError,
        ServerError,
        SettingsError,
        SolrAnswerError,
        SolrError,
        SolrUnauthorized,
        SolrUnreachable,
        SourceError,
    )
    from neardup_solr.pure.explaining.explanation import Explanation
    from neardup_solr.pure.grouping.evaluate import Evaluation
    from neardup_solr.pure.model import Cluster, Document, Duplicate, Entry, Match, Member, Pair
    from neardup_solr.pure.policy import Decision, Policy
    from neardup_solr.pure.signatures.bands import probability
    from neardup_solr.pure.signatures.estimate import Estimate, containment, jaccard
    from neardup_solr.pure.signatures.signature import decode
    from neardup_solr.pure.signatures.tuning import Demand, Plan, Tuning, solve
    from neardup_solr.pure.solr.findings import Finding
    from neardup_solr.pure.solr.names import Names
    from neardup_solr.verbs.connecting import connect, init
    from neardup_solr.verbs.deleting import delete
    from neardup_solr.verbs.duplicating import (
        Duplicates,
        Grouping,
        Verifying,
        Working,
        duplicates,
        write_duplicates,
    )
    from neardup_solr.verbs.evaluating import evaluate
    from neardup_solr.verbs.existing.annotating import AnnotateSummary, annotate
    from neardup_solr.verbs.existing.annotating_into import annotate_into
    from neardup_solr.verbs.existing.doctoring import Diagnosis, doctor
    from neardup_solr.verbs.existing.linting import Lint, lint
    from neardup_solr.verbs.existing.preparing import Preparation, prepare, unprepare
    from neardup_solr.verbs.existing.rewriting import Pace
    from neardup_solr.verbs.existing.stripping import StripSummary, strip
    from neardup_solr.verbs.explaining import explain
    from neardup_solr.verbs.exporting import SignaturesSummary, signatures
    from neardup_solr.verbs.gating import Gating, gate
    from neardup_solr.verbs.indexing import IndexSummary, Progress, Sending, index
    from neardup_solr.verbs.marking import Marks, mark, unmark
    from neardup_solr.verbs.rebanding import reband
    from neardup_solr.verbs.reporting import Chosen, Report, report
    from neardup_solr.verbs.sampling import Sampling
    from neardup_solr.verbs.searching import Criteria, search
    from neardup_solr.verbs.tuning import tune

_PLACES = {
    "edges.http.access": ("Access",),
    "edges.client": ("Solr",),
    "edges.pairs": ("read_pairs",),
    "edges.report": ("write_pairs",),
    "edges.sources": ("Reading", "read"),
    "pure.signatures.bands": ("probability",),
    "pure.config": ("Settings",),
    "pure.errors": (
        "CoreMissing",
        "DocumentNotFound",
        "NeardupError",
        "RecordError",
        "SchemaError",
        "ServerError",
        "SettingsError",
        "SolrAnswerError",
        "SolrError",
        "SolrUnauthorized",
        "SolrUnreachable",
        "SourceError",
    ),
    "pure.signatures.estimate": ("Estimate", "containment", "jaccard"),
    "pure.grouping.evaluate": ("Evaluation",),
    "pure.explaining.explanation": ("Explanation",),
    "pure.solr.findings": ("Finding",),
    "pure.model": ("Cluster", "Document", "Duplicate", "Entry", "Match", "Member", "Pair"),
    "pure.signatures.signature": ("decode",),
    "pure.solr.names": ("Names",),
    "pure.policy": ("Decision", "Policy"),
    "pure.comparing.similarity": ("Limits",),
    "pure.signatures.tuning": ("Demand", "Plan", "Tuning", "solve"),
    "verbs.existing.annotating": ("AnnotateSummary", "annotate"),
    "verbs.existing.annotating_into": ("annotate_into",),
    "verbs.connecting": ("connect", "init"),
    "verbs.deleting": ("delete",),
    "verbs.existing.doctoring": ("Diagnosis", "doctor"),
    "verbs.duplicating": (
        "Duplicates",
        "Grouping",
        "Verifying",
        "Working",
        "duplicates",
        "write_duplicates",
    ),
    "verbs.evaluating": ("evaluate",),
    "verbs.explaining": ("explain",),
    "verbs.exporting": ("SignaturesSummary", "signatures"),
    "verbs.gating": ("Gating", "gate"),
    "verbs.indexing": ("IndexSummary", "Progress", "Sending", "index"),
    "verbs.existing.linting": ("Lint", "lint"),
    "verbs.marking": ("Marks", "mark", "unmark"),
    "verbs.existing.preparing": ("Preparation", "prepare", "unprepare"),
    "verbs.rebanding": ("reband",),
    "verbs.reporting": ("Chosen", "Report", "report"),
    "verbs.existing.rewriting": ("Pace",),
    "verbs.sampling": ("Sampling",),
    "verbs.searching": ("Criteria", "search"),
    "verbs.existing.stripping": ("StripSummary", "strip"),
    "verbs.tuning": ("tune",),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [  # noqa: RUF022 - in the order in which they are used
    "connect",
    "init",
    "lint",
    "prepare",
    "unprepare",
    "read",
    "annotate",
    "annotate_into",
    "strip",
    "doctor",
    "index",
    "search",
    "report",
    "duplicates",
    "gate",
    "mark",
    "unmark",
    "explain",
    "evaluate",
    "delete",
    "signatures",
    "tune",
    "reband",
    "solve",
    "jaccard",
    "containment",
    "decode",
    "read_pairs",
    "write_pairs",
    "write_duplicates",
    "probability",
    "Access",
    "AnnotateSummary",
    "Chosen",
    "Cluster",
    "CoreMissing",
    "Criteria",
    "Decision",
    "Demand",
    "Diagnosis",
    "Document",
    "DocumentNotFound",
    "Duplicate",
    "Duplicates",
    "Entry",
    "Estimate",
    "Evaluation",
    "Explanation",
    "Finding",
    "Gating",
    "Grouping",
    "IndexSummary",
    "Limits",
    "Lint",
    "Marks",
    "Match",
    "Member",
    "Names",
    "NeardupError",
    "Pace",
    "Pair",
    "Plan",
    "Policy",
    "Preparation",
    "Progress",
    "Reading",
    "RecordError",
    "Report",
    "Sampling",
    "SchemaError",
    "Sending",
    "ServerError",
    "Settings",
    "SettingsError",
    "SignaturesSummary",
    "Solr",
    "SolrAnswerError",
    "SolrError",
    "SolrUnauthorized",
    "SolrUnreachable",
    "SourceError",
    "StripSummary",
    "Tuning",
    "Verifying",
    "Working",
]


def __getattr__(name: str) -> object:
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'neardup_solr' has no attribute {name!r}")
    return getattr(import_module(f"neardup_solr.{_PLACE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
