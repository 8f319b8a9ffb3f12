"""Ask people about pairs in the browser, and keep what they answer."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer
from typing import Any

from neardup_solr.answers import (
    Answer,
    append_answers,
    choose_latest,
    hash_text,
    open_answers,
    parse_answers,
    parse_judgement,
    read_answers,
)
from neardup_solr.arguments import MeasureName, OneOrMore, Way, checked, listed, require
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.measures import Limits
from neardup_solr.progress import LOG, OnError, OnProgress
from neardup_solr.records import AnyId, Cluster, key_of
from neardup_solr.settings import Settings
from neardup_solr.sources.guess import fill_in
from neardup_solr.verbs.answer import find_name
from neardup_solr.verbs.duplicates import Duplicates, find_duplicates, plan
from neardup_solr.verbs.duplicates.read import Compared
from neardup_solr.verbs.review.questions import (
    Learner,
    Questions,
    Tally,
    make_bar,
    make_end,
    make_question,
)

REACH, REACH_BY_FIELDS = 0.1, 0.499  # below the threshold; few probabilities are about a half
EACH = 5  # answers, after which a model learns from them anew
PAUSE = 0.2  # seconds before it does


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The `answers` file of a review, how many it kept there, and a count of all answers."""

    answers: Path
    kept: int
    tally: Tally


@dataclass(slots=True, kw_only=True)
class Review:
    """A result whose pairs several people judge at the same time, and the file of their answers."""

    result: Duplicates
    threshold: float
    path: Path
    who: str
    kept: int = 0
    questions: Questions = field(init=False)
    _clusters: dict[AnyId, Cluster] = field(init=False)
    _numbers: dict[tuple[str, str, bool], int] = field(init=False)
    _read: int = 0  # bytes of the file
    _learner: Learner = field(init=False)
    _learning: Timer | None = None
    _learnt: int = 0  # answers

    def __post_init__(self) -> None:
        self._learner = Learner(self.result)
        self.questions = Questions(pairs=self.result.pairs, threshold=self.threshold)
        self._clusters = {
            key_of(member.id, member.side): cluster
            for cluster in self.result.at(self.threshold).clusters
            for member in cluster.members
        }
        self._numbers = {self._name(at).pair: at for at in range(len(self.result.pairs))}
        self._read_answers()

    def act(
        self, action: str, reader: str, number: int | None, word: str | None, now: float
    ) -> dict[str, Any]:
        """Do what a page asks for, and give it the next question."""
        self._read_answers()
        self._learn()
        if action == "answer" and number is not None:
            self._keep(reader, [number], word)
        elif action == "cluster" and number is not None:
            self._keep(reader, self._pairs_of(number), "same")
        elif action == "skip" and number is not None:
            self.questions.skip(reader, number)
        choose = self.questions.back if action == "back" else self.questions.next
        number = choose(reader, now)
        return {"number": number, "question": self._show(number), "bar": make_bar(self.questions)}

    def _keep(self, reader: str, numbers: list[int], word: str | None) -> None:
        """Keep answers, and only then note them: a page that hears of one can rely on it."""
        judgement = parse_judgement(word)
        assert judgement is not None
        now = datetime.now(UTC)
        answers = []
        for number in numbers:
            hash, other_hash = self._hash(number)
            answers.append(replace(self._name(number), answer=judgement, who=self.who, when=now,
                                   hash=hash, other_hash=other_hash))  # fmt: skip
        append_answers(self.path, answers)
        self.kept += len(answers)
        self.questions.judge(reader, numbers, judgement)

    def _learn(self) -> None:
        """Order the questions by the doubt of a model, learnt in the background, now and then."""
        are_same = self.questions.are_same()
        is_busy = self._learning is not None and self._learning.is_alive()
        if not is_busy and len(are_same) >= self._learnt + EACH:
            self._learnt = len(are_same)
            self._learning = Timer(PAUSE, self._order, [are_same])  # when the next question is sent
            self._learning.start()

    def _order(self, are_same: Mapping[int, bool]) -> None:
        probabilities = self._learner.predict(are_same)
        if probabilities is not None:
            self.questions.prepare(probabilities)

    def _name(self, number: int) -> Answer:
        """Make an answer about a pair that says nothing yet."""
        (_, id), (_, other_id) = self.result.pairs[number].ends
        return Answer(
            id=str(id), other_id=str(other_id), answer="unsure", ordered=self.result.against
        )

    def _hash(self, number: int) -> list[str]:
        """Hash both texts of a pair."""
        ends = self.result.pairs[number].ends
        return [hash_text(self.result.texts.get(key_of(id, side))) for side, id in ends]

    def _is_current(self, answer: Answer, number: int) -> bool:
        """Return True if both texts are those that were judged, as far as that is known."""
        hashes = self._hash(number)
        if answer.id != str(self.result.pairs[number].id):
            hashes.reverse()
        judged = (answer.hash, answer.other_hash)
        return all(not hash or hash == now for hash, now in zip(judged, hashes, strict=True))

    def _pairs_of(self, number: int) -> list[int]:
        """List the pairs of a pair's cluster."""
        cluster = self._cluster_of(number)
        if cluster is None:
            return [number]
        keys = {key_of(member.id, member.side) for member in cluster.members}
        return [
            at
            for at, pair in enumerate(self.result.pairs)
            if all(key_of(id, side) in keys for side, id in pair.ends)
        ]

    def _cluster_of(self, number: int) -> Cluster | None:
        """Find the cluster at the threshold that both documents of a pair are in."""
        first, second = (
            self._clusters.get(key_of(id, side)) for side, id in self.result.pairs[number].ends
        )
        return first if first is second else None

    def _show(self, number: int | None) -> str:
        if number is None:
            return make_end(self.questions)
        pair, cluster, result = self.result.pairs[number], self._cluster_of(number), self.result
        return make_question(pair, self.threshold, cluster, result.texts, result.kept)

    def _read_answers(self) -> None:
        """Note what was added to the file, by another review or a command too."""
        size = self.path.stat().st_size if self.path.exists() else 0
        if size < self._read:  # it was edited
            self._read = 0
        if size == self._read:
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            content = file.read()
        if not content.endswith((b"\n", b"}")):  # another process is writing the last line
            content = content[: content.rfind(b"\n") + 1]
        self._read += len(content)
        for answer in reversed(choose_latest(parse_answers(self.path, content))):
            number = self._numbers.get(answer.pair)
            if number is not None and self._is_current(answer, number):
                self.questions.judged[number] = answer.answer


