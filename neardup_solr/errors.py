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

import re
import shlex
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

# User and password of an address; a path has a single slash.
_SECRET = re.compile(r"(?<=:/)(/?)[^/\s@]+@")

# What a program can act upon, by the `code` of an error: a word for each thing that a caller can do
# something different about. Several classes may have the same, as a column may lack in a file and
# in a collection.
CODES = {
    # Arguments of a call, options of a command, parameters of a request.
    "argument-unknown": "There is no argument, option or parameter of that name.",
    "argument-missing": "An argument that is needed is not given.",
    "argument-type": "An argument has the wrong type, or is an object that cannot be read.",
    "argument-invalid": "The value of an argument is not one of those that it may have.",
    "argument-out-of-range": "A number is too small or too large, also for the collection.",
    "arguments-conflict": "Two arguments exclude each other, or one has no effect with the other.",
    "address-invalid": "The address of a Solr or of a proxy cannot be used as it is written.",
    "filter-invalid": "A query of a client, in `fq`, cannot be read or is not allowed.",
    "name-invalid": "The name of a collection, a field or a column cannot be used.",
    "paths-conflict": "A file would be read and written, or written twice.",
    "plan-impossible": "No bands and rows meet these demands.",
    # Files and other sources.
    "file-missing": "There is no such file or folder.",
    "file-unreadable": "A file cannot be read: its permissions, or a link that leads elsewhere.",
    "file-unwritable": "A file, or the folder of the embedded Solr, cannot be written.",
    "file-kind": "A file is something other than needed: a folder, a device, an image, a web page.",
    "file-empty": "A file, folder, sheet or header has nothing in it.",
    "file-damaged": "A file ends too early, or is damaged; what was read before is good.",
    "expands-too-much": "A compressed file may be a bomb.",
    "format-unknown": "The format of a file is not clear from its name, or is none of those known.",
    "format-unfit": "The format cannot hold what it has to, or cannot be read there.",
    "not-from-stdin": "Standard input can be read once only; a file is needed.",
    "encoding": "Bytes are not text in the encoding; set `encoding`, or convert the file.",
    "header-invalid": "The first line is no header, or the header cannot be read or is repeated.",
    "csv-delimiter": "The columns are separated by another character.",
    "csv-quotes": "The quotes of a record of CSV are not in pairs.",
    "sheet-missing": "A workbook has no sheet of that name.",
    "column-missing": "There is no column of that name.",
    "column-repeated": "There are two columns of the same name, or there would be.",
    "columns-unpaired": "The columns of two sources cannot be paired by their names.",
    "values-unfit": "The values of a column cannot be compared as they were to be.",
    "records-unusable": "All, or most, of the first records cannot be used; see the first of them.",
    "source-changed": "A source changed while it was read, or since it was.",
    "line-invalid": "A line of a file of pairs, answers, tokens or dead letters cannot be used.",
    "answers-invalid": "An answer is not one of same, different and unsure, or there are two.",
    "no-pairs": "There are no pairs, no answers to them, or too few documents to have any.",
    "not-remembered": "The file of earlier results is missing, damaged or of another request.",
    # Records and documents.
    "record-malformed": "A record cannot be taken apart: JSON, or the number of its fields.",
    "record-too-large": "A record is larger than `max_doc_bytes`.",
    "record-refused": "Solr refused a document.",
    "record-gone": "A dead letter lacks its record, or what is needed to read it.",
    "id-missing": "A record has no id.",
    "id-invalid": "An id has the wrong type, is too long, or is given twice for a pair.",
    "id-repeated": "An id occurs twice where each has to be of one document.",
    "id-unknown": "There is no document with that id.",
    "text-missing": "A record has no text, or no document has words.",
    "value-invalid": "A text or a value to keep cannot be used, or not be written as JSON.",
    "templates": "Documents to remove or mark may be templates, no copies; `yes` goes on anyway.",
    # Collections.
    "collection-missing": "There is no core or collection of that name; create it.",
    "collection-exists": "A collection of that name exists already, maybe with other sizes.",
    "collection-empty": "The collection has no documents.",
    "collection-read-only": "The collection is set to be read-only.",
    "collection-unfit": "The collection cannot be used so: it is an alias, or by its schema.",
    "configset-missing": "The Solr has no configset of neardup_solr on its disk.",
    "fields-missing": "The collection, or its documents, lack neardup fields: init, then annotate.",
    "field-missing": "The collection has no field of that name that can be read.",
    "field-empty": "No document has a value in that field.",
    "schema-conflict": "A field of the schema is in the way, or differs from what is needed.",
    "settings-differ": "Documents were indexed with settings other than these, maybe just now.",
    "settings-unreadable": "The settings of the collection are of another version.",
    "signature-invalid": "A stored signature cannot be read, or has another size; index it again.",
    "data-at-risk": "What documents have would be lost or changed; nothing was written.",
    "write-incomplete": "Some updates failed or were lost; run the same again.",
    "too-many-pairs": "More pairs have to be compared than memory allows.",
    # Jobs of `index`.
    "job-missing": "There is no job in that folder.",
    "job-busy": "Another run has the job open.",
    "job-unfinished": "The job has not ended; finish it by `resume`.",
    "job-unreadable": "Files of a job cannot be read, or were changed while they were used.",
    "job-has-letters": "The folder has dead letters that are not of this job, or were edited.",
    "job-other-collection": "The job is of another collection or server.",
    # Answers of a Solr.
    "solr-unreachable": "No Solr answers at the address, or not in time; it may still be starting.",
    "solr-unauthorized": "Solr does not accept the credentials, or they do not allow this.",
    "solr-halted": "Solr takes no documents until it is restarted, as if its disk is full.",
    "solr-refused": "Solr refuses the request; the same request will fail again.",
    "solr-failed": "Solr failed to do what was requested; see its log.",
    "cluster-disturbed": "A node, a replica or ZooKeeper of the cluster is away.",
    "not-solr": "What answers is not a Solr, or answers in an unknown form.",
    "proxy": "A proxy refuses the request, or answers with what is of another request.",
    "request-too-large": "A request is larger than the server allows.",
    "answer-too-large": "An answer of Solr is larger than allowed.",
    "answer-partial": "An answer of Solr was cut off, lacks documents, or has one twice.",
    "credentials-exposed": "A password or token would be sent without encryption.",
    "credentials-unusable": "A user, password, token or certificate cannot be used.",
    # The machine, and the embedded Solr.
    "package-missing": "A Python package that is needed is missing or incomplete.",
    "java-missing": "There is no Java that can be used.",
    "disk-full": "There is too little room on the disk.",
    "download-failed": "A file of the embedded Solr cannot be downloaded, or arrives damaged.",
    "port-taken": "A port is in use or not allowed.",
    "session-ended": "The session of Spark was stopped.",
    "solr-not-started": "The embedded Solr did not start; see its log.",
    "solr-not-stopped": "The embedded Solr cannot be stopped.",
    # Requests to the service (`neardup serve`) or a review, which no exception has.
    "busy": "Too many requests wait, or the service is stopping; try again later.",
    "internal": "A fault of the service; its log has more, by the X-Request-Id.",
    "origin-refused": "The Host or Origin of the request does not belong to the service.",
    "path-unknown": "There is no such path, or not with this method.",
    "request-late": "The request did not arrive in time.",
    "request-malformed": "The request is not what the path takes, such as an object of JSON.",
    "right-missing": "The token does not grant what the request needs.",
    "token-invalid": "The token is missing or wrong.",
    # All others.
    "other": "An error without a code of its own.",
}
# What to do about a record, by its code.
_RECORD_STEPS = {
    "encoding": "set `encoding`, or correct the record",
    "file-damaged": "give a complete file",
    "file-unreadable": "check its permissions, or leave it out",
    "id-repeated": "give each record an id of its own",
    "record-too-large": "raise `max_doc_bytes`, or leave the record out",
}


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
        step = _RECORD_STEPS.get(code or self.code, "correct the record, or leave it out")
        super().__init__(reason, step, code=code)
        self.args = (position, reason, id)
        self.position, self.id = position, id
        self.record, self.stage = record, stage

    def __str__(self) -> str:
        named = f" (id {self.id!r})" if self.id is not None else ""
        return f"{self.position}{named}: {self.reason}"


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
