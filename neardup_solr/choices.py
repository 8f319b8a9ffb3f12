"""The words that arguments and options may be.

They are types, so that mypy, editors and the parser of the command know them.
"""

from __future__ import annotations

from typing import Literal

Kind = Literal["words", "chars", "stops", "stems"]  # what shingles are made of
Family = Literal["affine", "xor"]  # of hashes
MeasureName = Literal["words", "jaccard", "containment", "aligned", "estimate"]
# What the candidates of a search share with the text.
By = Literal["shingles", "bands", "signatures", "profile", "md5"]
Same = Literal["first_word", "md5_hash"]  # fields that have to be equal
# How the candidates of a whole collection are found.
Way = Literal["bands", "shingles", "words", "all"]
Per = Literal["similarity", "pair"]
Linkage = Literal["single", "complete"]
Action = Literal["allow", "tag", "hold", "reject"]  # of the gate, the mildest first
Which = Literal["needed", "missing", "all"]  # of the documents to annotate
OnRepeat = Literal["last", "first", "fail"]  # which record counts if an id comes again
OnRepeatOrKeep = Literal["keep", "last", "first", "fail"]  # where each may count
TableOf = Literal["pairs", "clusters"]  # what a table of duplicates has a row for
RowFormat = Literal["table", "tsv", "csv", "jsonl"]
TableOrJson = Literal["table", "json"]
