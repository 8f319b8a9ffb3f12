"""The guard: what may be no copies is asked about before it is removed, whatever is kept."""

import random
import re
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from tests.command import neardup

RULES = ("first", "longest", "shortest", "oldest:day")
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu we xa yo zi".split()  # noqa: SIM905
YOGA = (
    "Reminder: the {} class on {} in the harbour hall starts at ten, please bring a towel, a bottle"
    " of water and your member card, and tell us a day before if you cannot come"
)
CHESS = (
    "Reminder: the {} meeting on {} in the harbour hall starts at ten, please bring a chair, a cup"
    " of coffee and your member card, and tell us a week before if you cannot come"
)
FRAME = (
    "Notice of the harbour office: {} Questions are answered at the desk in the main hall between"
    " nine and noon, and please bring your papers"
)
KINDS = (
    "the berth {} is closed until {}.",
    "the crane {} is moved to the north pier on {}.",
    "the ferry {} does not sail on {} because of the storm.",
    "the store {} will be sold to the highest bidder on {}.",
)

KINDS_OF_BOATS = ("rowing", "sailing", "fishing", "racing", "river", "canal")


def words(rng: random.Random, count: int) -> str:
    """Words of an invented language."""
    return " ".join("".join(rng.choices(SYLLABLES, k=3)) for _ in range(count))


def edited(rng: random.Random, text: str, rate: float = 0.06) -> str:
    """A text of which some words are dropped or replaced."""
    kept = (
        each if rng.random() > rate else rng.choice(["", words(rng, 1)]) for each in text.split()
    )
    return " ".join(filter(None, kept))


def reminders(rng: random.Random) -> list[str]:
    """Thirteen reminders of two kinds."""
    sports = "yoga boxing judo dance rowing karate tennis pilates".split()  # noqa: SIM905
    clubs = "chess garden book film choir".split()  # noqa: SIM905
    return [YOGA.format(each, rng.choice(DAYS)) for each in sports] + [
        CHESS.format(each, rng.choice(DAYS)) for each in clubs
    ]


def notices(rng: random.Random) -> list[str]:
    """Notices of four kinds, in one frame."""
    names = [words(rng, 1) for _ in range(40)]
    return [
        FRAME.format(kind.format(name, rng.choice(DAYS)))
        for at, kind in enumerate(KINDS)
        for name in names[10 * at : 10 * at + 4 + 2 * at]
    ]


def among(texts: list[str], rng: random.Random, *, pairs: int = 40) -> list[str]:
    """Texts among pairs of copies."""
    copies = [words(rng, 50) for _ in range(pairs)]
    return [*texts, *copies, *(edited(rng, text) for text in copies)]


def digest(rng: random.Random) -> list[str]:
    """Twelve texts, and one that quotes all of them."""
    texts = [words(rng, 30) for _ in range(12)]
    return [" ".join(texts), *texts]


def quotes(rng: random.Random) -> list[str]:
    """Texts each of which quotes two others, so that it is near to both."""
    texts = [words(rng, 40) for _ in range(12)]
    return texts + [f"{one} {other}" for one, other in zip(texts[::2], texts[1::2], strict=True)]


def chain(rng: random.Random) -> list[str]:
    """Texts each of which has most sentences of the one before, and one of its own."""
    sentences = [words(rng, 10) for _ in range(20)]
    return [" ".join(sentences[at : at + 6]) for at in range(14)]


def duplicates(texts: list[str], **how: Any) -> Any:
    """The result of texts, with a day for each."""
    rows = [{"id": f"{at}", "text": text, "day": at * 7919 % 1000} for at, text in enumerate(texts)]
    return nd.duplicates(rows, keep="day", **how)


@pytest.mark.parametrize("canonical", RULES)
@pytest.mark.parametrize(
    ("make", "how"),
    [
        (reminders, {}),
        (notices, {"measure": "words"}),
        (digest, {"measure": "containment", "min_similarity": 0.8}),
        (quotes, {"measure": "words"}),
        (chain, {"measure": "words"}),
        (chain, {"measure": "jaccard"}),
    ],
)
def test_what_is_no_copy_is_asked_about(make: Any, how: dict[str, Any], canonical: str) -> None:
    """Templates of several kinds, digests and chains, alone and among copies, for each rule."""
    for texts in (make(random.Random(1)), among(make(random.Random(1)), random.Random(2))):
        found = duplicates(texts, canonical=canonical, **how)
        assert len(found.removed) > 5
        assert found.doubt


