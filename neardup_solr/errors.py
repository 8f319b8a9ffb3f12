"""Errors of neardup_solr, in a tree, each a sentence that ends with what to do next.

    NeardupError
    ├── SourceError            a source cannot be read as a whole
    ├── RecordError            a record of a source cannot be used; the rest can
    ├── SettingsError          settings that are impossible, or differ from the collection's
    │   └── ArgumentError      an argument of the wrong type, out of range, or against another
    │       └── TemplateError  documents to remove or mark that may be templates, no copies
    ├── JobError               a job that another run has open, or that cannot go on
    ├── SolrError              Solr did not answer, or not as requested
    │   ├── SolrUnreachable    no answer at all
    │   ├── SolrUnauthorized   401 or 403
    │   ├── SolrAnswerError    an error, or an answer that is not understood (HTML, empty, redirect)
    │   ├── SolrHalted         Solr takes no documents until it is restarted (its disk is full)
    │   ├── CoreMissing        no core or collection of that name
    │   ├── SchemaError        the collection lacks a field that is needed
    │   └── DocumentNotFound   no document with that id
    └── ServerError            the embedded Solr cannot be started, stopped or fetched

Every error carries its facts as attributes and survives pickling: the facts are its `args`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

# User and password of an address; a path has a single slash.
_SECRET = re.compile(r"(?<=:/)(/?)[^/\s@]+@")


def without_password(text: str) -> str:
    """A text in which addresses have neither user nor password."""
    return _SECRET.sub(r"\1…@", text) if "@" in text else text


def place(collection: str, address: str | None) -> str:
    """The options that name a collection in a command, of the embedded Solr without an address.

    User and password of an address are left out.
    """
    words = ["-c", collection]
    if address is not None:
        words += ["--solr", _SECRET.sub(r"\1", address)]
    return shlex.join(words)


def counted(number: int, what: str, several: str | None = None) -> str:
    """Spell a number of things, in the singular if it is 1. `several` is an irregular plural."""
    return f"{number:,} {what if number == 1 else several or f'{what}s'}"


class NeardupError(Exception):
    """Anything that neardup_solr reports on purpose: a reason, and what to do next."""

    def __init__(self, reason: str, next_step: str) -> None:
        super().__init__(reason, next_step)
        self.reason, self.next_step = reason, next_step

    def __str__(self) -> str:
        return f"{self.reason}; {self.next_step}"


class SourceError(NeardupError):
    """A source that cannot be read as a whole: missing, of another format, or without a column.

    If an address was named by mistake, its user and password are not shown.
    """

    def __init__(self, source: str, reason: str, next_step: str) -> None:
        super().__init__(without_password(reason), next_step)
        self.source = without_password(source)
        self.args = (self.source, *self.args)

    def __str__(self) -> str:
        return f"{self.source}: {super().__str__()}"


class RecordError(NeardupError):
    """A record that cannot be used: its position, its id if it has any, and why.

    `record` is the record as its source has it: its columns by name, or the text of its line; None
    if it cannot be shown. `stage` says who refused it: "read" and "check" are ours, "solr" is Solr.
    """

    def __init__(
        self,
        position: str,
        reason: str,
        id: str | None = None,
        *,
        record: Mapping[str, Any] | str | None = None,
        stage: str = "read",
    ) -> None:
        self.args = (position, reason, id)
        self.position, self.reason, self.id = position, reason, id
        self.record, self.stage = record, stage

    def __str__(self) -> str:
        named = f" (id {self.id!r})" if self.id is not None else ""
        return f"{self.position}{named}: {self.reason}"


class SettingsError(NeardupError):
    """Settings that are impossible, or that differ from those stored with the collection."""

    def __init__(self, reason: str, next_step: str) -> None:
        super().__init__(without_password(reason), next_step)


class ArgumentError(SettingsError, ValueError, TypeError):
    """An argument of the wrong type, out of range, or in conflict with another.

    The message has the names of arguments in backticks. The command `neardup` shows its
    options instead, and ends with exit code 2.
    """


class TemplateError(ArgumentError):
    """Documents that are to be removed or marked, but may be templates instead of copies.

    `templates` are their clusters, see `Duplicates.templates`. Nothing was written or marked.
    """

    def __init__(self, templates: Sequence[Any], reason: str) -> None:
        super().__init__(reason, "give `yes` to treat them as copies anyway")
        self.args = (templates, reason)
        self.templates = tuple(templates)


class JobError(NeardupError):
    """A job of `index` that another run has open, or that cannot go on where it stopped."""


class Passes(IntEnum):
    """The answer after which a fault may pass: before it, an address or a name may be wrong."""

    ALWAYS = 0  # without any: the server says to come again
    ONCE_ANSWERED = 1  # of a Solr, if only an error
    ONCE_SERVED = 2  # of the collection
    NEVER = 3  # the same request would be refused again


class SolrError(NeardupError):
    """Solr did not answer, or not as requested.

    `passes` is the answer after which such a fault may pass; `may_pass` tells whether there was
    one, so that the same call may succeed later. Else the address, or the request, is wrong.
    """

    may_pass = False
    passes = Passes.NEVER

    def __init__(self, url: str, reason: str, next_step: str) -> None:
        super().__init__(reason, next_step)
        self.url = url
        self.args = (url, reason, next_step)

    def __str__(self) -> str:
        return f"{self.url}: {super().__str__()}"


class SolrUnreachable(SolrError):
    """No Solr answers at the address."""

    passes = Passes.ONCE_ANSWERED

    def __init__(
        self,
        url: str,
        reason: str,
        next_step: str = "check the address, or leave `address` out to use the embedded Solr",
    ) -> None:
        super().__init__(url, reason, next_step)


class SolrUnauthorized(SolrError):
    """Solr wants other credentials, or these do not allow it (401 or 403)."""

    def __init__(self, url: str, status: int) -> None:
        super().__init__(
            url,
            f"Solr refuses these credentials (HTTP {status})",
            "set $NEARDUP_SOLR_USER and $NEARDUP_SOLR_PASSWORD, or give them in the address as"
            " https://user:password@host/solr/name",
        )
        self.args = (url, status)
        self.status = status


class SolrAnswerError(SolrError):
    """An answer that is an error, or that is not understood, which never counts as success.

    `status` is the HTTP status, `retry_after` how many seconds the server asks to wait.
    """

    passes = Passes.ONCE_ANSWERED

    def __init__(self, url: str, status: int, reason: str, next_step: str) -> None:
        super().__init__(url, reason, next_step)
        self.args = (url, status, reason, next_step)
        self.status = status
        self.retry_after = 0.0


class SolrHalted(SolrError):
    """Solr can take no more documents until it is restarted: its disk is full, or a writer failed.

    Nothing may be committed before that restart: it could lose what Solr had accepted.
    """

    may_pass = True

    def __init__(self, url: str, reason: str) -> None:
        step = "free space on its disk, restart Solr, then run this again"
        super().__init__(url, f"Solr accepts no more documents ({reason})", step)
        self.args = (url, reason)


class CoreMissing(SolrError):
    """No core or collection of that name. `embedded` tells which Solr it is."""

    passes = Passes.ONCE_SERVED

    def __init__(self, url: str, name: str, embedded: bool = False) -> None:
        named = place(name, None if embedded else url)
        super().__init__(
            url,
            f"there is no core or collection {name!r}",
            f"check the name, or create it with: neardup init {named}",
        )
        self.args = (url, name, embedded)
        self.name, self.embedded = name, embedded


class SchemaError(SolrError):
    """The schema of the collection lacks fields that are needed, or has them of another kind."""

    def __init__(
        self,
        url: str,
        missing: Sequence[str],
        reason: str | None = None,
        next_step: str | None = None,
    ) -> None:
        server, _, name = url.rpartition("/")
        add = f"add them with: neardup init {place(name or 'NAME', server or None)}"
        lacks = f"the schema lacks the fields {', '.join(missing)}"
        super().__init__(url, reason or lacks, next_step or add)
        self.args = (url, tuple(missing), self.reason, self.next_step)
        self.missing = tuple(missing)


class DocumentNotFound(SolrError):
    """No document with that id in the collection."""

    def __init__(self, url: str, id: str) -> None:
        super().__init__(
            url, f"there is no document with the id {id!r}", "check the id, or index it first"
        )
        self.args = (url, id)
        self.id = id


class ServerError(NeardupError):
    """The embedded Solr cannot be fetched, started or stopped."""
