"""Mistakes that a type checker finds in a user's program: one a line, with the code of its error.

The comments keep the check of this project quiet, and it fails if one of them is not needed.
tests/test_build.py takes them away, and expects these errors from the installed wheel.
"""

from __future__ import annotations

import neardup_solr as nd
from neardup_solr.sources import read_pairs

ads = nd.connect(8983)  # type: ignore[arg-type]
nd.duplicates("ads.jsonl", measure="cosine")  # type: ignore[arg-type]
nd.duplicates("ads.jsonl", fields={"name": "txt"})  # type: ignore[dict-item]
nd.duplicates("ads.jsonl").plot("pairs")  # type: ignore[arg-type]
nd.duplicates("ads.jsonl", min_similarity="0.6")  # type: ignore[arg-type]
nd.duplicates("ads.jsonl", linkage=nd.Cluster)  # type: ignore[arg-type]
nd.duplicates("ads.jsonl", similarity=0.6)  # type: ignore[call-arg]
nd.duplicates(None)  # type: ignore[arg-type]
nd.index("ads.jsonl")  # type: ignore[call-arg]
nd.index("ads.jsonl", "ads")  # type: ignore[arg-type]
nd.search(ads, id=1.5)  # type: ignore[arg-type]
nd.search("ads", id="12")  # type: ignore[arg-type]
nd.search(ads, id="12", by="band")  # type: ignore[arg-type]
print(nd.search(ads, id="12").pairs)  # type: ignore[attr-defined]
nd.report(ads, max_distance=1.5)  # type: ignore[arg-type]
nd.report(ads).pairs[0].id = "13"  # type: ignore[misc]
nd.gate("new.jsonl", ads, exact="drop")  # type: ignore[arg-type]
nd.explain(ads, "12")  # type: ignore[call-arg]
nd.signature.decode(b"AAAA")  # type: ignore[arg-type]
read_pairs(None)  # type: ignore[arg-type]
nd.signature.estimate_jaccard(nd.signature.decode("AAAA"), [1])  # type: ignore[arg-type]
nd.Settings(shingle_size="5")  # type: ignore[arg-type]
nd.Settings(kind="letters")  # type: ignore[arg-type]
nd.Pair(id="1", other_id="2", similarity=1.0)  # type: ignore[call-arg]
nd.find_everything(ads)  # type: ignore[attr-defined]