@pytest.mark.parametrize("measure", ["auto", "words", "jaccard", "containment", "estimate"])
@pytest.mark.parametrize("canonical", RULES)
def test_copies_are_not_asked_about(measure: str, canonical: str) -> None:
    """Families of edited copies, small and large, are removed without a question."""
    rng = random.Random(3)
    texts = [words(rng, 60) for _ in range(30)]
    rows = [each for text in texts for each in (text, *(edited(rng, text, 0.04) for _ in range(3)))]
    rows += [edited(rng, texts[0], 0.04) for _ in range(60)]
    found = duplicates(rows, measure=measure, canonical=canonical)
    assert len(found.removed) > 100
    assert found.doubt == ""


@pytest.mark.parametrize("make", [quotes, chain])
def test_the_option_that_is_named_has_been_tried(make: Any) -> None:
    """With it nothing is doubted, and as many documents are removed as the line says."""
    how: dict[str, Any] = {"measure": "words"}
    found = duplicates(make(random.Random(4)), **how)
    option = re.search(r"use `(\w+)` (\S+), which would remove (\S+) of these", found.doubt)
    assert option is not None
    name, value, count = option.groups()
    how[name] = float(value) if name == "min_similarity" else value
    again = duplicates(make(random.Random(4)), **how)
    assert again.doubt == ""
    assert len(again.removed) == (0 if count == "none" else int(count))


@pytest.mark.parametrize("linkage", ["single", "complete"])
def test_a_digest_is_asked_about_by_each_linkage(linkage: str) -> None:
    """It is near to all that it quotes, which complete linkage and another source do not change."""
    *texts, whole = reversed(digest(random.Random(1)))
    how: dict[str, Any] = {"measure": "containment"}
    found = duplicates([*texts, whole], linkage=linkage, canonical="longest", **how)
    assert len(found.removed) == 12
    assert "12 of 12 removed documents are linked only by another" in found.doubt
    assert "look at them in a page" in found.doubt
    rows = [{"id": f"{at}", "text": text} for at, text in enumerate(texts)]
    across = nd.duplicates(rows, against=[{"id": "d", "text": whole}], **how)
    assert len(across.removed) == 12
    assert across.doubt


def test_what_is_left_out_raises_no_other_doubt() -> None:
    """What many have in common is much of these texts: others are near without it."""
    rng = random.Random(1)
    known = [words(rng, 1) for _ in range(64)]
    texts = list[str]()
    for _ in range(12):
        text = rng.choices(known, k=30)
        texts += [" ".join(text), " ".join([*text[:9], rng.choice(known), *text[10:]])]
    frame = " ".join(rng.choices(known, k=22))
    texts += [f"notice {gate} gate {frame}" for gate in ("north", "south", "east", "west", "main")]
    texts += [f"notice garden gate {frame}"]
    option = re.search(r"use `(\w+)` (\S+)", nd.duplicates(texts).doubt)
    assert option is not None
    name, value = option.groups()
    how: dict[str, Any] = {name: True if name == "without_common" else float(value.strip(",;"))}
    assert nd.duplicates(texts, **how).doubt == ""


def test_no_option_is_named_that_another_refuses(tmp_path: Path) -> None:
    """What is remembered cannot be combined with `without_common`."""
    rng = random.Random(2)
    frame = words(rng, 20)
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(f'{{"id": {at}, "text": "{words(rng, 3)} {frame} {words(rng, 3)}"}}\n'
                for at in range(14))
    )  # fmt: skip
    assert "`without_common`" in nd.duplicates(path, measure="words").doubt
    found = nd.duplicates(path, measure="words", remember=tmp_path / "known")
    assert found.doubt
    assert "`without_common`" not in found.doubt


