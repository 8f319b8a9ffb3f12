"""Values as a table of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def make_html_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Make an HTML table of values. Texts of documents have to be escaped by `show_invisibles`.

    A cell that is a `Markup` stays as it is; all others are escaped.
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{_write_cell(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def _write_cell(value: object) -> str:
    if isinstance(value, Markup):
        return value
    return escape(f"{value:,}" if isinstance(value, int) else str(value))
