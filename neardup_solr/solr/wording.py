"""Say in plain words what Solr says, whose messages are those of Java's exceptions.

A message names classes, objects in memory and what passed it on, and says little more in half of
its cases. What is left of it is what somebody can act on, and what finds it in Solr's log.
"""

from __future__ import annotations

import re

MOST = 300  # characters
INTERNAL = "an internal error"
# Of Java, Solr and what it is made of: ids and fields of documents may look like other names.
_ROOT = (
    r"\b(?:javax?|jdk|sun|com\.(?:sun|google|fasterxml|ctc)|org\.(?:apache|eclipse|noggit|xml))\."
)
_CLASS = rf"{_ROOT}(?:[a-z][\w$]*\.)*(?:[A-Z]\w*[.$])*([A-Z]\w*)"
_EXCEPTION = re.compile(rf"{_CLASS}(?:(?<=Exception)|(?<=Error)):\s*")
_OBJECT = re.compile(r"(?:@[0-9a-f]{4,}|\[(?:State|[A-Z][a-z]+ing|Terminated|Not started)\b.*?\])+")
_CALL = re.compile(
    r"Cannot (?:invoke|read|load|store|assign|enter|throw|get)\b.* because .* is null"
)
_PAGE = re.compile(r"[\s.:]*<(?:!doctype|html|head|body|\?xml)\b.*", re.I | re.S)
_TAIL = re.compile(r"\s*(?:\brequest: https?://|\tat |\s+at [a-z][\w$]*\.\S+\().*", re.S)
_NODE = re.compile(r"Error from server at https?://([^/\s]+?)(?:/\S*?)?:? ")
_ASYNC = "Async exception during distributed update: "
_MEMORY = {"Java heap space", "GC overhead limit exceeded", "Metaspace"}


def plain(message: str) -> str:
    """Say a message of Solr without the names of classes and objects that it consists of.

    It is INTERNAL with the name of the exception if nothing else is left of it.
    """
    text = _TAIL.sub("", _PAGE.sub("", message))
    names = [found[1] for found in re.finditer(_CLASS, text)]
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