def test_no_option_is_named_that_removes_templates() -> None:
    """Complete linkage only parts the reminders otherwise, so that a look at them is advised."""
    found = duplicates(reminders(random.Random(1)))
    complete = duplicates(reminders(random.Random(1)), linkage="complete")
    assert len(complete.removed) > 3
    assert "`linkage`" not in found.doubt
    assert "look at them in a page" in found.doubt


def test_small_clusters_of_one_template_are_doubted() -> None:
    """Four clusters of two or three, whose texts differ between the same words."""
    rng = random.Random(5)
    form = "For sale: {} boat {} with new sails and an old engine, painted {} last spring, at {}"
    boats = [(kind, words(rng, 3), words(rng, 3)) for kind in KINDS_OF_BOATS]
    texts = [
        form.format(kind, name, colour, place)
        for kind, name, place in boats
        for colour in ("blue", "red", "green")
    ]
    found = duplicates(among(texts, rng), measure="words", min_similarity=0.9)
    assert len(found.removed) > 12
    assert found.doubt


SWAPS = [
    (("first class", "second class"),),
    (("black", "white"), ("men", "women")),
    (("甲方", "乙方"),),
    (("mit Frühstück", "ohne Frühstück"), ("3 Zimmer", "4 Zimmer")),
    (("για ενήλικες", "για παιδιά"),),
]


@pytest.mark.parametrize("swaps", SWAPS)
def test_pairs_that_differ_in_the_same_words_are_doubted(swaps: Any) -> None:
    """Offers have words of their own, but each comes for both of two kinds."""
    rng = random.Random(7)
    texts = []
    for _ in range(8):
        parts = [words(rng, 20) for _ in range(len(swaps) + 1)]
        ends = zip(*swaps, strict=True)
        texts += [" ".join(chain_of(parts, values)) for values in ends]
    found = duplicates(among(texts, rng, pairs=20), measure="words")
    assert len(found.removed) == 28
    assert len(found.templates) == 8
    assert found.doubt


def chain_of(parts: list[str], values: tuple[str, ...]) -> list[str]:
    """Parts of a text with values between them."""
    return [parts[0], *(each for both in zip(values, parts[1:], strict=True) for each in both)]


VALUES = [
    "S M L",
    "red blue green",
    "малый средний большой",
    "klein groß",
    "allegro scherzo finale",
]


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("place", ["{0}, size {1}", "{0}, size {1}, {0}"])
def test_values_in_the_same_place_are_doubted(values: str, place: str) -> None:
    """Each product comes in each of a few values; their texts are long, and have as many copies."""
    rng = random.Random(11)
    products = [words(rng, 18) for _ in range(12)]
    texts = [place.format(text, value) for text in products for value in values.split()]
    found = duplicates(among(texts, rng, pairs=12), measure="words")
    assert len(found.removed) == 12 * len(values.split())
    assert len(found.templates) == 12
    assert found.doubt


MORE = ["(live)", "used", "large print", "nicht", "издание", "Remastered 2011", "Band 2"]


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("form", ["{0} {1}", "{1} {0}"])
def test_texts_with_a_word_more_are_doubted(more: str, form: str) -> None:
    rng = random.Random(5)
    titles = [words(rng, 5) for _ in range(20)]
    texts = [*titles, *(form.format(title, more) for title in titles)]
    result = nd.duplicates([{"id": f"{at}", "text": text} for at, text in enumerate(texts)])
    assert len(result.removed) == 20
    assert result.doubt


def test_records_with_a_word_more_are_doubted_among_copies() -> None:
    rng = random.Random(6)
    records = []
    for at in range(60):
        song = {"title": words(rng, 3), "artist": words(rng, 2), "album": words(rng, 2)}
        letter = rng.choice(song["title"])
        other = {"title": song["title"].replace(letter, "", 1)}
        if at % 2:
            other = {"title": f"{song['title']} (live)", "album": words(rng, 2)}
        records += [song, song | other]
    result = nd.duplicates([{"id": f"{at}", **each} for at, each in enumerate(records)])
    assert not result.removed or result.doubt


