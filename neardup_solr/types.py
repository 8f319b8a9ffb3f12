"""The types of what the library takes and gives, for annotations: `nd.types.Member`.

Classes that a program makes or catches, such as Settings and SourceError, are `nd`'s own.
"""

from importlib import import_module

# The names by the module that has them, see __init__.py.
_MODULES = {
    "answers": "Answered DocumentKey",
    "arguments": (
        "Action By Family Frame Id Judgement Kind Linkage MeasureName OneOrMore OnRepeat "
        "OnRepeatOrKeep PairMeasure Per StoredMeasure TableOf Way Which"
    ),
    "measures": "Limits",
    "measures.aligned": "Aligned",
    "measures.arrays": "Frequencies",
    "measures.equality": "Equality",
    "measures.fields": "Evidence FieldKind Weight Weights",
    "measures.model": "Model",
    "minhash.plans": "Choice Demand Plan",
    "minhash.sign": "Signature",
    "minhash.signature": "Estimate Values",
    "progress": "OnError OnProgress",
    "records": "AnyId Borderline Entry Member Removed",
    "reports.tables": "Columns",
    "solr.credentials": "Connection",
    "solr.names": "Names",
    "sources": "SourceLike",
    "templates": "Template",
    "text.diff": "Change Words",
    "verbs.duplicates.clean_file": "Unique",
    "verbs.duplicates.inputs": "Compared",
    "verbs.duplicates.previous_run": "Changes",
    "verbs.duplicates.training": "Influence Training",
    "verbs.evaluate": "KnownPairs Point SomePairs Sweep",
    "verbs.evaluate.answers": "AnswerSheet IdPair Share",
    "verbs.explain.facts": "Facts Measured Route Subject",
    "verbs.gate.policy": "Decisions",
    "verbs.lint.growth": "Growth",
    "verbs.lint.rules": "Finding",
    "verbs.review": "Reviewed",
    "verbs.review.questions": "Tally",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = list(_PLACES)


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'neardup_solr.types' has no attribute {name!r}")
    return getattr(import_module(f"neardup_solr.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
