"""Documents that are the same or different by answers, and what became of each answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar

from neardup_solr.answers import SAME, UNSURE, Answer, choose_latest, hash_text
from neardup_solr.clusters.components import Partition
from neardup_solr.errors import counted
from neardup_solr.progress import LOG
from neardup_solr.records import NOTHING

TextKey = tuple[str, str]  # a document: its id, and the hash of its text
Key = TypeVar("Key")
Pair = TypeVar("Pair")
CHANGED, GONE = "changed", "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Answers given to a run, counted by their effect.

    `obeyed` ones are same or different; `unsure` ones change nothing; those `set_aside` contradict
    newer ones. The texts of `changed` ones are others by now, and the documents of `gone` ones are
    missing, or have no words: neither is obeyed. `choices` of values count when records are merged.
    """

    obeyed: tuple[Answer, ...] = ()
    unsure: tuple[Answer, ...] = ()
    set_aside: tuple[Answer, ...] = ()
    changed: tuple[Answer, ...] = ()
    gone: tuple[Answer, ...] = ()
    choices: tuple[Answer, ...] = ()

    def __str__(self) -> str:
        more = "".join(f", {len(answers):,} {name}" for answers, name, _ in self._refused())
        return f"{counted(len(self.obeyed), 'answer')} applied{more}"

    def warn(self) -> None:
        """Log which answers are not obeyed, and why."""
        for answers, _, reason in self._refused():
            count = counted(len(answers), "answer is", "answers are")
            pair = f"{answers[0].id} – {answers[0].other_id}"
            LOG.warning("%s not applied, %s (such as %s)", count, reason, pair)

    def _refused(self) -> Iterator[tuple[tuple[Answer, ...], str, str]]:
        """Give the answers that are not obeyed, with a word and a sentence about them."""
        for answers, name, reason in (
            (self.set_aside, "set aside", "because of contradictory newer answers"),
            (self.changed, "about other texts",
             "because the texts have changed since then: answer again"),
            (self.gone, "about missing documents",
             "because documents are missing or have no words"),
        ):  # fmt: skip
            if answers:
                yield answers, name, reason


class Verdicts:
    """Documents that are the same or different by answers, under keys of any kind.

    Each answer comes with the keys of its two documents, the newest first. Those that contradict
    newer ones are `set_aside`: A and B same, B and C same, A and C different.
    """

    def __init__(self, answers: Iterable[tuple[Answer, Any, Any]]) -> None:
        self._partition = Partition()
        placed = list(answers)
        refused = (answer for answer, *keys in placed if not self._obey(answer, *keys))
        self.set_aside = tuple(dict.fromkeys(refused))
        aside = {*self.set_aside}
        self.held = [each for each in placed if each[0] not in aside]

    def _obey(self, answer: Answer, first: Any, second: Any) -> bool:
        if answer.answer == UNSURE:
            return True
        judge = self._partition.unite if answer.answer == SAME else self._partition.separate
        return judge(first, second)

    def find(self, key: Any) -> Any:
        """Find the key that stands for all that are the same."""
        return self._partition.find(key)

    def are_different(self, first: Any, second: Any) -> bool:
        """Return True if two documents are different, by an answer or by several."""
        return self._partition.are_apart(first, second)

    def decide(self, first: Any, second: Any) -> bool:
        """Return True if two documents are the same, or different, by an answer or by several."""
        first, second = self.find(first), self.find(second)
        return first == second or self.are_different(first, second)

    def obey(
        self, pairs: Iterable[Pair], keys: Callable[[Pair], tuple[Any, Any]]
    ) -> Iterator[Pair]:
        """Pass on the pairs that are not different, by the `keys` of each."""
        return (pair for pair in pairs if not self.are_different(*keys(pair)))


