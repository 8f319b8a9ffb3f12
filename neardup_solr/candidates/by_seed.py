"""Passages that texts share: seeds in common, extended by alignment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates import DEFAULT, Candidates, Joining
from neardup_solr.candidates.pair_array import PairArray
from neardup_solr.kernel import growth
from neardup_solr.kernel import seeds as kernel
from neardup_solr.measures import Flat
from neardup_solr.measures.pairs import Pairs, split_bounds
from neardup_solr.measures.relation import cover_pairs
from neardup_solr.progress import prefetch, thread_pool
from neardup_solr.settings import SEED_CAP

WINDOW, WIDEST = 4, 64  # runs of letters of which a seed is chosen; of very many letters, more
MOST_SEEDS = 1 << 22  # for which the window is not made wider
SHORTEST = 48  # letters of a passage that makes a candidate
LESS = 0.8  # of the share that is asked for, which a candidate has: it is looked at more closely
_BLOCK = 1 << 22  # letters whose seeds are collected at once
Rows = NDArray[np.int64]
Listed = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """Seeds that several texts have, in the order of the texts, as `match_texts` takes them."""

    owners: NDArray[np.uint32]
    places: NDArray[np.uint32]
    groups: NDArray[np.uint32]
    ends: NDArray[np.int64]
    members: NDArray[np.uint32]
    group_ends: NDArray[np.int64]


def collect_seeds(letters: Flat, threads: int) -> Seeds:
    """Collect the seeds of texts, and leave out those that only one has."""
    texts, total = len(letters.bounds) - 1, len(letters.values)
    window = min(max(WINDOW, 2 * total // MOST_SEEDS), WIDEST)

    def collect(part: slice) -> Listed:
        return list_seeds(Flat(letters.values, letters.bounds[part.start : part.stop + 1]), window)

    parts = list(split_bounds(letters.bounds, _BLOCK))
    with thread_pool(threads) as pool:
        collected = list(prefetch(pool, collect, iter(parts), at_once=threads))
    none = np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty(0, np.int64)
    columns = zip(none, *collected, strict=True)
    hashes, places, sizes = (np.concatenate(column) for column in columns)
    del columns, collected  # which take as much
    owners = np.repeat(np.arange(texts, dtype=np.uint32), sizes)
    return _group(hashes, places, owners, texts)


def list_seeds(letters: Flat, window: int) -> Listed:
    """List the seeds of texts, of each so many runs one: hashes, places, and how many each has."""
    room = int(letters.bounds[-1] - letters.bounds[0])
    hashes, places = np.empty(room, np.uint64), np.empty(room, np.uint32)
    ends = np.zeros(len(letters.bounds) - 1, np.int64)
    kernel.collect_seeds(letters.values, letters.bounds, window, hashes, places, ends)
    filled = int(ends[-1])
    return hashes[:filled].copy(), places[:filled].copy(), np.diff(ends, prepend=0)


def _group(
    hashes: NDArray[np.uint64], places: NDArray[np.uint32], owners: NDArray[np.uint32], texts: int
) -> Seeds:
    """Group seeds by their hashes, of which the array is used up, and keep those of several texts.

    While they are sorted, a seed is a number: the higher bits of its hash, then its place.
    """
    bits = np.uint64(max(len(hashes).bit_length(), 1))
    hashes >>= bits
    hashes <<= bits
    hashes |= np.arange(len(hashes), dtype=np.uint64)
    hashes.sort()
    members = (hashes & (np.uint64(1) << bits) - np.uint64(1)).astype(np.uint32)
    hashes >>= bits
    are_equal = hashes[1:] == hashes[:-1]
    are_several = np.zeros(len(hashes), dtype=np.bool_)
    are_several[:-1] = are_equal
    are_several[1:] |= are_equal
    hashed, members = hashes[are_several], members[are_several]
    are_first = np.ones(len(hashed), dtype=np.bool_)
    are_first[1:] = hashed[1:] != hashed[:-1]
    starts = np.flatnonzero(are_first)
    sizes = np.diff(starts, append=len(hashed))
    # The owners of a group rise, so that it is of several texts if its ends differ.
    are_shared = owners[members[starts]] != owners[members[starts + sizes - 1]]
    members = members[np.repeat(are_shared, sizes)]
    sizes = sizes[are_shared]
    is_kept = np.zeros(len(owners), dtype=np.bool_)
    is_kept[members] = True
    groups = np.empty(len(owners), dtype=np.uint32)
    groups[members] = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
    renumbered = np.cumsum(is_kept, dtype=np.int64) - 1
    owners = owners[is_kept]
    return Seeds(
        owners=owners,
        places=places[is_kept],
        groups=groups[is_kept],
        ends=np.searchsorted(owners, np.arange(texts + 1)).astype(np.int64),
        members=renumbered[members].astype(np.uint32),
        group_ends=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
    )


def match_texts(
    letters: Flat, seeds: Seeds, least: NDArray[np.float64], threads: int, *,
    second_side: int = 0, cap: int = SEED_CAP,
) -> Iterator[Rows]:  # fmt: skip
    """Yield the passages of texts with those after them, as rows of the kernel."""

    def match(part: slice) -> Rows:
        rows, at, room = [], part.start, 1 << 14
        while at < part.stop:
            out = np.empty((room, 8), dtype=np.int64)
            done, filled = growth.match_texts(
                at, part.stop, seeds.owners, seeds.places, seeds.groups, seeds.ends,
                seeds.members, seeds.group_ends, second_side, cap, letters.values,
                letters.bounds, least, out,
            )  # fmt: skip
            rows.append(out[:filled].copy())
            room = room if done > at else 2 * room
            at = done
        return np.concatenate(rows) if rows else np.empty((0, 8), np.int64)

    last = second_side or len(letters.bounds) - 1
    with thread_pool(threads) as pool:
        parts = split_bounds(seeds.ends[: last + 1], 1 << 14)
        yield from prefetch(pool, match, parts, at_once=threads)


def passage_candidates(letters: Flat, least: float, *, joining: Joining = DEFAULT) -> Candidates:
    """Find the pairs of texts whose passages may cover the part `least` of the shorter text.

    Texts with a seed that more than `joining.cap` have are paired as `match_texts` says, and
    `hot_keys` counts these seeds.

    Raises SettingsError beyond `joining.most` pairs.
    """
    seeds = collect_seeds(letters, joining.threads)
    texts = len(letters.bounds) - 1
    second_side = int(np.searchsorted(joining.sides, 1)) if len(joining.sides) else 0
    wanted = np.full(texts, float(SHORTEST))
    pairs = PairArray(joining)
    for rows in match_texts(
        letters, seeds, wanted, joining.threads, second_side=second_side, cap=joining.cap
    ):
        pairs.add(_keep_covered(rows, letters.lengths, LESS * least))
    sizes = np.diff(seeds.group_ends)
    hot_keys, enough = int(np.count_nonzero(sizes > joining.cap)), int(sizes.max(initial=0))
    return Candidates(pairs=pairs.pairs, hot_keys=hot_keys, enough=enough)


def _keep_covered(rows: Rows, sizes: NDArray[np.int64], least: float) -> Pairs:
    """Keep the pairs of texts of which passages cover so much of the shorter."""
    covered = cover_pairs(rows)
    are_enough = covered.shares(sizes).max(axis=1, initial=0) >= least
    pairs: Pairs = covered.texts[are_enough].astype(np.uint32)
    return pairs
