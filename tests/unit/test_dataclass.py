"""Dataclasses behave as those of the standard library, of which type checkers take them."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, FrozenInstanceError, field
from itertools import product
from typing import Any

import numpy as np
import pytest

from neardup_solr import dataclass as module

OPTIONS = ("frozen", "slots", "kw_only", "eq", "repr")
CHOICES = [dict(zip(OPTIONS, each, strict=True)) for each in product((True, False), repeat=5)]


def make(decorator: Callable[..., Any], options: dict[str, bool]) -> Any:
    """Make a class with fields of all kinds."""

    class Example:
        """Has a default, a default that is made, and a field that is not compared or shown."""

        first: int
        _: KW_ONLY
        second: str = "two"
        made: list[int] = field(default_factory=list)
        hidden: int = field(default=3, compare=False, repr=False)
        later: str = field(init=False, default="")
        latest: list[int] = field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            object.__setattr__(self, "later", f"{self.second}!")

    return decorator(**options)(Example)


def outcome(work: Callable[[], object]) -> object:
    """What comes of work: a value, or an error."""
    try:
        return work()
    except Exception as error:
        return type(error), str(error)


def describe(kind: Any) -> list[object]:
    """Values, comparisons, signature and errors of a class."""
    one, same = (kind(first=1, second="b", hidden=hidden) for hidden in (4, 5))
    changed = dataclasses.replace(one, first=2)
    copied = copy.copy(changed)
    return [
        *map(dataclasses.asdict, (one, same, changed, copied, kind(first=1))),
        (one == same, one == changed, copied == changed, one == (1, "b")),
        (kind.__match_args__, hasattr(one, "__dict__"), str(inspect.signature(kind))),
        re.sub("0x.*", "", repr(one)), type(outcome(lambda: hash(one))),
        outcome(lambda: kind(1).first), outcome(kind), outcome(lambda: kind(first=1, none=2)),
        outcome(lambda: setattr(one, "first", 3)), outcome(lambda: delattr(one, "second")),
    ]  # fmt: skip


@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_it_behaves_as_the_standard_library_s(options: dict[str, bool]) -> None:
    """Whatever it is made of."""
    own, usual = (make(each, options) for each in (module.dataclass, dataclasses.dataclass))
    assert describe(own) == describe(usual)


@module.dataclass(frozen=True, slots=True)
class Column:
    """A column alone."""

    values: Any


def test_a_frozen_class_with_slots_is_pickled() -> None:
    """Its values are set although it is frozen."""
    column = pickle.loads(pickle.dumps(Column("ab")))
    assert column == Column("ab")
    assert hash(column) == hash(Column("ab"))
    with pytest.raises(FrozenInstanceError):
        column.values = "b"


def test_a_column_equals_itself() -> None:
    """A single array is compared as a value among others, by identity first."""
    values = np.arange(3)
    assert Column(values) == Column(values)


def test_a_method_of_the_class_stays() -> None:
    """It is not replaced by that of all classes."""

    @module.dataclass()
    class Named:
        name: str

        def __repr__(self) -> str:
            return self.name

    assert repr(Named("some")) == "some"
