"""`nd.passages`: what documents share, to the character, and what they are to each other."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from tests.command import neardup

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
# Letters of scripts with blanks and without, with marks, precomposed, wide, right-to-left.
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz", "àéîõüçñøßłžđ", "абвгдежзийклмнопрст", "αβγδεζηθικλμνξ",
    "אבגדהוזחטיכלמנסעפצ", "ابتثجحخدذرزسشصضطظ", "漢字仮名交文章書類検索重複", "กขคงจฉชซญดตถทธ",
    "한국어글자모음받침있는", "ａｂｃｄｅｆｇｈ",
)  # fmt: skip


def make_words(count: int, seed: int, alphabet: str = ALPHABETS[0]) -> list[str]:
    """Words that no other seed makes."""
    draw = random.Random(seed)
    return ["".join(draw.choices(alphabet, k=draw.randint(2, 9))) for _ in range(count)]


def make_text(count: int, seed: int, alphabet: str = ALPHABETS[0]) -> str:
    return " ".join(make_words(count, seed, alphabet))


def letters(text: str) -> str:
    """The letters and digits of a text, however they are composed: an oracle of the normal form."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(each for each in folded if unicodedata.category(each)[0] in "LMN")


def number(texts: Sequence[str]) -> list[tuple[str, str]]:
    return [(str(at), text) for at, text in enumerate(texts)]


def find(texts: Sequence[str]) -> list[nd.types.Passage]:
    return list(nd.passages(number(texts)))


def misread(text: str, share: float, seed: int) -> str:
    """A text as a scanner reads it: letters replaced, lost and added, words parted and joined."""
    draw = random.Random(seed)
    read = []
    for each in text:
        chance = draw.random()
        if chance < share * 0.6 and each != " ":
            each = draw.choice(ALPHABETS[0])
        elif chance < share * 0.8:
            each = ""
        elif chance < share:
            each += draw.choice([" ", "-\n", "i"])
        read.append(each)
    return "".join(read)


@settings(max_examples=60, deadline=None)
@given(
    alphabet=st.sampled_from(ALPHABETS),
    form=st.sampled_from(get_args(Form)),
    gap=st.sampled_from([" ", "  ", "\n", ", ", "\u00ad ", " \u200b", "\t"]),
    seed=st.integers(0, 10**6),
)
def test_offsets_cut_out_what_was_matched(alphabet: str, form: Form, gap: str, seed: int) -> None:
    """In any script and any way to compose it, both sides of a passage have the same letters."""
    words = make_words(60, seed, alphabet)
    first = f"{make_text(30, seed + 1)} {' '.join(words)} {make_text(30, seed + 2)}"
    second = f"{make_text(9, seed + 3)}. {gap.join(words)}. {make_text(40, seed + 4)}"
    second = unicodedata.normalize(form, second).upper()
    (passage,) = find([first, second])
    cut = first[passage.start : passage.end]
    other = second[passage.other_start : passage.other_end]
    assert passage.similarity == 1.0
    assert letters(cut) == letters(other)
    assert letters(" ".join(words)) in letters(cut)
    assert len(cut) <= len(" ".join(words)) + 20


@pytest.mark.parametrize("mark", ["\u0301", "\u0327\u0301", "\u05b8", "\u064e"])
def test_marks_behind_the_last_letter_belong_to_it(mark: str) -> None:
    """A passage does not end between a letter and its marks."""
    words = make_text(40, 1)
    first, second = f"{words}{mark}", f"zzz {words}{mark}, {make_text(30, 2)}"
    (passage,) = find([first, second])
    assert first[passage.start : passage.end] == first
    assert second[passage.other_start : passage.other_end] == first


@pytest.mark.parametrize(
    ("relation", "first", "second"),
    [
        ("copy", make_text(200, 1), make_text(200, 1)),
        ("edited", make_text(200, 1), misread(make_text(200, 1), 0.05, 2)),
        ("part of", " ".join(make_words(200, 1)[60:140]), make_text(200, 1)),
        ("contains", make_text(200, 1), misread(" ".join(make_words(200, 1)[60:140]), 0.05, 2)),
        (
            "quotes",
            f"{make_text(90, 2)} “{' '.join(make_words(200, 1)[50:90])}” {make_text(90, 3)}",
            make_text(200, 1),
        ),
        (
            "quoted in",
            make_text(200, 1),
            f"{make_text(90, 2)}: «{' '.join(make_words(200, 1)[50:90])}», {make_text(90, 3)}",
        ),
        (
            "shares",
            f"{make_text(90, 2)} {' '.join(make_words(200, 1)[50:90])} {make_text(90, 3)}",
            make_text(200, 1),
        ),
    ],
)
def test_relations(relation: str, first: str, second: str) -> None:
    """What the first text is to the second."""
    assert {each.relation for each in find([first, second])} == {relation}


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_scanned_texts_are_found(share: float) -> None:
    """Texts of which a scanner misread letters, and excerpts of such."""
    texts = [make_text(150, seed) for seed in range(100)]
    scans = [misread(text, share, seed) for seed, text in enumerate(texts)]
    pairs = {(each.id, each.other_id) for each in find([*texts, *scans])}
    planted = {(str(at), str(at + 100)) for at in range(100)}
    assert len(pairs & planted) >= 97
    assert pairs <= planted


