"""Templates and digests among rejected documents, which a gate holds instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from neardup_solr.errors import counted
from neardup_solr.guard import are_unlike
from neardup_solr.guard.template import SEVERAL, Template, find_template
from neardup_solr.measures import floor
from neardup_solr.progress import LOG
from neardup_solr.sizes import SIZES
from neardup_solr.text.normalize import md5, normalize

if TYPE_CHECKING:
    from neardup_solr.verbs.batch import NearMatch

from neardup_solr.verbs.gate.decision import Decision
from neardup_solr.verbs.gate.policy import HOLD, REJECT

MOST_TEXTS = 50  # that are looked at to know a template
ALIKE, MOST_WORDS = 0.5, 64  # that texts of a template share at least, of so many that are drawn


class Templates:
    """Templates and digests among rejected documents, which are held instead.

    `reject` is the similarity from which documents are rejected, if they are for that. Of each
    group of documents that are alike, or near to the same, the normal forms of some are looked at.
    """

    def __init__(self, reject: float | None) -> None:
        self._reject = reject
        self._groups: dict[str, tuple[set[str], list[str]]] = {}  # words of the first, and forms
        self._templates: dict[str, Template] = {}
        self._linked = 0  # digests, and documents that these are near to

    def hold(
        self, decisions: Sequence[Decision], matches: Sequence[Sequence[NearMatch]]
    ) -> list[Decision]:
        """Hold what is rejected only for a likeness that is that of a template or a digest.

        The `matches` are those of each decision.
        """
        ids = [self._group(decision, near) if decision.action == REJECT else ""
               for decision, near in zip(decisions, matches, strict=True)]  # fmt: skip
        digests = set()
        for id in {*ids} - {""}:
            group = self._groups[id][1]
            template = self._templates.get(id) or find_template(id, 0, 0.0, group)
            if template and template.is_regular and template.texts >= SEVERAL:
                held = template.documents + ids.count(id)
                self._templates[id] = replace(template, documents=held)
            elif are_unlike(group, self._reject or 0.0):
                digests.add(id)
        after = []
        for decision, id, near in zip(decisions, ids, matches, strict=True):
            why, forms = "", [each.form for each in near]
            if id in self._templates:
                why = "it is probably a template"
            elif id and (id in digests or are_unlike(forms, self._reject or 0.0)):
                why = "others that are near to one of the two have little in common"
                self._linked += 1
            reason = f"{decision.reason}, but {why}"
            after.append(replace(decision, action=HOLD, reason=reason) if why else decision)
        return after

    def _group(self, decision: Decision, near: Sequence[NearMatch]) -> str:
        """Group a rejected document with others like it, "" if it is an exact copy."""
        bound, ids = self._reject, [match.id for match in decision.matches]
        if bound is None or not ids or decision.matches[0].similarity < floor(bound):
            return ""
        if any(each.is_equal for each in near):
            return ""
        form, least = normalize(decision.document.text), floor(max(2 * bound - 1, ALIKE))
        words = {*sorted({*form.split()}, key=md5)[:MOST_WORDS]}  # a sample
        alike = (
            id
            for id, (others, _) in self._groups.items()
            if id in ids or len(words & others) >= least * max(len(words), len(others))
        )
        id = next(alike, ids[0])
        _, forms = self._groups[id] = self._groups.pop(id, (words, []))  # at the end
        if len(forms) < MOST_TEXTS:
            forms.append(form)
        if len(self._groups) > SIZES.template_groups:
            del self._groups[next(iter(self._groups))]
        return id

    def warn(self) -> None:
        """Log each template."""
        for template in self._templates.values():
            line = "probably a template, so held instead of rejected: %s; use `yes` to reject them"
            LOG.warning(line, template)
        if self._linked:
            what = "probably digests and what they quote, so held instead of rejected"
            LOG.warning("%s: %s; use `yes` to reject them", what, counted(self._linked, "document"))
