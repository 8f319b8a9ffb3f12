"""Filters of clients: what they may ask Solr, parsed by a grammar of its own.

Solr's syntax reaches functions, other parsers and other collections from inside any clause. So a
filter of a client never reaches Solr as it came: it is parsed, and written again from its parts.

    filter = clause {["AND" | "OR" | "&&" | "||"] clause}
    clause = ["+" | "-" | "!" | "NOT"] (field ":" value | "(" filter ")" | "*:*")
    value  = word | prefix"*" | "*" | "a phrase" | "[" end "TO" end "]" | "(" values ")"

`values` are joined as clauses are. A range excludes an end by a curly bracket.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import orjson

from neardup_solr.checks import require
from neardup_solr.errors import ArgumentError
from neardup_solr.regex import regex

MOST_FILTERS, MOST_VALUES, MOST_OPEN = 50, 1_000, 50  # of a request; open are ranges and prefixes
MOST_CHARACTERS, DEEPEST = 1 << 16, 20  # of all filters of a request, levels of parentheses
SYNTAX = (
    'write field:value, field:"a phrase", field:prefix* or field:[low TO high],'
    " joined by AND, OR, NOT and parentheses"
)
_SPACE = " \t\n\r\u3000"  # what Solr takes for a blank
_WORD = rf"""(?:[^{_SPACE}\x00-\x1f+\-!():^\[\]"{{}}~*?\\/&|]|\\[^\x00-\x1f])
             (?:[^{_SPACE}\x00-\x1f!():^\[\]"{{}}~*?\\]|\\[^\x00-\x1f])*"""
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_END = rf'(?:{_QUOTED}|[^{_SPACE}\]}}"\x00-\x1f]+)'
# After the colon of a field a minus is part of a number.
_NUMBER = regex(rf"-[0-9][0-9.]*(?=[{_SPACE})]|$)")
_TOKEN = regex(
    rf"""(?P<quoted>{_QUOTED})
    |(?P<range>[\[{{][{_SPACE}]*(?P<low>{_END})[{_SPACE}]+TO[{_SPACE}]+(?P<high>{_END})
        [{_SPACE}]*[\]}}])
    |(?P<all>\*:\*)
    |(?P<joint>(?:AND|OR|&&|\|\|)(?=[{_SPACE}(]|\Z))
    |(?P<sign>NOT(?=[{_SPACE}(])|[+\-!])
    |(?P<word>{_WORD})(?P<star>\*?)
    |(?P<any>\*)
    |(?P<mark>[():])
    """,
    re.VERBOSE | re.DOTALL,
)
_SPACES = regex(f"[{_SPACE}]*")
_ESCAPED = regex(r"\\(?:u([0-9a-fA-F]{4})|(.?))", re.DOTALL)  # by a backslash
_SPECIAL = regex(r"[^\w\u0080-\U0010ffff]|\u3000")
_HALF = regex(r"[\ud800-\udfff]")
_OPERATORS = {"AND", "OR", "NOT", "TO"}
_FIELD = regex(r"\w[\w.\-]*")
# Of the names between two "_", which Solr keeps for itself, those of fields.
_FIELDS_OF_SOLR = {"_version_", "_root_", "_text_", "_nest_path_", "_nest_parent_"}
_NAME = regex(r"[\w-]+")


def parse_named(filters: Iterable[str]) -> dict[str, str]:
    """Parse filters that are given as NAME=QUERY, and return the queries by their names.

    Raises ArgumentError if one has no name or no query, or a name is used twice.
    """
    named: dict[str, str] = {}
    for each in filters:
        name, _, query = each.partition("=")
        is_right = bool(_NAME.fullmatch(name)) and bool(query.strip())
        step = "write NAME=QUERY, such as recent=date:[NOW-7DAYS TO *]"
        require(is_right, f"`filters` cannot have {each!r}", step, code="argument-invalid")
        reason = f"`filters` name {name!r} twice"
        require(name not in named, reason, "choose different names", code="argument-invalid")
        named[name] = query
    return named


def rewrite_filters(filters: Iterable[str], named: Mapping[str, str]) -> list[str]:
    """Write the filters of a client in Solr's syntax. A filter may be the name of a `named` query.

    Raises ArgumentError if a filter is anything else than the grammar allows.
    """
    texts = [*filters]
    sizes = sum(map(len, texts))
    is_few = len(texts) <= MOST_FILTERS and sizes <= MOST_CHARACTERS
    most = f"{MOST_FILTERS} filters, or {MOST_CHARACTERS:,} characters"
    reason = f"`fq` has more than {most}"
    require(is_few, reason, "give fewer, or shorter ones", code="filter-invalid")
    limits = _Limits()
    bare = (text.strip(_SPACE) for text in texts)  # one of blanks alone filters nothing
    return [named.get(text) or _Parser(text, named, limits).parse() for text in bare if text]


def require_named(filters: Iterable[str], named: Mapping[str, str]) -> None:
    """Refuse filters that are names, but of no `named` query, which the message names.

    Raises ArgumentError.
    """
    for text in filters:
        is_known = text in named or not _NAME.fullmatch(text)
        step = f"{_describe(named)}, or write field:value"
        reason = f"`fq` {text!r} is neither the name of a filter nor a query"
        require(is_known, reason, step, code="filter-invalid")


def _describe(named: Mapping[str, str]) -> str:
    names = ", ".join(sorted(named))
    return f"the named filters are {names}" if named else "this service has no named filters"


def require_fields(names: Iterable[str]) -> None:
    """Refuse names that can be no fields, such as functions and other parts of Solr's syntax.

    Raises ArgumentError.
    """
    for name in names:
        reason = f"`same` cannot be {name!r}"
        require(_is_field(name), reason, "give the name of a field", code="name-invalid")


def has_local_params(query: object) -> bool:
    """Return True if a filter seems to choose the parser of a query by local parameters, {!...}.

    In nested queries (_query_:"...") they may be escaped, once for each level. So backslashes are
    read until there are no more.
    """
    text = orjson.dumps(query).decode()
    while "\\" in text:
        text = _unescape(text)
    return "{!" in text


def _is_field(name: str) -> bool:
    is_reserved = name.startswith("_") and name.endswith("_") and name not in _FIELDS_OF_SOLR
    return _FIELD.fullmatch(name) is not None and not is_reserved


@dataclass(slots=True)
class _Limits:
    """Numbers of parts that the filters of a request may still have."""

    values: int = MOST_VALUES
    open: int = MOST_OPEN

    def count(self, *, is_open: bool) -> None:
        """Count a value. Raises ArgumentError if there are too many."""
        self.values -= 1
        self.open -= is_open
        most = f"{MOST_VALUES:,} values, or {MOST_OPEN} ranges and prefixes"
        reason = f"`fq` has more than {most}"
        require(min(self.values, self.open) >= 0, reason, "give fewer", code="filter-invalid")


class _Parser:
    """Parses a filter from its start to its end, and writes it again meanwhile."""

    def __init__(self, text: str, named: Mapping[str, str], limits: _Limits) -> None:
        self.text, self.named, self.limits = text, named, limits
        self.at = 0

    def parse(self) -> str:
        """Write the filter again, which never begins as local parameters do."""
        written = self._clauses(None, 0)
        if self.at < len(self.text):
            raise self._refuse("has a ')' too many")
        if _HALF.search(written):
            raise self._refuse("has half of a character")
        return written

    def _clauses(self, field: str | None, depth: int) -> str:
        """Write clauses up to a closing parenthesis or the end: of a field, or with their own."""
        if depth > DEEPEST:
            raise self._refuse(f"has more than {DEEPEST} levels of parentheses")
        parts: list[str] = []
        wants_clause = True
        while True:
            self._skip()
            if self.text[self.at : self.at + 1] in ("", ")"):
                break
            token = self._next()
            if token["joint"]:
                if wants_clause:
                    raise self._refuse(f"has {token['joint']} without a clause before it")
                parts.append(token["joint"])
                wants_clause = True
                continue
            parts.append(self._clause(token, field, depth))
            wants_clause = False
        if wants_clause:
            raise self._refuse("lacks a clause")
        return " ".join(parts)

    def _clause(self, token: re.Match[str], field: str | None, depth: int) -> str:
        """Write a clause that begins with a token, with its sign: Solr takes one."""
        sign = ""
        if token["sign"]:
            sign = f"{token['sign']} " if token["sign"] == "NOT" else token["sign"]
            self._skip()
            token = self._next()
        if token["all"]:
            return f"{sign}*:*"
        if token["mark"] == "(":
            return f"{sign}({self._group(field, depth)})"
        if token["word"] and not token["star"] and self._accept(":"):
            name = _unescape(token["word"])
            if not _is_field(name):
                raise self._refuse(f"names {name!r}, which can be no field")
            self._skip()
            if number := _NUMBER.match(self.text, self.at):
                self.at = number.end()
                self.limits.count(is_open=False)
                return f"{sign}{_escape(name)}:{_escape(number[0])}"
            token = self._next()
            if token["mark"] == "(":
                return f"{sign}{_escape(name)}:({self._group(name, depth)})"
            return f"{sign}{_escape(name)}:{self._value(token)}"
        if field is None:
            shown = token[0]
            if shown in self.named:
                step = 'give a list of filters, such as ["NAME", "field:value"]'
                raise self._refuse(f"joins the name {shown!r} with other parts", step)
            if token["word"]:
                raise self._refuse(f"has {shown!r} without a field; {_describe(self.named)}")
            raise self._refuse(f"has {shown!r} without a field")
        return sign + self._value(token)

    def _group(self, field: str | None, depth: int) -> str:
        written = self._clauses(field, depth + 1)
        if not self._accept(")"):
            raise self._refuse("lacks a ')'")
        return written

    def _value(self, token: re.Match[str]) -> str:
        """Write a value of a field."""
        is_open = bool(token["range"] or token["star"] or token["any"])
        self.limits.count(is_open=is_open)
        if token["quoted"]:
            return _quote(token["quoted"])
        if token["range"]:
            ends = token["low"], token["high"]
            low, high = (end if end == "*" else _quote(end) for end in ends)
            return f"{token['range'][0]}{low} TO {high}{token['range'][-1]}"
        if token["any"]:
            return "*"
        is_operator = token["word"] in _OPERATORS - {"TO"} and not token["star"]
        if not token["word"] or is_operator:
            raise self._refuse(f"has {token[0]!r} in the place of a value")
        return _escape(_unescape(token["word"])) + token["star"]

    def _skip(self) -> None:
        spaces = _SPACES.match(self.text, self.at)
        self.at = spaces.end() if spaces else self.at

    def _accept(self, mark: str) -> bool:
        """Pass over a mark if it comes next, whatever blanks stand before it."""
        before = self.at
        self._skip()
        if self.text.startswith(mark, self.at):
            self.at += 1
            return True
        self.at = before
        return False

    def _next(self) -> re.Match[str]:
        """Return the token that comes next. What Solr would read together is not taken apart."""
        token = _TOKEN.match(self.text, self.at)
        if token is None:
            if self.at == len(self.text):
                raise self._refuse("breaks off")
            shown = self.text[self.at : self.at + 20]
            raise self._refuse(f"cannot be read from {shown!r} on")
        self.at = token.end()
        after = self.text[self.at : self.at + 1]
        is_value = bool(token["quoted"] or token["range"] or token["word"] or token["any"])
        if is_value and after and after not in f"{_SPACE}):":
            raise self._refuse(f"has {after!r} after {token[0][:40]!r}")
        return token

    def _refuse(self, fault: str, step: str = f"{SYNTAX}; or quote the value") -> ArgumentError:
        shown = self.text if len(self.text) <= 60 else f"{self.text[:60]}…"
        return ArgumentError(f"`fq` {shown!r} {fault}", step, code="filter-invalid")


def _unescape(text: str) -> str:
    """Read what backslashes escape, as Solr does."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], text)


def _escape(text: str) -> str:
    """Write a text as a word that has no meaning in Solr's syntax."""
    escaped = _SPECIAL.sub(lambda match: f"\\{match[0]}", text)
    return f"\\{text}" if text in _OPERATORS else escaped


def _quote(text: str) -> str:
    """Write a text, which may be in quotes, as a phrase."""
    inner = text[1:-1] if text.startswith('"') else text
    plain = _unescape(inner)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
