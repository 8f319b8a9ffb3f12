"""JSON of another layout than objects, one a line or in an array: the next step for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import orjson

from neardup_solr.errors import RecordError
from neardup_solr.regex import regex

MALFORMED, NO_OBJECT, MORE = "malformed JSON", "not a JSON object", "the text after the array"

_NAME: Final = regex(r"[^\W\d]+(?:[ _.-][^\W\d]+){0,2}")  # of a column, without digits


def step_for_layout(errors: Sequence[RecordError]) -> str:
    """Choose the next step for records of JSON that are no objects, "" if others are at fault."""
    reasons = [error.reason for error in errors]
    if not errors or not all(each.startswith((MALFORMED, NO_OBJECT, MORE)) for each in reasons):
        return ""
    written = [str(each.record or "").strip() for each in errors]
    first = written[0]
    if reasons[0] == NO_OBJECT:
        return f"give objects, for example with: jq {_query(first, errors)} FILE > FILE.jsonl"
    if first.startswith("{'"):
        return "write its records with json.dumps, as JSON has double quotes"
    if first.startswith("{") and "}{" in first.replace(" ", ""):
        return "write an object per line, for example with: jq -c . FILE > FILE.jsonl"
    if first.startswith("{") and first.endswith("},"):
        return "write an object per line without a comma behind it, or all of them within [ and ]"
    if not first.startswith(("{", "[", '"')):
        return "set `source_format` to csv if it is a table, to lines if its lines are texts"
    return ""


def _query(first: str, errors: Sequence[RecordError]) -> str:
    """Write how jq makes objects of lists, whose first one may have the names, or of texts."""
    is_array = ", record " in errors[0].position
    if _are_names([str(error.record) for error in errors[:2]]):
        each = "[$names, .] | transpose | map({(.[0]): .[1]}) | add"
        if is_array:
            return f"-c '.[0] as $names | .[1:][] | {each}'"
        return f"-cn 'input as $names | inputs | {each}'"
    is_list_a_line = any(error.reason.startswith(MORE) for error in errors)
    each = ".[] | " if is_array and not is_list_a_line else ""
    is_list = is_list_a_line or first.startswith("[")
    return f"-c '{each}{{id: .[0], text: .[1]}}'" if is_list else f"-c '{each}{{text: .}}'"


def _are_names(written: Sequence[str]) -> bool:
    """Tell whether the first of two lists has names of columns, and the second one values."""
    try:
        names, values = map(orjson.loads, written)
        are_lists = isinstance(names, list) and len(names) == len(values) == len({*names})
    except (ValueError, TypeError):
        return False
    if not are_lists or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        return False
    return not all(isinstance(value, str) and _NAME.fullmatch(value) for value in values)