def test_hyphens_at_the_ends_of_lines_are_undone() -> None:
    """A word that is broken at the end of a line is the word."""
    words = [f"{word}{word}" for word in make_words(50, 1)]
    broken = "\n".join(f"{word[:2]}-\n{word[2:]}" for word in words)
    (passage,) = find([" ".join(words), broken])
    assert (passage.similarity, passage.relation) == (1.0, "copy")


def test_a_passage_of_very_many_documents() -> None:
    """All but the first are paired with it, and the pairs are far fewer than all."""
    passage, count = make_text(40, 1), 500
    texts = [f"{make_text(30, seed)} {passage} {make_text(30, -seed)}" for seed in range(count)]
    found = nd.passages(number(texts))
    pairs = {(each.id, each.other_id) for each in found}
    assert {("0", str(at)) for at in range(1, count)} <= pairs
    assert len(pairs) < 3 * count
    assert found.hot


def test_texts_that_repeat_themselves() -> None:
    """A line ten thousand times in two texts is a passage, and none within a text."""
    line = make_text(12, 1)
    repeated = "\n".join([line] * 10_000)
    passages = find([repeated, f"{make_text(50, 2)}\n{repeated}"])
    assert len(passages) < 20
    assert max(each.end - each.start for each in passages) > 0.9 * len(repeated)
    assert not find([f"{make_text(300, 3)} {make_text(300, 3)}", make_text(300, 4)])


def test_long_texts() -> None:
    """A passage of two texts of millions of letters."""
    passage = make_text(100, 1)
    first, second = (make_text(300_000, seed) for seed in (2, 3))
    texts = [f"{first} {passage} {second[:1000]}", f"{second} {passage}"]
    found = find(texts)
    cuts = {texts[0][each.start : each.end] for each in found}
    assert any(passage in cut for cut in cuts)


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["a", "a"], ["...", "..."], ["+ -", "#"]])
def test_texts_without_passages(texts: list[str]) -> None:
    """Texts that are too short, without letters, or none."""
    assert not nd.passages(number(texts))
    assert not len(nd.passages(number(texts)).to_pandas())


def test_two_sides() -> None:
    """With `against`, each pair has a document of either."""
    texts = [make_text(100, seed) for seed in range(4)]
    mixed = [f"{make_text(50, 9)} {text} {make_text(50, 8)}" for text in texts]
    first = [*texts, *texts]
    pairs = {(each.id, each.other_id) for each in nd.passages(number(first), against=number(mixed))}
    assert pairs == {(str(at), str(at % 4)) for at in range(8)}


def test_every_number_of_threads_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread or seven: the same passages in the same order."""
    texts = [make_text(80, seed % 40) + make_text(60, seed) for seed in range(120)]
    results = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("NEARDUP_THREADS", threads)
        results.append(find(texts))
    assert results[0] == results[1] == results[2]
    assert results[0]


def test_the_table_of_a_file(tmp_path: Path) -> None:
    """The command writes what the library returns, also as a sheet, and cut-out texts."""
    source = tmp_path / "articles.csv"
    rows = [make_text(100, 1), f"{make_text(90, 2)} {make_text(100, 1)} {make_text(90, 3)}"]
    source.write_text("id,text\n" + "".join(f'{at},"{row}"\n' for at, row in enumerate(rows)))
    run = neardup("passages", str(source), "-o", str(tmp_path / "passages.jsonl"), "--texts")
    assert run.returncode == 0
    (passage,) = nd.passages(source, texts=True)
    (record,) = nd.read(tmp_path / "passages.jsonl", text="text", keep=["relation", "start", "end"])
    assert record.text == passage.text == rows[0][passage.start : passage.end]
    assert record.kept["relation"] == passage.relation == "part of"
    nd.passages(source).write(tmp_path / "passages.parquet")
    assert pd.read_parquet(tmp_path / "passages.parquet")["words"].tolist() == [passage.words]
    frame = nd.passages(source).to_pandas()
    assert frame["other_end"].tolist() == [passage.other_end]


@pytest.mark.parametrize("words", [0, 4, -1])
def test_too_few_words_are_refused(words: int) -> None:
    """A passage of some words says nothing."""
    with pytest.raises(nd.ArgumentError) as refused:
        nd.passages([("1", "a b c")], min_words=words)
    assert refused.value.code == "argument-out-of-range"


def test_the_columns_that_are_chosen_are_named_as_options(tmp_path: Path) -> None:
    """What the command says can be typed."""
    path = tmp_path / "notes.csv"
    rows = [f"{at},{make_text(20, at)}\n" for at in range(1, 9)]
    path.write_text("id,note\n" + "".join(rows))
    run = neardup("passages", str(path))
    assert run.returncode == 0
    assert "--text-field note" in run.stderr
