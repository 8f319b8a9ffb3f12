"""Candidates by the draw of the hash functions: what peers with other ones can agree in.

Documents that share a boilerplate sentence share or miss a band together: its key is either drawn
from that sentence in all of them or in none. So their number of candidates is a matter of luck.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lib import contenders, results
from lib.corpus import corpus
from neardup_solr.candidates import Joining
from neardup_solr.candidates.by_band import band_candidates
from neardup_solr.minhash.sign import sign
from neardup_solr.settings import CAP, Settings

if TYPE_CHECKING:
    from lib.wholes import Task

SEEDS = (42, *range(1, 10))
UNCAPPED = 24_000  # documents of one band key: more than any has here
AT_ONCE = 20_000  # documents whose signatures gaoya gives as Python lists
CORPORA = {"with boilerplate": True, "without": False}


def work(task: Task) -> dict[str, Any]:
    """Candidates of both corpora, by our hashes of ten seeds and by gaoya's of its one."""
    found: dict[str, Any] = {"documents": task.documents}
    for name, boilerplate in CORPORA.items():
        texts = corpus(task.documents, 1, boilerplate=boilerplate).documents
        counts = {"gaoya": _counts(_gaoyas(texts, task.cores), Settings(hashes=126), task.cores)}
        for seed in SEEDS:
            settings = Settings(seed=seed)
            signed = sign(texts, settings, threads=task.cores)
            counts[f"seed {seed}"] = _counts(signed.signatures, settings, task.cores)
        found[name] = counts
    return found


def _gaoyas(texts: Sequence[str], cores: int) -> NDArray[np.uint32]:
    parts = (texts[at : at + AT_ONCE] for at in range(0, len(texts), AT_ONCE))
    made = (np.array(contenders.gaoya(list(part), cores), dtype=np.uint32) for part in parts)
    return np.concatenate(list(made))


def _counts(signatures: NDArray[np.uint32], settings: Settings, cores: int) -> dict[str, int]:
    counts = {}
    for name, cap in (("all", UNCAPPED), ("capped", CAP)):
        joining = Joining(cap=cap, threads=cores)
        found = band_candidates(signatures, settings, joining=joining)
        if cap == UNCAPPED and found.hot_keys:
            raise ValueError(f"a band key is in more than {UNCAPPED:,} documents: raise UNCAPPED")
        counts[name] = len(found.pairs)
    return counts


def section(runs: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """The table of all corpora."""
    rows = []
    for run in runs:
        for name in CORPORA:
            counts = run[name]
            own = [counts[f"seed {seed}"] for seed in SEEDS]
            middle = {
                kind: int(np.median([one[kind] for one in own])) for kind in ("all", "capped")
            }
            spread = [one["all"] for one in own]
            rows.append(
                [
                    run["documents"], name, counts["gaoya"]["all"], own[0]["all"],
                    f"{min(spread):,}–{max(spread):,}", middle["all"],
                    counts["gaoya"]["capped"], own[0]["capped"], middle["capped"],
                ]
            )  # fmt: skip
    heads = ["documents", "corpus", "gaoya's signatures", "ours", f"ours, {len(SEEDS)} seeds",
             "their median", f"capped at {CAP:,}: gaoya's", "ours", "median"]  # fmt: skip
    yield "Candidates by the draw of the hashes, all by our join", results.table(heads, rows)
