"""Letters of texts in compiled code: UTF-8 in, folded letters and where they stand out.

The letters of a text are those of its normal form, digits included, without blanks and "-": a word
that is broken at the end of a line has the letters of the word. Of scripts without blanks, each
letter is a word.
"""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled, inner
from neardup_solr.kernel.normal import ASCII, BLANK, N1, SIGN, U8, U64, decode
from neardup_solr.kernel.shingle_hashes import TABLES
from neardup_solr.text.characters import CONTEXT, DROPPED, MARK, SPACE, UNSPACED

U16, U32, N0 = np.uint16, np.uint32, U64(0)
HYPHEN, PLUS = U8(ord("-")), U8(ord("+"))
BEGINS, CODE = U16(1 << 15), U16(0x7FFF)  # the bit of a letter that begins a word, and the others
LEFT = np.int64(-1)  # words of a text whose characters depend on their neighbours


@compiled("uint8[] uint64[]", TABLES, "uint16[] uint32[] int64[] int64[]")
def fold_texts(texts, begins, tables, letters, places, bounds, words):
    """Write the letters of texts, text d being texts[begins[d]:begins[d + 1]].

    Those of text d are letters[bounds[d]:bounds[d + 1]], a code point each, folded to 15 bits, with
    `BEGINS` if a word begins with it; `places` has the character of the text that it came from.
    `words` counts these, -1 for a text that is left to Python and gets no letters.

    Returns the number of texts that were done: the others do not fit in `letters`.
    """
    at, bounds[0] = N0, 0
    for document in range(len(words)):
        first, last = begins[document], begins[document + 1]
        if at + (last - first) > U64(len(letters)):
            return np.int64(document)
        end, count = _fold(texts, first, last, tables, letters, places, at)
        words[document] = count
        if count != LEFT:
            at = end
        bounds[document + 1] = np.int64(at)
    return np.int64(len(words))


@inner
def _fold(text, start, end, tables, letters, places, at):
    """Write the letters of a text, which are at most as many as its bytes, and count its words."""
    place, words, is_first, last_class, room = U32(0), 0, True, U8(0), at + (end - start)
    while start < end:
        byte = text[start]
        if byte < ASCII:
            byte = tables.lower[byte]
            start, last_class = start + N1, U8(0)
            if byte == BLANK:
                is_first = True
            elif byte != HYPHEN and byte | SIGN != PLUS:
                at, words, is_first = _put(
                    U64(byte), letters, places, at, place, words, is_first, False
                )
            place += U32(1)
            continue
        code, size = decode(text, start)
        start += size
        becomes = np.int64(tables.becomes[code])
        own_class = tables.classes[code] if becomes in (MARK, UNSPACED) else U8(0)
        if becomes == CONTEXT or (own_class and own_class < last_class):
            return at, LEFT
        if becomes != DROPPED:
            last_class = own_class
        if becomes == SPACE:
            is_first = True
        elif becomes > 0 or becomes < UNSPACED:
            number = becomes if becomes > 0 else UNSPACED - becomes
            first, stop = tables.bounds[number - 1], tables.bounds[number]
            if at + (stop - first) + (end - start) > room:
                return at, LEFT
            while first < stop:
                code, size = U64(tables.sequences[first]), N1
                if code >= U64(ASCII):
                    code, size = decode(tables.sequences, first)
                first += size
                if code == U64(BLANK):
                    is_first = True
                elif code != U64(HYPHEN):
                    at, words, is_first = _put(
                        code, letters, places, at, place, words, is_first, becomes < 0
                    )
        elif becomes != DROPPED:
            at, words, is_first = _put(
                code, letters, places, at, place, words, is_first,
                becomes == UNSPACED and own_class == U8(0),
            )  # fmt: skip
        place += U32(1)
    return at, np.int64(words)


@inner
def _put(code, letters, places, at, place, words, is_first, is_word):
    """Write a letter, which begins a word if it is the first of one, or a word by itself."""
    is_first = is_first or is_word
    letters[at] = U16(code ^ code >> U64(15)) & CODE | (BEGINS if is_first else U16(0))
    places[at] = place
    return at + N1, words + np.int64(is_first), is_word
