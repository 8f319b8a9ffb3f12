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
    from neardup_solr.errors import (
        ArgumentError,
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
    from neardup_solr.measures import Limits
    from neardup_solr.minhash.bands import probability
    from neardup_solr.minhash.plans import Demand, Plan, Tuning, solve
    from neardup_solr.minhash.signature import decode
    from neardup_solr.minhash.statistics import Estimate, containment, jaccard
    from neardup_solr.progress import Progress, Watching
    from neardup_solr.records import Cluster, Document, Duplicate, Entry, Match, Member, Pair
    from neardup_solr.reports.rows import write_pairs
    from neardup_solr.settings import Settings
    from neardup_solr.solr.collection import Collection
    from neardup_solr.solr.names import Names
    from neardup_solr.solr.session import Access
    from neardup_solr.sources import Reading, read
    from neardup_solr.sources.pairs import read_pairs
    from neardup_solr.verbs.annotate import AnnotateSummary, annotate, annotate_into
    from neardup_solr.verbs.annotate.rewrite import Pace
    from neardup_solr.verbs.connect import connect
    from neardup_solr.verbs.delete import delete
    from neardup_solr.verbs.doctor import Diagnosis, doctor
    from neardup_solr.verbs.duplicates import (
        Duplicates,
        Grouping,
        Verifying,
        Working,
        duplicates,
        write_duplicates,
    )
    from neardup_solr.verbs.evaluate import Evaluation, evaluate
    from neardup_solr.verbs.explain import explain
    from neardup_solr.verbs.explain.verdict import Explanation
    from neardup_solr.verbs.gate import Gating, gate
    from neardup_solr.verbs.gate.policy import Decision, Policy
    from neardup_solr.verbs.index import IndexSummary, Sending, index
    from neardup_solr.verbs.init import Preparation, init, prepare, unprepare
    from neardup_solr.verbs.lint import Lint, lint
    from neardup_solr.verbs.lint.rules import Finding
    from neardup_solr.verbs.mark import Marks, mark, unmark
    from neardup_solr.verbs.reband import reband
    from neardup_solr.verbs.report import Chosen, Report, report
    from neardup_solr.verbs.search import Criteria, search
    from neardup_solr.verbs.signatures import SignaturesSummary, signatures
    from neardup_solr.verbs.strip import StripSummary, strip
    from neardup_solr.verbs.tune import Sampling, tune

_PLACES = {
    "progress": ("Progress", "Watching"),
    "solr.session": ("Access",),
    "solr.collection": ("Collection",),
    "sources.pairs": ("read_pairs",),
    "reports.rows": ("write_pairs",),
    "sources": ("Reading", "read"),
    "minhash.bands": ("probability",),
    "settings": ("Settings",),
    "errors": (
        "ArgumentError",
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
    "minhash.statistics": ("Estimate", "containment", "jaccard"),
    "verbs.evaluate": ("Evaluation", "evaluate"),
    "verbs.explain.verdict": ("Explanation",),
    "verbs.lint.rules": ("Finding",),
    "records": ("Cluster", "Document", "Duplicate", "Entry", "Match", "Member", "Pair"),
    "minhash.signature": ("decode",),
    "solr.names": ("Names",),
    "verbs.gate.policy": ("Decision", "Policy"),
    "measures": ("Limits",),
    "minhash.plans": ("Demand", "Plan", "Tuning", "solve"),
    "verbs.annotate": ("AnnotateSummary", "annotate", "annotate_into"),
    "verbs.connect": ("connect",),
    "verbs.delete": ("delete",),
    "verbs.doctor": ("Diagnosis", "doctor"),
    "verbs.duplicates": (
        "Duplicates",
        "Grouping",
        "Verifying",
        "Working",
        "duplicates",
        "write_duplicates",
    ),
    "verbs.explain": ("explain",),
    "verbs.signatures": ("SignaturesSummary", "signatures"),
    "verbs.gate": ("Gating", "gate"),
    "verbs.index": ("IndexSummary", "Sending", "index"),
    "verbs.lint": ("Lint", "lint"),
    "verbs.mark": ("Marks", "mark", "unmark"),
    "verbs.init": ("Preparation", "init", "prepare", "unprepare"),
    "verbs.reband": ("reband",),
    "verbs.report": ("Chosen", "Report", "report"),
    "verbs.annotate.rewrite": ("Pace",),
    "verbs.search": ("Criteria", "search"),
    "verbs.strip": ("StripSummary", "strip"),
    "verbs.tune": ("Sampling", "tune"),
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
    "ArgumentError",
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
    "Collection",
    "SolrAnswerError",
    "SolrError",
    "SolrUnauthorized",
    "SolrUnreachable",
    "SourceError",
    "StripSummary",
    "Tuning",
    "Verifying",
    "Watching",
    "Working",
]


if not TYPE_CHECKING:  # so that type checkers know which names there are

    def __getattr__(name: str) -> object:
        if name not in _PLACE_OF:
            raise AttributeError(f"module 'neardup_solr' has no attribute {name!r}")
        return getattr(import_module(f"neardup_solr.{_PLACE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
