"""Which documents of a collection need fields, and counts of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neardup_solr.argument_types import Which
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.solr.names import OWN, SETTINGS, TEXT, VERSION, Names
from neardup_solr.solr.update import Order, orders
from neardup_solr.text import normalize
from neardup_solr.verbs.annotate.rewrite import Row
from neardup_solr.verbs.annotate.summary import AnnotateSummary

MD5 = "md5_hash"


@dataclass(slots=True, kw_only=True)
class AnnotateTask:
    """Orders for the documents that need fields by these settings, and counts of the others."""

    settings: Settings
    which: Which = "needed"
    unchanged: int = 0
    without_text: int = 0

    def needs_fields(
        self, stored: Mapping[str, Any], text: str | None, *, again: bool = False
    ) -> bool:
        """Return True if a document has to be written. The others are counted, once."""
        if text is None:
            self.without_text += not again
            return False
        if is_current(stored, text, self.settings) and (again or self.which != "all"):
            self.unchanged += not again
            return False
        return True

    def make_orders(self, stored: list[Row], again: bool, *, names: Names) -> list[Order]:
        """Make orders for the documents that need any. Without a text they lose our fields."""
        written = [name for name in OWN if name in (*self.settings.fields, SETTINGS)]
        nothing = dict.fromkeys(map(names.of, written))
        cleared, needed = list[Order](), list[Row]()
        for row in stored:
            if row.get(TEXT) is None and SETTINGS in row:
                cleared.append(Order(row["id"], row[VERSION], nothing))
            elif self.needs_fields(row, row.get(TEXT), again=again):
                needed.append(row)
        versions = {row["id"]: row[VERSION] for row in needed}
        documents = [Document(id=row["id"], text=row[TEXT]) for row in needed]
        return orders(documents, versions, self.settings, names) + cleared

    def summary(self, *, read: int, gone: int, failed: int, **rest: Any) -> AnnotateSummary:
        """Make the summary of the whole run."""
        done = {"unchanged": self.unchanged, "without_text": self.without_text}
        rest |= {"annotated": read - sum(done.values()) - gone - failed, **done}
        return AnnotateSummary(read=read, gone=gone, failed=failed, settings=self.settings, **rest)


def is_current(stored: Mapping[str, Any], text: str, settings: Settings) -> bool:
    """Return True if the stored fields are those of this text under these settings."""
    is_ours = stored.get(SETTINGS) == settings.fingerprint
    normal = normalize.normalize(text, settings.normalization) if is_ours else ""
    return is_ours and bool(stored.get(MD5) == normalize.md5(normal))
