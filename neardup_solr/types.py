"""Types of arguments and results, for annotations: `nd.types.Way`, `nd.types.Tuning`.

Classes that a program makes or catches, and the results that it handles most, are `nd`'s own.
"""

from importlib import import_module

# The names by their modules, see __init__.py.
_MODULES = {
    "answers": "Answer",
    "argument_types": "Action By FieldKind Judgement Linkage MeasureName PairMeasure Way",
    "dead_letter_file": "Letter",
    "minhash.band_plans": "Tuning",
    "progress": "OnError OnProgress Progress",
    "records": "Member Passage",
    "sources": "SourceLike",
    "verbs.annotate.summary": "AnnotateSummary StripSummary",
    "verbs.retry": "RetrySummary",
    "verbs.duplicates.request": "Compared",
    "verbs.tune.training": "Training",
    "verbs.doctor": "Diagnosis",
    "verbs.explain.explanation": "Explanation",
    "verbs.gate.decisions": "Decisions",
    "verbs.index_run": "IndexSummary",
    "verbs.init": "Preparation",
    "verbs.lint": "Lint",
    "verbs.mark": "Marks",
    "verbs.review.session": "Reviewed",
    "verbs.signatures": "SignaturesSummary",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = list(_PLACES)


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'neardup_solr.types' has no attribute {name!r}")
    return getattr(import_module(f"neardup_solr.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
