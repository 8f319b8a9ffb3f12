"""The function `nd.passages`: its signature, and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Passages
    from neardup_solr.types import Compared, OnError, OnProgress


@public
def passages(
    source: Compared,
    *,
    against: Compared | None = None,
    min_words: int | None = None,
    texts: bool = False,
    fq: OneOrMore = (),
    id: str | None = None,
    text: OneOrMore = "text",
    memory: int | str | None = None,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Passages:
    """Find the passages that documents of a collection or of a source share, edits included.

    Example: `[(each.id, each.relation, each.other_id) for each in nd.passages("articles.jsonl")]`

    A passage has at least `min_words` words (by default 8 in up to 52,000 words of text, 20 from
    12 million on, so that hardly any are common phrases). It may differ in words here and there, in
    letters that a scanner misread, in blanks, punctuation and hyphens at the ends of lines. Of each
    pair of documents, it is told what one is to the other: a copy, an edition, a part, a quotation,
    or a text that shares a passage. With `against`, each pair has a document from `source` and one
    from `against`.

    Candidates come from runs of 16 letters, of which a few are chosen by their hashes (winnowing,
    Schleimer et al. 2003). Passages that more than 64 documents have are looked for in the first of
    them and in the next one only. `texts` adds the passages themselves to the result.

    Raises SettingsError if a collection lacks signatures, SourceError if a source cannot be read,
    SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.passages.find import find_passages
    from neardup_solr.verbs.passages.request import PassagesRequest

    request = PassagesRequest(
        source,
        against=against,
        min_words=min_words,
        texts=texts,
        fq=fq,
        id=id,
        text=text,
        memory=memory,
        patience=patience,
        on_error=on_error,
        on_progress=on_progress,
    )
    return find_passages(request)
