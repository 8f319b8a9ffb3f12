"""copyField targets that Solr gives back: the values that they have after an update."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from struct import pack, unpack
from typing import Any

from neardup_solr.solr.schema import Copy, Field, Schema

Row = Mapping[str, Any]

_WHOLE = frozenset({"IntPointField", "LongPointField", "TrieIntField", "TrieLongField"})
_SINGLE = frozenset({"FloatPointField", "TrieFloatField"})
NUMBERS = _WHOLE | _SINGLE | {"DoublePointField", "TrieDoubleField"}
DATES = frozenset({"DatePointField", "TrieDateField"})
_JAVA_DATE = "%a %b %d %H:%M:%S UTC %Y"


def list_targets(fields: Schema, used: frozenset[str], ours: frozenset[str]) -> Iterator[Target]:
    """List the copyField targets that Solr gives back, if documents have or would get them."""
    copies: dict[str, list[Copy]] = {name: [] for name in used if any(fields.sources(name, used))}
    for source in used:
        for copy in fields.copies_of(source):
            copies.setdefault(copy.target, []).append(copy)
    reset = {target for _, target in fields.copies}
    for name, filling in copies.items():
        each = fields.field(name)
        if each is not None and each.is_kept and name not in ours:
            kinds = {copy.source: fields.field(copy.source) for copy in filling}
            sources = {source: kind for source, kind in kinds.items() if kind and kind.is_kept}
            kept = [copy for copy in filling if copy.source in sources]
            yield Target(replace(each, name=name), kept, sources, is_reset=name in reset)


@dataclass(frozen=True, slots=True)
class Target:
    """A copyField target that Solr gives back, and the `copies` that fill it.

    If its name stands in the schema, an update leaves it the copies alone (`is_reset`). If only a
    pattern has it, it keeps its values, and gets the copies once more.
    """

    field: Field
    copies: Sequence[Copy]
    sources: Mapping[str, Field]
    is_reset: bool

    def stays(self, row: Row, is_whole: bool) -> bool:
        """Return True if a document has the same values in it after an update.

        A document that `is_whole` is replaced: then the target is written if it has no source.
        """
        values = [_canonical(self.field, each) for each in _as_list(row.get(self.field.name))]
        stored, rest = self._copy_all(row, is_whole)
        copied = [*stored, *(value for part in rest for value in part)]
        if is_whole and not copied:
            return True
        is_set = not self.field.stored and self.field.multi_valued
        if not (self.is_reset or is_whole):
            return not copied or (is_set and {*copied} <= {*values})
        if is_set:
            return {*copied} == {*values}
        tail = values[len(stored) :]
        if len(rest) > 1:  # Solr takes them in an order of its own
            is_same = Counter(tail) == Counter(value for part in rest for value in part)
            return is_same and all(_is_within(part, tail) for part in rest)
        return copied == values

    def _copy_all(self, row: Row, is_whole: bool) -> tuple[list[Any], list[list[Any]]]:
        """Copy the values of a document: those of stored sources as they stand in it, and those of
        each of the others, which Solr adds to these.
        """
        place = {name: at for at, name in enumerate(row)}
        present = (copy for copy in self.copies if copy.source in place)
        stored, rest = list[Any](), list[list[Any]]()
        for copy in sorted(present, key=lambda copy: place[copy.source]):
            values = self._copy(copy, _as_list(row[copy.source]), is_whole)
            if self.sources[copy.source].stored:
                stored += values
            elif values:
                rest.append(values)
        return stored, rest

    def _copy(self, copy: Copy, values: Sequence[Any], is_whole: bool) -> list[Any]:
        """Copy values as Solr would: cut, spelled and parsed."""
        source = self.sources[copy.source]
        spelled = [_spell(source, value, is_whole) for value in values]
        is_text = source.kind not in NUMBERS | {"BoolField"}
        cut = copy.most if copy.most and is_text else None
        return [_canonical(self.field, value[:cut]) for value in spelled]


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _is_within(some: Sequence[Any], values: Iterable[Any]) -> bool:
    """Return True if these are among the values in the same order."""
    rest = iter(values)
    return all(value in rest for value in some)


def _spell(source: Field, value: Any, is_whole: bool) -> str:
    """Spell a value as Java does, in which Solr copies what it has rebuilt."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _spell_number(value)
    if source.kind in DATES and not is_whole:
        with suppress(ValueError):
            return datetime.fromisoformat(str(value)).astimezone(UTC).strftime(_JAVA_DATE)
    return str(value)


def _spell_number(value: float) -> str:
    """Spell a number with a point as Java does: 0.001 to 10,000,000 without an exponent."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    rest = "".join(map(str, digits[1:])) or "0"
    power = len(digits) - 1 + int(exponent)
    return f"{'-' * sign}{digits[0]}.{rest}E{power}"


def _canonical(target: Field, value: Any) -> Any:
    """Return the value that a field has for what is written to it, to compare it with another."""
    text = "true" if value is True else "false" if value is False else value
    with suppress(ValueError, OverflowError):
        if target.kind in _WHOLE:
            return int(float(text)) if "." in str(text) or "E" in str(text) else int(text)
        if target.kind in _SINGLE:
            return unpack("f", pack("f", float(text)))[0]
        if target.kind in NUMBERS:
            return float(text)
    if target.kind in DATES:
        return re.sub(r"\.?0*Z$", "Z", str(text)) if "." in str(text) else str(text)
    if target.kind == "BoolField":
        return str(text)[:1] in ("1", "t", "T")
    return str(text) if not isinstance(text, float) else _spell_number(text)
