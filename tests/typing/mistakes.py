"""Mistakes that a type checker finds in a user's program: one a line, with the code of its error.

The comments keep the check of this project quiet, and it fails if one of them is not needed.
tests/test_build.py takes them away, and expects these errors from the installed wheel.
"""

from __future__ import annotations

import neardup_solr as nd

books = nd.connect(8983)  # type: ignore[arg-type]
nd.search(books, id=12)  # type: ignore[arg-type]
nd.search("books", id="12")  # type: ignore[arg-type]
nd.search(books, identifier="12")  # type: ignore[call-arg]
print(nd.search(books, id="12").pairs)  # type: ignore[attr-defined]
nd.report(books).pairs[0].id = "13"  # type: ignore[misc]
nd.decode(b"AAAA")  # type: ignore[arg-type]
nd.read_pairs(None)  # type: ignore[arg-type]
nd.jaccard(nd.decode("AAAA"), [1])  # type: ignore[arg-type]
nd.Settings(shingle_size="5")  # type: ignore[arg-type]
nd.Pair(id="1", other_id="2", similarity=1.0)  # type: ignore[call-arg]
nd.find_everything(books)  # type: ignore[attr-defined]
