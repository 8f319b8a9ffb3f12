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
    what people say           answer, import_answers, list_answers
    a closer look             explain, evaluate, mark, unmark, reband
    numbers of signatures     decode, estimate_jaccard, estimate_containment

`help(neardup_solr.duplicates)` shows what each of them takes, gives and raises. Whatever goes wrong
raises a NeardupError that says what to do next. `nd.types` names the types of what they take and
give, for annotations. What is logged goes to the logger "neardup_solr".
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# What is public, in the order in which it is used, and the module that has it: imported on first
# use, so that importing the package costs nothing.
_PLACES = {
    "connect": "verbs.connect",
    "init": "verbs.init",
    "lint": "verbs.lint",
    "doctor": "verbs.doctor",
    "read": "verbs.read",
    "index": "verbs.index",
    "search": "verbs.search",
    "report": "verbs.report",
    "duplicates": "verbs.duplicates",
    "review": "verbs.review",
    "gate": "verbs.gate",
    "serve": "verbs.serve",
    "explain": "verbs.explain",
    "answer": "verbs.answer",
    "import_answers": "verbs.answer",
    "list_answers": "verbs.answer",
    "evaluate": "verbs.evaluate",
    "mark": "verbs.mark",
    "unmark": "verbs.mark",
    "annotate": "verbs.annotate",
    "strip": "verbs.strip",
    "delete": "verbs.delete",
    "dead_letters": "verbs.dead_letters",
    "retry": "verbs.dead_letters",
    "tune": "verbs.tune",
    "solve": "verbs.tune",
    "reband": "verbs.reband",
    "signatures": "verbs.signatures",
    "decode": "minhash.signature",
    "estimate_jaccard": "minhash.signature",
    "estimate_containment": "minhash.signature",
    "read_pairs": "sources.pairs",
    "Source": "arguments",
    "Collection": "solr.collection",
    "Settings": "settings",
    "Document": "records",
    "AnnotateSummary": "verbs.annotate",
    "Answer": "answers",
    "AnswerList": "verbs.answer",
    "Cluster": "records",
    "Decision": "verbs.gate.policy",
    "Diagnosis": "verbs.doctor",
    "Duplicate": "records",
    "Duplicates": "verbs.duplicates",
    "Evaluation": "verbs.evaluate",
    "Explanation": "verbs.explain.verdict",
    "IndexSummary": "verbs.index",
    "Letter": "checkpoint",
    "Lint": "verbs.lint",
    "Marks": "verbs.mark",
    "Match": "records",
    "Pair": "records",
    "Preparation": "verbs.init",
    "Progress": "progress",
    "Report": "verbs.report",
    "RetrySummary": "verbs.dead_letters",
    "SignaturesSummary": "verbs.signatures",
    "StripSummary": "verbs.strip",
    "Tuning": "minhash.plans",
    "Noted": "verbs.answer",
    "NeardupError": "errors",
    "ArgumentError": "errors",
    "CoreMissing": "errors",
    "DocumentNotFound": "errors",
    "JobError": "errors",
    "RecordError": "errors",
    "SchemaError": "errors",
    "ServerError": "errors",
    "SettingsError": "errors",
    "SolrAnswerError": "errors",
    "SolrError": "errors",
    "SolrHalted": "errors",
    "SolrUnauthorized": "errors",
    "SolrUnreachable": "errors",
    "SourceError": "errors",
    "TemplateError": "errors",
}
__all__ = list(_PLACES)

