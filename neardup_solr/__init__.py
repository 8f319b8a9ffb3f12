"""Near-duplicate text detection for Apache Solr.

    import neardup_solr as nd

    found = nd.duplicates("ads.jsonl", measure="jaccard", min_similarity=0.6)  # without any Solr
    ads = nd.connect("http://localhost:8983/solr", "ads")
    nd.index("ads.jsonl", ads)
    nd.search(ads, text="Chef wanted in Berlin")

The words of the command `neardup` are the library's functions, and its options their arguments:

    a file, or a DataFrame    duplicates, signatures, read, tune, solve
    a collection in Solr      connect, init, index, search, report, duplicates, gate, delete
    what failed in index      dead_letters, retry
    one that was there        lint, init, annotate, doctor, strip
    a closer look             explain, evaluate, mark, unmark, reband
    numbers of signatures     decode, jaccard, containment

`help(neardup_solr.duplicates)` shows what each of them takes, gives and raises. Whatever goes wrong
raises a NeardupError that says what to do next. What is logged goes to the logger "neardup_solr".
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
        JobError,
        NeardupError,
        RecordError,
        SchemaError,
        ServerError,
        SettingsError,
        SolrAnswerError,
        SolrError,
        SolrHalted,
        SolrUnauthorized,
        SolrUnreachable,
        SourceError,
    )
    from neardup_solr.jobs import Letter
    from neardup_solr.minhash.plans import Tuning
    from neardup_solr.minhash.signature import decode
    from neardup_solr.minhash.statistics import containment, jaccard
    from neardup_solr.progress import Progress
    from neardup_solr.records import Cluster, Document, Duplicate, Match, Pair
    from neardup_solr.settings import Settings
    from neardup_solr.solr.collection import Collection
    from neardup_solr.sources.pairs import read_pairs
    from neardup_solr.verbs.annotate import AnnotateSummary, annotate
    from neardup_solr.verbs.connect import connect
    from neardup_solr.verbs.dead_letters import RetrySummary, dead_letters, retry
    from neardup_solr.verbs.delete import delete
    from neardup_solr.verbs.doctor import Diagnosis, doctor
    from neardup_solr.verbs.duplicates import Duplicates, duplicates
    from neardup_solr.verbs.evaluate import Evaluation, evaluate
    from neardup_solr.verbs.explain import explain
    from neardup_solr.verbs.explain.verdict import Explanation
    from neardup_solr.verbs.gate import gate
    from neardup_solr.verbs.gate.policy import Decision
    from neardup_solr.verbs.index import IndexSummary, index
    from neardup_solr.verbs.init import Preparation, init
    from neardup_solr.verbs.lint import Lint, lint
    from neardup_solr.verbs.mark import Marks, mark, unmark
    from neardup_solr.verbs.read import read
    from neardup_solr.verbs.reband import reband
    from neardup_solr.verbs.report import Report, report
    from neardup_solr.verbs.search import search
    from neardup_solr.verbs.signatures import SignaturesSummary, signatures
    from neardup_solr.verbs.strip import StripSummary, strip
    from neardup_solr.verbs.tune import solve, tune

# Everything public is imported on first use, so that importing the package costs nothing.
_PLACES = {
    "errors": (
        "ArgumentError",
        "CoreMissing",
        "DocumentNotFound",
        "JobError",
        "NeardupError",
        "RecordError",
        "SchemaError",
        "ServerError",
        "SettingsError",
        "SolrAnswerError",
        "SolrError",
        "SolrHalted",
        "SolrUnauthorized",
        "SolrUnreachable",
        "SourceError",
    ),
    "jobs": ("Letter",),
    "minhash.plans": ("Tuning",),
    "minhash.signature": ("decode",),
    "minhash.statistics": (
        "containment",
        "jaccard",
    ),
    "progress": ("Progress",),
    "records": (
        "Cluster",
        "Document",
        "Duplicate",
        "Match",
        "Pair",
    ),
    "settings": ("Settings",),
    "solr.collection": ("Collection",),
    "sources.pairs": ("read_pairs",),
    "verbs.annotate": (
        "AnnotateSummary",
        "annotate",
    ),
    "verbs.connect": ("connect",),
    "verbs.dead_letters": (
        "RetrySummary",
        "dead_letters",
        "retry",
    ),
    "verbs.delete": ("delete",),
    "verbs.doctor": (
        "Diagnosis",
        "doctor",
    ),
    "verbs.duplicates": (
        "Duplicates",
        "duplicates",
    ),
    "verbs.evaluate": (
        "Evaluation",
        "evaluate",
    ),
    "verbs.explain": ("explain",),
    "verbs.explain.verdict": ("Explanation",),
    "verbs.gate": ("gate",),
    "verbs.gate.policy": ("Decision",),
    "verbs.index": (
        "IndexSummary",
        "index",
    ),
    "verbs.init": (
        "Preparation",
        "init",
    ),
    "verbs.lint": (
        "Lint",
        "lint",
    ),
    "verbs.mark": (
        "Marks",
        "mark",
        "unmark",
    ),
    "verbs.read": ("read",),
    "verbs.reband": ("reband",),
    "verbs.report": (
        "Report",
        "report",
    ),
    "verbs.search": ("search",),
    "verbs.signatures": (
        "SignaturesSummary",
        "signatures",
    ),
    "verbs.strip": (
        "StripSummary",
        "strip",
    ),
    "verbs.tune": (
        "solve",
        "tune",
    ),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [  # noqa: RUF022 - in the order in which they are used
    "connect",
    "init",
    "lint",
    "doctor",
    "read",
    "index",
    "search",
    "report",
    "duplicates",
    "gate",
    "explain",
    "evaluate",
    "mark",
    "unmark",
    "annotate",
    "strip",
    "delete",
    "dead_letters",
    "retry",
    "tune",
    "solve",
    "reband",
    "signatures",
    "decode",
    "jaccard",
    "containment",
    "read_pairs",
    "Collection",
    "Settings",
    "Document",
    "AnnotateSummary",
    "Cluster",
    "Decision",
    "Diagnosis",
    "Duplicate",
    "Duplicates",
    "Evaluation",
    "Explanation",
    "IndexSummary",
    "Letter",
    "Lint",
    "Marks",
    "Match",
    "Pair",
    "Preparation",
    "Progress",
    "Report",
    "RetrySummary",
    "SignaturesSummary",
    "StripSummary",
    "Tuning",
    "NeardupError",
    "ArgumentError",
    "CoreMissing",
    "DocumentNotFound",
    "JobError",
    "RecordError",
    "SchemaError",
    "ServerError",
    "SettingsError",
    "SolrAnswerError",
    "SolrError",
    "SolrHalted",
    "SolrUnauthorized",
    "SolrUnreachable",
    "SourceError",
]


if not TYPE_CHECKING:  # so that type checkers know which names there are

    def __getattr__(name: str) -> object:
        if name not in _PLACE_OF:
            raise AttributeError(f"module 'neardup_solr' has no attribute {name!r}")
        return getattr(import_module(f"neardup_solr.{_PLACE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
