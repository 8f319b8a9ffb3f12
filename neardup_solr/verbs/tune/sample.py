"""A random sample of documents, by which bands are judged."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup_solr.errors import SettingsError
from neardup_solr.minhash import band_plans, sign, signature
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection

T = TypeVar("T")
Drawn = tuple[int, list[str], dict[str, sign.Signature]]  # documents in all, ids drawn, signatures


@dataclass(frozen=True)
class Sample:
    """A sample of so many `documents`, and the documents of known `pairs`.

    `signatures` are empty for texts without words. Raises SettingsError for a sample of fewer than
    two documents, and for known pairs of which none has both documents.
    """

    pairs: Sequence[tuple[str, str]]
    documents: int
    ids: Sequence[str]
    signatures: Mapping[str, sign.Signature]

    def __post_init__(self) -> None:
        if len(self.ids) < 2:
            reason = "there are fewer than two documents"
            raise SettingsError(reason, "give two or more", code="no-pairs")
        if self.pairs and not self.present:
            reason = f"no known pair (of {len(self.pairs)}) has both documents in the source"
            step = "check that the pairs have the ids of these documents"
            raise SettingsError(reason, step, code="id-unknown")

    @cached_property
    def present(self) -> list[tuple[str, str]]:
        """The known pairs that have both documents."""
        return [pair for pair in self.pairs if self.signatures.keys() >= {*pair}]

    @cached_property
    def agreements(self) -> tuple[int, ...]:
        """The pairs of the sample by their number of agreeing hashes."""
        signatures = [self.signatures[id] for id in self.ids]
        with_words = [signature for signature in signatures if len(signature)]
        if not with_words:
            reason = "no document in the sample has words"
            raise SettingsError(reason, "check the text", code="text-missing")
        totals = band_plans.count_agreements(np.stack(with_words)).tolist()
        totals[0] += math.comb(len(signatures), 2) - math.comb(len(with_words), 2)
        return tuple(totals)

    @cached_property
    def sides(self) -> NDArray[np.uint32]:
        """Both signatures of the known pairs with words, shape (2, pairs, hashes)."""
        pairs = [[self.signatures[id] for id in pair] for pair in self.present]
        whole = [pair for pair in pairs if len(pair[0]) and len(pair[1])]
        shaped = np.array(whole, dtype=np.uint32).reshape(-1, 2, len(self.agreements) - 1)
        return np.ascontiguousarray(shaped.transpose(1, 0, 2))

    @property
    def known(self) -> tuple[int, ...]:
        """The known pairs by their number of agreeing hashes, () without such pairs."""
        if not self.present:
            return ()
        equal = (self.sides[0] == self.sides[1]).sum(axis=1)
        totals = np.bincount(equal, minlength=len(self.agreements))
        totals[0] += len(self.present) - len(equal)
        return tuple(totals.tolist())

    def judge(self, plan: band_plans.Plan) -> band_plans.Choice:
        """Estimate what a plan costs, and measure its recall by the bands of the known pairs."""
        candidates = band_plans.expect_candidates(self.agreements, self.documents, plan)
        size = band_plans.estimate_bytes(plan.bands, len(self.agreements) - 1)
        choice = band_plans.Choice(plan=plan, candidates=candidates, index_bytes=size)
        if not self.present:
            return choice
        keys = [sign.hash_bands(side, plan.bands, plan.rows) for side in self.sides]
        caught = int((keys[0] == keys[1]).any(axis=1).sum())
        all_pairs = max(caught, self.documents * candidates / 2)
        precision = caught / all_pairs if all_pairs else 1.0
        return replace(choice, recall=caught / len(self.present), precision=precision)


def draw_sample(items: Iterable[T], size: int, seed: int) -> tuple[list[T], int]:
    """Draw a random sample of a stream, and count it (Vitter 1985, algorithm R)."""
    draw = random.Random(seed)
    sample: list[T] = []
    count = 0
    for count, item in enumerate(items, start=1):
        if count <= size:
            sample.append(item)
        elif (place := draw.randrange(count)) < size:
            sample[place] = item
    return sample, count


def read_collection(collection: Collection, size: int, seed: int, wanted: Set[str]) -> Drawn:
    """Draw from the stored signatures of a collection, and read those of the wanted ids."""
    ids, documents = draw_sample(collection.ids(), size, seed)
    stored = collection.stored(list(dict.fromkeys([*ids, *sorted(wanted)])), ["signature"])
    signatures = {row["id"]: signature.decode(row.get("signature", "")) for row in stored}
    return documents, [id for id in ids if id in signatures], signatures


def sign_source(
    documents: Iterable[Document], settings: Settings, size: int, seed: int, wanted: Set[str]
) -> Drawn:
    """Draw from the documents of a source, each id once, and sign these and the wanted ones."""
    chosen: dict[str, Document] = {}

    def deduplicate() -> Iterator[Document]:
        seen = set()
        for document in documents:
            if document.id not in seen:
                seen.add(document.id)
                if document.id in wanted:
                    chosen[document.id] = document
                yield document

    sampled, count = draw_sample(deduplicate(), size, seed)
    texts = {document.id: document.text for document in (*sampled, *chosen.values())}
    signed = sign.sign(list(texts.values()), settings)
    empty = np.empty(0, dtype=np.uint32)
    signatures = {
        id: row if words else empty
        for id, row, words in zip(texts, signed.signatures, signed.words, strict=True)
    }
    return count, [document.id for document in sampled], signatures