def test_words_that_differ_are_shown_whole() -> None:
    """Also if they begin or end with the same letters."""
    rng = random.Random(3)
    motions = [words(rng, 20) for _ in range(12)]
    found = nd.duplicates(
        [
            f"{motion} wurde {verdict}"
            for motion in motions
            for verdict in ("angenommen", "abgelehnt")
        ]
    )
    assert "differ in abgelehnt, angenommen" in found.doubt


def test_verdicts_that_differ_in_two_places_are_doubted() -> None:
    """One of the places has few alternatives, the other has many."""
    rng = random.Random(12)
    texts = []
    for at in range(9):
        facts = words(rng, 30)
        ends = (("upheld", "dismissed"), ("guilty", "acquitted"))[at % 2]
        for end, court in zip(ends, rng.sample(DAYS, 2), strict=True):
            texts.append(f"{facts} the court finds {end} on {court}")
    found = duplicates(texts, measure="words")
    assert len(found.removed) == 9
    assert found.doubt


FEW_VALUES = [
    [f"Linen shirt size {size}" for size in "SML"],
    [f"Yoga class in the harbour hall on {day}" for day in DAYS[:4]],
    [f"{name} Novak, Mill Lane, Orla" for name in ("Anna", "Bruno", "Mira")],
    [f"Запись к врачу на {day} утром" for day in ("вторник", "среду", "пятницу")],
    [
        f"History of the {place}, volume {number}"
        for place in ("harbour", "old mill, Part A,")
        for number in ("II", "III")
    ],
    ["Pump 4 of the northern station", "Pump 7 of the northern station"],
]


@pytest.mark.parametrize("texts", FEW_VALUES)
def test_a_few_short_texts_with_other_values_are_doubted(texts: list[str]) -> None:
    """Each of a few texts has another word or number in the same place."""
    found = duplicates(texts)
    assert found.removed
    assert found.doubt


FEW_COPIES = [
    ["Linen shirt with colar", "Linen shirt with collar"],
    ["Anna Berg, 4 Mill Street", "Anna Berg, 4 Mill St", "Berg, Anna, 4 Mill Street"],
    ["Anna Maria Berg, Mill Street", "Anna Berg, Mill Street"],
    ["Data base of old harbours", "Database of old harbours"],
    ["Smith & Sons, bakers, Orla", "Smith and Sons, bakers, Orla"],
    ["The big dog sleeps on the mat", "The large dog sleeps on the mat"],
]


@pytest.mark.parametrize("texts", FEW_COPIES)
def test_a_few_short_copies_are_not_doubted(texts: list[str]) -> None:
    """Slips, short forms, another order and missing words are of copies; a pair alone may be."""
    found = duplicates(texts)
    assert found.removed
    assert found.doubt == ""


@pytest.mark.parametrize("count", [2, 20])
def test_articles_behind_an_agency_are_not_doubted(count: int) -> None:
    rng = random.Random(7)
    articles = [words(rng, 60) for _ in range(count)]
    texts = [*articles, *(f"Reuters {article}" for article in articles)]
    result = nd.duplicates([{"id": f"{at}", "text": text} for at, text in enumerate(texts)])
    assert len(result.removed) == count
    assert not result.doubt


def test_reposts_on_other_days_are_not_doubted() -> None:
    """A day of posting is in the same place again and again, but has many alternatives."""
    rng = random.Random(13)
    texts = [
        f"{text} posted on {day}"
        for text in [words(rng, 40) for _ in range(90)]
        for day in rng.sample(DAYS, 2)
    ]
    found = duplicates(texts, measure="words")
    assert len(found.removed) == 90
    assert found.doubt == ""


REWORDED = [
    [("Street", "St."), ("and", "&"), ("Doctor", "Dr.")],
    [("colour", "color"), ("grey", "gray"), ("travelled", "traveled")],
    [("big", "large"), ("buy", "purchase"), ("often", "again"), ("sea", "ocean"), ("road", "way")],
    [("page 1", "page 2")],
]


