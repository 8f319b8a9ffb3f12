"""Names of fields in a collection that someone else made.

The whole package speaks of `id`, `content` and our fields by the names of our schema:
logical names. A collection that was there before has another unique key, its text in other
fields, and our fields under a prefix if their names are taken. `Names` translates between the
two, and only the client uses it to do so.
"""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_letters, digits
from typing import Any

import orjson

from neardup_solr.comma_names import join_names
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.regex import regex
from neardup_solr.settings import ALL_FIELDS, Settings
from neardup_solr.settings_by_name import ANNOTATED, DEFAULT_SETTINGS

_NAME = regex(r"(?!-)(?!\.+$)[A-Za-z0-9._-]+")  # Solr's rule, without "." and ".."

ID, TEXT, SETTINGS, VERSION = "id", "content", "signature_settings", "_version_"
BANDS = "content_bands"
SHINGLES = "content_ng"  # which other programs that follow the restaurant example have, too
MARKS = ("neardup_cluster", "neardup_canonical", "neardup_rank")
OWN = (*(name for name in ALL_FIELDS if name not in (ID, TEXT)), *MARKS)
SINGLE = ("md5_hash", "num_words", "first_word", "signature", "profile_hash", SETTINGS, *MARKS)
FIELD_PARAM = "field_"  # a parameter of a request whose name begins so holds the name of a field
NUMBERS = "numbers"  # what band keys are, in the note
NOTE = "neardup_names"  # the field that holds the names, without a prefix, of which it tells
_PREFIX = regex(r"([A-Za-z_][A-Za-z0-9_]*)?")
_NO_START = frozenset(".-" + digits)  # Solr takes them for a number
_IN_NAMES = frozenset(ascii_letters + digits + "_.-*?")  # with letters of other scripts
_KEY_BITS = 48  # of a band key; the bits above are the number of its band


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of a collection: its unique key, its text fields, the prefix of our fields.

    The text of a document is that of its `text` fields joined by line breaks. With
    `has_numeric_bands` its band keys are numbers of 64 bits, which take less than terms.

    Raises ArgumentError if Solr cannot have such a name, or if a field would be both read and
    written.
    """

    id: str = ID
    text: tuple[str, ...] = (TEXT,)
    prefix: str = ""
    has_numeric_bands: bool = False

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix):
            reason = f"`prefix` cannot be {self.prefix!r}"
            step = "use letters, '_' and (not first) digits: nd_"
            raise ArgumentError(reason, step, code="name-invalid")
        # A key is sorted by, for which Solr has no other spelling. Patterns name no field.
        odd = [name for name in (self.id, *self.text) if not name.strip() or {*name} & {*"*?"}]
        odd += [self.id] if spell_field(self.id) != self.id else []
        if odd:
            reason = f"{odd[0]!r} is not a valid field name"
            raise ArgumentError(reason, "check `id` and `text`", code="name-invalid")
        if not self.text or len(set(self.text)) < len(self.text):
            reason = "`text` must name one or more fields, each only once"
            step = "name the fields that contain the text"
            raise ArgumentError(reason, step, code="argument-invalid")
        ours = {self.prefix + name for name in OWN}
        clash = next((name for name in (self.id, *self.text) if name in ours), None)
        if clash is not None:
            reason = f"the field {clash!r} would be both read and written"
            step = "choose a `prefix` for the neardup fields, such as nd_"
            raise ArgumentError(reason, step, code="schema-conflict")

    @classmethod
    def read(cls, noted: str, place: str = "-c NAME") -> Names:
        """Parse the names of a note in the schema. Raises SettingsError if it holds none.

        `place` are the options of a command that name the collection.
        """
        try:
            kept = orjson.loads(noted)
            return cls(
                id=kept["id"],
                text=tuple(kept["text"]),
                prefix=kept["prefix"],
                has_numeric_bands=kept.get("bands") == NUMBERS,
            )
        except (orjson.JSONDecodeError, LookupError, TypeError, ArgumentError):
            lacks = "does not contain the field names of the collection"
            reason = f"the schema's field {NOTE!r} {lacks}"
            step = f"delete that field, then run: neardup init {place}"
            raise SettingsError(reason, step, code="schema-conflict") from None

    def to_note(self) -> str:
        """These names as the note that a schema keeps of them."""
        kept = {"id": self.id, "text": self.text, "prefix": self.prefix}
        if self.has_numeric_bands:  # collections that were prepared before have terms
            kept["bands"] = NUMBERS
        return orjson.dumps(kept).decode()

    def options(self, kept: Names) -> str:
        """The options of `neardup init` that choose these names where others are kept."""
        texts = self.text if self.text != kept.text else ()
        prefix = f" --prefix {shlex.quote(self.prefix)}" if self.prefix != kept.prefix else ""
        typed = (shlex.quote(join_names([name])) for name in texts)
        return "".join(f" --text-field {name}" for name in typed) + prefix

    def advise(self, fields: Container[str], place: str) -> str:
        """Say what adds our fields to a schema that has these, by the options of a command."""
        # Then init needs the name of the text, or a prefix.
        if self.is_plain and (TEXT not in fields or SHINGLES in fields):
            return f"see how to add them: neardup lint {place}"
        return f"add them with: neardup init {place}"

    @property
    def single(self) -> Sequence[str]:
        """The collection's fields of ours that have a single value in a document."""
        return _list_single(self)

    @property
    def is_plain(self) -> bool:
        """Return True if the collection's names are the logical ones."""
        return self == PLAIN

    @property
    def usual_settings(self) -> Settings:
        """The settings of a new collection with these names, unless others are chosen."""
        return DEFAULT_SETTINGS if self.is_plain else ANNOTATED

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the text in records of new documents: as the fields, or "text"."""
        return ("text",) if self.is_plain else self.text

    @property
    def canonical_filter(self) -> str:
        """The filter query that leaves near-duplicates out of a marked collection."""
        return f"-{self.of(MARKS[1])}:0"

    @property
    def collapse_filter(self) -> str:
        """The filter query for a document of each cluster of a marked collection."""
        cluster, _, rank = map(self.of, MARKS)
        return f"{{!collapse field={cluster} nullPolicy=expand min={rank}}}"

    def of(self, name: str) -> str:
        """Translate a logical name to the collection's. Other names stay.

        For the text it is the field that is written: the first.
        """
        if name == ID:
            return self.id
        if name == TEXT:
            return self.text[0]
        return self.prefix + name if name in OWN else name

    def fields(self, names: Iterable[str]) -> list[str]:
        """The collection's fields that hold these logical ones, each once, in order."""
        read = (self.text if name == TEXT else (self.of(name),) for name in names)
        return list(dict.fromkeys(field for fields in read for field in fields))

    def logical(self, document: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
        """These fields of a document from Solr, by logical names. Absent ones are left out.

        If a name is a pattern ("*"), what it matches keeps the collection's names.
        """
        return self.logical_all([document], names)[0]

    def logical_all(
        self, documents: Iterable[Mapping[str, Any]], names: Iterable[str]
    ) -> list[dict[str, Any]]:
        """As `logical`, for many documents."""
        names = list(names)
        has_pattern = any("*" in name for name in names)
        has_id, has_text = ID in names, TEXT in names
        places = [(name, self.of(name)) for name in names if name not in (ID, TEXT)]
        rows = []
        for document in documents:
            row: dict[str, Any] = {
                name: value for name, place in places if (value := document.get(place)) is not None
            }
            if has_pattern:
                row = {**document, **row}
            if self.has_numeric_bands and BANDS in row:
                row[BANDS] = list(map(_term_of, row[BANDS]))
            if has_id and document.get(self.id) is not None:
                row[ID] = str(document[self.id])
            if has_text and (text := self._text(document)) is not None:
                row[TEXT] = text
            rows.append(row)
        return rows

    def physical(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """A document with logical names, as Solr gets it."""
        return {self.of(name): self.value(name, value) for name, value in document.items()}

    def value(self, name: str, value: Any) -> Any:
        """A value of a field as Solr gets it, or an update of the field."""
        if name != BANDS or not self.has_numeric_bands or value is None:
            return value
        if isinstance(value, Mapping):
            return {way: self.value(name, part) for way, part in value.items()}
        return [int(term, 16) for term in value]

    def terms(self, name: str, terms: Sequence[str]) -> Sequence[str]:
        """Terms of a field as queries of the collection spell them."""
        return list(map(str, self.value(name, terms)))

    def request(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """A JSON request with logical names in `fields`, `sort` and `params`, as Solr gets it."""
        physical = dict(request)
        if "fields" in physical:
            physical["fields"] = list(map(spell_field, self.fields(physical["fields"])))
        if "sort" in physical:
            clauses = (clause.split(" ", 1) for clause in physical["sort"].split(","))
            physical["sort"] = ",".join(f"{self.of(name)} {way}" for name, way in clauses)
        if "params" in physical:
            physical["params"] = {
                name: self.of(value) if name.startswith(FIELD_PARAM) else value
                for name, value in physical["params"].items()
            }
        return physical

    def _text(self, document: Mapping[str, Any]) -> str | None:
        whole = document.get(self.text[0])
        if isinstance(whole, str) and len(self.text) == 1:
            return whole
        parts: list[str] = []
        for value in (document.get(name) for name in self.text):
            if value is not None:
                parts += map(str, value) if isinstance(value, list) else [str(value)]
        return "\n".join(parts) if parts else None


@lru_cache(maxsize=16)
def _list_single(names: Names) -> list[str]:
    return [names.id, VERSION, *map(names.of, SINGLE)]


def spell_field(name: str) -> str:
    """Spell a name for a list of fields, in which Solr takes most signs for syntax.

    Those become wildcards, which stand for 16 bits each. A pattern stays.
    """
    start = "?" if name[:1] in _NO_START else name[:1]
    return "".join(map(_spell_sign, start + name[1:]))


def _spell_sign(sign: str) -> str:
    if sign in _IN_NAMES or (sign < "\U00010000" and sign.isalpha()):
        return sign
    return "?" if sign < "\U00010000" else "??"


def _term_of(number: int) -> str:
    """The term of a band key that is kept as a number."""
    return f"{number >> _KEY_BITS:02x}{number & ((1 << _KEY_BITS) - 1):012x}"


PLAIN = Names()


def require_name(name: str) -> None:
    """Refuse a name that no collection can have, by ArgumentError."""
    if not _NAME.fullmatch(name):
        step = "choose a name of letters, digits, '.', '_' and '-', but without '-' at the start"
        raise ArgumentError(f"`collection` cannot be {name!r}", step, code="name-invalid")