@checked
def review(
    source: Compared,
    *,
    answers: str | Path,
    who: str | None = None,
    reach: float | None = None,
    measure: MeasureName = "auto",
    fields: OneOrMore | Mapping[str, str] | None = None,
    min_similarity: float | None = None,
    by: Way | None = None,
    against: Compared | None = None,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    settings: Settings | Mapping[str, Any] | None = None,
    port: int = 0,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> Reviewed:
    """Ask people in the browser whether pairs are the same, until the process is interrupted.

    Example: `nd.review("listings.csv", answers="answers.jsonl")`

    The pairs are those of `duplicates` down to `reach` below the threshold (default: 0.1, or 0.499
    by fields), without those that the file `answers` has; each answer is on the disk before the
    next question is shown. First come those near the threshold or, after each fifth answer, those
    that a model of the answers is in doubt about; each third is drawn at random. Several browsers
    may ask at the same time: none gets a pair that another one has. `who` is noted with each answer
    (default: the user). How good the result is, tells `evaluate`.

    The page is served on 127.0.0.1, at `port` (0: one that is free); `on_ready` is told its
    address, which has a token. The other arguments are those of `duplicates`.

    Raises SettingsError if starlette or uvicorn is missing, ArgumentError if there is no pair;
    SourceError, SolrError and SettingsError as `duplicates` does.
    """
    try:
        from neardup_solr import web
        from neardup_solr.verbs.review.app import make_app
    except ImportError as error:
        reason = f"a review needs {error.name}, which is not installed"
        raise SettingsError(reason, "pip install 'neardup-solr[serve]'") from None
    arguments = locals() | fill_in(locals())
    if reach is None:
        reach = REACH if arguments["fields"] is None else REACH_BY_FIELDS
    require(0 <= reach <= 1, f"`reach` cannot be {reach:g}", "give 0 to 1, such as 0.1")
    token = secrets.token_urlsafe(24)
    step = "leave `port` out: one that is free is taken"
    with closing(web.bind("127.0.0.1", port, step)) as bound:  # before any work is done
        opened = _open_review(arguments | {"reach": reach})
        port = bound.getsockname()[1]
        if on_ready is not None:
            on_ready(f"http://127.0.0.1:{port}/#{token}")
        web.run(make_app(opened.act, len(opened.questions.pairs), token, port), bound)
    tally = opened.questions.tally()
    return Reviewed(answers=opened.path, kept=opened.kept, tally=tally)


def _open_review(arguments: Mapping[str, Any]) -> Review:
    """Find the pairs to ask about, down to some similarity below the threshold."""
    names = ("source", "measure", "min_similarity", "reach", "by", "against", "fields", "fq",
             "same", "id", "text", "settings", "on_error", "on_progress")  # fmt: skip
    keep = listed(arguments["keep"])
    if arguments["fields"] is not None:
        from neardup_solr.measures.fields import parse_fields

        keep = tuple(dict.fromkeys((*parse_fields(arguments["fields"]), *keep)))
    work = plan(keep=keep, texts=True, **{name: arguments[name] for name in names})
    path = open_answers(arguments["answers"])
    if os.path.exists(path):  # False for a name that cannot be, too
        read_answers(path)  # which refuses a file that is none, before any work
    append_answers(path, [])  # and one that cannot be written
    result = find_duplicates(work)
    if result.chosen:
        LOG.warning("%s", result.chosen)
    if not result.pairs:
        raise ArgumentError("there is no pair to ask about", "ask for a larger `reach`")
    threshold = work.measure.least(Limits(min_similarity=arguments["min_similarity"]))
    return Review(result=result, threshold=threshold, path=path, who=find_name(arguments["who"]))
