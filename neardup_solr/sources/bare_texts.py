"""Texts that come without columns: lists and arrays of strings, and Series, whose index has ids."""

from __future__ import annotations

from typing import Any, Final

from neardup_solr.errors import ArgumentError
from neardup_solr.sources.kinds import kind_of

PAIRS: Final = "give pairs of id and text, whose ids stay the same: [(id, text), ...]"


def add_ids(source: Any, id: str | None, text: str, *, may_be_places: bool) -> Any:
    """Return texts with columns of these names, without an id if it is None, else the source.

    The ids are the index of a Series of pandas, or the places from 0 on. Raises ArgumentError if
    these may not be ids, or the index has several levels.
    """
    kind = kind_of(source)
    if kind == "pandas.Series":
        if source.index.nlevels > 1:
            reason = "the index of the Series has several levels, none of which is the id"
            step = f"give series.reset_index(name={text!r}), and name the column with `id`"
            raise ArgumentError(reason, step, code="argument-type")
        if type(source.index).__name__ == "RangeIndex":
            _refuse_places("a Series with the index 0, 1, 2 ...", may_be_places)
        return source.to_frame(text).rename_axis(id)
    if kind == "polars.Series":
        _refuse_places("a Series of polars", may_be_places)
        frame = source.to_frame(text)
        return frame if id is None else frame.with_row_index(id)
    texts = source.tolist() if getattr(source, "ndim", 0) == 1 else source
    are_texts = isinstance(texts, list | tuple) and any(isinstance(each, str) for each in texts[:1])
    if not are_texts or not all(each is None or isinstance(each, str) for each in texts):
        return source
    _refuse_places("a list of texts", may_be_places)
    return list(enumerate(texts))


def _refuse_places(what: str, may_be_places: bool) -> None:
    """Refuse places as ids where those of the next list would replace the same documents."""
    if not may_be_places:
        raise ArgumentError(f"{what} has no ids", PAIRS, code="argument-type")
