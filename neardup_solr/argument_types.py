"""Types of arguments and options: the words that each may be, and what takes several forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, runtime_checkable

# Mypy, editors and the parser know them.
Kind = Literal["words", "chars", "stops", "stems"]  # what shingles are made of
Family = Literal["affine", "xor"]  # of hashes
MeasureName = Literal[
    "auto", "words", "jaccard", "containment", "passages", "aligned", "records", "estimate"
]
# What a collection keeps as its own.
StoredMeasure = Literal["words", "jaccard", "containment", "aligned", "records"]
# What pairs of `duplicates` may be compared by, too: records by their fields.
PairMeasure = Literal[
    "auto",
    "words",
    "jaccard",
    "containment",
    "passages",
    "aligned",
    "records",
    "estimate",
    "fields",
    "model",
]
# What the candidates of a search share with the text.
By = Literal["shingles", "bands", "signatures", "profile", "md5"]
# How the candidates of a whole collection are found.
Way = Literal["bands", "shingles", "passages", "words", "all"]
Per = Literal["similarity", "pair"]
Linkage = Literal["single", "complete", "mutual_best"]
Action = Literal["allow", "tag", "hold", "reject"]  # of the gate, the mildest first
Which = Literal["needed", "missing", "all"]  # of the documents to annotate
OnRepeat = Literal["keep", "last", "first", "fail"]  # which record counts if an id comes again
Judgement = Literal["same", "different", "unsure"]  # of a pair, by a person
TableOf = Literal["pairs", "clusters"]  # what a table of duplicates has a row for
ChartOf = Literal["similarities", "clusters", "weights"]  # what a chart of duplicates shows
FieldKind = Literal["text", "exact", "number", "date"]  # how the values of a field are compared
RowFormat = Literal["table", "tsv", "csv", "jsonl"]
TableOrJson = Literal["table", "json"]
OneOrMore = str | Sequence[str]  # one, or several of them
Id = str | int  # a whole number is taken as its text


@runtime_checkable
class Frame(Protocol):
    """A pandas or polars DataFrame."""

    def to_numpy(self) -> Any:
        """Its rows as an array."""
