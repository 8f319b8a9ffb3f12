"""Near-duplicate text detection for Apache Solr.

    import neardup_solr as nd

    found = nd.duplicates("ads.jsonl", measure="jaccard", min_similarity=0.6)  # without any Solr
    ads = nd.connect("http://localhost:8983/solr", "ads")
    nd.index("ads.jsonl", ads)
    nd.search(ads, text="Chef wanted in Berlin")

The words of the command `neardup` are the library's functions, and its options their arguments:

    a file, or a DataFrame    duplicates, signatures, read, tune
    a collection in Solr      connect, init, index, search, report, duplicates, gate, delete
    what failed in index      dead_letters, retry
    one that was there        lint, init, annotate, doctor, strip
    what people say           answer, import_answers, list_answers
    a closer look             explain, evaluate, mark, unmark, reband
    numbers of signatures     decode, estimate_jaccard

`help(neardup_solr.duplicates)` shows what each of them takes, gives and raises. Whatever goes wrong
raises a NeardupError that says what to do next. `nd.types` names the types of what they take and
give, for annotations. What is logged goes to the logger "neardup_solr".
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

# The public names by the module that has them: imported on first use, so that importing the package
# costs nothing. `scripts/stub` writes them to __init__.pyi for type checkers and editors.
_MODULES = {
    "verbs.connect": "connect",
    "verbs.init": "init Preparation",
    "verbs.lint": "lint Lint",
    "verbs.doctor": "doctor Diagnosis",
    "verbs.read": "read",
    "verbs.index": "index IndexSummary",
    "verbs.search": "search",
    "verbs.report": "report Report",
    "verbs.duplicates": "duplicates Duplicates",
    "verbs.review": "review",
    "verbs.gate": "gate",
    "verbs.serve": "serve",
    "verbs.explain": "explain",
    "verbs.answer": "answer import_answers list_answers AnswerList Noted",
    "verbs.evaluate": "evaluate Evaluation",
    "verbs.mark": "mark unmark Marks",
    "verbs.annotate": "annotate strip AnnotateSummary StripSummary",
    "verbs.delete": "delete",
    "verbs.dead_letters": "dead_letters retry RetrySummary",
    "verbs.tune": "tune",
    "verbs.reband": "reband",
    "verbs.signatures": "signatures SignaturesSummary",
    "minhash.signature": "decode estimate_jaccard",
    "sources.pairs": "read_pairs",
    "arguments": "Source",
    "solr.collection": "Collection",
    "settings": "Settings",
    "records": "Document Cluster Duplicate Match Pair",
    "answers": "Answer",
    "verbs.gate.policy": "Decision",
    "verbs.explain.verdict": "Explanation",
    "checkpoint": "Letter",
    "progress": "Progress",
    "minhash.plans": "Tuning",
    "errors": (
        "NeardupError ArgumentError CoreMissing DocumentNotFound JobError RecordError "
        "SchemaError ServerError SettingsError SolrAnswerError SolrError SolrHalted "
        "SolrUnauthorized SolrUnreachable SourceError TemplateError"
    ),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = list(_PLACES)


def __getattr__(name: str) -> object:
    if name == "types":
        return import_module("neardup_solr.types")
    if name not in _PLACES:
        raise AttributeError(f"module 'neardup_solr' has no attribute {name!r}")
    return getattr(import_module(f"neardup_solr.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "types"})
