"""Documents before they are written down, and the ways in which copies of them differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

_CITIES = (
    "Amsterdam Athens Barcelona Belgrade Berlin Bern Bilbao Bremen Brussels Bucharest Budapest"
    " Calgary Cologne Copenhagen Dresden Dublin Edinburgh Geneva Genoa Glasgow Hamburg Helsinki"
    " Istanbul Kyoto Leeds Leipzig Lisbon London Lyon Madrid Malaga Manchester Marseille Milan"
    " Montreal Munich Naples Nice Oslo Ottawa Palermo Paris Porto Prague Riga Rome Rotterdam"
    " Salzburg Seville Sofia Stockholm Tallinn Toronto Toulouse Turin Valencia Vienna Vilnius"
    " Warsaw Zurich"
)
_MONTHS = "January February March April May June July August September October November December"
CITIES, MONTHS = tuple(_CITIES.split(" ")), tuple(_MONTHS.split(" "))


@dataclass(frozen=True, slots=True)
class Draft:
    """A document before it is written down."""

    title: str
    reference: str
    city: str
    sentences: tuple[str, ...]

    def text(self) -> str:
        """The document as one line."""
        return f"{self.title}. {self.reference}, {self.city}. {' '.join(self.sentences)}"


def title_of(sentence: str) -> str:
    """A title from the beginning of a sentence."""
    return " ".join(sentence.split()[:5]).title()


def reference_of(number: int) -> str:
    """A reference number and a date, from a number of eight digits."""
    day, month, year = number % 28 + 1, MONTHS[number % 12], 1990 + number % 35
    return f"Reference {number + 10_000_000}, {day} {month} {year}"


# Only rng.random() is promised to stay the same from one version of Python to the next.
def pick(items: Sequence[str], rng: random.Random) -> str:
    """One of the items."""
    return items[int(rng.random() * len(items))]


def some(count: int, source: Sequence[str], rng: random.Random) -> tuple[str, ...]:
    """So many sentences."""
    return tuple(pick(source, rng) for _ in range(count))


def _numbers(draft: Draft, source: Sequence[str], rng: random.Random) -> Draft:
    return replace(draft, reference=reference_of(int(rng.random() * 90_000_000)))


def _city(draft: Draft, source: Sequence[str], rng: random.Random) -> Draft:
    return replace(draft, city=pick(CITIES, rng))


def _retitled(draft: Draft, source: Sequence[str], rng: random.Random) -> Draft:
    return replace(draft, title=title_of(pick(source, rng)))


def _dropped(draft: Draft, source: Sequence[str], rng: random.Random) -> Draft:
    kept = list(draft.sentences)
    for _ in range(min(1 + int(rng.random() * 3), len(kept) - 1)):
        del kept[int(rng.random() * len(kept))]
    return replace(draft, sentences=tuple(kept))


def _added(draft: Draft, source: Sequence[str], rng: random.Random) -> Draft:
    more = list(draft.sentences)
    for _ in range(1 + int(rng.random() * 3)):
        more.insert(int(rng.random() * len(more)), pick(source, rng))
    return replace(draft, sentences=tuple(more))


def _moved(draft: Draft, source: Sequence[str], rng: random.Random) -> Draft:
    order = list(draft.sentences)
    for _ in range(1 + int(rng.random() * 3)):
        taken = order.pop(int(rng.random() * len(order)))
        order.insert(int(rng.random() * len(order)), taken)
    return replace(draft, sentences=tuple(order))


def _headed(draft: Draft, source: Sequence[str], rng: random.Random) -> Draft:
    return replace(draft, sentences=(*some(2, source, rng), *draft.sentences))


def _footed(draft: Draft, source: Sequence[str], rng: random.Random) -> Draft:
    return replace(draft, sentences=(*draft.sentences, *some(2, source, rng)))


def _reworded(draft: Draft, source: Sequence[str], rng: random.Random) -> Draft:
    """Replace 1 to 15 % of the words by words from elsewhere."""
    share = 0.01 + 0.14 * rng.random()
    return replace(
        draft,
        sentences=tuple(
            " ".join(
                pick(pick(source, rng).split(), rng) if rng.random() < share else word
                for word in one.split()
            )
            for one in draft.sentences
        ),
    )


EDITS: dict[str, Callable[[Draft, Sequence[str], random.Random], Draft]] = {
    "numbers": _numbers,
    "city": _city,
    "title": _retitled,
    "dropped": _dropped,
    "added": _added,
    "moved": _moved,
    "head": _headed,
    "foot": _footed,
    "words": _reworded,
}
