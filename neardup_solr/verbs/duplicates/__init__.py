"""duplicates: what in a whole collection is a near-duplicate of what, verified and clustered."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from neardup_solr.candidates.by_band import Candidates
from neardup_solr.checkpoint import Checkpoint
from neardup_solr.errors import SettingsError
from neardup_solr.measures.aligned import mutual_best
from neardup_solr.records import Cluster, Duplicate
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import Reading
from neardup_solr.spill import Spill
from neardup_solr.verbs.duplicates.compare import (
    Comparison,
    Verified,
    Verifying,
    candidates,
    comparer_of,
)
from neardup_solr.verbs.duplicates.gather import (
    DEFAULT_READING,
    Gathered,
    Intake,
    Source,
    Working,
    gather,
)
from neardup_solr.verbs.duplicates.group import Grouped, Grouping, grouped
from neardup_solr.verbs.duplicates.write import check_output, write_duplicates

__all__ = [
    "Duplicates",
    "Grouping",
    "Verifying",
    "Working",
    "check_output",
    "duplicates",
    "write_duplicates",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """The near-duplicate pairs of a collection and their clusters, with what stands behind them.

    `documents` were read, `candidates` pairs compared; `hot_keys` counts the band keys, or words,
    of more documents than the cap. `settings` shaped the signatures, `verifying` and `grouping`
    are what was asked for; `least` is the similarity that counted. `gaps` says in words what may
    be missing, such as documents that changed while they were read; `texts` has the texts of the
    pairs by id, where they were asked for; `about` names what was compared.
    """

    pairs: tuple[Duplicate, ...]
    clusters: tuple[Cluster, ...]
    documents: int
    candidates: int
    hot_keys: int
    settings: Settings
    verifying: Verifying
    grouping: Grouping
    least: float
    gaps: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    about: str = field(default="", compare=False)

    @property
    def by_bands(self) -> bool:
        """Whether candidates had to share an LSH band."""
        return self.verifying.way == "bands"

    @property
    def complete(self) -> bool:
        """Whether all documents were compared, as they are in the collection now."""
        return not self.gaps


DEFAULT = Verifying()
DEFAULT_GROUPING = Grouping()
DEFAULT_WORKING = Working()
DEFAULT_SETTINGS = Settings()


def duplicates(
    source: Source,
    *,
    against: Source | None = None,
    verifying: Verifying = DEFAULT,
    grouping: Grouping = DEFAULT_GROUPING,
    settings: Settings = DEFAULT_SETTINGS,
    reading: Reading = DEFAULT_READING,
    working: Working = DEFAULT_WORKING,
) -> Duplicates:
    """All near-duplicate pairs of a collection in Solr, or of a source without any Solr.

    With `against`, of each document of the source with those of another collection or source: the
    first id of a pair is then the source's. Of a collection the stored signatures are read, and
    its own settings hold; a source is signed under `settings`. Pairs are in the order of their
    clusters, then of their ids; a cluster is named by its first id in natural order.

    Raises SettingsError where a collection lacks the signatures, SourceError where a source
    cannot be read as a whole, or no file be written, SolrError where Solr does not answer.
    """
    if against is None and (verifying.within or verifying.mutual_best):
        raise SettingsError("there is only one side to compare", "name the other by --against")
    given = [source] if against is None else [source, against]
    has_texts = verifying.has_texts or working.keep_texts
    with Spill(memory=working.memory, folder=working.spill) as spill:
        gathered = gather(
            given,
            Intake(
                spill=spill, settings=settings, reading=reading, working=working,
                has_texts=has_texts,
            ),
        )  # fmt: skip
        found = candidates(gathered, verifying, working, spill.share)
        comparison = Comparison(
            gathered=gathered,
            comparer=comparer_of(gathered, verifying),
            working=working,
            memory=spill.share,
        )
        verified = _verified(comparison, found)
        if verifying.mutual_best:
            verified.keep(mutual_best(verified.pairs, verified.similarities))
        clustered = grouped(comparison, verified, grouping)
        return Duplicates(
            pairs=clustered.pairs,
            clusters=clustered.clusters,
            documents=sum(side.documents for side in gathered.sides),
            candidates=len(found.pairs),
            hot_keys=found.hot_keys,
            settings=gathered.settings,
            verifying=verifying,
            grouping=grouping,
            least=comparison.comparer.least,
            gaps=tuple(_gaps(gathered, verified)),
            texts=_texts(gathered, clustered) if working.keep_texts else {},
            about=" against ".join(map(_name, given)),
        )


def _name(source: Source) -> str:
    if isinstance(source, Collection):
        return source.name
    return Path(source).name if isinstance(source, str | Path) else "documents"


def _verified(comparison: Comparison, found: Candidates) -> Verified:
    path = comparison.working.checkpoint
    if path is None:
        return comparison.verified(found.pairs)
    with ExitStack() as stack:
        kept = stack.enter_context(Checkpoint(path, _work(comparison, found), arrays=3))
        verified = comparison.verified(found.pairs, checkpoint=kept)
        kept.remove()
        return verified


def _work(comparison: Comparison, found: Candidates) -> str:
    """What is being verified, in a line: the same only for the same documents and measure."""
    gathered = comparison.gathered
    digest = hashlib.sha256(found.pairs.tobytes())
    for side in gathered.sides:
        digest.update(repr((side.documents, side.state)).encode())
    name, limits = comparison.comparer.measure.name, comparison.comparer.limits
    return f"{gathered.settings.fingerprint} {name} {limits} {digest.hexdigest()}"


def _gaps(gathered: Gathered, verified: Verified) -> list[str]:
    """What may be missing, and what to do about it."""
    gaps = []
    for side in gathered.sides:
        if side.is_cut:
            gaps.append(f"only the first {side.documents:,} documents were read (--limit)")
        if side.unsigned:
            gaps.append(f"documents without a signature: {side.unsigned:,}; index them again")
        if side.failed:
            gaps.append(f"records that could not be used: {side.failed:,}")
        if side.collection is not None:
            side.collection.commit()
            if side.collection.state() != side.state:
                gaps.append("the collection changed meanwhile; run it again")
    if verified.vanished:
        gaps.append(f"documents deleted meanwhile: {len(verified.vanished):,}")
    if verified.stale:
        stale = len(verified.stale)
        gaps.append(f"documents with other texts than were signed: {stale:,}; index them again")
    return gaps


def _texts(gathered: Gathered, clustered: Grouped) -> Mapping[str, str]:
    rows = sorted(clustered.rows)
    found = zip(gathered.ids(rows), gathered.texts(rows), strict=True)
    return {id: text for id, text in found if text is not None}
