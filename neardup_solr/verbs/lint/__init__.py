"""lint: check if a collection can be used without losing data."""

from __future__ import annotations

from dataclasses import dataclass

from neardup_solr.argument_types import OneOrMore
from neardup_solr.checks import listed
from neardup_solr.solr.collection import Collection
from neardup_solr.verbs.findings import DANGER, Finding
from neardup_solr.verbs.lint.facts import read_facts
from neardup_solr.verbs.lint.rules import findings
from neardup_solr.verbs.solr_versions import is_untried


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """Findings of `lint`.

    `documents`: documents in the collection; `findings`: findings, the most serious first;
    `is_untried`: True if the version of Solr is untested.
    """

    documents: int
    findings: tuple[Finding, ...]
    is_untried: bool = False

    @property
    def dangers(self) -> tuple[Finding, ...]:
        """Findings that would lose data or prevent writing."""
        return tuple(finding for finding in self.findings if finding.level == DANGER)


def check_collection(
    collection: Collection, *, text: OneOrMore = (), prefix: str | None = None
) -> Lint:
    """Find what annotating a collection would lose, without changing it."""
    facts = read_facts(collection, text=listed(text), prefix=prefix)
    is_new = any(map(is_untried, facts.versions))
    return Lint(documents=facts.documents, findings=findings(facts), is_untried=is_new)
