"""Answers that a gate obeys, by the texts of the documents that come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from neardup_solr.answers import UNSURE, Answer
from neardup_solr.answers.verdicts import Answered, TextKey, TextVerdicts, key_text
from neardup_solr.measures import Comparer
from neardup_solr.records import Hit
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Finder
from neardup_solr.solr.names import TEXT
from neardup_solr.verbs.batch import Candidate, NearMatch, SignedBatch, compare_candidates
from neardup_solr.verbs.gate.matcher import Admitted, M, Matched, counts_for
from neardup_solr.verbs.gate.policy import TAG_FIELD
from neardup_solr.verbs.pair_rules import read_hashes, read_within, remove_limits


@dataclass(slots=True, kw_only=True)
class GateAnswers:
    """The answers that a gate obeys, and those about documents that have come so far."""

    verdicts: TextVerdicts
    obeyed: dict[Answer, None] = field(default_factory=dict)
    changed: dict[Answer, None] = field(default_factory=dict)

    def count(self) -> Answered:
        """Count the answers about documents that have come so far."""
        aside = {*self.verdicts.set_aside}
        return Answered(
            obeyed=tuple(answer for answer in self.obeyed if answer not in aside),
            changed=tuple(self.changed),
            set_aside=self.verdicts.set_aside,
        )

    def obey(
        self, finder: Finder, batch: SignedBatch, matched: Matched, admitted: Admitted
    ) -> Matched:
        """Leave out what is different from a document of a batch, and add what is the same."""
        verdicts, comparer = self.verdicts, finder.comparer
        keys = {
            row: key_text(document.id, document.text)
            for row, document in enumerate(batch.documents)
            if document.id in verdicts.about and batch.words[row]
        }
        if not keys:
            return matched
        near = {candidate.id for candidate in matched.list_candidates([*keys])}
        ids = {id for key in keys.values() for id in verdicts.list_related(key)}
        ids |= near & verdicts.about.keys()
        fields = [*dict.fromkeys((TEXT, *comparer.measure.stored_fields, TAG_FIELD))]
        stored = read_within(finder.collection, ids, fields, finder.filters)
        stored_keys = {id: key_text(id, str(row.get(TEXT, ""))) for id, row in stored.items()}

        def key_of(candidate: Candidate) -> TextKey:
            if candidate.row is not None:
                return keys.get(candidate.row, (candidate.id, ""))
            if candidate.number is not None:
                return candidate.id, admitted.hashes.get(candidate.number, "")
            return stored_keys.get(candidate.id, (candidate.id, ""))

        forms = list(batch.forms)
        candidates = [
            (row, candidate)
            for row, candidate in self._list_same(keys, stored, forms, comparer, admitted)
            if verdicts.are_same(keys[row], key_of(candidate))
        ]
        same: dict[int, list[NearMatch]] = defaultdict(list)
        for row, match in compare_candidates(forms, candidates, remove_limits(comparer)):
            same[row].append(match)
        self._count(keys, stored_keys, admitted)

        def allow(lists: list[list[M]]) -> list[list[M]]:
            """Leave out what is different."""
            allowed = list(lists)
            for row, key in keys.items():
                keyed = ((match, (key, key_of(match.candidate))) for match in allowed[row])
                allowed[row] = [match for match, _ in verdicts.obey(keyed, itemgetter(1))]
            return allowed

        hashes = {row: hash for row, (_, hash) in keys.items()}
        near_by, reused = allow(matched.near), allow(matched.reused)
        return replace(matched, near=near_by, reused=reused, same=same, hashes=hashes)

    def _list_same(
        self, keys: Mapping[int, TextKey], stored: Mapping[str, Mapping[str, Any]],
        forms: list[str], comparer: Comparer, admitted: Admitted,
    ) -> Iterator[tuple[int, Candidate]]:  # fmt: skip
        """Yield documents that are the same by id, with the row of each, and add their forms."""
        of_stored = dict(zip(stored, comparer.make_forms([*stored.values()]), strict=True))
        for row, key in keys.items():
            for id in sorted(self.verdicts.list_same(key)):
                hit = Hit(id=id, shared=0, fields=stored.get(id, {}))
                if of_stored.get(id) and counts_for(key[0], hit):
                    yield row, Candidate(id=id, place=len(forms), shared=0)
                    forms.append(of_stored[id])
                if (number := admitted.latest.get(id)) is not None:
                    yield row, Candidate(id=id, place=len(forms), shared=0, number=number)
                    forms.append(admitted.forms[number])
                for earlier in keys:
                    if earlier < row and keys[earlier][0] == id:
                        yield row, Candidate(id=id, place=earlier, shared=0, row=earlier)

    def _count(
        self, keys: Mapping[int, TextKey], stored: Mapping[str, TextKey], admitted: Admitted
    ) -> None:
        """Note the answers about documents that have come and others that they are about."""
        hashes = dict(stored.values())
        for id, hash in keys.values():
            hashes[id] = hash
            for answer in self.verdicts.about[id]:
                others = answer.hashes.keys() - {id}
                for other in others & admitted.latest.keys():
                    hashes[other] = admitted.hashes.get(admitted.latest[other], "")
                if others <= hashes.keys() and not answer.fits(hashes):
                    self.changed[answer] = None
                elif others <= hashes.keys() and answer.answer != UNSURE:
                    self.obeyed[answer] = None


def make_answers(collection: Collection, judged: list[Answer]) -> GateAnswers:
    """Prepare answers for a gate, by the texts of the documents of its collection."""
    return GateAnswers(verdicts=TextVerdicts(judged, read_hashes(collection, judged)))
