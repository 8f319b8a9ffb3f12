# ruff: noqa: E501, RUF001, SIM905  (texts in several languages, as lists of words)
"""Invented sources whose truth is known, of which some are copies and some only look like them.

A source is a list of records with an id, a text or columns, and a number: its `thing`. Records of the same
thing are copies of each other; what is removed for a record of another thing is lost.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

EN = (
    "the of and to in a is that for it as was with be by on not he this are or his from at which"
    " but have an had they you were their one all we can her has there been if more when will would"
    " who so no said what up its about into than them only other new some could time these two may"
    " then do first any my now such like our over man me even most made after also did many before"
    " must through back years where much your way well down should because each just those people"
    " how too little state good very make world still own see men work long get here between both"
    " life being under never day same another know while last might us great old year off come"
    " since against go came right used take three harbour river bridge market council school window"
    " engine winter summer garden letter station doctor farmer captain morning evening mountain"
    " valley village museum library kitchen machine copper silver timber cotton marble lantern"
    " orchard meadow railway factory painter teacher singer baker sailor miller cooper mason weaver"
).split()
DE = (
    "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an"
    " werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum"
    " war haben nur oder aber vor zur bis mehr durch man sein wurde sei Prozent hatte kann gegen"
    " vom können schon wenn habe seine Mark ihre dann unter wir soll ich eines Jahr zwei Jahren"
    " diese dieser wieder keine seiner worden will zwischen immer Millionen was sagte Hafen Brücke"
    " Markt Rat Schule Fenster Winter Sommer Garten Brief Bahnhof Arzt Bauer Kapitän Morgen Abend"
    " Gebirge Tal Dorf Museum Bibliothek Küche Maschine Kupfer Silber Holz Baumwolle Marmor Laterne"
).split()
RU = (
    "и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой от со"
    " для о так мочь все ты человек такой его сказать только или ещё бы себя один как уже до время"
    " если сам когда другой вот говорить наш мой знать стать при чтобы дело жизнь кто первый очень"
    " два день её новый рука даже во раз где там под можно ну какой после их работа без самый потом"
    " надо хотеть ли слово идти большой должен место иметь ничего гавань мост рынок совет школа окно"
    " зима лето сад письмо станция врач капитан утро вечер гора долина деревня музей кухня машина"
).split()
EL = (
    "και το η να του της με που στο για από τα είναι δεν τον την οι σε θα στην μια ένα αυτό έχει"
    " πολύ όπως μας κατά ότι όταν μετά πριν χρόνια ημέρα πόλη λιμάνι γέφυρα αγορά σχολείο παράθυρο"
    " χειμώνας καλοκαίρι κήπος γράμμα σταθμός γιατρός πρωί βράδυ βουνό κοιλάδα χωριό μουσείο κουζίνα"
    " μηχανή χαλκός ασήμι ξύλο βαμβάκι μάρμαρο φανάρι εργοστάσιο ζωγράφος δάσκαλος ναύτης φούρναρης"
).split()
ZH = list(
    "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能"
    "对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心"
    "前面又定见只主没公从港桥市场校窗冬夏园信站医农船晨夜山谷村馆厨机铜银木棉石灯厂画师歌面包海"
)
WORDS = {"en": EN, "de": DE, "ru": RU, "el": EL, "zh": ZH}
NAMES = (
    "Anna Bruno Carla Dmitri Elena Farid Greta Hugo Ines Jonas Katja Luis Mira Nadia Oskar Paula"
    " Quentin Rosa Samir Tilda Ugo Vera Walter Xenia Yusuf Zoe Amara Boris Celine Darya Emil Fatma"
    " Goran Helga Ivan Jana Kofi Lena Marek Nils Olga Pavel Rita Stefan Tania Urs Viola Wanda Yara"
).split()
CITIES = (
    "Orla Senn Varna Lindau Porto Bergen Kotor Split Ghent Lyon Turin Graz Basel Malmo Vigo Nantes"
    " Izmir Sofia Riga Tartu Odense Leeds Cork Dover Ostend Sibiu Brno Pecs Zadar Corfu Faro Evora"
).split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

Row = tuple[Any, int]  # a text, or the columns of a record, and its thing


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Rows of a source, whether they are copies alone, and how they are compared."""

    name: str
    rows: list[Row]
    are_copies: bool
    options: dict[str, object] = field(default_factory=dict)


def prose(rng: random.Random, count: int, language: str = "en") -> str:
    """Make so many words of a language, in sentences; characters of Chinese."""
    words = WORDS[language]
    if language == "zh":
        runs = ["".join(rng.choices(words, k=rng.randint(8, 20))) for _ in range(-(-count // 14))]
        return "，".join(runs) + "。"
    sentences = []
    while count > 0:
        size = min(count, rng.randint(6, 16))
        chosen = rng.choices(words, k=size)
        chosen[0] = chosen[0].capitalize()
        sentences.append(" ".join(chosen) + ".")
        count -= size
    return " ".join(sentences)


def edited(rng: random.Random, text: str, rate: float, language: str = "en") -> str:
    """Drop, replace and add some words, or characters of Chinese."""
    words = WORDS[language]
    between = "" if language == "zh" else " "
    parts = list(text) if language == "zh" else text.split()
    made: list[str] = []
    for part in parts:
        if rng.random() >= rate:
            made.append(part)
            continue
        kind = rng.randrange(3)
        made += [[], [rng.choice(words)], [part, rng.choice(words)]][kind]
    return between.join(made)


def misread(rng: random.Random, text: str, rate: float) -> str:
    """Misread some letters, as a scanner does."""
    confused = {"m": "rn", "l": "1", "e": "c", "o": "0", "h": "b", "i": "l", "u": "n", "s": "5"}
    letters = [confused.get(c, c + c) if c.isalpha() and rng.random() < rate else c for c in text]
    return "".join(letters)


def shuffled(rng: random.Random, rows: list[Row]) -> list[Row]:
    """The rows in another order."""
    rows = list(rows)
    rng.shuffle(rows)
    return rows


def source(
    name: str, rng: random.Random, rows: list[Row], *, are_copies: bool, **options: object
) -> Source:
    """Make a source of rows, which are shuffled."""
    return Source(name=name, rows=shuffled(rng, rows), are_copies=are_copies, options=options)


def filled(rng: random.Random, form: str, count: int, **slots: Callable[[], object]) -> list[str]:
    """Fill a form so many times, each time otherwise."""
    texts: dict[str, None] = {}
    for _ in range(20 * count):
        texts[form.format(**{name: make() for name, make in slots.items()})] = None
        if len(texts) == count:
            break
    return list(texts)


def apart(texts: list[str], first: int = 0) -> list[Row]:
    """Texts that are each a thing of its own."""
    return [(text, first + at) for at, text in enumerate(texts)]


def others(
    rng: random.Random, count: int, first: int, language: str = "en", size: int = 40
) -> list[Row]:
    """Texts without a copy."""
    return apart(
        [prose(rng, rng.randint(size // 2, size * 3 // 2), language) for _ in range(count)], first
    )


def copies(
    rng: random.Random, sizes: list[int], change: Callable[[str], str], make: Callable[[], str],
    first: int = 0,
) -> Iterator[Row]:  # fmt: skip
    """Copies of several texts: of each so many, changed."""
    for thing, size in enumerate(sizes, first):
        text = make()
        yield text, thing
        for _ in range(size - 1):
            yield change(text), thing
