"""Normal forms in compiled code: UTF-8 in, UTF-8 and the starts of words out."""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import inner
from neardup_solr.text.characters import CONTEXT, DROPPED, MARK, SPACE, UNSPACED
from neardup_solr.text.packed import SPARE

U8, U32, U64 = np.uint8, np.uint32, np.uint64
N0, N1, N2, N3, N4, N6, N8 = U64(0), U64(1), U64(2), U64(3), U64(4), U64(6), U64(8)
EACH, HIGHEST = U64(0x0101010101010101), U64(0x8080808080808080)  # bits of eight bytes
BLANK, ASCII, LOW = U8(32), U8(128), U64(0x3F)
PLUS, LEFT = U8(ord("+")), U8(255)  # no byte of UTF-8: characters depend on their neighbours
SIGN = U8(8)  # the bit in which "+" and "#" differ
# The places of the bits in a byte, up to four, and their number.
_BITS = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]
PLACES = np.array([sum(at << 8 * n for n, at in enumerate(bits[:4])) for bits in _BITS], U32)
COUNTS = np.array(list(map(len, _BITS)), U32)


@inner
def make_starts(bounds):
    """Make room for the places of all words of the longest text, or of all characters of a form.

    A text has about as many words as bytes at most.
    """
    longest = N0
    for document in range(len(bounds) - 1):
        longest = max(longest, bounds[document + 1] - bounds[document])
    return np.empty(longest + U64(SPARE), dtype=np.uint32)


@inner
def normalize(text, start, end, is_normal, tables, out, at, starts):
    """Write the normal form of a text in UTF-8, and where its words start.

    It has -1 words if characters depend on their neighbours, or the room is too small, or if it is
    of symbols.
    """
    begin, words, before, last_class, first = at, N0, BLANK, U8(0), start
    room, lower, short_of = U64(len(out) - SPARE), tables.lower, tables.short
    has_signs = lower[PLUS] == PLUS
    if at + (end - start) > room:
        return begin, np.int64(-1)
    if is_normal:
        return _copy(text, start, end, out, at, starts)
    while start < end:
        byte = text[start]
        if byte < ASCII:
            start, at, words, before = _put_ascii(
                text, start, end, tables, has_signs, out, at, before, starts, words, begin
            )
            if before == LEFT:
                return begin, np.int64(-1)
            last_class = U8(0)
            continue
        code, size = decode(text, start)
        start += size
        short = short_of[code] if code < U64(0x10000) else U32(0)
        if short:  # up to three bytes and their number: written without a further branch
            byte, last_class = U8(short & U32(255)), U8(0)
            out[at] = byte
            out[at + N1] = U8((short >> U32(8)) & U32(255))
            out[at + N2] = U8((short >> U32(16)) & U32(255))
            starts[words] = U32(at - begin)
            blank, was_blank = byte == BLANK, before == BLANK
            words += U64(was_blank and not blank)
            at += U64(short >> U32(24)) * U64(not (blank and was_blank))
            before = byte
        else:
            becomes = np.int64(tables.becomes[code])
            if becomes <= UNSPACED:
                start, at, words, before, last_class = _put_run(
                    text, start - size, end, tables,
                    out, at, before, last_class, starts, words, begin, room,
                )  # fmt: skip
                if before == LEFT:
                    return begin, np.int64(-1)
                continue
            own_class = tables.classes[code] if becomes == MARK else U8(0)
            if becomes == CONTEXT or (becomes == MARK and own_class < last_class):
                return begin, np.int64(-1)
            if becomes != DROPPED:
                last_class = own_class
                at, words, before = _put_rare(
                    code, becomes, tables, out, at, before, starts, words, begin
                )
        if at + (end - start) > room:  # a character may become many
            return begin, np.int64(-1)
    if words and before == BLANK:
        at -= N1
    if has_signs and not words and first < end:
        return begin, np.int64(-1)
    return at, np.int64(words)


@inner
def _copy(text, start, end, out, at, starts):
    """Write a normal form as it is."""
    begin, words, before = at, N0, BLANK
    while start < end:
        at, words, before = _put(text[start], out, at, before, starts, words, begin)
        start += N1
    return at, np.int64(words)