@pytest.mark.parametrize("forms", REWORDED)
def test_copies_in_other_words_are_not_doubted(forms: list[tuple[str, str]]) -> None:
    """Short forms, spellings, and a choice of synonyms come again and again in copies, too."""
    rng = random.Random(8)
    texts = []
    for _ in range(24):
        parts = [words(rng, 15) for _ in range(4)]
        chosen = [rng.choice(forms) for _ in range(3)]
        texts += [" ".join(chain_of(parts, values)) for values in zip(*chosen, strict=True)]
    found = duplicates(texts, measure="words")
    assert len(found.removed) == 24
    assert found.templates == ()


@pytest.mark.parametrize("value", ["child", "annex", "2"])
@pytest.mark.parametrize("usual", ["adult", ""])
def test_records_that_a_rare_value_tells_apart_are_asked_about(usual: str, value: str) -> None:
    """Few of many records are equal but for a column in which all others agree."""
    rng = random.Random(9)
    rows = [{"name": words(rng, 2), "town": words(rng, 1), "kind": usual} for _ in range(300)]
    twice = [dict(row) for row in rows[200:220]]
    found = nd.duplicates(numbered(rows + twice))
    assert len(found.removed) == 20
    assert found.doubt == ""  # they are equal in it, too
    rows += [{**row, "kind": value} for row in rows[:7]]
    found = nd.duplicates(numbered(rows + twice[:3]))
    assert len(found.removed) == 10
    assert "7 are equal in what was compared, but not in kind" in found.doubt
    if usual:
        assert found.doubt.endswith("use `same` kind")
        assert len(nd.duplicates(numbered(rows + twice[:3]), same="kind").removed) == 3
    else:  # documents without a value have no pairs then
        assert "`same`" not in found.doubt


def numbered(rows: list[dict[str, str]]) -> list[dict[str, Any]]:
    """Records with ids."""
    return [{"id": at, **row} for at, row in enumerate(rows)]


def test_a_far_document_is_told_with_its_similarity() -> None:
    """It has how many are far, the farthest of them, and its similarity."""
    found = duplicates(chain(random.Random(1)), measure="words")
    assert found.far is not None
    far = [each for each in found.removed.values() if each.similarity < found.min_similarity]
    assert found.far.count == len(far)
    assert found.far.similarity == min(each.similarity for each in far)
    assert f"({found.far.similarity:.2f})" in str(found.far)
    assert found.at(0.95).doubt == ""


def test_answers_keep_far_documents_from_being_doubted(tmp_path: Path) -> None:
    """What people called the same is no doubt, however far it is."""
    rng = random.Random(6)
    texts = among([words(rng, 40), words(rng, 40)], rng)
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": "0", "other_id": "1", "answer": "same"}\n')
    found = duplicates(texts, measure="words", answers=str(answers))
    assert found.removed["1"].similarity < 0.5
    assert found.doubt == ""


NOTATIONS = [
    ("won {0}-1", "won {0}:1"),
    ("à {0}h30", "à {0}:30"),
    ("of {0}x17 cm", "of {0} × 17 cm"),
    ("with {0}k users", "with {0},000 users"),
]


@pytest.mark.parametrize("notations", NOTATIONS)
def test_results_times_and_measures_in_another_notation_are_no_other_numbers(
    notations: tuple[str, str],
) -> None:
    """Pairs of other numbers in the same notations are still asked about."""
    rng = random.Random(1)
    parts = [(words(rng, 20), words(rng, 20), 12 + at) for at in range(10)]
    for step in (0, 1):
        texts = [f"{first} {each.format(number + step * at)} {last}"
                 for first, last, number in parts for at, each in enumerate(notations)]  # fmt: skip
        found = duplicates(texts, measure="words")
        assert len(found.removed) == 10
        assert bool(found.doubt) is bool(step)


def test_links_of_which_one_tells_where_it_was_clicked_are_not_doubted() -> None:
    rng = random.Random(2)
    parts = [(words(rng, 20), words(rng, 1)) for _ in range(20)]
    tails = ["", "?utm_source=letter&utm_medium=email"]
    texts = [f"{text} https://example.org/{name}{tail}" for text, name in parts for tail in tails]
    found = duplicates(texts, measure="words")
    assert len(found.removed) == 20
    assert found.doubt == ""


