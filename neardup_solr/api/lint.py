"""The function `nd.lint`: its signature, and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Collection
    from neardup_solr.types import Lint


@public
def lint(collection: Collection, *, text: OneOrMore = (), prefix: str | None = None) -> Lint:
    """Check if annotating a collection would lose data, without changing the collection.

    Example: `nd.lint(books, text="body").findings`

    Without `text`, the fields that `init` stored are checked, or else the field `content`. If these
    cannot be read, the field with the longest texts is checked, and a finding names it.

    Raises CoreMissing if the collection does not exist, ArgumentError if a name is invalid,
    SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.lint import check_collection

    return check_collection(collection, text=text, prefix=prefix)
