"""Everything that shapes a signature, in a frozen record with a readable fingerprint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import Any, get_args

from neardup_solr.argument_types import Family, Kind, StoredMeasure
from neardup_solr.arguments import checked_class
from neardup_solr.checks import check_fields, require
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.regex import regex

# What indexing writes by default; `id` and `signature_settings` are always written.
DEFAULT_FIELDS = (
    "content",
    "md5_hash",
    "num_words",
    "first_word",
    "content_ng",
    "content_sg",
    "content_bands",
    "signature",
)
OPTIONAL_FIELDS = (*DEFAULT_FIELDS, "profile_hash")
ALL_FIELDS = ("id", *OPTIONAL_FIELDS, "signature_settings")
KINDS: tuple[Kind, ...] = get_args(Kind)
FAMILIES: tuple[Family, ...] = get_args(Family)
NORMALIZATION = 2  # of new collections
CAP = 1_024  # documents of a band key that are all paired with each other
WORD_CAP = 50  # records that a word makes candidates of each other
MIN_WORDS = 20  # of a passage of two texts, and of many
LEAST_WORDS = 5  # of one: 36 letters that two seeds span have more in most languages
SEED_CAP = 64  # documents that a run of letters makes candidates of each other
LONG_TEXT = 60  # words; above it, shingles are most of an index, and bands find what they find

_FINGERPRINT = regex(
    r"n(?P<normalization>\d+) (?P<kind>[a-z]+)(?P<shingle_size>\d+)(?:-(?P<language>[a-z_]+))?"
    r" (?P<family>[a-z]+)(?P<hashes>\d+)"
    r" seed(?P<seed>\d+) bands(?P<bands>\d+)x(?P<rows>\d+) sg(?P<signatures>\d+)"
    r"(?: profile(?P<profile_min_token_len>\d+)q(?P<profile_quant_rate>[0-9.e-]+))?"
    r"(?: without (?P<without>[a-z0-9_,]+))?"
    r"(?: by (?P<measure>[a-z]+))?"
)
# The least that each number can be, and the most of those with a limit.
LEAST = {
    "shingle_size": 1, "hashes": 1, "seed": 0, "bands": 1, "rows": 1, "signatures": 0,
    "profile_min_token_len": 0, "profile_quant_rate": 0, "normalization": 0,
}  # fmt: skip
_MOST = {"hashes": 65_536, "seed": 2**32 - 1, "profile_quant_rate": 1}
# The types in a fingerprint of what is no whole number.
READ: dict[str, Callable[[Any], str | float]] = {
    "kind": str, "language": str, "family": str, "profile_quant_rate": float, "measure": str,
}  # fmt: skip
CHOICE_OF_FIELDS = f"choose from {', '.join(OPTIONAL_FIELDS)}"
_OTHER_VERSION = "use the version of neardup-solr that wrote the collection, or index it again"


def require_known_fields(names: Iterable[str], fields: Iterable[str]) -> None:
    """Refuse names of fields that are none of these, by ArgumentError."""
    if unknown := sorted(set(names).difference(fields)):
        reason = f"there is no field {', '.join(unknown)}"
        raise ArgumentError(reason, CHOICE_OF_FIELDS, code="argument-invalid")


def require_words(min_words: int | None) -> None:
    """Refuse passages of so few words, by ArgumentError."""
    reason, step = f"`min_words` cannot be {min_words}", f"give {LEAST_WORDS} or more"
    fits = min_words is None or min_words >= LEAST_WORDS
    require(fits, reason, step, code="argument-out-of-range")


def choose_words(min_words: int | None, *, passages: bool) -> int | None:
    """Choose how many words a passage has at least, None if passages are not looked for.

    Raises ArgumentError if a value is not possible.
    """
    reason, step = "`min_words` needs `passages`", "set `passages`, or omit `min_words`"
    require(passages or min_words is None, reason, step, code="arguments-conflict")
    require_words(min_words)
    return (min_words or MIN_WORDS) if passages else None


@checked_class
@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a collection's computed fields, stored with each document.

    `kind`: units of the shingles; `shingle_size`: units in a shingle; `language`: language of the
    stems; `family`: hash family; `hashes`: hashes in a signature; `seed`: seed of the hash
    functions; `bands`: LSH bands; `rows`: hashes in a band; `signatures`: hashes that are terms of
    content_sg; `fields`: fields that indexing writes; `profile_min_token_len`: shortest word in
    profile_hash; `profile_quant_rate`: rounding of counts in profile_hash, as a share of the
    highest; `normalization`: version of the normal form; `measure`: meaning of the measure "auto",
    None for words. Settings that differ only in the measure are equal.

    Raises ArgumentError if a value is out of range, or bands × rows exceeds the hashes.
    """

    kind: Kind = "words"
    shingle_size: int = 3
    language: str = "english"
    family: Family = "affine"
    hashes: int = 128
    seed: int = 42
    bands: int = 42
    rows: int = 3
    signatures: int = 20
    fields: frozenset[str] = frozenset(DEFAULT_FIELDS)
    profile_min_token_len: int = 2
    profile_quant_rate: float = 0.01
    normalization: int = NORMALIZATION
    measure: StoredMeasure | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_fields(self, {*LEAST, *READ})
        for name, least in LEAST.items():
            value, most = getattr(self, name), _MOST.get(name)
            if value < least or (most is not None and value > most):
                step = f"give {least} or more" if most is None else f"give {least} to {most:,}"
                reason = f"`{name}` cannot be {value}"
                raise ArgumentError(reason, step, code="argument-out-of-range")
        needed = int(self.bands) * int(self.rows)
        if needed > self.hashes:
            reason = f"{self.bands} bands of {self.rows} rows need {needed} hashes, but there are"
            step = f"use {needed} hashes"
            if self.hashes >= self.rows:
                step = f"set `bands` to {self.hashes // self.rows} or {step}"
            raise ArgumentError(f"{reason} {self.hashes}", step, code="argument-out-of-range")
        if self.signatures > self.hashes:
            reason = f"`signatures` cannot be {self.signatures}"
            step = f"use {self.signatures} hashes or more, or fewer `signatures`"
            raise ArgumentError(reason, step, code="argument-out-of-range")
        if self.kind != "stems" and self.language != "english":
            reason = f"shingles of {self.kind} have no language"
            step = "leave `language` out, or set `kind` to stems"
            raise ArgumentError(reason, step, code="arguments-conflict")
        if self.normalization not in (1, NORMALIZATION):
            reason = f"this version does not support normalization {self.normalization}"
            raise ArgumentError(reason, _OTHER_VERSION, code="argument-invalid")
        if not isinstance(self.fields, Set) or not all(
            isinstance(each, str) for each in self.fields
        ):
            reason = "`fields` must be a set of names"
            raise ArgumentError(reason, CHOICE_OF_FIELDS, code="argument-type")
        require_known_fields(self.fields, OPTIONAL_FIELDS)

    def require(self, *fields: str) -> None:
        """Raise SettingsError if the settings lack any of these fields."""
        require_indexed(fields, self.fields)

    @property
    def fingerprint(self) -> str:
        """Settings as a readable line, for `parse`."""
        without = ",".join(name for name in DEFAULT_FIELDS if name not in self.fields)
        profile = f" profile{self.profile_min_token_len}q{self.profile_quant_rate:g}"
        language = f"-{self.language}" if self.kind == "stems" else ""
        return (
            f"n{self.normalization} {self.kind}{self.shingle_size}{language}"
            f" {self.family}{self.hashes}"
            f" seed{self.seed} bands{self.bands}x{self.rows} sg{self.signatures}"
            + (profile if "profile_hash" in self.fields else "")
            + (f" without {without}" if without else "")
            + (f" by {self.measure}" if self.measure else "")
        )

    @classmethod
    def parse(cls, fingerprint: str) -> Settings:
        """Parse the fingerprint of settings, as stored in a collection.

        Raises SettingsError if this version of neardup_solr does not understand `fingerprint`.
        """
        match = _FINGERPRINT.fullmatch(fingerprint)
        if match is None:
            reason = f"{fingerprint!r} is not a settings fingerprint"
            raise SettingsError(reason, _OTHER_VERSION, code="settings-unreadable")
        groups = {name: value for name, value in match.groupdict().items() if value is not None}
        left_out = groups.pop("without", "").split(",")
        added = {"profile_hash"} if "profile_quant_rate" in groups else set()
        values: dict[str, Any] = {name: READ.get(name, int)(text) for name, text in groups.items()}
        try:
            return cls(fields=frozenset(DEFAULT_FIELDS).difference(left_out) | added, **values)
        except ArgumentError as error:  # stored settings are data, and nobody's arguments
            reason = f"{fingerprint!r}: {error.reason}"
            raise SettingsError(reason, _OTHER_VERSION, code="settings-unreadable") from None


def require_indexed(
    needed: Iterable[str],
    fields: Set[str],
    next_step: str = "index the documents into a different collection, with that field",
) -> None:
    """Refuse a collection of these `fields` that lacks any of those needed, by SettingsError."""
    lacking = sorted(set(needed) - fields)
    if lacking:
        reason = f"the collection was indexed without {', '.join(lacking)}"
        raise SettingsError(reason, next_step, code="fields-missing")


def refuse_settings(settings: object, next_step: str) -> None:
    """Refuse settings for a collection, which has its own, by ArgumentError."""
    reason = "a collection has its own settings, so `settings` cannot be set"
    require(not settings, reason, next_step, code="arguments-conflict")
