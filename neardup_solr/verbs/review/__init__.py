"""Ask people about pairs in the browser, and keep what they answer."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neardup_solr.answers import (
    Answer,
    append_answers,
    choose_latest,
    hash_text,
    parse_judgement,
    read_answers,
)  # fmt: skip
from neardup_solr.arguments import (
    MAX_DOC_BYTES,
    MeasureName,
    OneOrMore,
    Way,
    checked,
    listed,
    require,
)  # fmt: skip
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.progress import OnError, OnProgress
from neardup_solr.records import AnyId, Cluster, key_of
from neardup_solr.settings import Settings
from neardup_solr.verbs.answer import find_name
from neardup_solr.verbs.duplicates import Duplicates, duplicates
from neardup_solr.verbs.duplicates.inputs import Compared
from neardup_solr.verbs.review.page import make_bar, make_question
from neardup_solr.verbs.review.questions import Questions, Tally

REACH = 0.1  # below the threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The answers that a review kept in the file `answers`, and what they tell of the threshold."""

    answers: Path
    kept: int
    tally: Tally
    threshold: float


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
    _size: int = field(init=False, default=-1)

    def __post_init__(self) -> None:
        at_threshold = self.found.at(self.threshold)
        self.questions = Questions(
            pairs=self.found.pairs, clusters=at_threshold.clusters, threshold=self.threshold
        )
        self._clusters = {
            key_of(one.id, one.side): each for each in at_threshold.clusters for one in each.members
        }
        self._read_others()

    def act(
        self, what: str, reader: str, number: int | None, word: str | None, now: float
    ) -> dict[str, Any]:
        """Do what a page asks for, and give it the next question."""
        self._read_others()
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
        now = datetime.now(UTC)
        texts = self.found.texts
        answers = []
        for number in numbers:
            pair = self.found.pairs[number]
            one, other = (texts.get(key_of(id, side)) for id, side in zip(
                (pair.id, pair.other_id), pair.sides, strict=True))  # fmt: skip
            answers.append(
                Answer(
                    id=str(pair.id),
                    other_id=str(pair.other_id),
                    answer=judgement,
                    who=self.who,
                    when=now,
                    hash="" if one is None else hash_text(one),
                    other_hash="" if other is None else hash_text(other),
                    ordered=self.found.against,
                )
            )
        append_answers(self.path, answers)
        self.kept += len(answers)
        self._size = self._measure()
        for number in numbers:
            self.questions.judge(reader, number, judgement)

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
            return ""
        pair, cluster = self.found.pairs[number], self._cluster_of(number)
        return make_question(pair, self.threshold, cluster, self.found.texts, self.found.kept)

    def _measure(self) -> int:
        return self.path.stat().st_size if os.path.exists(self.path) else 0

    def _read_others(self) -> None:
        """Note what another review, or a command, has added to the file."""
        if self._measure() == self._size:
            return
        self._size = self._measure()
        if not self._size:
            return
        known = {one.pair: one.answer for one in choose_latest(read_answers(self.path))}
        for number, pair in enumerate(self.found.pairs):
            key = Answer(id=str(pair.id), other_id=str(pair.other_id), answer="unsure",
                         ordered=self.found.against).pair  # fmt: skip
            if key in known:
                self.questions.judged[number] = known[key]


@checked
def review(
    source: Compared,
    *,
    answers: str | Path,
    who: str | None = None,
    reach: float = REACH,
    measure: MeasureName = "words",
    fields: OneOrMore | Mapping[str, str] | None = None,
    min_similarity: float | None = None,
    by: Way | None = None,
    against: Compared | None = None,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    source_format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    lossy: bool = False,
    max_doc_bytes: int | str = MAX_DOC_BYTES,
    settings: Settings | Mapping[str, Any] | None = None,
    limit: int | None = None,
    port: int = 0,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> Reviewed:
    """Ask people in the browser whether pairs are the same, until the process is interrupted.

    The pairs are those of `duplicates` down to `reach` below the threshold, without those that the
    file `answers` has; each answer is on the disk before the next question is shown. First come
    those whose answer helps most: pairs near the threshold, and those that hold large clusters
    together. Several browsers may ask at the same time: none gets a pair that another one has.
    `who` is noted with each answer (default: the user).

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
    require(0 <= reach <= 1, f"`reach` cannot be {reach:g}", "give 0 to 1, such as 0.1")
    room = _open_room(locals())
    bound = _bind(port)
    token = secrets.token_urlsafe(24)
    address = f"http://127.0.0.1:{bound.getsockname()[1]}/#{token}"
    config = uvicorn.Config(make_app(room, token), log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    if on_ready is not None:
        on_ready(address)
    with suppress(KeyboardInterrupt):  # the usual end, which uvicorn raises again
        server.run(sockets=[bound])
    return Reviewed(
        answers=room.path, kept=room.kept, tally=room.questions.tally(), threshold=room.threshold
    )


def _open_room(given: Mapping[str, Any]) -> Room:
    """Find the pairs to ask about, down to some similarity below the threshold."""
    from neardup_solr.measures import Limits, measure_of

    names = ("by", "against", "fields", "fq", "same", "id", "text", "source_format", "delimiter",
             "encoding", "lossy", "max_doc_bytes", "settings", "limit", "on_error",
             "on_progress")  # fmt: skip
    measure, limits = given["measure"], Limits(min_similarity=given["min_similarity"])
    keep = listed(given["keep"])
    if given["fields"] is not None:
        from neardup_solr.measures.fields import parse_fields

        measure = "fields"
        keep = tuple(dict.fromkeys((*parse_fields(given["fields"]), *keep)))
    threshold = measure_of(measure, limits).least(limits)
    path = Path(given["answers"])
    if os.path.exists(path):  # False for a name that cannot be, too
        read_answers(path)  # which refuses a file that is none, before any work
    else:
        append_answers(path, [])
    found = duplicates(
        given["source"],
        measure=measure,
        keep=keep,
        min_similarity=max(0.0, threshold - given["reach"]),
        texts=True,
        **{name: given[name] for name in names},
    )
    if not found.pairs:
        raise ArgumentError("there is no pair to ask about", "ask for a larger `reach`")
    return Room(found=found, threshold=threshold, path=path, who=find_name(given["who"]))


def _bind(port: int) -> socket.socket:
    """Take a port of this machine.

    Raises ArgumentError if another process has it.
    """
    # asyncio sends at once only on sockets that say they are of TCP; others wait for 40 ms.
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
        bound.listen()  # who comes before the server has started, waits
    except OSError as error:
        bound.close()
        reason = f"the port {port} cannot be used ({error.strerror})"
        raise ArgumentError(reason, "leave `port` out: one that is free is taken") from None
    return bound