if TYPE_CHECKING:  # the same, for type checkers; tests/test_docs.py compares the two
    from neardup_solr import types as types
    from neardup_solr.answers import Answer as Answer
    from neardup_solr.arguments import Source as Source
    from neardup_solr.checkpoint import Letter as Letter
    from neardup_solr.errors import ArgumentError as ArgumentError
    from neardup_solr.errors import CoreMissing as CoreMissing
    from neardup_solr.errors import DocumentNotFound as DocumentNotFound
    from neardup_solr.errors import JobError as JobError
    from neardup_solr.errors import NeardupError as NeardupError
    from neardup_solr.errors import RecordError as RecordError
    from neardup_solr.errors import SchemaError as SchemaError
    from neardup_solr.errors import ServerError as ServerError
    from neardup_solr.errors import SettingsError as SettingsError
    from neardup_solr.errors import SolrAnswerError as SolrAnswerError
    from neardup_solr.errors import SolrError as SolrError
    from neardup_solr.errors import SolrHalted as SolrHalted
    from neardup_solr.errors import SolrUnauthorized as SolrUnauthorized
    from neardup_solr.errors import SolrUnreachable as SolrUnreachable
    from neardup_solr.errors import SourceError as SourceError
    from neardup_solr.errors import TemplateError as TemplateError
    from neardup_solr.minhash.plans import Tuning as Tuning
    from neardup_solr.minhash.signature import decode as decode
    from neardup_solr.minhash.signature import estimate_containment as estimate_containment
    from neardup_solr.minhash.signature import estimate_jaccard as estimate_jaccard
    from neardup_solr.progress import Progress as Progress
    from neardup_solr.records import Cluster as Cluster
    from neardup_solr.records import Document as Document
    from neardup_solr.records import Duplicate as Duplicate
    from neardup_solr.records import Match as Match
    from neardup_solr.records import Pair as Pair
    from neardup_solr.settings import Settings as Settings
    from neardup_solr.solr.collection import Collection as Collection
    from neardup_solr.sources.pairs import read_pairs as read_pairs
    from neardup_solr.verbs.annotate import AnnotateSummary as AnnotateSummary
    from neardup_solr.verbs.annotate import annotate as annotate
    from neardup_solr.verbs.answer import AnswerList as AnswerList
    from neardup_solr.verbs.answer import Noted as Noted
    from neardup_solr.verbs.answer import answer as answer
    from neardup_solr.verbs.answer import import_answers as import_answers
    from neardup_solr.verbs.answer import list_answers as list_answers
    from neardup_solr.verbs.connect import connect as connect
    from neardup_solr.verbs.dead_letters import RetrySummary as RetrySummary
    from neardup_solr.verbs.dead_letters import dead_letters as dead_letters
    from neardup_solr.verbs.dead_letters import retry as retry
    from neardup_solr.verbs.delete import delete as delete
    from neardup_solr.verbs.doctor import Diagnosis as Diagnosis
    from neardup_solr.verbs.doctor import doctor as doctor
    from neardup_solr.verbs.duplicates import Duplicates as Duplicates
    from neardup_solr.verbs.duplicates import duplicates as duplicates
    from neardup_solr.verbs.evaluate import Evaluation as Evaluation
    from neardup_solr.verbs.evaluate import evaluate as evaluate
    from neardup_solr.verbs.explain import explain as explain
    from neardup_solr.verbs.explain.verdict import Explanation as Explanation
    from neardup_solr.verbs.gate import gate as gate
    from neardup_solr.verbs.gate.policy import Decision as Decision
    from neardup_solr.verbs.index import IndexSummary as IndexSummary
    from neardup_solr.verbs.index import index as index
    from neardup_solr.verbs.init import Preparation as Preparation
    from neardup_solr.verbs.init import init as init
    from neardup_solr.verbs.lint import Lint as Lint
    from neardup_solr.verbs.lint import lint as lint
    from neardup_solr.verbs.mark import Marks as Marks
    from neardup_solr.verbs.mark import mark as mark
    from neardup_solr.verbs.mark import unmark as unmark
    from neardup_solr.verbs.read import read as read
    from neardup_solr.verbs.reband import reband as reband
    from neardup_solr.verbs.report import Report as Report
    from neardup_solr.verbs.report import report as report
    from neardup_solr.verbs.review import review as review
    from neardup_solr.verbs.search import search as search
    from neardup_solr.verbs.serve import serve as serve
    from neardup_solr.verbs.signatures import SignaturesSummary as SignaturesSummary
    from neardup_solr.verbs.signatures import signatures as signatures
    from neardup_solr.verbs.strip import StripSummary as StripSummary
    from neardup_solr.verbs.strip import strip as strip
    from neardup_solr.verbs.tune import solve as solve
    from neardup_solr.verbs.tune import tune as tune
else:

    def __getattr__(name: str) -> object:
        if name == "types":
            return import_module("neardup_solr.types")
        if name not in _PLACES:
            raise AttributeError(f"module 'neardup_solr' has no attribute {name!r}")
        return getattr(import_module(f"neardup_solr.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "types"})
