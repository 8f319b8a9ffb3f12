"""Templates: clusters that share one phrase and differ in the same places of it."""

import random
import re
from dataclasses import replace
from itertools import permutations

import pytest

import neardup_solr as nd
from neardup_solr.guard.template import Template, choose_doubtful, find_template
from neardup_solr.measures.common_runs import find_common

TEXT = (
    "the ferry to the northern island leaves the old pier at nine every morning but on Sundays and"
    " carries forty cars and two hundred guests who may buy warm bread tea and a map of the coast"
    " on the upper deck before the boat turns around the lighthouse and sounds its horn three times"
)
WORDS = TEXT.split()


def template(texts: list[str], share: float = 1.0) -> Template | None:
    """What the texts of one cluster share."""
    return find_template("1", len(texts), share, texts)


def is_doubtful(texts: list[str], share: float = 1.0) -> bool:
    """True if somebody is asked about a cluster of these texts."""
    found = template(texts, share)
    return found is not None and bool(choose_doubtful([found]))


def alerts(count: int) -> list[str]:
    """Alerts of several hosts."""
    rng = random.Random(1)
    return [
        f"disk usage on web-{rng.randrange(40)} is {rng.randrange(70, 100)} percent of the volume"
        for _ in range(count)
    ]


def edited(rate: float, rng: random.Random) -> str:
    """The text with some words dropped, replaced or added, anywhere."""
    words: list[str] = []
    for word in WORDS:
        kind = rng.choice(("drop", "replace", "add")) if rng.random() < rate else "keep"
        words += [word] if kind in ("keep", "add") else []
        words += [rng.choice(WORDS)] if kind in ("replace", "add") else []
    return " ".join(words)


def test_a_template_is_told_with_its_phrase_and_examples() -> None:
    """The phrase has … in its slots, and each slot its first different values."""
    found = template(
        [f"pump {n} of station {name} is at {n}0 bar" for n, name in enumerate("abcdefgh")]
    )
    assert found is not None
    assert found.is_regular
    assert (found.phrase, found.texts) == ("pump … of station … is at … bar", 8)
    assert found.values == (("0", "1", "2"), ("a", "b", "c"))
    assert str(found) == (
        "8 documents (100 % of all) share “pump … of station … is at … bar”,"
        " and differ in 0, 1, 2 and in a, b, c"
    )
    assert str(replace(found, documents=1, share=0.0)) == (
        "1 document shares “pump … of station … is at … bar”, and differs in 0, 1, 2 and in a, b, c"
    )


