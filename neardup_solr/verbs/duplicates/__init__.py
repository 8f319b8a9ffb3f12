"""duplicates: all near-duplicate pairs of a collection or a file, verified and clustered."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from neardup_solr.arguments import (
    MAX_DOC_BYTES,
    Linkage,
    MeasureName,
    OneOrMore,
    OnRepeatOrKeep,
    Source,
    Way,
    checked,
    in_bytes,
    listed,
    require,
)
from neardup_solr.candidates import Candidates
from neardup_solr.errors import SourceError
from neardup_solr.files import check_apart, check_place
from neardup_solr.measures import Limits
from neardup_solr.progress import LOG, OnError, OnProgress, Watching
from neardup_solr.records import AnyId, key_of, largest
from neardup_solr.settings import Settings, settings_of
from neardup_solr.solr import is_collection
from neardup_solr.sources import is_for_excel, paths_of, reading_of, shown_name
from neardup_solr.spill import Spill
from neardup_solr.text.normalize import normalize
from neardup_solr.verbs.duplicates.compare import (
    Comparison,
    Verified,
    comparer_of,
    find_candidates,
)
from neardup_solr.verbs.duplicates.group import Grouped, group
from neardup_solr.verbs.duplicates.inputs import Compared, Gathered, Groups, Intake, gather
from neardup_solr.verbs.duplicates.options import (
    Options,
    check_remembered,
    check_sides,
    columns_of_rule,
    warn_of_bands,
)
from neardup_solr.verbs.duplicates.result import Duplicates
from neardup_solr.verbs.duplicates.write import check_output, write_duplicates

if TYPE_CHECKING:
    from neardup_solr.measures.aligned import Frequencies
    from neardup_solr.verbs.duplicates.previous_run import PreviousRun

V = TypeVar("V")
FIRST = 10  # members of a cluster whose texts are shown
AT_ONCE = 5_000  # texts that are read at once for a page
# What becomes of records whose id came before; those that fail are told as such.
REPEATED = {
    "keep": "each counts, and its row comes to its id, as in 12@row7",
    "last": "the last one counts",
    "first": "the first one counts",
}
ROWS = '; to filter a table by `removed`, give id=":row", which numbers its rows from 1 on'

__all__ = ["Duplicates", "check_output", "duplicates", "write_duplicates"]


@checked
def duplicates(
    source: Compared,
    *,
    against: Compared | None = None,
    within: bool = False,
    mutual_best: bool = False,
    by: Way | None = None,
    measure: MeasureName = "words",
    max_distance: int | None = None,
    min_similarity: float | None = None,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    cap: int | None = None,
    linkage: Linkage = "single",
    canonical: str = "first",
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    source_format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    lossy: bool = False,
    max_doc_bytes: int | str = MAX_DOC_BYTES,
    on_repeat: OnRepeatOrKeep = "keep",
    settings: Settings | Mapping[str, Any] | None = None,
    limit: int | None = None,
    memory: int | str | None = None,
    spill: str | Path | None = None,
    checkpoint: str | Path | None = None,
    remember: str | Path | None = None,
    full: bool = False,
    texts: bool | int | None = None,
    output: str | Path | Sequence[str | Path] | None = None,
    unique: str | Path | None = None,
    removed: str | Path | None = None,
    rejected: str | Path | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Duplicates:
    """All near-duplicate pairs of a collection, or of a source without any Solr, in clusters.

    For a collection, the stored signatures are read and its own settings apply; a source is signed
    with `settings` (a mapping, or Settings). `id`, `text`, `keep`, `source_format`, `delimiter`,
    `encoding`, `lossy` and `max_doc_bytes` say how a source is read, as for `read`; the id ":row"
    numbers its records, which is done if no id is named and nothing looks like one. If an id comes
    again in it, each of its records counts by `on_repeat` "keep", and the numbers of the records
    tell them apart: "12@row3", "12@row7". Or the "last" counts, or the "first", or by "fail" the
    later ones fail.

    With `against`, the documents of the source are compared with those of another collection or
    source, read by the same arguments, or with a `Source` by its own; with `within`, those of each
    side are compared with each other too. The first id of a pair across is the source's.
    `mutual_best` keeps a pair if each document is the other's most similar one: for sides that list
    each thing once.

    Candidates are found `by` "bands" (they share an LSH band), "shingles" (a sample of one's
    shingles says that the other may have enough of all; the default for the measure "containment",
    and possible for "jaccard"), "words" (they share a word that few documents have; for short
    records, and the default for the measure "aligned") or "all" (every pair; the default up to
    2,000 documents). If more than `cap` documents have a band key, a shingle or a word, not all of
    them are paired. Candidates are compared by `measure`; they count if they are at most
    `max_distance` words apart and at least `min_similarity` (0..1) similar (default: the threshold
    of the measure).

    Of a collection only documents that match `fq`, Solr filter queries, are read. With `same`, the
    names of fields or columns (a tenant, a language), only documents with equal values of all of
    them are compared; one that lacks a value, or has an empty one, is compared with nothing.

    With `linkage` "single", pairs connect the documents of a cluster; with "complete", any two of
    them are a pair. `canonical` is the rule for the document to keep: "first" (id), "longest",
    "shortest", "oldest", "oldest:FIELD", "FIELD:asc", "FIELD:desc", or trusted values,
    "FIELD=wire,agency". Pairs are sorted by their clusters, then by their ids; a cluster is named
    by its first id in natural order.

    Only the first `limit` documents of each side are read. About `memory` bytes at most are used
    (a number, or "4G"; default: half of the machine's); the rest goes to files in the folder
    `spill`. `checkpoint` names a file that keeps what is verified until all files are there:
    after an interruption the same call goes on there. `remember` names a file that keeps what was
    compared: the next call compares only documents that came or changed since, and gives what a
    full one would; `full` starts over. With `texts` the result has the texts of its
    pairs; a number asks for those of so many of the largest clusters. Without it the result of a
    source still has those that a page shows, for `write`; False leaves them out. `on_error` is told
    of each record that cannot be used, `on_progress` how far a stage is: "reading", "joining",
    "texts", "comparing", "writing".

    `output` names a file for the result, or several, see `Duplicates.write`.

    `unique` names a file for the records of the source that stay if its near-duplicates are
    removed, `removed` one for the others (see `Duplicates.removed`), which get the columns
    neardup_duplicate_of, an id, neardup_similarity, and neardup_row, the number of the record;
    `rejected` one for those that cannot be used, with neardup_reason and neardup_position, and
    neardup_record if they cannot be taken apart. So each record is in one of the three. Their
    suffixes select the formats; columns and order are those of the source. All files are written
    completely, or none is.

    Raises SettingsError if a collection lacks the signatures, SourceError if a source cannot be
    read as a whole or a file cannot be written, SolrError if Solr does not answer; ArgumentError
    if the source cannot be read twice, which `unique`, `removed` and `rejected` need.
    """
    check_sides(against, within=within, mutual_best=mutual_best)
    check_remembered(source, remember, against, full=full)
    written_to = paths_of(output) or []
    named = {"unique": unique, "removed": removed, "rejected": rejected,
             "checkpoint": checkpoint, "remember": remember}  # fmt: skip
    check_apart(
        {f"`output` {path}" if at else "`output`": Path(path) for at, path in enumerate(written_to)}
        | {f"`{name}`": None if path is None else Path(path) for name, path in named.items()}
    )
    equal = tuple(dict.fromkeys(listed(same)))
    columns = tuple(dict.fromkeys((*listed(keep), *columns_of_rule(canonical), *equal)))
    reading = reading_of(locals() | {"keep": columns}, "number")
    other_reading = reading
    if isinstance(against, Source):
        is_same = against.keep is None or listed(against.keep) == listed(keep)
        require(is_same, "`keep` differs between the two sides", "keep the same columns of both")
        other_reading = reading_of(against.given() | {"keep": columns}, "number")
        against = against.source
    options = Options(
        measure=measure,
        limits=Limits(max_distance=max_distance, min_similarity=min_similarity),
        by=by,
        cap=cap,
        within=within,
        mutual_best=mutual_best,
        linkage=linkage,
        canonical=canonical,
        fq=listed(fq),
        same=equal,
        keep=listed(keep),
        readings=(reading, other_reading),
        settings=settings_of(settings),
        on_repeat=on_repeat,
        texts=texts,
        limit=limit,
        memory=in_bytes(memory, "memory") if isinstance(memory, str) else memory,
        spill=None if spill is None else Path(spill),
        checkpoint=None if checkpoint is None else Path(checkpoint),
        watching=Watching.of(on_error, on_progress),
    )
    if by == "bands":
        warn_of_bands(measure)
    copies = None
    if not (unique is None and removed is None and rejected is None):
        from neardup_solr.verbs.duplicates.clean_file import Outputs

        copies = Outputs(
            source=source,
            reading=reading,
            unique=None if unique is None else Path(unique),
            removed=None if removed is None else Path(removed),
            rejected=None if rejected is None else Path(rejected),
            against=against,
            within=within,
            limit=limit,
        )
        state = copies.state()
    for path in written_to:
        check_output(Path(path))
    if checkpoint is not None:
        check_place(Path(checkpoint))
    given = [source] if against is None else [source, against]
    has_collection = any(is_collection(each) for each in given)
    require(has_collection or not fq, "`fq` is for a collection", "leave it out")
    reason = "a collection has its own settings, and `settings` are given"
    require(not (has_collection and settings), reason, "leave `settings` out")
    previous = None
    if remember is not None:
        from neardup_solr.verbs.duplicates.previous_run import PreviousRun

        previous = PreviousRun(
            path=Path(remember),
            measure=options.compared_by,
            limits=options.limits,
            is_full=full,
        )
    with Spill(memory=options.memory, folder=options.spill) as spilled:
        intake = Intake(
            options=options,
            spill=spilled,
            groups=Groups(equal, spilled.rows(1, np.uint32)) if equal else None,
            previous=previous,
        )
        gathered = gather(given, intake)
        way = options.way(len(gathered) - len(gathered.dead), gathered.fits)
        found = find_candidates(gathered, way, options, spilled)
        comparison = Comparison(
            gathered=gathered,
            comparer=comparer_of(gathered, options),
            spill=spilled,
            watching=options.watching,
            previous=intake.remembering,
        )
        verified = _verify(comparison, found, options.checkpoint)
        if mutual_best:
            from neardup_solr.measures.aligned import mutual_best as best_of_each

            verified.keep(best_of_each(verified.pairs, verified.similarities))
        clustered = group(comparison, verified, options)
        for side in gathered.sides:
            side.failures.warn()
        repeated = sum(side.repeated for side in gathered.sides)
        if repeated:
            records = "1 record repeats" if repeated == 1 else f"{repeated:,} records repeat"
            is_table = paths_of(source) is None and not is_collection(source)
            advice = ROWS if is_table and on_repeat == "keep" else ""
            LOG.warning("%s an id: %s%s", records, REPEATED[on_repeat], advice)
        asked = _texts(gathered, clustered, texts or False)
        shown = _shown(gathered, clustered) if texts is None and options.needs_texts else {}
        result = Duplicates(
            pairs=clustered.pairs,
            clusters=clustered.clusters,
            whole_ids=_whole_ids(*gathered.has_whole_ids),
            documents=sum(side.documents for side in gathered.sides),
            candidates=len(found.pairs),
            hot_keys=found.hot_keys,
            settings=gathered.settings,
            measure=measure,
            by=way,
            min_similarity=comparison.comparer.least,
            max_distance=max_distance,
            linkage=linkage,
            canonical=canonical,
            fq=options.fq,
            same=options.same,
            beyond_cap=comparison.count_beyond(found),
            median_words=comparison.median_words(),
            repeated=repeated,
            failed=sum(side.failures.count for side in gathered.sides),
            errors=tuple(error for side in gathered.sides for error in side.failures.first),
            gaps=(*_gaps(gathered, verified, options.fq), *_alone(intake.groups)),
            texts=asked,
            shown=shown,
            frequencies=_frequencies(comparison, asked or shown),
            kept=_kept(gathered, clustered, options.keep),
            values=clustered.values,
            for_excel=any(
                is_for_excel(each, reading=own)
                for each, own in zip(given, options.readings, strict=False)
                if not is_collection(each)
            ),
            about=" against ".join(map(_name, given)),
            against=against is not None,
            within=within,
            since=None if previous is None else previous.changes,
            remembered=previous.path
            if previous is not None and _may_remember(previous, gathered)
            else None,
        )
        if copies is not None:
            from neardup_solr.verbs.duplicates.clean_file import fates

            written = copies.write(
                fates(gathered.sides[0], result.removed), state, options.watching.on_progress
            )
            result = replace(result, unique=written)
        for path in written_to:
            write_duplicates(result, Path(path))
        if previous is not None and result.remembered is not None:
            is_stored = gathered.sides[0].collection is not None
            names, table = gathered.sides[0].ids, gathered.signatures
            try:
                previous.write([*names] if is_stored else [], table if is_stored else table[:0])
            except SourceError as error:
                LOG.warning("the next run will compare all of this again: %s", error)
                result = replace(result, remembered=None)
        if options.checkpoint is not None:
            options.checkpoint.unlink(missing_ok=True)
        return result


def _may_remember(previous: PreviousRun, gathered: Gathered) -> bool:
    """Tell whether all that was compared is what was read, and can be known again."""
    return previous.is_kept and not any(side.has_changed() for side in gathered.sides)


def _whole_ids(first: bool, other: bool) -> tuple[str, ...]:
    """The columns of ids that are all whole numbers, if those of the sides are."""
    are_whole = {"id": first, "other_id": other, "cluster": first and other}
    return tuple(name for name, is_whole in are_whole.items() if is_whole)


def _name(source: Compared) -> str:
    if is_collection(source):
        return source.name
    paths = paths_of(source)
    return "documents" if paths is None else shown_name([Path(path).name for path in paths])


def _verify(comparison: Comparison, found: Candidates, path: Path | None) -> Verified:
    if path is None:
        return comparison.verified(found.pairs)
    from neardup_solr.checkpoint import Checkpoint

    with Checkpoint(path, _work(comparison, found), arrays=3) as kept:
        return comparison.verified(found.pairs, checkpoint=kept)


def _work(comparison: Comparison, found: Candidates) -> str:
    """What is being verified, as a line: the same only for the same documents and measure."""
    gathered = comparison.gathered
    digest = hashlib.sha256(np.ascontiguousarray(found.pairs).data)
    for side in gathered.sides:
        digest.update(repr((side.documents, side.state, side.digest)).encode())
    name, limits = comparison.comparer.measure.name, comparison.comparer.limits
    known = f"{gathered.settings.fingerprint} {name} {limits} {comparison.order}"
    return f"{known} {digest.hexdigest()}"


def _gaps(gathered: Gathered, verified: Verified, fq: Sequence[str]) -> list[str]:
    """Say what may be missing from the result, and what to do about it."""
    gaps = []
    for side in gathered.sides:
        if side.is_cut:
            gaps.append(f"only the first {side.documents:,} documents were read")
        if side.collection is not None:
            from neardup_solr.solr import settings_of

            gaps += settings_of.describe_unsigned(side.collection, side.unsigned)
            if fq and not (side.documents or side.unsigned):
                name, filters = side.collection.name, " AND ".join(fq)
                gaps.append(f"no document of {name!r} matches {filters}; check the filter")
        if side.failures.count:
            gaps.append(f"records that could not be used: {side.failures.count:,}")
        if side.collection is not None:
            side.collection.commit()
            if side.collection.state() != side.state:
                gaps.append(settings_of.CHANGED)
    if verified.vanished:
        gaps.append(f"documents deleted meanwhile: {len(verified.vanished):,}")
    if verified.stale:
        step = "run it again"
        for side in gathered.sides:
            if side.collection is not None:
                step = settings_of.remedy(
                    side.collection, "index them again", "renews their fields"
                )
        gaps.append(f"documents whose text has changed: {len(verified.stale):,}; {step}")
    return gaps


def _alone(groups: Groups | None) -> list[str]:
    """What to say of documents that were compared with nothing; nothing if there are none."""
    if groups is None or not groups.alone:
        return []
    names = " or ".join(groups.fields)
    return [f"documents without {names}: {groups.alone:,}, which were compared with nothing"]


def _kept(
    gathered: Gathered, clustered: Grouped, names: Sequence[str]
) -> Mapping[AnyId, Mapping[str, Any]]:
    """The columns to keep of each document that has a pair, by its key and its id."""
    if not names:
        return {}
    numbers = sorted(clustered.rows)
    columns = gathered.values(numbers, names)
    return _with_ids(
        clustered,
        {
            clustered.keys[row]: {name: columns[name][at] for name in names}
            for at, row in enumerate(numbers)
        },
    )


def _texts(gathered: Gathered, clustered: Grouped, wanted: bool | int) -> Mapping[AnyId, str]:
    """The texts of all pairs, or of the first members of so many of the largest clusters."""
    if wanted is True:
        return _with_ids(clustered, _texts_of(gathered, clustered, sorted(clustered.rows)))
    shown = largest(clustered.clusters, int(wanted)) if wanted else []
    keys = {key_of(each.id, each.side) for one in shown for each in one.members[:FIRST]}
    numbers = sorted(row for row, key in clustered.keys.items() if key in keys)
    return _with_ids(clustered, _texts_of(gathered, clustered, numbers))


def _shown(gathered: Gathered, clustered: Grouped) -> Mapping[AnyId, str]:
    """The texts that a page shows, if they need not be asked of a Solr."""
    if any(side.collection is not None for side in gathered.sides):
        return {}
    from neardup_solr.reports.html.embed import MOST_TEXTS, listing

    wanted = listing(clustered.clusters, clustered.pairs).documents
    row_of = {key: row for row, key in clustered.keys.items()}
    found: dict[AnyId, str] = {}
    for at in range(0, len(wanted), AT_ONCE):
        some = sorted(row_of[key] for key in wanted[at : at + AT_ONCE])
        found |= _texts_of(gathered, clustered, some)
        if sum(map(len, found.values())) > MOST_TEXTS:
            break
    return _with_ids(clustered, found)


def _with_ids(clustered: Grouped, by_key: Mapping[AnyId, V]) -> Mapping[AnyId, V]:
    """Add what is of the second side by its id alone, if no document of the first has that."""
    firsts = {key for key in clustered.keys.values() if not isinstance(key, tuple)}
    others = ((key[1], value) for key, value in by_key.items() if isinstance(key, tuple))
    return {**by_key, **{id: value for id, value in others if id not in firsts}}


def _frequencies(comparison: Comparison, texts: Mapping[AnyId, str]) -> Frequencies | None:
    """How many documents have each word of these texts, if the measure weighs words."""
    known = comparison.comparer.frequencies
    if known is None:
        return None
    from neardup_solr.measures.aligned import Frequencies, aligned_words

    words = {word for text in texts.values() for word in aligned_words(normalize(text))}
    return Frequencies(known.documents, {word: known.counts.get(word, 1) for word in words})


def _texts_of(
    gathered: Gathered, clustered: Grouped, numbers: Sequence[int]
) -> Mapping[AnyId, str]:
    found = zip(numbers, gathered.texts(numbers), strict=True)
    return {clustered.keys[row]: text for row, text in found if text is not None}
