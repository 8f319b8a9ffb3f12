"""Near-duplicate text detection for Apache Solr.

    import neardup_solr as nd

    result = nd.duplicates("ads.jsonl", measure="jaccard", min_similarity=0.6)  # without any Solr
    ads = nd.connect("http://localhost:8983/solr", "ads")
    nd.index("ads.jsonl", ads)
    nd.search(ads, text="Chef wanted in Berlin")

The words of the command `neardup` are the library's functions, and its options their arguments:

    a file, or a DataFrame    duplicates, passages, signatures, read, tune
    a collection in Solr      connect, init, index, search, report, duplicates, gate, delete
    what failed in index      dead_letters, retry
    another program's         lint, init, annotate, doctor, strip
    what people say           answer, Answers, review
    a closer look             explain, evaluate, mark, reband

`help(neardup_solr.duplicates)` shows what each of them takes, returns and raises. Whatever goes
wrong raises a NeardupError that says what to do next. `nd.types` names the types of arguments and
results, for annotations, `nd.errors` has all errors, `nd.signature` compares signatures. What is
logged goes to the logger "neardup_solr".
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

# The public names by their modules, which are imported on first use, so that importing the package
# costs nothing. `scripts/stub` writes them to __init__.pyi for type checkers and editors.
_MODULES = {
    "arguments": "Source",
    "errors": (
        "NeardupError ArgumentError CoreMissing RecordError SettingsError SolrError SolrHalted "
        "SolrUnreachable SourceError"
    ),
    "records": "Document Cluster Duplicate Match Pair",
    "settings": "Settings",
    "solr.collection": "Collection",
    "verbs.answer": "Answers",
    "verbs.duplicates.result": "Duplicates",
    "verbs.evaluate.evaluation": "Evaluation",
    "verbs.gate.decision": "Decision",
    "verbs.passages.result": "Passages",
    "verbs.report": "Report",
}
_SUBMODULES = {"errors": "errors", "signature": "minhash.signature", "types": "types"}
_FUNCTIONS = (
    "connect init lint doctor read index delete dead_letters retry search report duplicates "
    "passages review answer evaluate mark explain tune signatures gate serve annotate strip reband"
)
_PLACES = {name: f"api.{name}" for name in _FUNCTIONS.split()}
_PLACES |= {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = list(_PLACES)


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return import_module(f"neardup_solr.{_SUBMODULES[name]}")
    if name in _PLACES:
        return getattr(import_module(f"neardup_solr.{_PLACES[name]}"), name)
    from importlib.util import find_spec

    if name[0] != "_" and find_spec(f"neardup_solr.{name}"):
        # `from neardup_solr import` asks for a module first, which needs no advice.
        raise AttributeError(f"module 'neardup_solr' has no attribute {name!r}")
    modules = ("errors", "types") if name[0].isupper() else ()
    place = next((each for each in modules if hasattr(__getattr__(each), name)), None)
    from neardup_solr.suggestions import suggest

    near = (
        "" if name[0] == "_" else suggest(name, "commands", {each: f"'{each}'" for each in __all__})
    )
    moved = f"; it is now nd.{place}.{name}" if place else f"; {near}" if near else ""
    raise AttributeError(f"module 'neardup_solr' has no attribute {name!r}{moved}")


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name[0] == "_"), *__all__, *_SUBMODULES})
