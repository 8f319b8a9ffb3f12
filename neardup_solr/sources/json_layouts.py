"""JSON of another layout than objects, one a line or in an array: the next step for each."""

from __future__ import annotations

from collections.abc import Sequence

from neardup_solr.errors import RecordError

MALFORMED, NO_OBJECT, MORE = "malformed JSON", "not a JSON object", "the text after the array"


def step_for_layout(errors: Sequence[RecordError]) -> str:
    """Choose the next step for records of JSON that are no objects, "" if others are at fault."""
    reasons = [error.reason for error in errors]
    if not errors or not all(each.startswith((MALFORMED, NO_OBJECT, MORE)) for each in reasons):
        return ""
    written = [str(each.record or "").strip() for each in errors]
    first = written[0]
    if reasons[0] == NO_OBJECT:
        return f"give objects, for example with: jq -c '{_query(first, errors)}' FILE > FILE.jsonl"
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
    """Write what jq makes objects of: of lists of an id and a text, or of texts."""
    is_list_a_line = any(error.reason.startswith(MORE) for error in errors)
    if is_list_a_line:
        return "{id: .[0], text: .[1]}"
    each = ".[] | " if ", record " in errors[0].position else ""
    return f"{each}{{id: .[0], text: .[1]}}" if first.startswith("[") else f"{each}{{text: .}}"