@inner
def _put_run(
    text, start, end, tables, out, at, before, last_class, starts, words, begin, room
):  # fmt: skip
    """Write the overlapping pairs of a run of a script without blanks, and blanks around it."""
    if before != BLANK:
        out[at] = BLANK
        at += N1
    previous = at  # where the last character was written
    count = N0
    while start < end and text[start] >= ASCII:
        code, size = decode(text, start)
        becomes = np.int64(tables.becomes[code])
        if becomes > UNSPACED and becomes != DROPPED:
            break
        source, first, stop = text, start, start + size
        start += size
        if becomes < UNSPACED:
            number = UNSPACED - becomes
            source, first, stop = tables.sequences, tables.bounds[number - 1], tables.bounds[number]
        if becomes == DROPPED:
            continue
        own_class = U8(0) if becomes < UNSPACED else tables.classes[code]
        if (own_class and own_class < last_class) or at + (end - start) > room:
            return start, at, words, LEFT, last_class
        last_class = own_class
        while first < stop:
            if count != N1:  # a pair begins, with the character before
                width = at - previous
                if count:
                    out[at] = BLANK
                    at += N1
                starts[words] = U32(at - begin)
                words += N1
                for _ in range(width):
                    out[at] = out[previous]
                    at, previous = at + N1, previous + N1
            previous = at
            out[at] = source[first]
            at, first = at + N1, first + N1
            while first < stop and source[first] & U8(0xC0) == U8(0x80):
                out[at] = source[first]
                at, first = at + N1, first + N1
            count += N1
    out[at] = BLANK
    return start, at + N1, words, BLANK, last_class


@inner
def _put_ascii(text, start, end, tables, has_signs, out, at, before, starts, words, begin):
    """Write ASCII, eight bytes at a time, up to the first other character."""
    lower = tables.lower
    signs = HIGHEST if has_signs else N0
    while start + N8 <= end:
        eight = load_eight(text, start)
        if eight & HIGHEST or _mark_signs(eight) & signs:
            break
        kept = _mark_kept(eight)
        eight = _replace_ascii(eight, kept)
        for offset in range(8):
            out[at + U64(offset)] = U8(eight >> U64(8 * offset))
        after_blank = (kept ^ HIGHEST) << N8 | U64(before == BLANK) << U64(7)
        begun = _gather_bits(kept & after_blank)  # each byte that begins a word
        dropped = _gather_bits(~kept & after_blank & HIGHEST)  # each blank after a blank
        if dropped == N0:
            words = _begin_words(begun, U32(at - begin), starts, words)
            before = U8(eight >> U64(56))
            start += N8
            at += N8
            continue
        # What follows the first of them is written anew, over it.
        begun &= (dropped & (~dropped + N1)) - N1
        words = _begin_words(begun, U32(at - begin), starts, words)
        size, before = U64(PLACES[dropped] & U32(0xFF)), BLANK
        start += size + N1
        at += size
    stop = min(end, start + N8)
    while start < stop and text[start] < ASCII:
        byte, size = lower[text[start]], N1
        if byte | SIGN == PLUS:
            size = _measure_sign(text, start, end, before, tables)
            if size == N0:
                return start, at, words, LEFT
            if size == N2:
                at, words, before = _put(byte, out, at, before, starts, words, begin)
            elif size > N2:
                byte, size = BLANK, N1
        at, words, before = _put(byte, out, at, before, starts, words, begin)
        start += size
    return start, at, words, before


@inner
def _measure_sign(text, start, end, before, tables):
    """Count the bytes of a sign that stays, 3 if it is a blank, 0 if that depends on what follows.

    Behind a letter "++" stays, and a single "+" or "#" at the end of a word.
    """
    if before < U8(97) or (before > U8(122) and before < ASCII):
        return N3
    if start + N1 == end:
        return N1
    following = text[start + N1]
    if following < ASCII:
        if following == PLUS and text[start] == PLUS:
            return N2
        byte = tables.lower[following]
        return N1 if byte == BLANK or byte == U8(45) else N3
    code, _ = decode(text, start + N1)
    becomes = np.int64(tables.becomes[code])
    return N1 if becomes == SPACE or becomes <= UNSPACED else N0


@inner
def _mark_signs(eight):
    """Set the highest bit of each of eight bytes of ASCII that is "+" or "#"."""
    others = (eight | EACH * U64(SIGN)) ^ EACH * U64(PLUS)
    return ~(others + EACH * U64(127)) & HIGHEST


