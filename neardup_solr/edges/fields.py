"""What a collection's schema says of single fields: whether their values can be read back."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from neardup_solr.edges.client import Solr
from neardup_solr.edges.session import answer
from neardup_solr.pure.errors import SolrAnswerError


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field: whether its values come back with documents, and whether it can be searched."""

    name: str
    returned: bool
    searchable: bool


def described(solr: Solr, name: str) -> Field | None:
    """What the schema says of a field, by the collection's name for it; None where it has none."""
    params = {"showDefaults": "true", "includeDynamic": "true"}
    try:
        response = solr.session.get(f"{solr.url}/schema/fields/{name}", params=params)
    except SolrAnswerError as error:
        if error.status == 404:
            return None
        raise
    found = answer(response, {"field": dict})["field"]
    columns = bool(found.get("docValues"))
    return Field(
        name=name,
        returned=bool(found.get("stored") or (columns and found.get("useDocValuesAsStored"))),
        searchable=bool(found.get("indexed") or columns),
    )


def copied(solr: Solr) -> dict[str, list[str]]:
    """The targets of copyFields, each with its sources, which may be patterns such as "*_s"."""
    response = solr.session.get(f"{solr.url}/schema/copyfields")
    sources: dict[str, list[str]] = {}
    for one in answer(response, {"copyFields": list})["copyFields"]:
        sources.setdefault(one["dest"], []).append(one["source"])
    return sources


def matching(names: list[str], patterns: list[str]) -> list[str]:
    """Those of these names that are, or match, one of the patterns of copyFields."""
    return [name for name in names if any(fnmatchcase(name, each) for each in patterns)]