def test_words_that_are_stretched_are_the_same() -> None:
    """A kashida says nothing, and is no symbol."""
    text = "كتاب قديم في مكتبة المدينة عند الجسر الكبير"
    found = duplicates([text, text.replace("كتاب", "كتـــاب")])
    assert len(found.removed) == 1
    assert found.doubt == ""


NEGATED = [
    ("the tenant shall pay", "the tenant shall not pay"),
    ("it can be washed", "it cannot be washed"),
    ("tea with sugar", "tea without sugar"),
    ("es ist erlaubt", "es ist nicht erlaubt"),
    ("se hyväksytään", "sitä ei hyväksytä"),
    ("это разрешается", "это не разрешается"),
    ("यह स्वीकृत है", "यह स्वीकृत नहीं है"),
]


@pytest.mark.parametrize(("said", "denied"), NEGATED)
@pytest.mark.parametrize("count", [1, 3, 20])
def test_negations_are_doubted(said: str, denied: str, count: int) -> None:
    """A single word that turns a long text into its contrary is no edit."""
    rng = random.Random(1)
    parts = [(words(rng, 40), words(rng, 40)) for _ in range(count)]
    texts = [f"{first} {each} {last}" for first, last in parts for each in (said, denied)]
    found = duplicates(texts)
    assert len(found.removed) == count
    assert found.doubt


def test_edits_with_a_negation_among_others_are_not_doubted() -> None:
    """An edited text may have a "no" more, and so may a number."""
    rng = random.Random(2)
    texts = among([], rng)
    first, last = words(rng, 20), words(rng, 20)
    texts += [f"{first} flat 7 {last}", f"{first} flat no. 7 {last}"]
    for before, after in [("can't go", "cannot go"), ("it doesn't", "it does not")] * 5:
        texts += [f"{first} {each} {last}"
                  for first, last in [(words(rng, 20), words(rng, 20))]
                  for each in (before, after)]  # fmt: skip
    found = duplicates(texts)
    assert len(found.removed) == 51
    assert found.doubt == ""


POOLS: list[list[str]] = [
    "March April June July August October December".split(),  # noqa: SIM905
    "kırmızı mavi yeşil siyah beyaz".split(),  # noqa: SIM905
    ["Acme", "Globex", "Initech", "Umbrella", "Hooli"],
]


@pytest.mark.parametrize("values", POOLS)
@pytest.mark.parametrize("each", [2, 3])
def test_values_of_which_any_two_meet_are_doubted(values: list[str], each: int) -> None:
    """Long texts with one of many values, of which no two meet often."""
    rng = random.Random(3)
    parts = [(words(rng, 30), words(rng, 30)) for _ in range(20)]
    texts = [
        f"{first} {value} {last}" for first, last in parts for value in rng.sample(values, each)
    ]
    found = duplicates(texts)
    assert len(found.removed) == 20 * (each - 1)
    assert found.doubt


@pytest.mark.parametrize("pair", [("male", "female"), ("legal", "illegal")])
def test_words_with_others_before_them_are_no_slips(pair: tuple[str, str]) -> None:
    rng = random.Random(4)
    parts = [(words(rng, 30), words(rng, 30)) for _ in range(20)]
    found = duplicates([f"{first} {each} {last}" for first, last in parts for each in pair])
    assert len(found.removed) == 20
    assert found.doubt


def test_what_is_left_of_other_texts_is_doubted(tmp_path: Path) -> None:
    """Without what many have in common, months of ten templates are equal, and no advice."""
    rng = random.Random(5)
    months = "March April June July August October December".split()  # noqa: SIM905
    parts = [(words(rng, 30), words(rng, 30)) for _ in range(10)]
    texts = [f"{first} {month} {last}" for first, last in parts for month in months]
    assert "without_common" not in duplicates(texts).doubt
    found = duplicates(texts, without_common=True)
    assert len(found.removed) == 63
    assert "63 of 63 removed documents are not near" in found.doubt
    assert found.at(0.9).doubt.startswith("Possibly not copies: 63")


