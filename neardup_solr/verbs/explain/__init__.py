"""explain: why two documents are found as near-duplicates or not, and what would catch them."""

from __future__ import annotations

from neardup_solr.verbs.explain.by_fields import compare_by_fields
from neardup_solr.verbs.explain.by_texts import compare_texts
from neardup_solr.verbs.explain.explanation import Explanation, explain_facts
from neardup_solr.verbs.explain.request import ExplainRequest


def explain_pair(request: ExplainRequest) -> Explanation:
    """Explain why two documents are near-duplicates or not, and what would find them."""
    request.check()
    request = request.choose_columns()
    by_fields = request.fields is not None or request.model is not None
    return explain_facts((compare_by_fields if by_fields else compare_texts)(request))
