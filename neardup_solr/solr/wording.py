"""Say in plain words what Solr says, whose messages are those of Java's exceptions.

A message names classes, objects in memory and what passed it on, and says little more in half of
its cases. What is left of it is what somebody can act on, and what finds it in Solr's log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from neardup_solr.regex import regex

_LONGEST_MESSAGE = 500  # characters
# Before what another node said: at the begin of a later line in Solr 9, of a line in any version.
_REMOTE = "Remote error message: "
_SEVERAL = regex(r"\d+ Async exceptions during distributed update:")  # one a line
_PASSED_ON = regex(
    r"(Async exception during distributed update: |Error from server at \S+: "
    r"|org\.apache\.solr\.common\.SolrException: )+"
)
_OF_ERROR = "msg", "errorMessages", "details", "remoteError", "causedBy"  # in the order of reading

MOST = 300  # characters
INTERNAL = "an internal error"
# Of Java, Solr and what it is made of: ids and fields of documents may look like other names.
_ROOT = (
    r"\b(?:javax?|jdk|sun|com\.(?:sun|google|fasterxml|ctc)|org\.(?:apache|eclipse|noggit|xml))\."
)
_CLASS = rf"{_ROOT}(?:[a-z][\w$]*\.)*(?:[A-Z]\w*[.$])*([A-Z]\w*)"
_EXCEPTION = regex(rf"{_CLASS}(?:(?<=Exception)|(?<=Error)):\s*")
_OBJECT = regex(r"(?:@[0-9a-f]{4,}|\[(?:State|[A-Z][a-z]+ing|Terminated|Not started)\b.*?\])+")
_CALL = regex(r"Cannot (?:invoke|read|load|store|assign|enter|throw|get)\b.* because .* is null")
_PAGE = regex(r"[\s.:]*<(?:!doctype|html|head|body|\?xml)\b.*", re.I | re.S)
_TAIL = regex(r"\s*(?:\brequest: https?://|\tat |\s+at [a-z][\w$]*\.\S+\().*", re.S)
_NODE = regex(r"Error from server at https?://([^/\s]+?)(?:/\S*?)?:? ")
_ASYNC = "Async exception during distributed update: "
_MEMORY = {"Java heap space", "GC overhead limit exceeded", "Metaspace"}


def plain(message: str) -> str:
    """Say a message of Solr without the names of classes and objects that it consists of.

    It is INTERNAL with the name of the exception if nothing else is left of it.
    """
    text = _TAIL.sub("", _PAGE.sub("", message))
    names = [match[1] for match in re.finditer(_CLASS, text)]
    text = _EXCEPTION.sub("", text)
    text = _NODE.sub(r"the node \1: ", text.replace(_ASYNC, ""))
    text = re.sub(_CLASS, r"\1", _OBJECT.sub("", text))
    text = re.sub(r"\s+", " ", text).strip(" :;,")
    if text in _MEMORY:
        return f"its memory is full ({text})"
    if _CALL.search(text):
        return f"{INTERNAL} (NullPointerException: a value is missing)"
    if text in ("", "null", *names):
        return f"{INTERNAL} ({names[-1]})" if names else INTERNAL
    text = re.sub(": null$", f": {INTERNAL}", text)
    return f"{text[: MOST - 1].rstrip()}…" if len(text) > MOST else text


def list_messages(error: Any) -> list[str]:
    """List what an error of Solr says, from the outside inwards, none twice.

    Up to Solr 9 the message has all that its details have. Since 10 the reason is in the details
    alone: in their `errorMessages`, or in the `remoteError` of another node, itself with details.
    """
    texts: list[str] = []
    rest = [error]
    while rest:
        part = rest.pop(0)
        if isinstance(part, dict):
            rest[:0] = [part.get(name) for name in _OF_ERROR]
        elif isinstance(part, list):
            rest[:0] = part
        elif part is not None:
            for text in _split(str(part)):
                if not any(text in other for other in texts):
                    texts.append(text)
    return texts


def _split(message: str) -> Iterator[str]:
    """Split a message into who passes it on, if anybody does, and what other nodes have said.

    Its further lines tell no more, but for those with the errors of other nodes. A page of HTML
    tells nothing.
    """
    first, *lines = message.strip().splitlines() or [""]
    has_all = _SEVERAL.match(first) is not None
    of_nodes = (
        line.removeprefix(_REMOTE)
        for line in lines
        if line.startswith(_REMOTE) or (has_all and line[:1].isalpha())
    )
    for line in (first, *of_nodes):
        if not line.startswith(("<", "request: ")):
            carried = _PASSED_ON.match(line)
            at = carried.end() if carried else 0
            yield from filter(None, (line[:at].rstrip(": "), line[at:].rstrip()[:_LONGEST_MESSAGE]))


def join_messages(texts: Sequence[str]) -> str:
    """Join the messages of an error to a reason: the outermost, then what it is about."""
    first, *rest = texts or [""]
    inner = "; ".join(text.rstrip(".") for text in rest)
    return (f"{first.rstrip('.:')}: {inner}" if inner else first)[:_LONGEST_MESSAGE]


def describe_error(error: Any, status: int) -> str:
    return join_messages(list_messages(error)) or f"HTTP {status}"