def place_answers(
    latest: Iterable[Answer], locate: Callable[[Answer], tuple[Key, Key] | str]
) -> tuple[Verdicts, Answered]:
    """Make verdicts of the answers that hold, and sort all by what became of them.

    `locate` returns the keys of the documents of an answer, or CHANGED or GONE. Those that are not
    obeyed are logged.
    """
    placed: list[tuple[Answer, Key, Key]] = []
    refused: dict[str, list[Answer]] = {CHANGED: [], GONE: []}
    for answer in latest:
        keys = locate(answer)
        if isinstance(keys, str):
            refused[keys].append(answer)
        else:
            placed.append((answer, *keys))
    verdicts = Verdicts(placed)
    held = [answer for answer, *_ in verdicts.held]
    answered = Answered(
        obeyed=tuple(answer for answer in held if answer.answer != UNSURE),
        unsure=tuple(answer for answer in held if answer.answer == UNSURE),
        set_aside=verdicts.set_aside,
        changed=tuple(refused[CHANGED]),
        gone=tuple(refused[GONE]),
    )
    answered.warn()
    return verdicts, answered


def key_text(id: str, text: str) -> TextKey:
    """Make the key of a document by its id and text."""
    return id, hash_text(text)


class TextVerdicts:
    """Verdicts about documents that come one by one, by id and hash of the text.

    So an answer about another text does not count, and nothing has to be known of the documents
    that do not come. Answers about other texts than those of documents in the collection, by their
    `hashes`, set no others aside.
    """

    def __init__(self, answers: Iterable[Answer], hashes: Mapping[str, str] = NOTHING) -> None:
        latest = [answer for answer in choose_latest(answers) if answer.id != answer.other_id]
        outdated = {
            answer for answer in latest
            if not answer.fits({id: hashes.get(id, hash) for id, hash in answer.hashes.items()})
        }  # fmt: skip
        latest.sort(key=lambda answer: answer in outdated)
        self.about: dict[str, list[Answer]] = defaultdict(list)
        for answer in latest:
            self.about[answer.id].append(answer)
            self.about[answer.other_id].append(answer)
        self._hashes = {id: {each.hashes[id] for each in about} for id, about in self.about.items()}
        placed = ((answer, *keys) for answer in latest for keys in self._find_keys(answer))
        self._verdicts = Verdicts(placed)
        aside = self._verdicts.set_aside
        self.set_aside = tuple(answer for answer in aside if answer not in outdated)
        self._members: dict[Any, set[str]] = defaultdict(set)
        for id, texts in self._hashes.items():
            for hash in texts:
                self._members[self._verdicts.find((id, hash))].add(id)

    def _find_keys(self, answer: Answer) -> Iterator[tuple[Any, ...]]:
        """Find the pairs of texts that an answer is about: any texts, if it has no hashes."""
        texts = [
            [(id, each) for each in ({hash} if hash else self._hashes[id])]
            for id, hash in answer.hashes.items()
        ]
        return product(*texts)

    def _find(self, key: TextKey) -> Any:
        """Find the group of a text. A text that no answer is about counts as any text."""
        id, hash = key
        return self._verdicts.find((id, hash if hash in self._hashes.get(id, ()) else ""))

    def list_same(self, key: TextKey) -> set[str]:
        """List the ids of documents that are the same as one, if their texts are as they were."""
        return self._members.get(self._find(key), set()) - {key[0]}

    def list_related(self, key: TextKey) -> set[str]:
        """List the ids of documents that are the same as one, or judged together with it."""
        return self.list_same(key) | {id for answer in self.about[key[0]] for id in answer.hashes}

    def are_same(self, first: TextKey, second: TextKey) -> bool:
        """Return True if two documents are the same."""
        return bool(self._find(first) == self._find(second))

    def obey(
        self, pairs: Iterable[Pair], keys: Callable[[Pair], tuple[TextKey, TextKey]]
    ) -> Iterator[Pair]:
        """Pass on the pairs that are not different, by the `keys` of each."""
        return self._verdicts.obey(pairs, lambda pair: tuple(map(self._find, keys(pair))))
