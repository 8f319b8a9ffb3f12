"""Answers of people about pairs, in a file of JSON lines, and the documents that they tell apart.

Lines are only ever appended. The latest answer about a pair counts, so that two files may be put
together in any order, by hand or by git.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from io import FileIO
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar, get_args

import orjson

from neardup_solr.arguments import Judgement, require
from neardup_solr.clusters import Partition
from neardup_solr.errors import DataError, SourceError, counted
from neardup_solr.files import read_state, refuse_failure, regular
from neardup_solr.progress import LOG
from neardup_solr.records import NOTHING, AnyId, as_whole, id_problem, ordered
from neardup_solr.text.json_keys import has_key_twice
from neardup_solr.text.normalize import md5, normalize

CLAIMS = 1 << 30  # the first byte of those that are locked, and their number
CHECK_SPACE = "check free space and permissions"
Opener = Callable[[str, int], int]  # of files, as `open` takes it
DocumentKey = tuple[int, AnyId]  # a document: its side, 0 or 1, and its id

SAME, DIFFERENT, UNSURE = JUDGEMENTS = get_args(Judgement)
BLANK = ("", "nan", "none", "<na>")  # a cell that nobody has filled
MEANINGS: Mapping[str, Judgement] = {
    **dict.fromkeys((SAME, "yes", "true", "1", "1.0"), SAME),
    **dict.fromkeys((DIFFERENT, "no", "false", "0", "0.0"), DIFFERENT),
    **dict.fromkeys((UNSURE, *BLANK), UNSURE),
}
EARLIEST = datetime.min.replace(tzinfo=UTC)
_MERGING = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")  # conflict markers of git


def is_blank(word: object) -> bool:
    """Return True for a cell of a table that nobody has filled."""
    return str(word).strip().lower() in BLANK


def parse_judgement(word: object) -> Judgement | None:
    """Parse a word of a person, such as yes, NO or 1. Return None for others."""
    return MEANINGS.get(str(word).strip().lower())


def hash_text(text: str | None) -> str:
    """Hash a text as Solr's field md5_hash has it, the MD5 of its normal form. "" is for None."""
    return "" if text is None else md5(normalize(text, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A person's judgement of a pair.

    `id`: id of the first document; `other_id`: id of the second; `answer`: "same", "different" or
    "unsure"; `who`: name of the person; `when`: time in UTC; `hash`: hash of the first text, or "";
    `other_hash`: hash of the second text, or ""; `ordered`: True if the documents are of two sides,
    as with `against`; `withdraws`: `time` of an earlier answer that this one withdraws, or "".
    """

    id: str
    other_id: str
    answer: Judgement
    who: str = ""
    when: datetime = EARLIEST
    hash: str = ""
    other_hash: str = ""
    ordered: bool = False
    withdraws: str = ""

    @property
    def pair(self) -> tuple[str, str, bool]:
        """Key of the pair, equal for all answers about it."""
        ids = (self.id, self.other_id) if self.ordered else ordered(self.id, self.other_id)
        return (*ids, self.ordered)

    @property
    def hashes(self) -> dict[str, str]:
        """Hashes of both texts, by id."""
        return {self.id: self.hash, self.other_id: self.other_hash}

    def fits(self, hashes: Mapping[str, str]) -> bool:
        """Return True unless a text's hash shows a change since the answer was given."""
        return all(not hash or hashes.get(id) == hash for id, hash in self.hashes.items())

    @property
    def time(self) -> str:
        """Time in ISO 8601, or ""."""
        is_known = self.when != EARLIEST
        return self.when.astimezone(UTC).isoformat(timespec="milliseconds") if is_known else ""

    def to_line(self) -> bytes:
        """Format the answer as a line of JSON."""
        fields = asdict(self) | {"when": self.time}
        rare = {name for name in ("ordered", "withdraws") if not fields[name]}
        return orjson.dumps({name: fields[name] for name in fields if name not in rare}) + b"\n"


def read_answers(path: str | Path, opener: Opener | None = None) -> list[Answer]:
    """Read all answers of a file, in its order.

    An answer without a time has that of the line before it. A line that is cut in the middle, as
    by a full disk, is left out, and logged. By the opener `files.regular` no pipe is waited for.

    Raises SourceError if the file cannot be read, or another line of it is not an answer.
    """
    path = Path(path)
    try:
        with open(path, "rb", opener=opener) as file:
            mode = os.fstat(file.fileno()).st_mode
            is_device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
            content = file.read(1 if is_device else -1)  # /dev/full and others have no end
    except OSError as error:
        step = "create it with: neardup answer ID OTHER_ID same|different --answers FILE"
        if not isinstance(error, FileNotFoundError):
            step = "check the file"
        raise SourceError(str(path), f"cannot be read ({error.strerror or error})", step) from None
    if is_device and content:
        raise SourceError(str(path), "is a device, not a file of answers", "name a file")
    return parse_answers(path, content)


def parse_answers(
    path: str | Path, content: bytes, first: int = 1, before: datetime = EARLIEST
) -> list[Answer]:
    """Parse lines of a file, from the number `first` on, as `read_answers` does.

    `before` is the time of the answer before them.
    """
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    answers: list[Answer] = []
    cut: list[int] = []
    for number, line in enumerate(lines, start=first):
        if not (line := line.strip()):
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            if not line.startswith(b'{"') and line != b"{":
                raise SourceError(str(path), *_name_fault(number, line)) from None
            cut.append(number)
            continue
        if has_key_twice(row, line):
            step = "correct it, or remove it"
            raise SourceError(str(path), f"line {number} has a key twice", step)
        answers.append(_parse(str(path), number, row, before))
        before = answers[-1].when
    if cut:
        _log_cut(str(path), len(cut), cut[0])
    return answers


@cache
def _log_cut(path: str, count: int, first: int) -> None:
    """Log, once a process, that lines are cut."""
    cut = counted(count, "answer is", "answers are")
    LOG.warning("%s: %s cut off and ignored, the first in line %s", path, cut, f"{first:,}")


def _name_fault(number: int, line: bytes) -> tuple[str, str]:
    """Name the fault of a line that is no JSON, and what to do."""
    if line.startswith(_MERGING):
        return f"line {number} is a git conflict marker", "delete the markers and keep both sides"
    if line.startswith((b'"{', b"PK\x03", b"\xff\xfe", b"{,", b"id,", b"id;", b"id\t")):
        reason = "the file has a different format, or was saved by a spreadsheet program"
        step = "restore the file; to import a table of answers: neardup answer --import"
        return f"line {number} is not JSON: {reason}", step
    return f"line {number} is not an answer", "correct it, or remove it"


def _parse(path: str, number: int, row: Any, before: datetime) -> Answer:
    """Make an answer of the object in a line. `before` is the time of the last one."""

    def refuse(reason: str, step: str = "correct it, or remove it") -> SourceError:
        return SourceError(path, f"line {number} {reason}", step)

    if not isinstance(row, dict):
        raise refuse("is not an answer")
    ids = [as_whole(row.get(name)) for name in ("id", "other_id")]
    ids = [str(id) if type(id) in (str, int) else "" for id in ids]
    if any(map(id_problem, ids)):
        raise refuse("does not have two ids", "give id and other_id, or remove it")
    judgement = parse_judgement(row.get("answer", "?"))
    if judgement is None or is_blank(row["answer"]):
        word = str(row.get("answer", ""))[:40]
        raise refuse(f"has the invalid answer {word!r}", "use same, different or unsure")
    try:
        when = datetime.fromisoformat(str(row["when"])) if row.get("when") else before
        when = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise refuse(f"has the invalid time {str(row['when'])[:40]!r}", "use ISO 8601") from None
    names = ("who", "hash", "other_hash", "withdraws")
    texts = {name: str(row.get(name) or "") for name in names}
    is_ordered = row.get("ordered") is True
    return Answer(id=ids[0], other_id=ids[1], answer=judgement, when=when, ordered=is_ordered,
                  **texts)  # fmt: skip


class AnswerFile:
    """A file of answers to which others append meanwhile.

    A process claims pairs, which no other is to ask about, by locks on bytes far behind the
    answers. The system releases them when the process ends, however that is.

    Raises SourceError if the file cannot be read or written, and ArgumentError for an address.
    """

    def __init__(self, answers: str | Path) -> None:
        self.path, self._answers = Path(answers), list[Answer]()
        self._content, self._state, self._claims = b"", tuple[int, ...](), dict[str, int]()
        if os.path.exists(self.path):  # False for a name that cannot be, too
            read_answers(self.path, regular)
        with refuse_failure(self.path, CHECK_SPACE):
            self._file = FileIO(self.path, "ab+", opener=regular)

    def close(self) -> None:
        """Close the file, which ends all claims."""
        self._file.close()

    @property
    def latest(self) -> list[Answer]:
        """The latest answers of those that were read."""
        return choose_latest(self._answers)

    def read(self) -> bool:
        """Read what was added, or all of a file that was edited. Return False if neither was.

        Raises SourceError as long as the file is missing, cannot be opened, or has another fault.
        """
        if (state := read_state(self.path)) == self._state != ():
            return False
        self._follow()
        self._file.seek(0)
        content = self._file.read()
        if not content.endswith((b"\n", b"}")):  # another process is writing the last line
            content = content[: content.rfind(b"\n") + 1]
        is_new = content != self._content
        is_longer = content.startswith(self._content)
        earlier, begin = (self._answers, len(self._content)) if is_longer else ([], 0)
        line = 1 + content.count(b"\n", 0, begin)
        before = earlier[-1].when if earlier else EARLIEST
        self._answers = [*earlier, *parse_answers(self.path, content[begin:], line, before)]
        self._content, self._state = content, state
        return is_new

    def append(self, answers: Iterable[Answer]) -> None:
        """Append answers as `append_answers` does. To close another handle would end the locks."""
        lines = [*answers]
        with refuse_failure(self.path, CHECK_SPACE):
            self._follow()
            _write(self._file, lines)
            while not _is_at(self.path, self._file):  # another file has taken its place meanwhile
                self._follow()
                _write(self._file, lines)

    def _follow(self) -> None:
        """Open the file that has taken the place of the one that is open, if there is one."""
        if _is_at(self.path, self._file):
            return
        with refuse_failure(self.path, CHECK_SPACE):
            try:
                file = FileIO(self.path, "ab+", opener=_existing)
            except FileNotFoundError:
                reason, step = "is missing", "put it back, or create it to begin anew"
                raise SourceError(str(self.path), reason, step) from None
        self._file.close()  # not before: without a file, nothing could be done until the end
        self._file = file
        self._claims = {name: at for name, at in self._claims.items() if self._lock(at)}

    def claim(self, pair: str) -> bool:
        """Claim a pair by its name. Return False if another process has it."""
        at = CLAIMS + int(md5(pair), 16) % CLAIMS
        if pair not in self._claims and not self._lock(at):
            return False
        self._claims[pair] = at
        return True

    def release(self, *pairs: str) -> None:
        """Let other processes claim pairs, all of them if none is named."""
        for pair in self._claims.keys() & (pairs or self._claims.keys()):
            self._lock(self._claims.pop(pair), ends=True)

    def _lock(self, at: int, *, ends: bool = False) -> bool:
        """Lock a byte, or end that. Return False if another process has it."""
        self._file.seek(at)
        with suppress(OSError, AttributeError):  # Windows and some file systems have no locks
            try:
                os.lockf(self._file.fileno(), os.F_ULOCK if ends else os.F_TLOCK, 1)
            except (BlockingIOError, PermissionError):
                return False
        return True


def append_answers(path: str | Path, answers: Iterable[Answer]) -> None:
    """Append answers to a file by one write, and wait until they are on the disk.

    So several processes may append at the same time. Nothing in the file is changed.

    Raises SourceError if the file cannot be written.
    """
    lines = [*answers]
    with refuse_failure(path, CHECK_SPACE):
        is_kept = False
        while not is_kept:
            with FileIO(path, "ab+", opener=regular) as file:
                _write(file, lines)
                is_kept = _is_at(path, file)


def _existing(path: str, flags: int) -> int:
    """Open a file that exists, as an `opener`: a new one would hide that it was moved."""
    return regular(path, flags & ~os.O_CREAT)


def _write(file: FileIO, answers: Iterable[Answer]) -> None:
    # Without a line break at its end, as after an editor or a full disk, begin a new line.
    file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
    begin = b"" if file.read(1) in (b"", b"\n") else b"\n"
    lines = b"".join(answer.to_line() for answer in answers)
    if lines and file.write(begin + lines) < len(begin + lines):
        raise OSError("the last line was cut off")
    os.fsync(file.fileno())


def _is_at(path: str | Path, file: FileIO) -> bool:
    """Return True if a path leads to an open file, and not to another one, or to none."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except (OSError, ValueError):  # also of a file on a disk that has gone
        return False


def choose_latest(answers: Iterable[Answer]) -> list[Answer]:
    """Choose the latest answer about each pair, of one time the last, the newest first.

    Those that were withdrawn do not count, so that the answer before them does.
    """
    latest: dict[tuple[str, str, bool], Answer] = {}
    rising = sorted(answers, key=attrgetter("when"))
    withdrawn = {(answer.pair, answer.withdraws) for answer in rising if answer.withdraws}
    for answer in rising:
        if withdrawn and (answer.withdraws or (answer.pair, answer.time) in withdrawn):
            continue
        latest.pop(answer.pair, None)
        latest[answer.pair] = answer
    return list(latest.values())[::-1]


def parse_table(columns: Mapping[str, Sequence[Any]], *, ordered: bool) -> Iterator[Answer]:
    """Parse the answers in a table of pairs, with the hashes of texts that it has, without a time.

    Its columns are id, other_id and answer, and maybe text and other_text. Rows that nobody has
    filled are left out. Pairs of two sides are `ordered`.

    Raises DataError if an answer is not known, or a pair has two different ones.
    """
    earlier: dict[tuple[str, str, bool], Answer] = {}
    blank = [None] * len(columns["answer"])
    names = ("id", "other_id", "answer", "text", "other_text")
    rows = zip(*(columns.get(name, blank) for name in names), strict=True)
    for id, other_id, word, text, other_text in rows:
        if is_blank(word):
            continue
        judgement, pair = parse_judgement(word), f"{id} – {other_id}"
        if judgement is None:
            reason = f"the answer {str(word)[:40]!r} to {pair} is unknown"
            raise DataError(reason, "use same, different or unsure")
        hash, other_hash = (hash_text(str(each) if each else None) for each in (text, other_text))
        answer = Answer(id=_spell(id), other_id=_spell(other_id), answer=judgement,
                        hash=hash, other_hash=other_hash, ordered=ordered)  # fmt: skip
        has_ids = not any(map(id_problem, (answer.id, answer.other_id)))
        require(has_ids, f"the answer {judgement!r} has no pair of ids", "give both ids", DataError)
        is_pair = ordered or answer.id != answer.other_id
        reason = f"both ids in a row are {answer.id!r}"
        require(is_pair, reason, "set `ordered` for two sources", DataError)
        before = earlier.setdefault(answer.pair, answer).answer
        reason = f"{pair} is answered both {before} and {judgement}"
        require(before == judgement, reason, "keep one of the two answers", DataError)
        yield answer


def _spell(id: AnyId | float | None) -> str:
    """Spell an id of a table as a text, in which a column of numbers may have become 12.0."""
    return "" if id is None else str(as_whole(id))


TextKey = tuple[str, str]  # a document: its id, and the hash of its text
Key = TypeVar("Key")
Pair = TypeVar("Pair")
CHANGED, GONE = "changed", "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Answers given to a run, counted by their effect.

    `obeyed` ones are same or different; `unsure` ones change nothing; those `set_aside` contradict
    newer ones. The texts of `changed` ones are others by now, and the documents of `gone` ones are
    missing, or have no words: neither is obeyed.
    """

    obeyed: tuple[Answer, ...] = ()
    unsure: tuple[Answer, ...] = ()
    set_aside: tuple[Answer, ...] = ()
    changed: tuple[Answer, ...] = ()
    gone: tuple[Answer, ...] = ()

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
