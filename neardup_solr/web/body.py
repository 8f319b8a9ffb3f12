"""The body of a request: its size, its time, and its JSON."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from decimal import Decimal
from itertools import chain
from typing import Any

import orjson
from starlette.requests import Request

from neardup_solr.regex import regex
from neardup_solr.text.json_keys import has_key_twice
from neardup_solr.web.failure import Failure

REQUEST_SECONDS = 10.0  # for a whole request to come
# Bytes beyond the limit that are read: a connection that is closed before loses the answer.
DISCARDED = 16 << 20
LEVELS, LONGEST = 200, 4_000  # lists within lists, and digits of a whole number, that are read
FAULT = secrets.token_hex(16)  # the key of what is wrong with an object, which no other has
TWICE = "appears twice, or contains a duplicate key"
NO_VALUE = f"contains NaN, Infinity or more than {LEVELS} nested levels, which cannot be read"
_SURROGATE = regex("[\ud800-\udfff]")
_TOKEN = regex(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


async def read_body(request: Request, most: int) -> bytes:
    """Read the body of a request, of at most so many bytes, which has to come in time."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        reason = "the request is compressed (Content-Encoding)"
        raise Failure(415, reason, "send it uncompressed", code="request-malformed")
    too_large = Failure(
        413,
        f"a request has at most {most:,} bytes",
        "send less at a time",
        code="request-too-large",
    )
    if int(request.headers.get("content-length") or 0) > most + DISCARDED:
        raise too_large
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(REQUEST_SECONDS):
            async for chunk in request.stream():
                size += len(chunk)
                body += chunk if size <= most else b""
                if size > most + DISCARDED:
                    break
    except TimeoutError:
        reason = f"the request did not arrive within {REQUEST_SECONDS:g} seconds"
        step = "send it faster, or send less"
        raise Failure(408, reason, step, Connection="close", code="request-late") from None
    if size > most:
        raise too_large
    return bytes(body)


def load_plain(body: bytes) -> dict[str, Any] | None:
    """Parse a JSON object, or return None if `parse_object` has to look closer.

    orjson refuses what Solr reads, makes floats of long numbers, and takes the last of equal keys.
    """
    try:
        fields = orjson.loads(body)
        is_plain = not has_key_twice(fields, body)
        if body.count(b"[") + body.count(b"{") > LEVELS:
            orjson.dumps(fields)  # which refuses more than 254 levels
    except (orjson.JSONDecodeError, TypeError):
        return None
    return fields if is_plain and isinstance(fields, dict) and not _has_long(fields) else None


def _has_long(fields: dict[str, Any]) -> bool:
    """Return True if an object, or any in a list of it, has a number that may be a rounded one."""
    parts = (each for value in fields.values() if type(value) is list for each in value)
    values = (each.values() for each in (fields, *parts) if type(each) is dict)
    return any(type(value) is float and abs(value) >= 2**63 for value in chain(*values))


def parse_object(body: bytes, next_step: str = "") -> dict[str, Any]:
    """Parse the JSON object of a request as Solr does, which replaces what is no character.

    An object has a `FAULT`, a key and a reason, if a value is none of JSON, is too deep, or has
    another beside it.
    """
    if (fields := load_plain(body)) is not None:
        return fields
    try:
        text = _cut_levels(body).decode("utf-8-sig", "replace")
        fields = json.loads(
            text, strict=False, object_pairs_hook=_make_object,
            parse_constant=lambda _: NO_VALUE,
            parse_int=lambda digits: int(digits) if len(digits) <= LONGEST else Decimal(digits),
        )  # fmt: skip
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        reason = f"the request is not JSON ({where}: {error.msg})"
        raise Failure(400, reason, next_step, code="request-malformed") from None
    if not isinstance(fields, dict):
        raise Failure(400, "the request is not a JSON object", next_step, code="request-malformed")
    return fields


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        name = _replace_surrogates(name)
        fields[name] = TWICE if name in fields else _replace_surrogates(value)
        if fault := _find_fault(fields[name]):
            fields[FAULT] = name, fault
    return fields


def _find_fault(value: Any) -> str:
    """Say what is wrong with a value, "" if nothing is."""
    if isinstance(value, list):
        return next(filter(None, map(_find_fault, value)), "")
    if isinstance(value, dict):
        return value[FAULT][1] if FAULT in value else ""
    return value if value is TWICE or value is NO_VALUE else ""


def _replace_surrogates(value: Any) -> Any:
    """Put U+FFFD for each surrogate that is alone, also in a list."""
    if isinstance(value, list):
        return [_replace_surrogates(each) for each in value]
    is_text = isinstance(value, str) and value is not NO_VALUE
    return _SURROGATE.sub("\ufffd", value) if is_text else value


def _cut_levels(body: bytes) -> bytes:
    """Put NaN for what is more than so many `LEVELS` within lists and objects."""
    parts, depth, start = [], 0, 0
    for token in _TOKEN.finditer(body):
        depth += (is_begin := token[0] in b"[{") - (is_end := token[0] in b"]}")
        if is_begin and depth == LEVELS:
            parts += [body[start : token.start()], b"NaN"]
        elif is_end and depth == LEVELS - 1:
            start = token.end()
    return b"".join([*parts, body[start:] if depth < LEVELS else b""])
