"""Decisions of the gate: by which policy they are made, and the rows and files of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, get_args
from warnings import warn

import orjson

from neardup_solr import measures, reports
from neardup_solr.arguments import Action, checked, require, require_choice
from neardup_solr.errors import ArgumentError, RecordError, counted
from neardup_solr.files import PathError, check_apart, check_place, refuse_failure, write_lines
from neardup_solr.guard import SEVERAL, Template, are_unlike, find_template
from neardup_solr.measures import ANYTHING, Equality, Limits, Measure, floor, measure_named
from neardup_solr.progress import LOG, Failures
from neardup_solr.records import Document, Match
from neardup_solr.reports import Columns, Row, Table, beside
from neardup_solr.text.normalize import md5, normalize

if TYPE_CHECKING:
    from neardup_solr.answers import Answered
    from neardup_solr.verbs.batch import NearMatch

ACTIONS: tuple[Action, ...] = get_args(Action)
ALLOW, TAG, HOLD, REJECT = ACTIONS
ADMITTED = frozenset({ALLOW, TAG})
TAG_FIELD, REASON_FIELD = "neardup_of", "neardup_reason"
COLUMNS = ("id", "action", "other_id", "similarity", "distance", "matches", "reason")
FAILED = "failed"  # the action in rows about records that make no document
_WHY = frozenset({REASON_FIELD, TAG_FIELD})
MOST_TEXTS, MOST_GROUPS = 50, 1_000  # that are looked at to know a template, and such groups
ALIKE, MOST_WORDS = 0.5, 64  # that texts of a template share at least, of so many that are drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Actions for a document that has a near-duplicate: checked arguments of `gate`.

    `tag`, `hold` and `reject` are the least similarities for each action; an action that is None is
    not taken. If all three are None, `tag` is the threshold of the measure. What `equality` asks
    for has to be equal in near-duplicates.

    Raises ArgumentError if a value is out of range, or a milder action needs as much similarity.
    """

    reject: float | None = None
    hold: float | None = None
    tag: float | None = None
    exact: Action = "reject"
    measure: str | Measure = "words"
    max_distance: int | None = None
    equality: Equality = ANYTHING

    def __post_init__(self) -> None:
        measures.measure_of(self.measure, Limits(max_distance=self.max_distance))  # checks them
        require_choice("exact", self.exact, ACTIONS)
        for action, bound in self.bounds:
            step = "give a similarity from 0 to 1"
            require(0 <= bound <= 1, f"`{action}` cannot be {bound}", step)
        for (severe, high), (mild, low) in pairwise(self.bounds):
            if low >= high:
                reason = f"with `{mild}` {low:g} and `{severe}` {high:g}, nothing is left to {mild}"
                raise ArgumentError(reason, f"set `{mild}` below {high:g}, or omit it")

    @property
    def bounds(self) -> list[tuple[Action, float]]:
        """The actions that are taken and the similarity that each needs, the most severe first."""
        actions = ((REJECT, self.reject), (HOLD, self.hold), (TAG, self.tag))
        bounds = [(action, bound) for action, bound in actions if bound is not None]
        return bounds or [(TAG, measure_named(self.measure).default)]

    @property
    def limits(self) -> Limits:
        """Limits of a near-duplicate: the smallest of the bounds."""
        least = min(bound for _, bound in self.bounds)
        return Limits(max_distance=self.max_distance, min_similarity=least)

    def judge(
        self,
        matches: Sequence[Match],
        exact: Match | None,
        same: Match | None = None,
        worded: Match | None = None,
    ) -> tuple[Action, str]:
        """Choose the action for a document with these matches, nearest first, and say why.

        `exact` is the match of the same text, `worded` that of the same words, whatever its symbols
        are, `same` that which somebody judged to be the same.
        """
        action, reason = ALLOW, "no near-duplicate was found"
        if matches:
            nearest = max(matches, key=lambda match: match.similarity)
            reached = (each for each in self.bounds if nearest.similarity >= floor(each[1]))
            action, bound = next(reached)
            likeness = f"its similarity to {nearest.id!r} is {nearest.similarity:.3f}"
            reason = f"{likeness}, which is {bound:g} or more"
        if worded is not None and not (exact or same):
            # Somebody has to see it: x > 0 is not x < 0.
            least = min(self.exact, HOLD, key=ACTIONS.index)
            action = HOLD if action == REJECT else max(action, least, key=ACTIONS.index)
            return action, f"the same words as {worded.id!r}, but different symbols"
        if ACTIONS.index(self.exact) < ACTIONS.index(action) or not (exact or same):
            return action, reason
        if exact is not None:
            return self.exact, f"the same text as {exact.id!r}"
        return self.exact, f"the same as {same and same.id!r} according to an answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Decision about a document.

    `action`: "allow", "tag", "hold" or "reject"; `reason`: a sentence; `matches`: near-duplicates
    in the collection and among admitted documents, most similar first, without text; `complete`:
    False if too many documents shared a band to compare all; `replaces`: True if it replaced a
    document of the same id.
    """

    document: Document = field(repr=False)
    action: Action
    reason: str
    matches: tuple[Match, ...] = ()
    complete: bool = True
    replaces: bool = False

    @property
    def id(self) -> str:
        """Id of the document."""
        return self.document.id

    @property
    def is_admitted(self) -> bool:
        """True if the document is allowed or tagged."""
        return self.action in ADMITTED

    def kept(self) -> Mapping[str, Any]:
        """Return the columns to keep, with `neardup_of` for a tagged document.

        `neardup_of` lists the ids of the matches, the nearest first.
        """
        if self.action != TAG:
            return self.document.kept
        return {**self.document.kept, TAG_FIELD: [match.id for match in self.matches]}


@dataclass(slots=True, eq=False, repr=False)
class Decisions(Table, Iterator[Decision]):
    """Iterator over the decisions of `gate`. Each decision is made when it is read.

    With `index=True`, reading also indexes the documents. A RuntimeWarning is issued if nothing is
    read.
    """

    _coming: Generator[Decision | RecordError, None, None]
    _failures: Failures
    _find_gaps: Callable[[], Sequence[str]]
    _count_answers: Callable[[], Answered | None]
    _count_repeated: Callable[[], int]
    _warns: bool
    _source: object = None

    def __enter__(self) -> Decisions:
        self._warns = False
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # So that the gate ends as soon as by an interrupt while it decides.
        if kind is KeyboardInterrupt:
            with suppress(KeyboardInterrupt):
                self._coming.throw(KeyboardInterrupt())

    def __next__(self) -> Decision:
        return next(each for each in self.with_failed() if isinstance(each, Decision))

    @property
    def gaps(self) -> tuple[str, ...]:
        """Sentences about documents without a signature. Each access queries Solr."""
        return tuple(self._find_gaps())

    @property
    def answered(self) -> Answered | None:
        """Effect of the answers so far, None without answers."""
        return self._count_answers()

    @property
    def repeated(self) -> int:
        """Number of documents so far that were admitted after another of the same id."""
        return self._count_repeated()

    def with_failed(self) -> Iterator[Decision | RecordError]:
        """Yield decisions, with a RecordError in place of each unusable record."""
        self._warns = False
        for decision in self._coming:
            if isinstance(decision, RecordError):
                self._failures.add(decision)
            yield decision

    def __del__(self) -> None:
        # As Python warns of a coroutine that was never awaited.
        if self._warns:
            lost = "the decisions of nd.gate(..., index=True) were never read"
            step = "so nothing was indexed: read them with a `for` loop or list()"
            warn(f"{lost}, {step}", RuntimeWarning, stacklevel=2)

    @checked
    def write(self, path: str | Path) -> None:
        """Write the remaining decisions to a .tsv, .csv, .jsonl or .xlsx file.

        Raises SourceError if the suffix is another, or the file is the source or cannot be written.
        """
        check_apart({"`path`": Path(path)}, source=self._source)
        Table.write(self, path)

    def columns(self) -> Columns:
        """Return the remaining decisions as columns.

        The columns are id, action, reason, other_id, similarity, distance (of the nearest match),
        matches (all ids), complete, replaces, and the kept columns.
        """
        made = list(self)
        nearest: list[Match | None] = [next(iter(each.matches), None) for each in made]
        columns: Columns = {
            name: [getattr(each, name) for each in made] for name in ("id", "action", "reason")
        }
        for name, of in (("other_id", "id"), ("similarity",) * 2, ("distance",) * 2):
            columns[name] = [match and getattr(match, of) for match in nearest]
        columns["matches"] = [[match.id for match in each.matches] for each in made]
        for name in ("complete", "replaces"):
            columns[name] = [getattr(each, name) for each in made]
        kept = {each.id: each.document.kept for each in made}
        return beside(columns, {}, kept, {"id": columns["id"]})


class Templates:
    """Templates and digests among rejected documents, which are held instead.

    `reject` is the similarity from which documents are rejected, if they are for that. Of each
    group of documents that are alike, or near to the same, the normal forms of some are looked at.
    """

    def __init__(self, reject: float | None) -> None:
        self._reject = reject
        self._groups: dict[str, tuple[set[str], list[str]]] = {}  # words of the first, and forms
        self._templates: dict[str, Template] = {}
        self._linked = 0  # digests, and documents that these are near to

    def hold(
        self, decisions: Sequence[Decision], matches: Sequence[Sequence[NearMatch]]
    ) -> list[Decision]:
        """Hold what is rejected only for a likeness that is that of a template or a digest.

        The `matches` are those of each decision.
        """
        ids = [self._group(decision, near) if decision.action == REJECT else ""
               for decision, near in zip(decisions, matches, strict=True)]  # fmt: skip
        digests = set()
        for id in {*ids} - {""}:
            group = self._groups[id][1]
            template = self._templates.get(id) or find_template(id, 0, 0.0, group)
            if template and template.is_regular and template.texts >= SEVERAL:
                held = template.documents + ids.count(id)
                self._templates[id] = replace(template, documents=held)
            elif are_unlike(group, self._reject or 0.0):
                digests.add(id)
        made = []
        for decision, id, near in zip(decisions, ids, matches, strict=True):
            why, forms = "", [each.form for each in near]
            if id in self._templates:
                why = "it is probably a template"
            elif id and (id in digests or are_unlike(forms, self._reject or 0.0)):
                why = "others that are near to one of the two have little in common"
                self._linked += 1
            reason = f"{decision.reason}, but {why}"
            made.append(replace(decision, action=HOLD, reason=reason) if why else decision)
        return made

    def _group(self, decision: Decision, near: Sequence[NearMatch]) -> str:
        """Group a rejected document with others like it, "" if it is an exact copy."""
        bound, ids = self._reject, [match.id for match in decision.matches]
        if bound is None or not ids or decision.matches[0].similarity < floor(bound):
            return ""
        if any(each.is_equal for each in near):
            return ""
        form, least = normalize(decision.document.text), floor(max(2 * bound - 1, ALIKE))
        words = {*sorted({*form.split()}, key=md5)[:MOST_WORDS]}  # a sample
        alike = (
            id
            for id, (others, _) in self._groups.items()
            if id in ids or len(words & others) >= least * max(len(words), len(others))
        )
        id = next(alike, ids[0])
        _, forms = self._groups[id] = self._groups.pop(id, (words, []))  # at the end
        if len(forms) < MOST_TEXTS:
            forms.append(form)
        if len(self._groups) > MOST_GROUPS:
            del self._groups[next(iter(self._groups))]
        return id

    def warn(self) -> None:
        """Log each template."""
        for template in self._templates.values():
            line = "probably a template, so held instead of rejected: %s; use `yes` to reject them"
            LOG.warning(line, template)
        if self._linked:
            what = "probably digests and what they quote, so held instead of rejected"
            LOG.warning("%s: %s; use `yes` to reject them", what, counted(self._linked, "document"))


def format_decisions(decisions: Iterable[Decision | RecordError], format: str) -> Iterator[str]:
    """Make lines of decisions in a format: "tsv", "csv" or "jsonl".

    The action of a record that makes no document is "failed".

    A row has the nearest match and the number of all; in JSONL `matches` has all of them.
    Raises ArgumentError for another format.
    """
    reports.check_format(format)
    if format == "jsonl":
        return (orjson.dumps(_object(each)).decode() + "\n" for each in decisions)
    return reports.RowTable(map(_row, decisions), COLUMNS).lines(format)


def write_decisions(decisions: Iterable[Decision | RecordError], path: Path) -> None:
    """Write decisions to a .tsv, .csv, .jsonl or .xlsx file, completely or not at all.

    Raises SourceError if it has another suffix or the file cannot be written.
    """
    reports.check_output(path)
    if path.suffix.lower() == ".jsonl":
        write_lines(path, format_decisions(decisions, "jsonl"))
    else:
        reports.RowTable(map(_row, decisions), COLUMNS).write(path)


def check_held(path: Path) -> None:
    """Refuse a file for held documents that cannot be written, before any work is done for it.

    Raises PathError if it is not a .jsonl file, or as `files.check_place` does.
    """
    if path.suffix.lower() != ".jsonl" or path.is_dir():
        raise PathError(str(path), "held documents need a .jsonl file", "name one with `held`")
    check_place(path)


def keep_held(
    decisions: Iterable[Decision | RecordError], path: Path, id: str = "id",
    text: Sequence[str] = ("text",),
) -> Iterator[Decision | RecordError]:  # fmt: skip
    """Pass decisions on, and put each held document into the file before.

    Lines are appended: id, text, the kept columns, neardup_reason and neardup_of (the ids of its
    matches). `id` and `text` name the columns of the first two; each of several texts has a part of
    the text. A document that the file already has, with equal columns, is not added again.
    `neardup index` and `neardup gate` read such a file.
    """
    with path.open("a+b") as file:
        marks, ends = _held_before(file)
        # The last line break may be missing, because of an editor or a full disk.
        _append(file, b"" if ends else b"\n")
        for decision in decisions:
            if isinstance(decision, Decision) and decision.action == HOLD:
                held = _held(decision, id, text)
                if (mark := _mark(held)) not in marks:
                    _append(file, orjson.dumps(held) + b"\n")
                    marks.add(mark)
            yield decision
        os.fsync(file.fileno())


def _append(file: BinaryIO, line: bytes) -> None:
    with refuse_failure(file.name, "free some space, or name a different file with `held`"):
        file.write(line)
        file.flush()


def _held_before(file: BinaryIO) -> tuple[set[bytes], bool]:
    """Read the marks of the documents in a file, and tell whether its last line is complete."""
    marks, line = set(), b"\n"
    file.seek(0)
    for line in file:
        with suppress(orjson.JSONDecodeError):  # other lines stay as they are
            marks.add(_mark(orjson.loads(line)))
    return marks, line.endswith(b"\n")


def _mark(held: Any) -> bytes:
    """Hash a held document without the reason for holding it, to 16 bytes."""
    if isinstance(held, dict):
        held = {name: value for name, value in held.items() if name not in _WHY}
    return blake2b(orjson.dumps(held, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def _row(decision: Decision | RecordError) -> Row:
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    if isinstance(decision, RecordError):
        reason = f"{decision.position}: {decision.reason}"
        return row | {"id": decision.id, "action": FAILED, "matches": 0, "reason": reason}
    if decision.matches:
        nearest = make_match(decision.matches[0])
        row |= {"other_id": nearest["id"], "similarity": nearest["similarity"]}
        row |= {"distance": nearest["distance"]}
    row |= {name: getattr(decision, name) for name in ("id", "action", "reason")}
    return row | {"matches": len(decision.matches)}


def _object(decision: Decision | RecordError) -> dict[str, Any]:
    row = _row(decision)
    matches = () if isinstance(decision, RecordError) else decision.matches
    return {**row, "id": row["id"] and _utf8(row["id"]), "reason": _utf8(row["reason"]),
            "matches": list(map(make_match, matches))}  # fmt: skip


def make_match(match: Match) -> dict[str, Any]:
    """Make the object of a match: its id, similarity, distance, and the bands shared."""
    return {
        "id": match.id,
        "similarity": round(match.similarity, 4),
        "distance": match.distance,
        "shared": match.shared,
    }


def _held(decision: Decision, id: str, text: Sequence[str]) -> dict[str, Any]:
    document = decision.document
    texts = document.texts if len(text) > 1 else ()
    columns = zip(text, texts or (document.text,), strict=False)
    return {
        **document.kept,
        id: document.id,
        **{name: value for name, value in columns if value is not None},
        REASON_FIELD: decision.reason,
        TAG_FIELD: [match.id for match in decision.matches],
    }


def _utf8(text: str) -> str:
    """Escape lone surrogates: an id that is refused for them can still be shown."""
    return text.encode("utf-8", "backslashreplace").decode()
