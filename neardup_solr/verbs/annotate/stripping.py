"""strip: remove the fields of neardup from documents."""

from __future__ import annotations

from collections.abc import Sequence

from neardup_solr.errors import SettingsError
from neardup_solr.progress import Failures, OnError, OnProgress, ignore
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN, VERSION
from neardup_solr.solr.patience import keep_patience
from neardup_solr.solr.query import having
from neardup_solr.solr.update import Order
from neardup_solr.verbs.annotate.rate_limit import RateLimit
from neardup_solr.verbs.annotate.rewrite import Rewrite, Row
from neardup_solr.verbs.annotate.summary import StripSummary
from neardup_solr.verbs.update_safety import require_safe

# No document has them without the other fields, and they are slow to read.
_TERMS = frozenset({"content_ng", "content_sg", "content_bands"})


def strip_fields(
    collection: Collection, *, query: Sequence[str], pace: RateLimit, patience: float | str,
    on_error: OnError | None, on_progress: OnProgress | None,
) -> StripSummary:  # fmt: skip
    """Remove our fields from the documents that match all queries."""
    with keep_patience([collection], patience):
        existing = schema.read_schema(collection).fields
        ours = [name for name in OWN if collection.names.of(name) in existing]
        read = [name for name in ours if name not in _TERMS]
        if not read:
            reason = f"{collection.name!r} has no neardup fields"
            raise SettingsError(reason, "there is nothing to remove", code="fields-missing")
        require_safe(collection)
        collection.commit()  # so that what an interrupted run has sent counts
        nothing = dict.fromkeys(map(collection.names.of, ours))

        def make_orders(stored: list[Row], again: bool) -> list[Order]:
            annotated = (row for row in stored if not row.keys().isdisjoint(read))
            return [Order(row["id"], row[VERSION], nothing) for row in annotated]

        failures, on_progress = Failures(on_error), on_progress or ignore
        fields = [*read, VERSION]
        run = Rewrite(collection, "stripping", fields, make_orders, pace, failures, on_progress)
        run.run([*query, having(*map(collection.names.of, read))])
        return StripSummary(stripped=run.read - run.gone - run.failures.count, **run.end())
