"""Entries, which are indexed for documents, and the documents that can have none.

The room also has signatures, of many texts at once, their JSON, and the bands that a demand needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import orjson

from neardup_solr import records
from neardup_solr.errors import RecordError
from neardup_solr.records import Document, Entry, Run
from neardup_solr.settings import Settings
from neardup_solr.text import normalize
from neardup_solr.text.shingles import hash_profile, shingles

T = TypeVar("T", bound=Document | RecordError | Run)


def make_entry(document: Document, settings: Settings, *, is_signed: bool = True) -> Entry:
    """Compute the entry of one document under these settings.

    Terms of fields that the settings leave out are not made: `shingles`, `signatures` and
    `profile_hash` are empty then. So are `signatures`, `bands` and `signature` without `is_signed`.

    Raises RecordError if the id is impossible or the text holds a lone surrogate.
    """
    if (error := make_refusal(document)) is not None:
        raise error
    chosen = settings.fields
    normal = None if is_signed else normalize.normalize(document.text)
    keys, terms, encoded = tuple[str, ...](), tuple[str, ...](), ""
    if normal is None:
        from neardup_solr.minhash import sign, signature

        signed = sign.sign([document.text], settings, keep_normal=True)
        (normal,) = signed.normal
        if normal:
            (keys,) = signature.format_band_keys(signed.keys)
            if "content_sg" in chosen:
                terms = signature.make_signature_terms(signed.signatures[0], settings)
            encoded = signature.encode(signed.signatures[0])
    pieces = shingles(normal, settings) if "content_ng" in chosen else ()
    return Entry(
        id=document.id,
        content=document.text,
        normal=normal,
        md5_hash=normalize.md5(normal),
        num_words=len(normalize.words(normal)),
        first_word=normalize.first_word(normal),
        shingles=tuple(map(normalize.indexable, pieces)),
        signatures=terms,
        bands=keys,
        signature=encoded,
        profile_hash=make_profile(normal, settings),
        kept=document.kept,
    )


def make_profile(normal: str, settings: Settings) -> str:
    """Hash the profile of a normal form under these settings, "" if they leave it out."""
    if "profile_hash" not in settings.fields:
        return ""
    return hash_profile(
        normal,
        min_token_len=settings.profile_min_token_len,
        quant_rate=settings.profile_quant_rate,
    )


def filter_usable(
    documents: Iterable[Document], on_error: Callable[[RecordError], None]
) -> Iterator[Document]:
    """Yield the documents that can be indexed. The others go to `on_error`, with the reason."""
    for found in check_documents(documents):
        if isinstance(found, RecordError):
            on_error(found)
        else:
            yield found


def check_documents(records: Iterable[T]) -> Iterator[T | RecordError]:
    """Yield the records, with an error in place of each document that cannot be indexed."""
    for found in records:
        yield (make_refusal(found) or found) if isinstance(found, Document) else found


def make_refusal(document: Document) -> RecordError | None:
    """Make the error for a document that cannot be indexed, or None if it can."""
    reason = find_problem(document)
    if reason is None:
        return None
    columns = {**document.kept, "id": document.id, "text": document.text}
    shown = document.id[:40]
    return RecordError(document.position, reason, shown, record=columns, stage="check")


def find_problem(document: Document) -> str | None:
    """Say why a document cannot be indexed, or None: its id, its text, or a kept value."""
    reason = records.id_problem(document.id)
    if reason is not None:
        return reason
    try:
        if not document.text.isascii():
            document.text.encode("utf-16-le")  # the quickest way to find one
    except UnicodeEncodeError as error:
        return f"the text holds a lone surrogate at character {error.start}"
    return _find_problem_of_kept(document.kept) if document.kept else None


def _find_problem_of_kept(kept: Mapping[str, Any]) -> str | None:
    try:
        orjson.dumps(dict(kept))
    except TypeError as error:
        return f"a kept column cannot be written as JSON: {error}"
    # Solr would take an object for an update: {"add": 1}, {"set": null}.
    objects = [name for name, value in kept.items() if isinstance(value, Mapping)]
    return f"the kept column {objects[0]!r} is an object, not a value" if objects else None