@inner
def _begin_words(begun, at, starts, words):
    """Note where words begin, at most four of them, and return their number then."""
    places = PLACES[begun]
    for number in range(4):
        starts[words + U64(number)] = at + ((places >> U32(8 * number)) & U32(0xFF))
    return words + U64(COUNTS[begun])


@inner
def _gather_bits(highest):
    """Gather the highest bits of eight bytes in a byte, that of the first byte lowest."""
    return (highest >> U64(7)) * U64(0x0102040810204080) >> U64(56)


@inner
def _mark_kept(eight):
    """Set the highest bit of each of eight bytes of ASCII that is a letter, a digit or "-".

    Added to a byte, 128 - n sets its highest bit from n on.
    """
    letters = eight | EACH * U64(0x20)
    are_letters = (letters + EACH * U64(128 - 97)) & ~(letters + EACH * U64(128 - 123))
    are_digits = (eight + EACH * U64(128 - 48)) & ~(eight + EACH * U64(128 - 58))
    are_hyphens = (eight + EACH * U64(128 - 45)) & ~(eight + EACH * U64(128 - 46))
    return (are_letters | are_digits | are_hyphens) & HIGHEST


@inner
def _replace_ascii(eight, kept):
    """Put eight bytes of ASCII in lower case, with a blank in place of each that is not kept."""
    are_upper = (eight + EACH * U64(128 - 65)) & ~(eight + EACH * U64(128 - 91)) & HIGHEST
    mask = (kept >> U64(7)) * U64(0xFF)
    return ((eight | are_upper >> N2) & mask) | (EACH * U64(BLANK) & ~mask)


@inner
def _put(byte, out, at, before, starts, words, begin):
    """Write a byte: a blank after a blank is overwritten by what comes next."""
    out[at] = byte
    starts[words] = U32(at - begin)
    blank, was_blank = byte == BLANK, before == BLANK
    words += U64(was_blank and not blank)
    at += U64(not (blank and was_blank))
    return at, words, byte


@inner
def _put_rare(code, becomes, tables, out, at, before, starts, words, begin):
    """Write what a code point becomes: a sequence, a blank, or itself in UTF-8 (RFC 3629)."""
    if becomes > 0:
        first, stop = tables.bounds[becomes - 1], tables.bounds[becomes]
        while first < stop:
            byte = tables.sequences[first]
            at, words, before = _put(byte, out, at, before, starts, words, begin)
            first += N1
    elif becomes == SPACE:
        at, words, before = _put(BLANK, out, at, before, starts, words, begin)
    else:
        size = N2 if code < U64(0x800) else N3 if code < U64(0x10000) else N4
        shift = N6 * (size - N1)
        byte = U8((U64(0xF00) >> size) & U64(0xFF)) | U8(code >> shift)
        at, words, before = _put(byte, out, at, before, starts, words, begin)
        while shift:
            shift -= N6
            byte = U8(0x80) | U8((code >> shift) & U64(0x3F))
            at, words, before = _put(byte, out, at, before, starts, words, begin)
    return at, words, before


@inner
def decode(text, at):
    """Decode the code point of several bytes of UTF-8, and their number (RFC 3629)."""
    byte, second = U64(text[at]), U64(text[at + N1]) & LOW
    if byte < U64(0xE0):
        return (byte & U64(0x1F)) << N6 | second, N2
    third = U64(text[at + N2]) & LOW
    if byte < U64(0xF0):
        return (byte & U64(0x0F)) << U64(12) | second << N6 | third, N3
    fourth = U64(text[at + N3]) & LOW
    return (byte & U64(0x07)) << U64(18) | second << U64(12) | third << N6 | fourth, N4


@inner
def find_characters(out, begin, end, starts):
    """Find where the characters of a normal form start, and count them."""
    count, at = N0, begin
    while at < end:
        starts[count] = U32(at - begin)
        count += U64((out[at] & U8(0xC0)) != U8(0x80))
        at += N1
    return count


@inner
def load(text, at):
    """Load four bytes as a number, the first byte lowest."""
    low = U32(text[at]) | (U32(text[at + N1]) << U32(8))
    return low | (U32(text[at + N2]) << U32(16)) | (U32(text[at + N3]) << U32(24))


@inner
def load_eight(data, at):
    """Load eight bytes as a number, the first byte lowest."""
    return U64(load(data, at)) | U64(load(data, at + N4)) << U64(32)