def test_little_text_beside_a_frame_is_not_doubted() -> None:
    """Copies of which only a short text is left are copies."""
    rng = random.Random(6)
    frames = [words(rng, 60) for _ in range(3)]
    notes = [words(rng, 6) for _ in range(30)]
    texts = [f"{frames[at % 3]} {note}" for at, note in enumerate(notes) for _ in range(2)]
    found = duplicates(texts, without_common=True)
    assert len(found.removed) == 30
    assert found.doubt == ""


@pytest.mark.parametrize("rule", ["symbols", r"\bnot\b"])
def test_numbers_are_doubted_whatever_else_is_equal(rule: str) -> None:
    frame = words(random.Random(7), 40)
    found = duplicates([f"{frame} {number}" for number in range(5)], measure="words", equal=rule)
    assert len(found.removed) == 4
    assert "`equal` numbers" in found.doubt
    assert not duplicates(
        [f"{frame} {number}" for number in range(5)], measure="words", equal=[rule, "numbers"]
    ).removed


def test_two_rules_may_be_named_at_once(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    frame = words(random.Random(8), 40)
    texts = [f"{frame} x {sign} for {unit} units" for sign, unit in ((">", 1), ("<", 1), (">", 2))]
    source.write_text("\n".join(["id,text", *(f"{at},{text}" for at, text in enumerate(texts))]))
    for rules in (["numbers,symbols"], ["numbers", "--equal", "symbols"]):
        ran = neardup("duplicates", str(source), "--equal", *rules)
        assert "0 near-duplicate pairs" in ran.stderr


def test_a_higher_threshold_keeps_doubts() -> None:
    """Of pairs that differ in numbers or in a value, and are as similar as before."""
    rng = random.Random(8)
    frame = words(rng, 40)
    numbers = duplicates([f"{frame} {number}" for number in range(5)], measure="words")
    assert numbers.at(0.9).doubt
    parts = [(words(rng, 30), words(rng, 30)) for _ in range(20)]
    sides = duplicates([f"{first} {each} {last}" for first, last in parts for each in DAYS[:2]])
    assert sides.at(0.9).doubt
    assert sides.at(1.0).doubt == ""


def test_the_command_and_the_library_ask(tmp_path: Path) -> None:
    """Neither writes a file of two kinds of reminders unasked, whatever is kept."""
    source, unique = tmp_path / "two.csv", tmp_path / "unique.csv"
    rows = [f'{at},"{text}"' for at, text in enumerate(reminders(random.Random(1)))]
    source.write_text("\n".join(["id,text", *rows]) + "\n")
    for rule in ("first", "longest", "shortest", "oldest"):
        ran = neardup("duplicates", str(source), "--unique", str(unique), "--canonical", rule)
        assert ran.returncode != 0
        assert "13 documents (100 % of all) of 2 kinds" in ran.stderr
        assert "nothing was written; add --yes to remove 12 of 13 documents" in ran.stderr
        with pytest.raises(nd.errors.TemplateError):
            nd.duplicates(source, canonical=rule).write_unique(unique)
        assert not unique.exists()
    assert neardup("duplicates", str(source), "--unique", str(unique), "--yes").returncode == 0
    assert len(unique.read_text().splitlines()) == 2


@pytest.mark.parametrize("text", ["n/a", "TBD", "no description", "无"])
def test_a_text_that_says_nothing_makes_no_copies(text: str) -> None:
    """Unless all texts are as short, as those of a list of words are."""
    rng = random.Random(7)
    words = [
        f"{first}{last}" for first in ("ba", "ko", "mi", "tu") for last in ("ren", "sal", "vo")
    ]
    lines = [text if at < 5 else " ".join(rng.choices(words, k=20)) for at in range(40)]
    result = nd.duplicates([*enumerate(lines)], measure="words")
    assert len(result.removed) == 4
    assert result.doubt
    short = [text if at < 5 else f"{words[at % 12]}{at}" for at in range(40)]
    assert not nd.duplicates([*enumerate(short)], measure="words").doubt
