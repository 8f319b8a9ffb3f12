"""A text profile: a hash that is equal for texts of about the same frequent words."""

from __future__ import annotations

import hashlib
from collections import Counter

from neardup_solr.text.shingles import TOKEN


def hash_profile(normal: str, *, min_token_len: int = 2, quant_rate: float = 0.01) -> str:
    """Hash the profile of a normalised text to 32 hexadecimal digits, "" if it has no token.

    Tokens longer than `min_token_len` characters are counted; counts are rounded down to a
    multiple of max(2, round(highest · `quant_rate`)), or of 1 if no token repeats; tokens that
    fall to 0 are dropped; the MD5 of "token count" lines, by falling count, is the profile.
    Nutch's and Solr's TextProfileSignature (Apache Nutch, 2005), with two differences: ties
    are in the order of code points, while theirs follow a hash map and change with the words that
    were dropped; and tokens are those of our normal form (NFKC, case folding, marks kept), while
    theirs are runs of Java's letters and digits. So the values differ from Solr's.
    """
    counts = Counter(t for t in TOKEN.findall(normal) if len(t) > min_token_len)
    if not counts:
        return ""
    highest = max(counts.values())
    quant = max(int(highest * quant_rate + 0.5), 2 if highest > 1 else 1)
    rounded = ((count // quant * quant, token) for token, count in counts.items())
    kept = sorted((-count, token) for count, token in rounded if count)
    profile = "\n".join(f"{token} {-count}" for count, token in kept)
    return hashlib.md5(profile.encode(), usedforsecurity=False).hexdigest()
