"""The session of a review: the pairs that people judge, and the file of their answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import combinations
from pathlib import Path
from threading import Timer
from typing import Any

from neardup_solr.answers import DIFFERENT, SAME, UNSURE, Answer, hash_text
from neardup_solr.answers.answer_file import AnswerFile
from neardup_solr.answers.verdicts import Verdicts
from neardup_solr.argument_types import Judgement
from neardup_solr.records import Cluster, key_of
from neardup_solr.verbs.duplicates.result import Duplicates
from neardup_solr.verbs.review.conflicts import ConflictQuestions
from neardup_solr.verbs.review.learner import Learner
from neardup_solr.verbs.review.outputs import ReviewOutputs
from neardup_solr.verbs.review.question import make_question
from neardup_solr.verbs.review.questions import LEASE, Questions, Tally, advise
from neardup_solr.verbs.review.unseen import UnseenRecords

EACH = 5  # answers, after which a model learns from them anew
PAUSE = 0.2  # seconds before it does
ROUND = 30  # answers, after which a page says what they are good for
TICK = timedelta(milliseconds=1)
Document = tuple[int, str, str]  # side, id, and the hash of another text than it has


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """Outcome of a review.

    `answers`: file of the answers; `kept`: answers saved in this review; `chosen`: choices of
    values saved in it; `tally`: counts of all answers; `advice`: what to do if no model can be
    learnt from the answers, or "".
    """

    answers: Path
    kept: int
    chosen: int
    tally: Tally
    advice: str = ""


class ReviewSession:
    """A result whose pairs several people judge at the same time, and the file of their answers.

    What the page shows is what is in the file, which is read before each question. A document is
    known by its side and id, and by the hash of its text if an answer is about another text.
    """

    def __init__(
        self, result: Duplicates, file: AnswerFile, who: str, threshold: float, reach: float,
        outputs: ReviewOutputs,
    ) -> None:  # fmt: skip
        self.result, self.file, self.who, self.outputs = result, file, who, outputs
        self.threshold, self.reach = threshold, reach
        self._verdicts, self._latest = Verdicts(()), dict[tuple[str, str, bool], Answer]()
        self._kept: list[Answer] = []
        self._history = defaultdict[str, list[tuple[int, list[Answer]]]](list)  # by browser
        self._learner, self._learning, self._learnt = Learner(result), Timer(0, str), 0  # answers
        self._idle = Timer(0, str)
        self._unseen, self._unseen_first = UnseenRecords(result, threshold), set[str]()  # readers
        self._clusters = {
            key_of(member.id, member.side): cluster
            for cluster in result.at(threshold).clusters
            for member in cluster.members
        }
        ends = [pair.ends for pair in result.pairs]
        keys = {(side, str(id)): key_of(id, side) for pair in ends for side, id in pair}
        self._is_compared = keys.__contains__
        self._hash = cache(lambda side, id: hash_text(result.texts.get(keys.get((side, id)))))
        self._nodes = [tuple(sorted((side, str(id), "") for side, id in pair)) for pair in ends]
        self._numbers = {nodes: number for number, nodes in enumerate(self._nodes)}
        self.questions = Questions(
            result.pairs, threshold, claim=self._claim,
            follows=lambda number: self._verdicts.decide(*self._nodes[number]),
            release=lambda number: self.file.release(repr(self._nodes[number])),
        )  # fmt: skip
        self.conflicts = ConflictQuestions(file, who, self._read_answers)
        self._read_answers()

    def act(
        self, action: str, reader: str, number: int, word: Judgement, now: float
    ) -> dict[str, Any]:
        """Do what a page asks for, and give it the next question.

        `reader` is the name of a browser, with that of its tab behind a slash.
        """
        self._read_answers()
        self._learn()
        if action != "look":
            self._idle.cancel()
            self._idle = Timer(LEASE, self.file.release)
            self._idle.daemon = True
            self._idle.start()
        questions, history = self.questions, self._history[reader.partition("/")[0]]
        note: dict[str, Any] = {"did": action}
        is_held = questions.is_held(number, reader)
        if action == "back" and history:
            number, answers = history[-1]
            self.file.claim(repr(self._nodes[number]))
            self.file.append(
                replace(answer, answer=UNSURE, withdraws=answer.time, when=self._now(answer))
                for answer in answers
            )
            history.pop()
            self._read_answers()
            note |= {"answers": len(answers), "stands": questions.judged.get(number)}
            return self._show(questions.hold(number, reader, now), reader, note)
        if action == "unseen":
            self._unseen_first.add(reader)
            questions.put_back(reader)
        if action == "skip" and is_held:
            questions.skip(number)
            history.append((number, []))
        elif action in ("answer", "cluster") and number in questions.judged and not is_held:
            note = {"did": "nothing", "stands": questions.judged[number]}
        elif action in ("answer", "cluster"):
            numbers = self._pairs_of(number) if action == "cluster" else [number]
            before = questions.are_same()
            history.append((number, self._answer(numbers, word)))
            note["answers"] = len(numbers)
            note["learned"] = self._learner.describe(before, questions.are_same())
        first = self._list_first(reader)
        chosen = questions.next(reader, now, renews=action != "look", first=first)
        return self._show(chosen, reader, note)

    def close(self) -> Reviewed:
        """Count the answers that the review kept: those of it that are the latest ones."""
        self._idle.cancel()
        self._read_answers()
        kept = sum(self._latest.get(answer.pair) == answer for answer in self._kept)
        tally = self.questions.tally()
        return Reviewed(
            answers=self.file.path, kept=kept, chosen=self.conflicts.saved, tally=tally,
            advice=self._advise(tally),
        )  # fmt: skip

    def _advise(self, tally: Tally) -> str:
        unexpected = self.questions.count_unexpected(self.threshold)
        return advise(tally, self.threshold, self.reach, unexpected)

    def _answer(self, numbers: list[int], word: Judgement) -> list[Answer]:
        """Keep answers, and only then end the question: a page that hears of one can rely on it."""
        answers = []
        for number in numbers:
            (side, id), (other_side, other_id) = self.result.pairs[number].ends
            answer = Answer(
                id=str(id), other_id=str(other_id), answer=word, who=self.who,
                hash=self._hash(side, str(id)), other_hash=self._hash(other_side, str(other_id)),
                ordered=self.result.against,
            )  # fmt: skip
            answers.append(replace(answer, when=self._now(answer)))
        self.file.append(answers)
        self._kept += answers
        self._read_answers()
        for number in numbers:
            self.questions.leave(number)
        return answers

    def _now(self, answer: Answer) -> datetime:
        """Return the time, but a later one than that of the latest answer about a pair."""
        now = datetime.now(UTC)
        now = now.replace(microsecond=now.microsecond // 1000 * 1000)  # as the file has it
        latest = [*self._kept[-1:], self._latest.get(answer.pair, answer)]
        return max(now, *(each.when + TICK for each in latest))

    def _learn(self) -> None:
        """Order the questions by the doubt of a model, learnt in the background, now and then."""
        are_same = self.questions.are_same()
        if not self._learning.is_alive() and len(are_same) >= self._learnt + EACH:
            self._learnt = len(are_same)
            learn = lambda: self.questions.prepare(self._learner.predict(are_same))  # noqa: E731
            self._learning = Timer(PAUSE, learn)  # when the next question is sent
            self._learning.start()

    def _locate(self, answer: Answer) -> tuple[Document, Document]:
        """Find the documents of an answer. Of one that is not as it was judged, the hash counts."""
        ids, hashes = (answer.id, answer.other_id), (answer.hash, answer.other_hash)
        orders = [(0, 1), (1, 0), (0, 0), (1, 1)] if self.result.against else [(0, 0)]
        possible = (each for each in orders[: answer.ordered or None]
                    if all(map(self._is_compared, zip(each, ids, strict=True))))  # fmt: skip
        sides = next(possible, orders[0])
        first, second = sorted(
            (side, id, "" if hash in ("", self._hash(side, id)) else hash)
            for side, id, hash in zip(sides, ids, hashes, strict=True)
        )
        return first, second

    def _claim(self, number: int) -> bool:
        """Keep a pair from other processes. What one of them answered before is in the file."""
        is_free = self.file.claim(repr(self._nodes[number]))
        self._read_answers()
        return is_free

    def _pairs_of(self, number: int) -> list[int]:
        """List a pair, and the others of its cluster that are not judged the same."""
        cluster = self._cluster_of(number)
        members = () if cluster is None else cluster.members
        nodes = sorted((member.side, str(member.id), "") for member in members)
        numbers = {self._numbers.get(pair, number) for pair in combinations(nodes, 2)} | {number}
        return [each for each in sorted(numbers) if self.questions.judged.get(each) != SAME]

    def _cluster_of(self, number: int) -> Cluster | None:
        """Find the cluster at the threshold that both documents of a pair are in."""
        ends = self.result.pairs[number].ends
        first, second = (self._clusters.get(key_of(id, side)) for side, id in ends)
        return first if first is second else None

    def _list_first(self, reader: str) -> list[int]:
        """List the pairs that nobody has looked at, if a reader wants to be asked about these."""
        if reader not in self._unseen_first:
            return []
        numbers = self.questions.order(self._unseen.find(self._verdicts).numbers)
        if not numbers:
            self._unseen_first.remove(reader)
        return numbers

    def _show(self, number: int | None, reader: str, note: Mapping[str, Any]) -> dict[str, Any]:
        """Show a question, and how far the review is."""
        tally = self.questions.tally(ROUND)
        shown = {"number": number, "note": note, "bar": f"{tally}", "tally": tally._asdict(),
                 "round": ROUND, "advice": self._advise(tally),
                 "outputs": self.outputs.names, "merges": self.outputs.merges}  # fmt: skip
        if note["did"] == "finish" or reader in self._unseen_first:
            rest = self._unseen.find(self._verdicts)
            shown |= {"unseen": rest.records, "unsureApart": rest.unsure,
                      "asks": bool(self.questions.order(rest.numbers)),
                      "isOfBest": self._unseen.graph.linkage == "mutual_best"}  # fmt: skip
        if number is None:
            return shown
        pair, cluster, result = self.result.pairs[number], self._cluster_of(number), self.result
        words = [self.questions.judged.get(each) for each in self._pairs_of(number)]
        return shown | {
            "question": make_question(
                pair, cluster, result.texts, result.kept, result.origin, self.threshold
            ),
            "similarity": pair.similarity, "distance": pair.distance, "measure": pair.measure,
            "threshold": self.threshold, "numbered": not result.has_ids,
            "cluster": len(cluster.members) if cluster else 0,
            "pairs": len(words), "different": words.count(DIFFERENT),
        }  # fmt: skip

    def _read_answers(self) -> None:
        """Judge by the answers of the file, to which other reviews and commands may have added."""
        if not self.file.read():
            return
        before, aside, latest = self._latest, self._verdicts.set_aside, self.file.latest
        self._latest = {answer.pair: answer for answer in latest}
        self._verdicts = Verdicts((answer, *self._locate(answer)) for answer in latest)
        held = self._verdicts.held[::-1]
        judged = {self._numbers.get((*ends,)): answer.answer for answer, *ends in held}
        self.questions.judged = {at: judged[at] for at in judged if at is not None}
        if self._verdicts.set_aside != aside or not before.items() <= self._latest.items():
            self.questions.begin()  # as pairs may be open again
