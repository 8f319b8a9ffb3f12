"""The column of a source that says when a record was changed, by its name or as the only date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from neardup_solr.errors import DataError
from neardup_solr.measures.moments import read_moments
from neardup_solr.regex import regex
from neardup_solr.sources.column import show_names
from neardup_solr.sources.reader import SourceReader
from neardup_solr.sources.values import plain

LOOKED_AT: Final = 500  # rows
HALF: Final = 0.5  # of the values of a column of dates, at least
# Names of a change, of any entry, and of what happened outside of the list, in several languages.
_CHANGE: Final = regex(
    r"updat|modif|(?<![^\W\d_])(?:last_?)?chang|edited|revis|amend|(?:ä|ae|æ)ndr?er|ändr|aktuali"
    r"|bijgewerkt|gewijzigd|(?<![^\W\d_])maj(?![^\W\d_])|mise?[ _]à[ _]jour|actualiz|aggiorna"
    r"|atualiz|zaktual|op[dp]atere|güncelle|измен|обновл|ενημ|更新|修改|変更|수정|갱신|تحديث|تعديل|עודכן"
)
_ENTRY: Final = regex(
    r"date|datum|data|fecha|dato|tarih|дата|日期|日付|날짜|(?:time)?stamp|zeitstempel|stand|as_?of"
)
_LIFE: Final = regex(
    r"birth|born|(?<![^\W\d_])dob(?![^\W\d_])|geb|geburt|naiss|nacim|nascit|nascim|rođ|urod|рожд"
    r"|出生|生年|誕生|death|died|(?<![^\W\d_])dod(?![^\W\d_])|gestorben|expir|valid|due"
)


def find_change_column(source: SourceReader) -> str:
    """Find the column with the date of the last change: by its name, or as the only date.

    A notice says which it is. Raises DataError if there is none, or one of several.
    """
    rows = source.rows(LOOKED_AT) if source.column_names() else []  # what is read once is not
    names = dict.fromkeys(name for row in rows for name in row if isinstance(name, str))
    column = choose_change_column({name: [row.get(name) for row in rows] for name in names})
    source.on_notice(f"{source.label}: the newest record is told by the column {column!r}")
    return column


def choose_change_column(columns: Mapping[str, Sequence[Any]]) -> str:
    """Choose the column with the date of the last change by names and values.

    Raises DataError if there is none, or one of several.
    """
    dated = [name for name, values in columns.items() if _has_dates(values)]
    changes = [name for name in dated if _CHANGE.search(name.casefold())]
    entries = [name for name in dated if _ENTRY.fullmatch(name.casefold().strip())]
    others = [name for name in dated if not _LIFE.search(name.casefold())]
    fitting = changes or entries or others
    if len(fitting) == 1:
        return fitting[0]
    reason = "newest needs a column with the date of the last change, and there is none"
    if fitting:
        reason = f"newest could go by several columns of dates: {show_names(fitting)}"
    step = f"name it, as in newest:{(fitting or ['updated'])[0]}"
    raise DataError(reason, step, code="column-missing")


def _has_dates(values: Sequence[Any]) -> bool:
    """Tell whether most of the values are dates, and not numbers alone that could be years."""
    filled = [value for value in map(plain, values) if value not in (None, "", [])]
    are_numbers = all(isinstance(value, int | float) and value < 10**9 for value in filled)
    read = len(filled) - read_moments(filled).count(None)
    return bool(filled) and not are_numbers and read >= HALF * len(filled)
