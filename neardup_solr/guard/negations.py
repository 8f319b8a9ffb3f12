"""Words that turn what a text says into its contrary, such as "not" and "without".

They are among the shortest words of a text, so that no measure of whole texts tells it from one
that lacks them. Those that are other words as well are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rapidfuzz import fuzz

from neardup_solr.guard import ALIKE

# As words of a normal form, in many languages; "t" is that of "don't".
_WORDS = """
not no never without cannot neither nor t dont doesnt didnt isnt arent wasnt werent cant
wont hasnt hadnt wouldnt shouldnt nicht kein keine keinen keinem keiner keines ohne nie
niemals pas jamais sans aucun aucune nunca sin ningún ninguna non mai senza nessun nessuna
não nem sem nenhum nenhuma niet geen nooit zonder inte ej aldrig utan ikke ikkje aldri
uten uden ingen ei emme ette eivät eikä ilman bez nigdy není nejsou nincs nélkül fără ne
не нет ни без нельзя никогда нема δεν μην όχι χωρίς değil yok hay\u0131r لا لم لن ليس ليست
غير بدون دون לא אין בלי ללא نه नहीं न मत बिना না নয় இல்லை không chưa tidak bukan tanpa
jangan belum huwag 안 못 없음
"""
_NEGATIONS = frozenset(_WORDS.split())


def differ_in_negations(gaps: Iterable[tuple[Sequence[str], Sequence[str], str]]) -> bool:
    """Return True if one text has more negations than another, and is the same otherwise.

    Of the words in which they differ, with each come those of the other text, and the word behind.
    Words beside a negation may be alike, as "with" and "without" are, or "can" and "cannot".
    """
    differ = False
    for words, others, behind in gaps:
        parts = [[*filter(_NEGATIONS.__contains__, side)] for side in (words, others)]
        rests = [" ".join(word for word in side if len(word) > 1 and word not in _NEGATIONS)
                 for side in (words, others)]  # fmt: skip
        if len(parts[0]) == len(parts[1]) or any(
            word == "no" and any(map(str.isdigit, after))  # No. 7
            for side in (words, others)
            for word, after in pairwise([*side, behind])
        ):
            return False
        short, long = sorted((" ".join(words), " ".join(others)), key=len)
        are_forms = short and (long.startswith(short) or fuzz.ratio(short, long) >= ALIKE)
        if rests[0] != rests[1] and not are_forms:
            return False
        differ = True
    return differ
