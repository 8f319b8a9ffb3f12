"""What has to hold before a collection's documents are updated in place."""

from __future__ import annotations

from neardup_solr.edges import fields
from neardup_solr.edges.client import Solr
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.names import OWN

PATH, ROOT = "_nest_path_", "_root_"
_INSTEAD = "leave the collection as it is: neardup annotate --into OTHER writes a side collection"


def own_fields(solr: Solr) -> frozenset[str]:
    """The collection's names of the fields that are ours."""
    return frozenset(map(solr.names.of, OWN))


def roots_only(solr: Solr) -> list[str]:
    """Filters that leave out nested documents: an update of their parent takes them along."""
    return [f"-{PATH}:[* TO *]"] if fields.described(solr, PATH) else []


def require_safe(solr: Solr) -> None:
    """Refuse a collection in which an update in place would lose data, by SettingsError."""
    _require_named_children(solr)


def require_readable(solr: Solr) -> None:
    """Refuse text fields whose values Solr does not give back, by SettingsError."""
    for name in solr.names.text:
        field = fields.described(solr, name)
        if field is None or not field.returned:
            said = "is not in the schema" if field is None else "is neither stored nor docValues"
            raise SettingsError(
                f"the text field {name!r} {said}",
                "name a stored field with --text-field, or index the texts with neardup index",
            )


def _require_named_children(solr: Solr) -> None:
    """Refuse nested documents that Solr loses when their parent is updated: those without a path.

    Nested by a field's name they have one; `_childDocuments_`, or a schema without `_nest_path_`,
    gives them none.
    """
    root = fields.described(solr, ROOT)
    if root is None or not root.searchable:
        return
    no_root = f"-{{!join from={ROOT} to={solr.names.id} v='*:*'}}"
    lost = solr.count([f"{ROOT}:[* TO *] {no_root}", *roots_only(solr)])
    if lost:
        reason = f"{lost:,} nested documents have no {PATH}: updates of their parents drop them"
        raise SettingsError(reason, _INSTEAD)
