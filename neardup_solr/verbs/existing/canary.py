"""The first documents of a run: each is compared whole, before and after its update.

A schema does not say all that an update may change. A chain that stamps documents stamps them
anew; a field that was copied to and written to loses what was written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from neardup_solr.edges.client import Solr
from neardup_solr.edges.existing import atomic
from neardup_solr.edges.existing.atomic import Sent
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.solr.atomic import VERSION, Order

_INSTEAD = (
    "write a side collection with --into OTHER, or update through a chain that leaves it alone"
)


@dataclass(slots=True, kw_only=True)
class Canary:
    """How many documents are `left` to be tried; `own` are the fields that an order changes."""

    solr: Solr
    own: frozenset[str]
    left: int

    def send(self, order: Order) -> Sent:
        """Send one order alone, commit, and compare.

        Raises SettingsError where a field that is not ours has changed; the document is then put
        back as far as Solr allows, which the error tells.
        """
        self.left -= 1
        before = self._other_fields(order.id)
        sent = atomic.send(self.solr, [order])
        if order.id not in sent.done and order.id not in sent.unsure:
            return sent
        after = self._committed(order.id)
        # Someone else's change before or after ours has a version of its own.
        version = sent.done.get(order.id, after.get(VERSION))
        if before.get(VERSION) != order.version or after.get(VERSION) != version:
            return sent
        changed = [name for name in sorted(before | after) if _differ(name, before, after)]
        if changed:
            raise self._changed(order.id, changed, before, sent)
        return sent

    def _committed(self, id: str) -> dict[str, Any]:
        self.solr.commit()
        return self._other_fields(id)

    def _other_fields(self, id: str) -> dict[str, Any]:
        found = next(iter(atomic.whole(self.solr, [id])), {})
        return {name: value for name, value in found.items() if name not in self.own}

    def _changed(
        self, id: str, changed: list[str], before: dict[str, Any], sent: Sent
    ) -> SettingsError:
        reason = f"an update of the document {id!r} changed other fields: {', '.join(changed)}"
        restored = id in sent.done and self._put_back(id, changed, before, sent.done[id])
        put_back = "they were put back" if restored else "Solr did not let them be put back"
        fate = f"{put_back}; nothing else was touched"
        return SettingsError(f"{reason} ({fate})", _INSTEAD)

    def _put_back(self, id: str, changed: list[str], before: dict[str, Any], version: int) -> bool:
        back = {name: {"set": before.get(name)} for name in changed}
        json = orjson.dumps({self.solr.names.id: id, VERSION: version, **back})
        atomic.send(self.solr, [Order(id=id, version=version, json=json)])
        now = self._committed(id)
        return not any(_differ(name, before, now) for name in changed)


def _differ(name: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    return name != VERSION and before.get(name) != after.get(name)
