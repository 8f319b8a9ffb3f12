"""The function `nd.search`: its signature, and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import By, Id, MeasureName, OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Collection, Match


@public
def search(
    collection: Collection,
    *,
    id: Id | None = None,
    text: str | None = None,
    by: By | None = None,
    candidates: int = 100,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    equal: OneOrMore = (),
    measure: MeasureName = "auto",
    max_distance: int | None = None,
    min_similarity: float | None = None,
    answers: str | Path | None = None,
    passages: bool = False,
    min_words: int | None = None,
) -> list[Match]:
    """Find the near-duplicates of a document or of a text in a collection, most similar first.

    Example: `nd.search(listings, id="12", fq="city:Paris")`

    Give either `id` or `text`. Only the documents that share the most terms are compared, at most
    `candidates` of them. A document is never its own match. If it lacks a value in a `same` field,
    it has no matches. With `text`, `same` may name only "first_word" and "md5_hash".

    With `passages`, documents that share a passage of `min_words` words (20) are found, too,
    however unlike they are as a whole, and come first. The collection needs shingles (of all
    `fields`), unless `by` names another way.

    Raises DocumentNotFound for an unknown id, SettingsError if the collection lacks a required
    field, SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.search import search_collection

    return search_collection(
        collection,
        id=id,
        text=text,
        by=by,
        candidates=candidates,
        fq=fq,
        same=same,
        equal=equal,
        measure=measure,
        max_distance=max_distance,
        min_similarity=min_similarity,
        answers=answers,
        passages=passages,
        min_words=min_words,
    )
