"""Records that flow through the package, frozen, and what may be wrong with them.

Dicts live only at the file and Solr borders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import repeat
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar

import orjson

from neardup_solr.errors import RecordError, counted

# An id of a result: a text, but a whole number if a DataFrame or a dict has one. Any, so that
# whoever knows which it is need not narrow a union each time.
AnyId: TypeAlias = Any
NOTHING: Mapping[str, Any] = MappingProxyType({})
NO_DISTANCE = -1  # in words, of two texts that are compared by shingles or not near
# What a document is to another, and the measures of texts that tell it.
Relation = Literal["copy", "edited", "part of", "contains", "quotes", "quoted in", "shares"]
RELATING = ("words", "jaccard", "containment", "passages", "estimate")
T = TypeVar("T", bound="Document | RecordError | Run")
BORDER = 0.05  # of similarity, on either side of a threshold
# From these shares of the pairs on, a threshold is doubtful: see benchmarks/threshold.md.
OPEN, DENSE = 0.1, 0.2
FEWEST = 10  # wedges or pairs that are worth a warning
MAX_ID_BYTES = 512  # longer ids are refused rather than cut; UTF-8 bytes
EMPTY_ID = "the id is empty"
_LONGEST_NUMBER = 4_000  # digits; Python refuses to read longer ones
# By type of a float, from where on it stands for several whole numbers.
_ROUNDED = {"float": 2**53, "float64": 2**53, "float32": 2**24, "float16": 2**11}


def characters(value: object) -> int:
    """Estimate the size of a value: the characters of its texts, and its parts."""
    taken, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        taken += 1
        if isinstance(part, str | bytes):
            taken += len(part)
        elif isinstance(part, Mapping):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part
    return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Text with its id, as read from a source.

    `kept`: further columns as JSON types; `position`: place in the source ("listings.csv, line 7");
    `texts`: values of the text columns, if there are several.
    """

    id: str
    text: str
    kept: Mapping[str, Any] = field(default_factory=dict)
    position: str = ""
    texts: tuple[Any, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Documents that follow each other in a source, column by column.

    A reader gives them so if nothing is wrong with any of them: an object each would take longer
    than reading does. Document n stands at `where` and `numbers[n]` ("listings.csv, line ", 7),
    which are names of files in a folder. The ids `are_numbers` if the source has whole numbers as
    ids. `kept` are the values of further columns by name, None for a document that lacks one,
    `parts` those of the columns of text, if there are several.
    """

    ids: Sequence[str]
    texts: Sequence[str]
    where: str
    numbers: Sequence[Any]
    are_numbers: bool = False
    kept: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    parts: Sequence[Sequence[Any]] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    def part(self, first: int, last: int) -> Run:
        """The run of some of its documents: from `first` to before `last`."""
        part = slice(first, last)
        return replace(
            self, ids=self.ids[part], texts=self.texts[part], numbers=self.numbers[part],
            kept={name: values[part] for name, values in self.kept.items()},
            parts=[values[part] for values in self.parts],
        )  # fmt: skip

    def document(self, at: int) -> Document:
        """Make one of the documents."""
        return next(self.part(at, at + 1).documents())

    def documents(self) -> Iterator[Document]:
        """Yield the documents."""
        ids = map(Number, self.ids) if self.are_numbers else self.ids
        rows = list_rows(self.kept) or repeat(NOTHING)
        parts = zip(*self.parts, strict=True) if self.parts else repeat(())
        columns = zip(ids, self.texts, self.numbers, strict=True)
        for (id, text, number), kept, texts in zip(columns, rows, parts, strict=False):
            position = f"{self.where}{number}"
            yield Document(id=id, text=text, kept=kept, position=position, texts=texts)


def list_rows(columns: Mapping[str, Sequence[Any]]) -> list[Mapping[str, Any]]:
    """List the values of each row by name, those that are None left out, nothing of no columns."""
    return [
        {name: value for name, value in zip(columns, row, strict=True) if value is not None}
        or NOTHING
        for row in zip(*columns.values(), strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Fields that are computed from a document and indexed into Solr.

    `normal` is the normal form of `content`; `shingles` (content_ng), `signatures` (content_sg)
    and `bands` (content_bands) are terms; `signature` is the encoded MinHash signature. A document
    without words has none of those. `profile_hash` is its text profile, "" without
    that field.
    """

    id: str
    content: str
    normal: str
    md5_hash: str
    num_words: int
    first_word: str
    shingles: tuple[str, ...]
    signatures: tuple[str, ...]
    bands: tuple[str, ...]
    signature: str
    profile_hash: str = ""
    kept: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A document in an answer of Solr, and how many terms it shares with the query.

    `md5_hash` and `num_words` describe its text without reading it; they are "" and None if they
    were not requested or are missing. `fields` are the requested fields, by name.
    """

    id: str
    shared: int
    md5_hash: str = ""
    num_words: int | None = None
    fields: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Passage that two documents share.

    It is text[start:end] of the document `id`, and text[other_start:other_end] of `other_id`.
    `relation` is that of the documents: `id` is a "copy" of the other one, "edited", "part of" it
    or "contains" it, it "quotes" the passage in quotation marks or is "quoted in" the other, or
    "shares" it. `words`: words of the passage, in the text that has more; `similarity`: 1 - letters
    that differ / letters of the longer one; `share`, `other_share`: the parts of the documents that
    all their common passages cover. `text`, `other_text`: the passage itself, if `texts` was set.
    """

    id: AnyId
    other_id: AnyId
    relation: Relation
    similarity: float
    words: int
    start: int
    end: int
    other_start: int
    other_end: int
    share: float
    other_share: float
    text: str | None = None
    other_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Near-duplicate found by `search`.

    `distance`: words inserted, deleted or replaced, None if the measure has no distance;
    `similarity`: similarity by the measure, 0 to 1; `shared`: terms in common; `passages`: passages
    that both have, if `passages` was set.
    """

    id: str
    distance: int | None
    similarity: float
    shared: int
    content: str
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Near-duplicate pair in a result of `report`.

    `id`: first id in natural order; `other_id`: second id; `distance`: distance in words, None if
    the measure has none; `similarity`: similarity by the measure, 0 to 1; `answer`: answer about
    the pair, or ""; None without answers.
    """

    id: str
    other_id: str
    distance: int | None
    similarity: float
    answer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """Near-duplicate pair in a result of `duplicates`.

    Ids are strings, or whole numbers if the DataFrame or the dicts have whole numbers.

    `id`: id of the first document; `other_id`: id of the second; `similarity`: similarity by the
    measure, 0 to 1; `distance`: distance in words, None if the measure has none; `measure`: name of
    the measure; `cluster`: id of the cluster; `shared`: LSH bands in common; `sides`: side of each
    document, 0 for the source, 1 for `against`; `answer`: answer about the pair, or ""; None
    without answers; `relation`: what the first document is to the second, such as "part of"; None
    for measures of short records, and if the numbers of words are unknown.
    """

    id: AnyId
    other_id: AnyId
    similarity: float
    distance: int | None
    measure: str
    cluster: AnyId
    shared: int = 0
    sides: tuple[int, int] = (0, 0)
    answer: str | None = None
    relation: Relation | None = None

    @property
    def ends(self) -> tuple[tuple[int, AnyId], tuple[int, AnyId]]:
        """Side and id of both documents."""
        return (self.sides[0], self.id), (self.sides[1], self.other_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Document of a cluster, compared with the canonical document.

    `similarity`: similarity to the canonical document (its own: 1); `distance`: distance to it in
    words, None if the measure has none; `side`: 0 for the source, 1 for `against`; `text`: number
    shared by exact copies, -1 if unknown.
    """

    id: AnyId
    similarity: float
    distance: int | None
    side: int = 0
    text: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Documents that are connected by near-duplicate pairs.

    `id`: lowest id in natural order; `canonical`: id of the document to keep; `members`: documents,
    the canonical one first, then by nearness to it; `pairs`: number of pairs; `diameter`: longest
    of the shortest paths between members (1: all are near-duplicates of each other; 0: too large to
    compute); `bridges`: ids without which the cluster would fall apart; `doubt`: that of all.
    """

    id: AnyId
    canonical: AnyId
    members: tuple[Member, ...]
    pairs: int
    diameter: int
    bridges: tuple[AnyId, ...]
    doubt: str = field(default="", compare=False, repr=False)

    @property
    def copies(self) -> int:
        """Number of members that are exact copies of an earlier member."""
        texts = [member.text for member in self.members if member.text >= 0]
        return len(texts) - len(set(texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Borderline:
    """Counts of what depends on the threshold `min_similarity`, by which so many `pairs` are near.

    A threshold higher by 0.05 would lose the pairs `above`; a threshold lower by 0.05 would add
    those `below`, about (None if not all candidates were compared in this run). A wedge is `open`
    if two documents are near a third, and were compared, but are not near each other: any of the
    three comparisons is wrong. `open_higher` counts those at the higher threshold. Both are None if
    the documents of a side were not compared with each other. `unsure` is a sentence about what the
    fields of records leave open, or "".
    """

    min_similarity: float
    pairs: int
    above: int
    below: int | None
    open: int | None
    open_higher: int | None
    unsure: str = ""

    @property
    def higher(self) -> float:
        """The threshold that is higher by 0.05, at most 1."""
        return min(self.min_similarity + BORDER, 1.0)

    @property
    def lower(self) -> float:
        """The threshold that is lower by 0.05, at least 0."""
        return max(self.min_similarity - BORDER, 0.0)

    @property
    def warning(self) -> str:
        """The reason why the threshold is doubtful, as a sentence, or "" if it is not."""
        if self.unsure:
            return self.unsure
        if self.open is not None and self.open >= max(FEWEST, OPEN * self.pairs):
            return (
                f"The threshold {self.min_similarity:g} may be too low: in {self.open:,} cases, two"
                " documents are near a third document but not near each other"
                f" ({self.open_higher:,} at {self.higher:g})."
            )
        # Near 1 it is as it has to be: most pairs are nearly equal.
        if self.higher < 1 and self.above >= max(FEWEST, DENSE * self.pairs):
            return (
                f"The result depends heavily on the threshold {self.min_similarity:g}:"
                f" {self.above:,} of {counted(self.pairs, 'pair')} are less than {BORDER} above it."
            )
        return ""

    def __str__(self) -> str:
        parts = [f"{self.min_similarity:g}: {counted(self.above, 'pair')} fewer at {self.higher:g}"]
        if self.below is not None and self.min_similarity > 0:
            parts.append(f"about {self.below:,} more at {self.lower:g}")
        if self.open is not None:
            wedges = f"{counted(self.open, 'open wedge')} (A near B, B near C, A not near C)"
            parts.append(f"{wedges}, {self.open_higher:,} at {self.higher:g}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A document that is removed because another is kept.

    `duplicate_of` is the id of the document that is kept, `similarity` that of the two; None for a
    record that another record of its id replaces, and that is not compared.
    """

    id: AnyId
    duplicate_of: AnyId
    similarity: float | None


def key_of(id: AnyId, side: int) -> AnyId:
    """Return the key of a document: its id, or (1, id) on the second side, which may repeat ids."""
    return (1, id) if side else id


def largest(clusters: Iterable[Cluster], most: int | None = None) -> list[Cluster]:
    """Sort clusters by their number of documents, the largest first, at most so many of them."""
    return sorted(clusters, key=lambda cluster: -len(cluster.members))[:most]


def id_problem(id: str) -> str | None:
    """Say what is wrong with an id (empty, over 512 bytes of UTF-8, a lone surrogate), or None.

    Solr would accept an empty id, and replace a lone surrogate.
    """
    try:
        size = len(id.encode())
    except UnicodeEncodeError:
        return "the id holds a lone surrogate or bytes that are not UTF-8"
    if size == 0:
        return EMPTY_ID
    return f"the id has {size:,} bytes, more than {MAX_ID_BYTES}" if size > MAX_ID_BYTES else None


def code_of_id(problem: str) -> str:
    """Return the code of a problem with an id."""
    return "id-missing" if problem == EMPTY_ID else "id-invalid"


def filter_usable(
    documents: Iterable[Document], on_error: Callable[[RecordError], None]
) -> Iterator[Document]:
    """Yield the documents that can be indexed. The others go to `on_error`, with the reason."""
    for record in check_documents(documents):
        if isinstance(record, RecordError):
            on_error(record)
        else:
            yield record


def check_documents(records: Iterable[T]) -> Iterator[T | RecordError]:
    """Yield the records, with an error in place of each document that cannot be indexed."""
    for record in records:
        yield (make_refusal(record) or record) if isinstance(record, Document) else record


def make_refusal(document: Document) -> RecordError | None:
    """Make the error for a document that cannot be indexed, or None if it can."""
    reason = find_problem(document)
    if reason is None:
        return None
    columns = {**document.kept, "id": document.id, "text": document.text}
    shown = document.id[:40]
    code = "value-invalid" if id_problem(document.id) is None else code_of_id(reason)
    where = document.position
    return RecordError(where, reason, shown, record=columns, stage="check", code=code)


def find_problem(document: Document) -> str | None:
    """Say why a document cannot be indexed, or None: its id, its text, or a kept value."""
    reason = id_problem(document.id)
    if reason is not None:
        return reason
    try:
        if not document.text.isascii():
            document.text.encode("utf-16-le")  # the quickest way to find any
    except UnicodeEncodeError as error:
        return f"the text holds a lone surrogate at character {error.start}"
    return _find_problem_of_kept(document.kept) if document.kept else None


def _find_problem_of_kept(kept: Mapping[str, Any]) -> str | None:
    try:
        orjson.dumps(dict(kept))
    except TypeError as error:
        return f"a kept column cannot be converted to JSON: {error}"
    # Solr would take an object for an update: {"add": 1}, {"set": null}.
    objects = [name for name, value in kept.items() if isinstance(value, Mapping)]
    return f"the kept column {objects[0]!r} contains an object, not a value" if objects else None


class Number(str):
    """An id that is a whole number in its source, as text: results have `int` of it."""

    __slots__ = ()


def as_whole(value: Any) -> Any:
    """Make a whole number of a float or a decimal that is one: columns that lack some have floats.

    A float that may be rounded is returned as it is, and so is any other value.
    """
    if isinstance(value, Decimal):
        is_short = value.is_finite() and abs(value.adjusted()) < MAX_ID_BYTES
        return int(value) if is_short and value == value.to_integral_value() else value
    most = _ROUNDED.get(str(getattr(value, "dtype", type(value).__name__)), 0)
    is_one = most and not getattr(value, "shape", ()) and abs(value) < most
    return int(value) if is_one and float(value).is_integer() else value


def natural(id: AnyId) -> tuple[int, int, str]:
    """Sort key of an id: whole numbers by value and before all other ids, those by code point.

    Records of the same id, such as 12@row7, come in a row.
    """
    id = str(id)
    if "@row" in id:
        whole, _, row = id.rpartition("@row")
        if whole and row.isdecimal():
            kind, number, text = natural(whole)
            return (kind, number, f"{text}@row{row:0>20}")
    if id.isascii() and id.isdigit() and len(id) <= _LONGEST_NUMBER:
        return (0, int(id), id)
    return (1, 0, id)


def sort_naturally(ids: Sequence[AnyId]) -> list[int]:
    """Sort the places of ids by the natural order of these."""
    texts: list[Any] = [*map(str, ids)]
    if any(map(str.isdigit, texts)) or any("@row" in text for text in texts):
        texts = [*map(natural, texts)]
    return sorted(range(len(texts)), key=texts.__getitem__)


def ordered(id: AnyId, other_id: AnyId) -> tuple[AnyId, AnyId]:
    """Two ids, the earlier in natural order first."""
    return (id, other_id) if natural(id) <= natural(other_id) else (other_id, id)


def as_text(value: object) -> str:
    """Format a value as a text, "" for none. An object of JSON is its values.

    2024 is a text in CSV, a number in JSON, in pandas 2024.0.
    """
    if isinstance(value, str):
        return value
    if value is None or value != value:  # NaN, NaT and the like
        return ""
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        return " ".join(map(as_text, value))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)
