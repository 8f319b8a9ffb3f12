"""Ask people about pairs in the browser, and keep what they answer."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
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
    parse_answers,
    parse_judgement,
)  # fmt: skip
from neardup_solr.arguments import (
    MeasureName,
    OneOrMore,
    Way,
    checked,
    listed,
    require,
)  # fmt: skip
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.measures.model import Features
from neardup_solr.progress import LOG, OnError, OnProgress
from neardup_solr.records import AnyId, Cluster, key_of
from neardup_solr.settings import Settings
from neardup_solr.verbs.answer import find_name, open_answers, read_from
from neardup_solr.verbs.columns import fill_in
from neardup_solr.verbs.duplicates import Duplicates, Options, find_duplicates
from neardup_solr.verbs.duplicates.inputs import Compared
from neardup_solr.verbs.review.page import make_bar, make_end, make_question
from neardup_solr.verbs.review.questions import (
    Questions,
    Tally,
    compare_by_all,
    find_doubts,
    read_texts,
)
from neardup_solr.web import bind

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
class Room:
    """A result that several people judge at the same time, and the file of their answers."""

    found: Duplicates
    threshold: float
    path: Path
    who: str
    kept: int = 0
    questions: Questions = field(init=False)
    _clusters: dict[AnyId, Cluster] = field(init=False)
    _numbers: dict[tuple[str, str, bool], int] = field(init=False)
    _read: int = 0  # bytes of the file, or the newest version in the collection
    _features: Features | None = field(init=False)
    _learning: Timer | None = None
    _learnt: int = 0  # answers

    def __post_init__(self) -> None:
        self._features = compare_by_all(self.found, read_texts(self.found))
        at_threshold = self.found.at(self.threshold)
        self.questions = Questions(pairs=self.found.pairs, threshold=self.threshold)
        self._clusters = {
            key_of(one.id, one.side): each for each in at_threshold.clusters for one in each.members
        }
        self._numbers = {self._name(one).pair: one for one in range(len(self.found.pairs))}
        self._read_others()

    def act(
        self, what: str, reader: str, number: int | None, word: str | None, now: float
    ) -> dict[str, Any]:
        """Do what a page asks for, and give it the next question."""
        self._read_others()
        self._learn()
        if what == "answer" and number is not None and word is not None:
            self._keep(reader, [number], word)
        elif what == "cluster" and number is not None:
            self._keep(reader, self._pairs_of(number), "same")
        elif what == "skip" and number is not None:
            self.questions.skip(reader, number)
        back = self.questions.back(reader, now) if what == "back" else None
        number = self.questions.next(reader, now) if back is None else back
        return {"number": number, "question": self._show(number), "bar": make_bar(self.questions)}

    def _keep(self, reader: str, numbers: list[int], word: str) -> None:
        """Keep answers, and only then note them: a page that hears of one can rely on it."""
        judgement = parse_judgement(word)
        assert judgement is not None
        answers, now = [], datetime.now(UTC)
        for number in numbers:
            hash, other_hash = self._hash(number)
            blank = replace(self._name(number), hash=hash, other_hash=other_hash)
            answers.append(replace(blank, answer=judgement, who=self.who, when=now))
        append_answers(self.path, answers)
        self.kept += len(answers)
        self.questions.judge(reader, numbers, judgement)

    def _learn(self) -> None:
        """Order the questions by the doubt of a model, learnt in the background, now and then."""
        are_same = self.questions.are_same()
        is_busy = self._learning is not None and self._learning.is_alive()
        if self._features is None or is_busy or len(are_same) < self._learnt + EACH:
            return
        self._learnt = len(are_same)
        given = (self._features, are_same)
        self._learning = Timer(PAUSE, self._find_doubts, given)  # when the next question is there
        self._learning.start()

    def _find_doubts(self, features: Features, are_same: Mapping[int, bool]) -> None:
        probabilities = find_doubts(self.found, features, are_same)
        if probabilities is not None:
            self.questions.prepare(probabilities)

    def _name(self, number: int) -> Answer:
        """Make an answer about a pair that says nothing yet."""
        ids = (str(id) for _, id in self.found.pairs[number].ends)
        return Answer(id=next(ids), other_id=next(ids), answer="unsure", ordered=self.found.against)

    def _hash(self, number: int) -> list[str]:
        """Hash both texts of a pair."""
        ends = self.found.pairs[number].ends
        return [hash_text(self.found.texts.get(key_of(id, side))) for side, id in ends]

    def _is_current(self, answer: Answer, number: int) -> bool:
        """Tell whether both texts are those that were judged, as far as that is known."""
        hashes = self._hash(number)
        if answer.id != str(self.found.pairs[number].id):
            hashes.reverse()
        known = zip((answer.hash, answer.other_hash), hashes, strict=True)
        return all(not judged or judged == hash for judged, hash in known)

    def _pairs_of(self, number: int) -> list[int]:
        """The pairs of a pair's cluster."""
        own = self._cluster_of(number)
        if own is None:
            return [number]
        keys = {key_of(one.id, one.side) for one in own.members}
        pairs = enumerate(self.found.pairs)
        return [at for at, pair in pairs if key_of(pair.id, pair.sides[0]) in keys
                and key_of(pair.other_id, pair.sides[1]) in keys]  # fmt: skip

    def _cluster_of(self, number: int) -> Cluster | None:
        """The cluster at the threshold that both documents of a pair are in."""
        pair = self.found.pairs[number]
        own = self._clusters.get(key_of(pair.id, pair.sides[0]))
        return own if own is self._clusters.get(key_of(pair.other_id, pair.sides[1])) else None

    def _show(self, number: int | None) -> str:
        if number is None:
            return make_end(self.questions)
        pair, cluster, found = self.found.pairs[number], self._cluster_of(number), self.found
        return make_question(pair, self.threshold, cluster, found.texts, found.kept)

    def _read_others(self) -> None:
        """Note what was added to the file, by another review or a command too."""
        size = self.path.stat().st_size if os.path.exists(self.path) else 0
        if size < self._read:  # it was edited
            self._read = 0
        if size == self._read:
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            content = file.read()
        if not content.endswith((b"\n", b"}")):  # another process is writing the last line
            content = content[: content.rfind(b"\n") + 1]
        self._note(parse_answers(self.path, content))
        self._read += len(content)

    def _note(self, answers: list[Answer]) -> None:
        """Note answers that are kept already."""
        for one in reversed(choose_latest(answers)):
            number = self._numbers.get(one.pair)
            if number is not None and self._is_current(one, number):
                self.questions.judged[number] = one.answer


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
    limit: int | None = None,
    port: int = 0,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> Reviewed:
    """Ask people in the browser whether pairs are the same, until the process is interrupted.

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
        import uvicorn

        from neardup_solr.verbs.review.app import make_app
    except ImportError as error:
        reason = f"a review needs {error.name}, which is not installed"
        raise SettingsError(reason, "pip install 'neardup-solr[serve]'") from None
    given = locals() | fill_in(locals())
    if reach is None:
        given["reach"] = reach = REACH if given["fields"] is None else REACH_BY_FIELDS
    reason = f"`port` cannot be {port}"
    require(0 <= port < 1 << 16, reason, "leave it out: one that is free is taken")
    require(0 <= reach <= 1, f"`reach` cannot be {reach:g}", "give 0 to 1, such as 0.1")
    token = secrets.token_urlsafe(24)
    step = "leave `port` out: one that is free is taken"
    with closing(bind("127.0.0.1", port, step)) as bound:  # before any work is done
        room, port = _open_room(given), bound.getsockname()[1]
        app = make_app(room.act, len(room.questions.pairs), token, port)
        config = uvicorn.Config(app, log_level="warning", access_log=False)
        if on_ready is not None:
            on_ready(f"http://127.0.0.1:{port}/#{token}")
        with suppress(KeyboardInterrupt):  # the usual end, which uvicorn raises again
            uvicorn.Server(config).run(sockets=[bound])
    return Reviewed(answers=room.path, kept=room.kept, tally=room.questions.tally())


def _open_room(given: Mapping[str, Any]) -> Room:
    """Find the pairs to ask about, down to some similarity below the threshold."""
    from neardup_solr.measures import Limits

    names = ("source", "measure", "min_similarity", "reach", "by", "against", "fields", "fq",
             "same", "id", "text", "settings", "limit", "on_error", "on_progress")  # fmt: skip
    keep = listed(given["keep"])
    if given["fields"] is not None:
        from neardup_solr.measures.fields import parse_fields

        keep = tuple(dict.fromkeys((*parse_fields(given["fields"]), *keep)))
    options = Options(keep=keep, texts=True, **{name: given[name] for name in names})
    path = open_answers(given["answers"])
    if os.path.exists(path):  # False for a name that cannot be, too
        read_from(path)  # which refuses a file that is none, before any work
    append_answers(path, [])  # and one that cannot be written
    found = find_duplicates(options)
    if found.chosen:
        LOG.warning("%s", found.chosen)
    if not found.pairs:
        raise ArgumentError("there is no pair to ask about", "ask for a larger `reach`")
    limits = Limits(min_similarity=given["min_similarity"])
    threshold = options.compared_by.least(limits)
    return Room(found=found, threshold=threshold, path=path, who=find_name(given["who"]))
