"""The search of a request: its document, its filters, and the limits of what it may ask for."""

from __future__ import annotations

from collections.abc import Mapping

from neardup_solr import errors
from neardup_solr.checks import require, require_choice
from neardup_solr.measures.equality import NUMBERS, SYMBOLS
from neardup_solr.solr.names import ID
from neardup_solr.sources.column import find_key
from neardup_solr.sources.reading import Reading
from neardup_solr.verbs.serve.documents import OF_TEXT, Json, list_missing, read_documents
from neardup_solr.verbs.serve.filters import has_local_params, require_fields, rewrite_filters
from neardup_solr.web.body import FAULT
from neardup_solr.web.failure import Failure

MOST_CANDIDATES = 1_000  # that a search may compare
OF_SEARCH = (
    "text", "id", "by", "candidates", "fq", "same", "equal", "measure", "max_distance",
    "min_similarity",
)  # fmt: skip
IN_QUERY = ("fq", "same")
LOCAL_PARAMS = "local-params"  # filters in all of Solr's syntax, {!...} included


def parse_search(request: Json, reading: Reading) -> tuple[Json, str | None, list[str]]:
    """Return the arguments of a search, the key of its document, and the fields that it lacks.

    What has a text is read as a document, to which a key that it lacks is no matter.
    """
    fault = request.get(FAULT, ("", ""))
    require(not fault[0], "the field {!r} {}".format(*fault), "omit it", code="argument-invalid")
    names = tuple(request)
    key_name = str(find_key(reading.id, names))
    called = {str(find_key(name, names)) for name in (*reading.text, *OF_TEXT)} | {key_name, ID}
    called -= {*OF_SEARCH} - {ID, "text"}
    document = {name: value for name, value in request.items()
                if name in called and value is not None}  # fmt: skip
    search = {name: value for name, value in request.items() if name not in called}
    keys = [name for name in document if name in (key_name, ID)]
    if len(keys) == len(document):
        reason = f"{key_name!r} and 'id' both name the key"
        require(len(keys) < 2, reason, "omit one of them", code="arguments-conflict")
        return search | ({ID: document[keys[0]]} if keys else {}), None, []
    (record,) = read_documents([document if keys else document | {reading.id: "(text)"}], reading)
    if isinstance(record, errors.RecordError):
        raise record
    if keys and isinstance(most := search.get("candidates", MOST_CANDIDATES // 10), int):
        search["candidates"] = most + 1
    search["text"] = record.text
    return search, record.id if keys else None, list_missing(record, reading)


def require_allowed(request: Json, document_id: str | None, rules: tuple[str, ...]) -> None:
    """Refuse what a search of a service may not ask for, by ArgumentError.

    `rules` are those of the service for what has to be equal: a pattern of a client may never end.
    """
    for name in request:
        reason = f"`{name}` is unknown"
        require(name in OF_SEARCH, reason, f"use {', '.join(OF_SEARCH)}", code="argument-unknown")
    equal = request.get("equal", [])
    for rule in equal if isinstance(equal, list) else [equal]:
        require_choice("equal", rule, (NUMBERS, SYMBOLS, *rules))
    most = request.get("candidates", 1)
    is_few = not isinstance(most, int) or most <= MOST_CANDIDATES + (document_id is not None)
    reason = "`candidates` is too large"
    require(is_few, reason, f"give at most {MOST_CANDIDATES:,}", code="argument-out-of-range")


def read_filters(request: Json, named: Mapping[str, str], *, is_free: bool) -> list[str]:
    """Read the filters of a search, and check the names of its `same` fields.

    Raises ArgumentError if the client may not give them, Failure if a right would allow them.
    """
    try:
        filters, same = (list_texts(request.get(name, ()), name) for name in IN_QUERY)
        if is_free:
            return [named.get(each.strip(), each) for each in filters]
        require_fields(same)
        return rewrite_filters(filters, named)
    except errors.ArgumentError as error:
        if is_free or not has_local_params([request.get(name) for name in IN_QUERY]):
            raise
        step = f"omit them, or serve with tokens and send one that grants {LOCAL_PARAMS!r}"
        reason = f"{error.reason}: it has local parameters"
        raise Failure(403, reason, step, code="right-missing") from None


def list_texts(value: object, name: str) -> list[str]:
    """Return the texts of a field that has one or several. Raises ArgumentError if it has none."""
    texts = [value] if isinstance(value, str) else value
    if isinstance(texts, list | tuple) and all(isinstance(each, str) for each in texts):
        return [*texts]
    reason = f"`{name}` has {value!r:.60}"
    raise errors.ArgumentError(reason, "give a text, or a list of texts", code="argument-type")
