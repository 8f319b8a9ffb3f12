"""Solr's binary format for updates: what org.apache.solr.common.util.JavaBinCodec reads.

A body is {"params": {…}, "docs": iterator of documents}.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

HEADERS = {"Content-Type": "application/javabin"}
_PARAMS, _DOCS, _END = b"\x02\xc2\x26params", b"\x24docs\x0e", b"\x0f"
_CONSTANTS = {None: b"\0", True: b"\1", False: b"\2"}
_STRING, _LIST, _NAMED, _NAME = 0x20, 0x80, 0xC0, b"\xe0"  # a length below 31 is in the same byte
_double, _long = partial(struct.pack, ">Bd", 5), partial(struct.pack, ">Bq", 7)


def encode(documents: Sequence[Mapping[str, Any]], params: Mapping[str, str]) -> bytes:
    """Encode documents and the parameters of an update as the body of a request."""
    pairs = (_string(name) + _string(value) for name, value in params.items())
    head = (_PARAMS, _start(_NAMED, len(params)), *pairs, _DOCS)
    return b"".join((*head, *map(_map, documents), _END))


def _string(value: str) -> bytes:
    raw = value.encode()
    return _start(_STRING, len(raw)) + raw


@cache  # of few names, and a million documents
def _name(value: str) -> bytes:
    return _NAME + _string(value)


def _list(values: Sequence[Any]) -> bytes:
    head = _start(_LIST, len(values))
    if {*map(type, values)} == {str} and len({*map(len, values)}) == 1 and len(values[0]) < 31:
        start = chr(_STRING | len(values[0]))
        if (text := start + start.join(values)).isascii():
            return head + text.encode()  # terms of equal length, as those of bands
    return b"".join((head, *(_ENCODE[type(value)](value) for value in values)))


def _map(values: Mapping[str, Any]) -> bytes:
    parts = [b"\x0a", _varint(len(values))]
    for name, value in values.items():
        parts += (_name(name), _ENCODE[type(value)](value))
    return b"".join(parts)


def _start(tag: int, length: int) -> bytes:
    return bytes((tag | length,)) if length < 31 else bytes((tag | 31,)) + _varint(length - 31)


def _varint(number: int) -> bytes:
    """Encode a number by seven bits a byte, the lowest first."""
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes((*encoded, number))


_ENCODE: Mapping[type, Callable[[Any], bytes]] = {
    str: _string, dict: _map, list: _list, tuple: _list, int: _long, float: _double,
    bool: _CONSTANTS.__getitem__, type(None): _CONSTANTS.__getitem__,
}  # fmt: skip
