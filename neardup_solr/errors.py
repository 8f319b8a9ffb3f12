"""Errors of neardup_solr, in a tree, each a sentence that ends with what to do next.

    NeardupError
    ├── SourceError            a file or source cannot be read or written
    ├── RecordError            a record of a source cannot be used; the rest can
    ├── SettingsError          settings that are impossible, or differ from the collection's
    │   └── ArgumentError      an argument of the wrong type, out of range, or against another
    │       └── DataError      an argument that does not fit the data or the collection
    │           └── TemplateError   documents to remove or mark that may be templates, no copies
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

Every error carries its facts as attributes and survives pickling: the facts are its `args`. A
program tells errors apart by `code`, one of `CODES`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from neardup_solr.error_codes import CODES as CODES
from neardup_solr.error_codes import RECORD_STEPS
from neardup_solr.regex import regex

# User and password of an address; a path has a single slash.
_SECRET = regex(r"(?<=:/)(/?)[^/\s@]+@")


def without_password(text: str) -> str:
    """A text in which addresses have neither user nor password."""
    return _SECRET.sub(r"\1…@", text) if "@" in text else text


def code_of_reading(error: BaseException) -> str:
    """Return the code for a file that cannot be read."""
    return "file-missing" if isinstance(error, FileNotFoundError) else "file-unreadable"


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
    """Base class of all neardup_solr errors.

    `reason`: what is wrong; `next_step`: what to do next; `code`: a word of `CODES` for programs.
    """

    code = "other"

    def __init__(self, reason: str, next_step: str, *, code: str | None = None) -> None:
        super().__init__(reason, next_step)
        self.reason, self.next_step, self.code = reason, next_step, code or self.code

    def __str__(self) -> str:
        return f"{self.reason}; {self.next_step}"


class SourceError(NeardupError):
    """File or source that cannot be read or written, or that lacks a required column.

    `source`: path or name, without credentials.
    """

    def __init__(
        self, source: str, reason: str, next_step: str, *, code: str | None = None
    ) -> None:
        super().__init__(without_password(reason), next_step, code=code)
        self.source = without_password(source)
        self.args = (self.source, *self.args)

    def __str__(self) -> str:
        return f"{self.source}: {super().__str__()}"


class RecordError(NeardupError):
    """Record that cannot be used. Its text is without the `next_step`.

    `position`: place in the source; `reason`: what is wrong; `id`: id, if known; `record`: values
    by column, or the line; None if it cannot be shown; `stage`: "read" or "check" if neardup_solr
    refused it, "solr" if Solr did.
    """

    def __init__(
        self,
        position: str,
        reason: str,
        id: str | None = None,
        *,
        record: Mapping[str, Any] | str | None = None,
        stage: str = "read",
        code: str | None = None,
    ) -> None:
        step = RECORD_STEPS.get(code or self.code, "correct the record, or leave it out")
        super().__init__(reason, step, code=code)
        self.args = (position, reason, id)
        self.position, self.id = position, id
        self.record, self.stage = record, stage

    def __str__(self) -> str:
        named = f" (id {self.id!r})" if self.id is not None else ""
        rest = ", so an unknown number of records is missing" if self.ends_source else ""
        return f"{self.position}{named}: {self.reason}{rest}"

    @property
    def ends_source(self) -> bool:
        """True if a file is damaged so that the records which follow are not read.

        A file of a folder of texts is one record, which its id names.
        """
        return self.code == "file-damaged" and self.id is None


class SettingsError(NeardupError):
    """Settings that are impossible, or differ from the collection's settings."""

    def __init__(self, reason: str, next_step: str, *, code: str | None = None) -> None:
        super().__init__(without_password(reason), next_step, code=code)


class ArgumentError(SettingsError, ValueError, TypeError):
    """Argument that has the wrong type, is out of range, or conflicts with a second argument."""


class DataError(ArgumentError):
    """Argument that does not fit the data or the collection, and may fit others."""


class TemplateError(DataError):
    """Documents to remove or mark may be no copies. Nothing was changed.

    `templates`: their clusters, as in `Duplicates.templates`; may be empty.
    """

    code = "templates"

    def __init__(self, templates: Sequence[Any], reason: str) -> None:
        super().__init__(reason, "use `yes` to treat them as copies anyway")
        self.args = (templates, reason)
        self.templates = tuple(templates)


class JobError(NeardupError):
    """The job of an `index` call is in use by a second process, or cannot continue."""


class Passes(IntEnum):
    """The answer after which a fault may pass: before it, an address or a name may be wrong."""

    ALWAYS = 0  # without any: the server says to come again
    ONCE_ANSWERED = 1  # of a Solr, if only an error
    ONCE_SERVED = 2  # of the collection
    NEVER = 3  # the same request would be refused again


class SolrError(NeardupError):
    """Solr did not answer, or did not do what was requested.

    `may_pass` is True if the same call may succeed later.

    `url`: address of the request.
    """

    may_pass = False
    passes = Passes.NEVER

    def __init__(self, url: str, reason: str, next_step: str, *, code: str | None = None) -> None:
        super().__init__(reason, next_step, code=code)
        self.url = url
        self.args = (url, reason, next_step)

    def __str__(self) -> str:
        return f"{self.url}: {super().__str__()}"


class SolrUnreachable(SolrError):
    """No Solr answers at the address."""

    code = "solr-unreachable"
    passes = Passes.ONCE_ANSWERED

    def __init__(
        self,
        url: str,
        reason: str,
        next_step: str = "check the address, or leave `address` out to use the embedded Solr",
        *,
        code: str | None = None,
    ) -> None:
        super().__init__(url, reason, next_step, code=code)


class SolrUnauthorized(SolrError):
    """Solr refuses the credentials (401 or 403).

    `status`: HTTP status.
    """

    code = "solr-unauthorized"

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
    """Solr answered with an error, or with an unexpected response.

    `retry_after` is the number of seconds that the server asks the client to wait.

    `status`: HTTP status.
    """

    passes = Passes.ONCE_ANSWERED

    def __init__(
        self, url: str, status: int, reason: str, next_step: str, *, code: str | None = None
    ) -> None:
        super().__init__(url, reason, next_step, code=code)
        self.args = (url, status, reason, next_step)
        self.status = status
        self.retry_after = 0.0


class SolrHalted(SolrError):
    """Solr takes no more documents until it is restarted, for example because its disk is full.

    Commit nothing before the restart: a commit could lose documents that Solr accepted.
    """

    code = "solr-halted"
    may_pass = True

    def __init__(self, url: str, reason: str) -> None:
        step = "free space on its disk, restart Solr, then run this again"
        super().__init__(url, f"Solr no longer accepts documents ({reason})", step)
        self.args = (url, reason)


class CoreMissing(SolrError):
    """No core or collection has that name.

    `embedded`: True for the embedded Solr.
    """

    code = "collection-missing"
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
    """Schema that lacks required fields, or has them with the wrong type.

    `missing`: names of the fields.
    """

    code = "fields-missing"

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
    """No document of the collection has that id."""

    code = "id-unknown"

    def __init__(self, url: str, id: str) -> None:
        super().__init__(
            url, f"there is no document with the id {id!r}", "check the id, or index it first"
        )
        self.args = (url, id)
        self.id = id


class ServerError(NeardupError):
    """The embedded Solr cannot be downloaded, started or stopped."""
