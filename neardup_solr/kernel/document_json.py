"""Documents as Solr's update handler takes them, as JSON, in compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from neardup_solr.kernel import compiled, inner
from neardup_solr.kernel.json_lines import (
    BACKSLASH,
    CLOSED,
    COMMA,
    OPEN,
    QUOTE,
    SPACE,
    copy_plain,
)
from neardup_solr.kernel.md5 import md5
from neardup_solr.kernel.normal import BLANK

U8, U32, U64 = np.uint8, np.uint32, np.uint64
N0, N1, N2, N3, N4, N6, N8 = U64(0), U64(1), U64(2), U64(3), U64(4), U64(6), U64(8)
LIST, LIST_END, ZERO = U8(ord("[")), U8(ord("]")), U8(ord("0"))
BYTES, DIGITS = 256, U64(10)


def _spell(text: str) -> Any:
    return np.frombuffer(text.encode(), U8).copy()


HEX = _spell("0123456789abcdef")
BASE64 = _spell("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
# What follows a backslash, for the bytes that have an escape of their own.
SHORT = np.zeros(BYTES, U8)
SHORT[[8, 9, 10, 12, 13, ord('"'), ord("\\")]] = _spell('btnfr"\\')
ID, TEXT, MD5, WORDS = map(_spell, ('"id":', ',"content":', ',"md5_hash":"', ',"num_words":'))
FIRST, BANDS, TERMS = map(_spell, (',"first_word":"', ',"content_bands":[', ',"content_sg":['))
SHINGLES, SIGNATURE, CODE = map(_spell, (',"content_ng":[', ',"signature":"', "u00"))
HASHED = _spell("md5:")


class FieldLayout(NamedTuple):
    """The fields that are written, `terms` of a signature, and the longest first word.

    `stamp` is the JSON of what all documents have in common, with a comma before it.
    """

    has_text: bool
    has_md5: bool
    has_words: bool
    has_first: bool
    has_bands: bool
    has_shingles: bool
    has_signature: bool
    terms: int
    longest: Any
    stamp: Any


LAYOUT = FieldLayout, "bool bool bool bool bool bool bool int64 uint64 uint8[]"
TEXTS = "uint8[] uint64[]"


@compiled(
    TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, "int64[] uint32[,] uint64[,]", LAYOUT,
    "uint8[] uint64[]",
)  # fmt: skip
def write_documents(
    kept, kept_bounds, ids, id_bounds, texts, text_bounds, forms, form_bounds,
    profiles, profile_bounds, shingles, shingle_bounds,
    words, signatures, keys, layout, out, ends,
):  # fmt: skip
    """Write documents to `out`, which has room for them. Document d ends at ends[d].

    Texts come as in `Packed`. Those of `kept` and `profiles` are members of an object that are
    written as they are, behind the bracket and before the stamp, `shingles` elements of a list,
    each with a comma behind it. Without words a document has no lists, and its
    signature is empty.
    """
    state, tail = np.empty(4, dtype=np.uint32), np.empty(144, dtype=np.uint8)
    out[0] = LIST
    at = N1
    for document in range(len(ends)):
        out[at] = OPEN
        at = _copy(kept, kept_bounds[document], kept_bounds[document + 1], out, at + N1)
        at = _copy_all(ID, out, at)
        at = _put_string(ids, id_bounds[document], id_bounds[document + 1], out, at)
        if layout.has_text:
            at = _copy_all(TEXT, out, at)
            at = _put_string(texts, text_bounds[document], text_bounds[document + 1], out, at)
        begin, end = form_bounds[document], form_bounds[document + 1]
        if layout.has_md5:
            at = _copy_all(MD5, out, at)
            at = _put_md5(forms, begin, end, state, tail, out, at)
            out[at] = QUOTE
            at += N1
        if layout.has_words:
            at = _put_number(U64(words[document]), out, _copy_all(WORDS, out, at))
        if layout.has_first:
            at = _copy_all(FIRST, out, at)
            last = begin
            while last < end and forms[last] != BLANK:
                last += N1
            if last - begin > layout.longest:
                at = _put_md5(forms, begin, last, state, tail, out, _copy_all(HASHED, out, at))
            else:
                at = _copy(forms, begin, last, out, at)
            out[at] = QUOTE
            at += N1
        at = _copy(profiles, profile_bounds[document], profile_bounds[document + 1], out, at)
        at = _copy_all(layout.stamp, out, at)
        if words[document]:
            if layout.has_bands:
                at = _copy_all(BANDS, out, at)
                bands = keys[document]  # as `signature.make_band_keys` writes it
                at = _put_terms(bands, len(bands), U64(16), U64(12), out, at)
            if layout.terms:
                at = _copy_all(TERMS, out, at)
                values = signatures[document]  # as `signature.make_signature_terms` writes it
                at = _put_terms(values, layout.terms, N0, N8, out, at)
            if layout.has_shingles:
                at = _copy_all(SHINGLES, out, at)
                first, last = shingle_bounds[document], shingle_bounds[document + 1]
                at = _copy(shingles, first, last, out, at)
                out[at - N1] = LIST_END
        if layout.has_signature:
            at = _copy_all(SIGNATURE, out, at)
            if words[document]:
                at = _put_base64(signatures[document], out, at)
            out[at] = QUOTE
            at += N1
        out[at] = CLOSED
        out[at + N1] = COMMA
        ends[document] = at + N1
        at += N2
    if len(ends):
        at -= N1
    out[at] = LIST_END


@inner
def _copy(data, first, last, out, at):
    for offset in range(last - first):
        out[at + U64(offset)] = data[first + U64(offset)]
    return at + (last - first)


@inner
def _copy_all(data, out, at):
    return _copy(data, N0, U64(len(data)), out, at)


@inner
def _put_string(data, first, last, out, at):
    """Write a string with its quotes. What need not be escaped is not."""
    out[at] = QUOTE
    at += N1
    while first < last:
        moved = copy_plain(data, first, last, out, at)
        first += moved
        at += moved
        if first == last:
            break
        byte = data[first]
        first += N1
        if byte >= SPACE and byte != QUOTE and byte != BACKSLASH:
            out[at] = byte
            at += N1
            continue
        out[at] = BACKSLASH
        if SHORT[byte]:
            out[at + N1] = SHORT[byte]
            at += N2
        else:
            _copy_all(CODE, out, at + N1)
            at = _put_hexadecimal(U64(byte), N2, out, at + N4)
    out[at] = QUOTE
    return at + N1


@inner
def _put_hexadecimal(value, digits, out, at):
    shift = digits * N4
    while shift:
        shift -= N4
        out[at] = HEX[(value >> shift) & U64(15)]
        at += N1
    return at


@inner
def _put_number(value, out, at):
    """Write a number in decimal digits."""
    digits, rest = N1, value // DIGITS
    while rest:
        digits += N1
        rest //= DIGITS
    end = at + digits
    at = end
    while digits:
        at -= N1
        digits -= N1
        out[at] = ZERO + U8(value % DIGITS)
        value //= DIGITS
    return end


@inner
def _put_md5(data, first, last, state, tail, out, at):
    md5(data, first, last, state, tail)
    for part in range(4):
        for place in range(4):
            at = _put_hexadecimal(U64(state[part] >> U32(8 * place)) & U64(255), N2, out, at)
    return at


@inner
def _put_position(position, out, at):
    """Write the number of a term: two or more hexadecimal digits."""
    out[at] = QUOTE
    digits = N2
    while position >> (digits * N4):
        digits += N1
    return _put_hexadecimal(position, digits, out, at + N1)


@inner
def _put_terms(values, count, shift, digits, out, at):
    """Write a term for each value: its place, and so many digits of what is above `shift`."""
    for place in range(count):
        at = _put_position(U64(place), out, at)
        at = _put_hexadecimal(U64(values[place]) >> shift, digits, out, at)
        out[at] = QUOTE
        out[at + N1] = COMMA
        at += N2
    out[at - N1] = LIST_END
    return at


@inner
def _put_base64(signature, out, at):
    """Write a signature in base64: see `signature.encode`."""
    held, bits = N0, N0
    for value in signature:
        # The bytes of a value come lowest first, the bits of each highest first.
        swapped = U64(((value & U32(255)) << U32(24)) | ((value & U32(0xFF00)) << U32(8))
                      | ((value >> U32(8)) & U32(0xFF00)) | (value >> U32(24)))  # fmt: skip
        held = (held << U64(32)) | swapped
        bits += U64(32)
        while bits >= N6:
            bits -= N6
            out[at] = BASE64[(held >> bits) & U64(63)]
            at += N1
        held &= (N1 << bits) - N1
    if bits:
        out[at] = BASE64[(held << (N6 - bits)) & U64(63)]
        at += N1
        while bits < N6:  # two bits are missing for each byte
            out[at] = U8(ord("="))
            at += N1
            bits += N2
    return at