@pytest.mark.parametrize(
    "texts",
    [
        ["disk web is at 91", "disk mail is at 87", "disk db is at 95"],
        ["no word in common", "other letters here", "quite another text"],
        [" ".join(words) for words in permutations(["red", "green", "blue", "black"])],
    ],
)
def test_no_share_of_the_texts_is_above_all(
    texts: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Of few texts, or of texts that share all words, nothing is left out, and a line says so."""
    nd.duplicates([(str(at), text) for at, text in enumerate(texts)], without_common=True)
    (line,) = (line for line in caplog.messages if "left" in line)
    assert "nothing" in line
    assert all(float(share) <= 100 for share in re.findall(r"(\d+) %", line))


@pytest.mark.parametrize("share", [0.001, 1.0])
def test_templates_are_doubtful_however_many_others_there_are(share: float) -> None:
    """Alerts, sizes of a shirt, letters and pages with one frame are asked about."""
    rng = random.Random(2)
    bodies = [" ".join(rng.sample(WORDS, 20)) for _ in range(12)]
    for texts in (
        alerts(100),
        [f"shirt basic {colour} {size}" for colour in ("blue", "red", "green") for size in "sml"],
        [f"dear {n} your order {n}7 has been sent to {n} street today" for n in bodies[0].split()],
        [f"{' '.join(WORDS)} {body} {' '.join(WORDS)}" for body in bodies],
        [f"{body} {' '.join(WORDS)}" for body in bodies],
    ):
        assert is_doubtful(texts, share), texts[:3]


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("count", [3, 4, 6, 12, 30])
def test_edits_here_and_there_are_no_template(rate: float, count: int) -> None:
    """Near-duplicates that differ in other places each are not asked about."""
    rng = random.Random(count)
    assert not is_doubtful([edited(rate, rng) for _ in range(count)], 0.1)


def test_versions_of_few_texts_are_not_asked_about() -> None:
    """Four of six records may differ in one place only, as one word was corrected again."""
    texts = [" ".join([*WORDS[:20], word, *WORDS[20:]]) for word in ("one", "two", "three", "four")]
    assert template(texts)
    assert not is_doubtful(texts, 4 / 6)


def test_copies_are_no_template() -> None:
    """Sixty copies and some typos are copies, whatever part of all they are."""
    text = " ".join(WORDS)
    assert template([text] * 60 + [text[1:]]) is None
    assert not is_doubtful([text] * 60 + [text.replace(word, "typo") for word in WORDS[-6:]])


def test_a_large_part_of_all_is_doubtful_without_slots() -> None:
    """A cluster of a quarter of the source is asked about, but not a small one."""
    rng = random.Random(3)
    texts = [edited(0.2, rng) for _ in range(30)]
    assert (is_doubtful(texts, 0.3), is_doubtful(texts, 0.1)) == (True, False)
    assert not is_doubtful(texts[:12], 0.3)


def test_many_small_templates_are_doubtful_together() -> None:
    """Three sizes of each product are too few alone, but not if most clusters are such."""
    shirts = [f"shirt basic cotton {size}" for size in "sml"]
    small = find_template("1", 3, 0.001, shirts)
    rng = random.Random(4)
    other = find_template("2", 3, 0.001, [edited(0.1, rng) for _ in range(3)])
    assert small is not None
    assert other is not None
    assert choose_doubtful([small] * 4) == ()
    assert choose_doubtful([small] * 5 + [other] * 5) == (small,) * 5
    assert choose_doubtful([small] * 5 + [other] * 6) == ()


def test_empty_texts_and_long_ones() -> None:
    """Texts without words, and those of which only both ends are looked at."""
    assert template(["", "", ""]) is None
    assert is_doubtful([" ".join([*WORDS * 60, str(n)]) for n in range(9)], 0.1)
    assert not is_doubtful([" ".join([*WORDS * 30, str(n), *WORDS * 30]) for n in range(9)], 0.1)


def test_what_many_texts_share_is_taken_out() -> None:
    """Short texts lose single words, long ones runs of three; what is left stays in order."""
    short = [f"pump {n} of station {name} is hot" for n, name in enumerate("abcdefghij")]
    common = find_common(short)
    assert (common.size, common.strip(short[:2])) == (1, ["0 a", "1 b"])
    rng = random.Random(5)
    bodies = [" ".join(f"w{rng.randrange(10**6)}" for _ in range(40)) for _ in range(20)]
    common = find_common([f"{TEXT} {body} {TEXT}" for body in bodies])
    assert common.size == 3
    assert common.strip([f"{TEXT} {bodies[0]} {TEXT}"]) == [bodies[0]]
    assert find_common(short, 1.0).strip(["pump 3 of hot"]) == ["3"]


def test_a_text_of_which_nothing_is_left_equals_its_copies_alone() -> None:
    """It becomes a word that no other text has, and an empty one stays empty."""
    short = [f"pump {n} of station {name} is hot" for n, name in enumerate("abcdefghij")]
    one, copy, other, empty = find_common(short).strip(
        ["pump is hot", "pump is hot", "pump of station", ""]
    )
    assert one == copy != other
    assert empty == ""


def test_without_templates_little_is_common() -> None:
    """Runs of fewer than five texts stay, and so do all of a few texts."""
    texts = [f"{TEXT} {n}" for n in range(4)]
    assert find_common(texts).strip(texts) == texts
    assert find_common([]).strip(["one two"]) == ["one two"]
