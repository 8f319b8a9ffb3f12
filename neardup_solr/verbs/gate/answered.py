"""Answers of people about new documents and those that are there, obeyed by the gate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter

from neardup_solr.answers import UNSURE, Answer
from neardup_solr.answers.verdicts import Answered, TextKey, TextVerdicts, key_text
from neardup_solr.records import Hit
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


@dataclass(slots=True, kw_only=True)
class GateAnswers:
    """The answers that a gate obeys, and which of them it has met."""

    verdicts: TextVerdicts
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
        near = list(matched.near)
        for row, key in own.items():
            keyed = ((match, (key, key_of(match.met))) for match in near[row])
            near[row] = [match for match, _ in verdicts.obey(keyed, itemgetter(1))]
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
