"""HTML that a notebook shows for a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of values; texts of documents have to be escaped by `show_invisibles` before.

    A cell that is a `Markup` stays as it is; all others are escaped.
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def _cell(value: object) -> str:
    if isinstance(value, Markup):
        return value
    return escape(f"{value:,}" if isinstance(value, int) else str(value))
