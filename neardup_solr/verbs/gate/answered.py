"""Answers of people about new documents and those that are there, obeyed by the gate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, TypeAlias

from neardup_solr.answers import UNSURE, Answer, Answered, choose_latest, hash_text, set_aside
from neardup_solr.clusters import Partition
from neardup_solr.records import NOTHING, Hit
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Finder
from neardup_solr.solr.names import TEXT
from neardup_solr.verbs.batch import (
    Candidate,
    NearMatch,
    SignedBatch,
    compare_candidates,
)
from neardup_solr.verbs.gate.matcher import Admitted, Matched, counts_for
from neardup_solr.verbs.gate.policy import TAG_FIELD
from neardup_solr.verbs.verdicts import read_within, remove_limits

TextKey: TypeAlias = tuple[str, str]  # a document: its id, and the hash of its text


def key_text(id: str, text: str) -> TextKey:
    """Make the key of a document by its id and text."""
    return id, hash_text(text)


class Verdicts:
    """Verdicts about documents that come one by one: what answers say, and what follows from them.

    A document is known by its id and the hash of its text, so that an answer about another text
    does not count, and nothing has to be known of the documents that do not come. Answers about
    other texts than those of documents that are there, by their `hashes`, set no others aside.
    """

    def __init__(self, answers: Iterable[Answer], hashes: Mapping[str, str] = NOTHING) -> None:
        latest = [one for one in choose_latest(answers) if one.id != one.other_id]
        outdated = {
            one for one in latest
            if not one.fits({id: hashes.get(id, hash) for id, hash in one.hashes.items()})
        }  # fmt: skip
        latest.sort(key=lambda one: one in outdated)
        self.about: dict[str, list[Answer]] = defaultdict(list)
        for answer in latest:
            self.about[answer.id].append(answer)
            self.about[answer.other_id].append(answer)
        self._hashes = {
            id: {answer.hashes[id] for answer in about} for id, about in self.about.items()
        }
        self._partition = Partition()
        said = ((answer, *pair) for answer in latest for pair in self._find_pairs(answer))
        aside = dict.fromkeys(set_aside(said, self._partition))
        self.set_aside = tuple(one for one in aside if one not in outdated)
        self._members: dict[Any, set[str]] = defaultdict(set)
        for id, known in self._hashes.items():
            for hash in known:
                self._members[self._partition.find((id, hash))].add(id)

    def _find_pairs(self, answer: Answer) -> Iterator[tuple[Any, ...]]:
        """Give the pairs of texts that an answer is about: any texts, if it has no hashes."""
        texts = [
            [(id, each) for each in ({hash} if hash else self._hashes[id])]
            for id, hash in answer.hashes.items()
        ]
        return product(*texts)

    def _find(self, key: TextKey) -> Any:
        """Find the group of a text. One that no answer is about counts as any text."""
        id, hash = key
        known = hash in self._hashes.get(id, ())
        return self._partition.find((id, hash if known else ""))

    def list_same(self, key: TextKey) -> set[str]:
        """List the ids of documents that are the same as one, if their texts are as they were."""
        return self._members.get(self._find(key), set()) - {key[0]}

    def list_related(self, key: TextKey) -> set[str]:
        """List the ids of documents that are the same as one, or judged together with it."""
        return self.list_same(key) | {id for one in self.about[key[0]] for id in one.hashes}

    def are_same(self, one: TextKey, other: TextKey) -> bool:
        """Tell whether two documents are the same."""
        return bool(self._find(one) == self._find(other))

    def are_different(self, one: TextKey, other: TextKey) -> bool:
        """Tell whether two documents are different."""
        return self._partition.are_apart(self._find(one), self._find(other))


@dataclass(slots=True, kw_only=True)
class GateAnswers:
    """The answers that a gate obeys, and which of them it has met."""

    verdicts: Verdicts
    obeyed: dict[Answer, None] = field(default_factory=dict)
    changed: dict[Answer, None] = field(default_factory=dict)

    def count(self) -> Answered:
        """Count the answers about documents that have come so far."""
        aside = {*self.verdicts.set_aside}
        return Answered(
            obeyed=tuple(one for one in self.obeyed if one not in aside),
            changed=tuple(self.changed),
            set_aside=self.verdicts.set_aside,
        )

    def obey(
        self,
        collection: Collection,
        finder: Finder,
        batch: SignedBatch,
        matched: Matched,
        admitted: Admitted,
    ) -> Matched:
        """Leave out what is different from a document of a batch, and add what is the same."""
        verdicts, measure = self.verdicts, finder.comparer.measure
        own = {
            row: key_text(one.id, one.text)
            for row, one in enumerate(batch.documents)
            if one.id in verdicts.about and batch.words[row]
        }
        if not own:
            return matched
        asked = {id for key in own.values() for id in verdicts.list_related(key)}
        asked |= {one.met.id for row in own for one in matched.near[row]} & verdicts.about.keys()
        names = dict.fromkeys((TEXT, measure.compared_field, *measure.fields, TAG_FIELD))
        stored = read_within(collection, asked, [*names], finder.filters)
        there = {id: key_text(id, str(found.get(TEXT, ""))) for id, found in stored.items()}
        joined = finder.comparer.make_forms([*stored.values()])
        forms = dict(zip(stored, joined, strict=True))
        known = list(batch.forms)
        met: list[tuple[int, Candidate]] = []

        def add(row: int, id: str, form: str, number: int | None = None) -> None:
            met.append((row, Candidate(id=id, place=len(known), shared=0, number=number)))
            known.append(form)

        for row, key in own.items():
            for id in sorted(verdicts.list_same(key)):
                hit = Hit(id=id, shared=0, fields=stored.get(id, {}))
                if forms.get(id) and counts_for(key[0], hit):
                    add(row, id, forms[id])
                if (number := admitted.latest.get(id)) is not None:
                    add(row, id, admitted.known[number], number)
                met += [(row, Candidate(id=id, place=earlier, shared=0, row=earlier))
                        for earlier in own if earlier < row and own[earlier][0] == id]  # fmt: skip

        def key_of(met: Candidate) -> TextKey:
            if met.row is not None:
                return own.get(met.row, (met.id, ""))
            if met.number is not None:
                return met.id, admitted.hashes.get(met.number, "")
            return there.get(met.id, (met.id, ""))

        same: dict[int, list[NearMatch]] = defaultdict(list)
        met = [(row, one) for row, one in met if verdicts.are_same(own[row], key_of(one))]
        for row, one in compare_candidates(known, met, remove_limits(finder.comparer)):
            same[row].append(one)
        self._count(own, there, admitted)
        near = [
            [one for one in each
             if row not in own or not verdicts.are_different(own[row], key_of(one.met))]
            for row, each in enumerate(matched.near)
        ]  # fmt: skip
        return replace(matched, near=near, same=same, hashes={row: own[row][1] for row in own})

    def _count(
        self, own: Mapping[int, TextKey], there: Mapping[str, TextKey], admitted: Admitted
    ) -> None:
        """Note the answers about documents that have come and others that are there."""
        hashes = dict(there.values())
        for id, hash in own.values():
            hashes[id] = hash
            for answer in self.verdicts.about[id]:
                others = answer.hashes.keys() - {id}
                for other in others & admitted.latest.keys():
                    hashes[other] = admitted.hashes.get(admitted.latest[other], "")
                if others <= hashes.keys() and not answer.fits(hashes):
                    self.changed[answer] = None
                elif others <= hashes.keys() and answer.answer != UNSURE:
                    self.obeyed[answer] = None
