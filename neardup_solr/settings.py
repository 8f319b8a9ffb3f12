"""Everything that shapes a signature, in one frozen record with a readable fingerprint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, cast, get_args

from neardup_solr.arguments import Family, Kind, require, require_choice, require_positive, shown
from neardup_solr.errors import ArgumentError, SettingsError

# What indexing writes, unless told otherwise; `id` and `signature_settings` are always written.
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
NORMALIZATION = 1
CAP = 1_024  # documents of one band key that are all paired with each other
WORD_CAP = 50  # records that one word makes candidates of each other

_FINGERPRINT = re.compile(
    r"n(?P<normalization>\d+) (?P<kind>[a-z]+)(?P<shingle_size>\d+)(?:-(?P<language>[a-z_]+))?"
    r" (?P<family>[a-z]+)(?P<hashes>\d+)"
    r" seed(?P<seed>\d+) bands(?P<bands>\d+)x(?P<rows>\d+) sg(?P<signatures>\d+)"
    r"(?: profile(?P<min_token_len>\d+)q(?P<quant_rate>[0-9.e-]+))?"
    r"(?: without (?P<without>[a-z0-9_,]+))?"
)
_NUMBERS = (
    "shingle_size", "hashes", "seed", "bands", "rows", "signatures", "profile_min_token_len",
    "normalization",
)  # fmt: skip
_CHANGE = "choose other values (defaults: 128 hashes, 42 bands of 3 rows, 20 signatures)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the fields of a collection; each document stores their fingerprint.

    `shingle_size` pieces of a `kind` make a shingle (stems are those of a `language`); `hashes`
    extremes of the hash `family`, drawn from `seed`, make a signature; `bands` × `rows` of them
    make the LSH band keys; the first `signatures` of them are the terms of content_sg; `fields`
    are those that indexing writes. `profile_min_token_len` and `profile_quant_rate` shape
    profile_hash, if that is one of them.

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

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            given = getattr(self, name)
            require(
                isinstance(given, int) and not isinstance(given, bool),
                f"`{name}` has to be a whole number, not {shown(given)}",
                _CHANGE,
            )
        rate = self.profile_quant_rate
        require(
            isinstance(rate, Real) and not isinstance(rate, bool),
            f"`profile_quant_rate` has to be a number, not {shown(rate)}",
            "give one from 0 to 1 (default: 0.01)",
        )
        require(
            isinstance(self.language, str),
            f"`language` has to be a text, not {shown(self.language)}",
            'give one such as "english"',
        )
        require(
            isinstance(self.fields, Set) and all(isinstance(name, str) for name in self.fields),
            "`fields` has to be a set of names",
            f"choose from {', '.join(OPTIONAL_FIELDS)}",
        )
        for name in ("shingle_size", "hashes", "bands", "rows"):
            require_positive(**{name: getattr(self, name)})
        require(self.hashes <= 65_536, f"`hashes` cannot be {self.hashes}", "give 65,536 or fewer")
        require(
            self.bands * self.rows <= self.hashes,
            f"{self.bands} bands of {self.rows} rows need {self.bands * self.rows} hashes,"
            f" and there are {self.hashes}",
            "use fewer `bands` or `rows`, or more `hashes`",
        )
        require(
            self.profile_min_token_len >= 0,
            f"`profile_min_token_len` cannot be {self.profile_min_token_len}",
            "give 0 or more (default: 2)",
        )
        require(
            0 <= rate <= 1,
            f"`profile_quant_rate` cannot be {rate}",
            "give one from 0 to 1 (default: 0.01)",
        )
        require(
            0 <= self.signatures <= self.hashes,
            f"`signatures` cannot be {self.signatures}",
            f"give 0 to {self.hashes}, the number of hashes",
        )
        require(0 <= self.seed < 2**32, f"`seed` cannot be {self.seed}", "give 0 to 4294967295")
        require_choice("family", self.family, FAMILIES)
        require_choice("kind", self.kind, KINDS)
        require(
            self.kind == "stems" or self.language == "english",
            f"shingles of {self.kind} have no language",
            "leave `language` out, or choose the `kind` stems",
        )
        require(
            self.normalization == NORMALIZATION,
            f"normalization {self.normalization} is not known to this version",
            "use the version of neardup-solr that wrote the collection, or index it anew",
        )
        unknown = sorted(self.fields - frozenset(OPTIONAL_FIELDS))
        require(
            not unknown,
            f"there is no field {', '.join(unknown)}",
            f"choose from {', '.join(OPTIONAL_FIELDS)}",
        )

    def require(self, *fields: str) -> None:
        """Refuse a collection whose settings leave out some of these fields, by SettingsError."""
        require_indexed(fields, self.fields)

    @property
    def fingerprint(self) -> str:
        """The settings as one readable line that `parse` turns back into the same record."""
        without = ",".join(name for name in DEFAULT_FIELDS if name not in self.fields)
        profile = f" profile{self.profile_min_token_len}q{self.profile_quant_rate:g}"
        language = f"-{self.language}" if self.kind == "stems" else ""
        return (
            f"n{self.normalization} {self.kind}{self.shingle_size}{language}"
            f" {self.family}{self.hashes}"
            f" seed{self.seed} bands{self.bands}x{self.rows} sg{self.signatures}"
            + (profile if "profile_hash" in self.fields else "")
            + (f" without {without}" if without else "")
        )

    @classmethod
    def parse(cls, fingerprint: str) -> Settings:
        """The settings that a stored fingerprint stands for.

        Raises SettingsError if the line is not a fingerprint of this version.
        """
        match = _FINGERPRINT.fullmatch(fingerprint)
        _require(
            match is not None,
            f"{fingerprint!r} is not a settings fingerprint",
            "use the version of neardup-solr that wrote the collection, or index it anew",
        )
        assert match is not None
        numbers = {
            name: int(match[name])
            for name in (
                "normalization", "shingle_size", "hashes", "seed", "bands", "rows", "signatures",
            )
        }  # fmt: skip
        without = frozenset((match["without"] or "").split(",")) - {""}
        profile: dict[str, Any] = {}
        if match["quant_rate"]:
            profile = {
                "profile_min_token_len": int(match["min_token_len"]),
                "profile_quant_rate": float(match["quant_rate"]),
            }
        fields = frozenset(DEFAULT_FIELDS) - without | ({"profile_hash"} if profile else set())
        try:
            return cls(
                kind=cast(Kind, match["kind"]),
                language=match["language"] or "english",
                family=cast(Family, match["family"]),
                fields=fields,
                **numbers,
                **profile,
            )
        except ArgumentError as error:  # stored settings are data, and nobody's arguments
            raise SettingsError(f"{fingerprint!r}: {error.reason}", error.next_step) from None


DEFAULT_SETTINGS = Settings()
# Of annotate: in documents of another program shingles would be most of the index, and signature
# terms find what bands find.
ANNOTATED = Settings(fields=frozenset(DEFAULT_FIELDS) - {"content_ng", "content_sg"})
# A base with which each value may be whatever it can be beside some others.
_WIDEST = Settings(kind="stems", hashes=65_536, bands=1, rows=1, signatures=0)


def require_possible(given: Settings | Mapping[str, Any] | None) -> None:
    """Refuse names and values that no collection can have, before any is asked.

    Raises ArgumentError. How values go together is only known once they are combined.
    """
    if isinstance(given, Mapping):
        for name, value in given.items():
            settings_of({name: value}, _WIDEST)


def settings_of(
    given: Settings | Mapping[str, Any] | None, base: Settings = DEFAULT_SETTINGS
) -> Settings:
    """The settings that a mapping gives by name; all others are those of the base.

    `fields` may be a choice in words, such as "-content_ng", which changes those of the base.

    Raises ArgumentError if there is no such name, or a value is out of range.
    """
    if given is None or isinstance(given, Settings):
        return given or base
    for name in given:
        require_choice("settings", name, [field.name for field in fields(Settings)])
    values = dict(given)
    if "fields" in values:
        chosen = values["fields"]
        if isinstance(chosen, str):
            values["fields"] = choose_fields(chosen, base.fields)
        if isinstance(chosen, Sequence | Set) and not isinstance(chosen, str):
            values["fields"] = frozenset(map(str, chosen))
    return replace(base, **values)


def require_indexed(
    needed: Iterable[str],
    fields: Set[str],
    next_step: str = "index it into another collection with that field",
) -> None:
    """Refuse a collection of these `fields` that lacks one of those needed, by SettingsError."""
    lacking = sorted(set(needed) - fields)
    _require(not lacking, f"the collection was indexed without {', '.join(lacking)}", next_step)


def choose_fields(choice: str, usual: Iterable[str] = DEFAULT_FIELDS) -> frozenset[str]:
    """The fields to write, from a comma-separated choice.

    "all" is every field; "content,signature" is just those; "-content_ng" is the usual fields
    without that one, "+profile_hash" the usual fields and that one.

    Raises ArgumentError if a name is not one of the fields.
    """
    names = frozenset(name.strip() for name in choice.split(",")) - {""}
    left_out = frozenset(name[1:] for name in names if name.startswith("-"))
    added = frozenset(name[1:] for name in names if name.startswith("+"))
    chosen = frozenset(name for name in names if name[0] not in "+-")
    unknown = sorted((left_out | added | chosen) - frozenset((*ALL_FIELDS, "all")))
    require(
        not unknown,
        f"there is no field {', '.join(unknown)}",
        f"choose from {', '.join(OPTIONAL_FIELDS)}",
    )
    require(bool(names), "`fields` names no field", f"choose from {', '.join(OPTIONAL_FIELDS)}")
    named = chosen or frozenset(usual)
    wanted = frozenset(OPTIONAL_FIELDS) if "all" in named else named & frozenset(OPTIONAL_FIELDS)
    return (wanted | added & frozenset(OPTIONAL_FIELDS)) - left_out


def _require(condition: bool, reason: str, next_step: str) -> None:
    if not condition:
        raise SettingsError(reason, next_step)
