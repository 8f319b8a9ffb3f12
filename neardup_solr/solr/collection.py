"""A collection in Solr: its documents, their settings, and the names of its fields."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from neardup_solr.errors import (
    CoreMissing,
    SchemaError,
    SettingsError,
    SolrAnswerError,
    counted,
)
from neardup_solr.settings import (
    ANNOTATED,
    DEFAULT_SETTINGS,
    Settings,
    require_possible,
    settings_of,
)
from neardup_solr.solr.cloud import Nodes
from neardup_solr.solr.credentials import Access, Connection, split_address
from neardup_solr.solr.documents import Documents
from neardup_solr.solr.names import (
    ID,
    NOTE,
    PLAIN,
    SETTINGS,
    SHINGLES,
    TEXT,
    Names,
    require_name,
)
from neardup_solr.solr.responses import (
    require_rows,
)
from neardup_solr.solr.session import open_session


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection(Documents):
    """A core or collection of Solr, with what its schema keeps and its documents are stored with.

    What `Documents` reads and writes goes by the names that the schema keeps.
    """

    # The settings at the last look.
    _learnt: dict[str, Settings] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def values(self, name: str, filters: Sequence[str] = ()) -> dict[str, int]:
        """The values of a docValues field, with the number of documents that have each.

        Only documents that match all filters are counted.
        """
        facet = {"type": "terms", "field": self.names.of(name), "limit": -1}
        request = {"query": "*:*", "filter": list(filters), "limit": 0, "facet": {"values": facet}}
        try:
            facets = self.ask(request, {"facets.count": int})["facets"]
        except SolrAnswerError as error:
            if f'undefined field: "{self.names.of(name)}"' not in error.reason:
                raise
            # A field that was added after the last commit is in the schema, and in no document.
            self.require_fields([name])
            return {}
        # Without any document the answer has no facet at all.
        listed = facets.get("values", {"buckets": []})
        require_rows([listed], {"buckets": list}, self.url)
        require_rows(listed["buckets"], {"val": object, "count": int}, self.url)
        return {str(bucket["val"]): bucket["count"] for bucket in listed["buckets"]}

    @property
    def known_settings(self) -> Settings | None:
        """The settings of the documents at the last look. They may have changed."""
        return self._learnt.get(SETTINGS)

    def stored_settings(self) -> Settings | None:
        """Read the settings that are stored with the documents, None if no document has any.

        Raises SettingsError if documents differ in them, SchemaError if the field is missing.
        """
        last, everything = self.known_settings, {"query": "*:*"}
        if last and self.select_if(everything, last.fingerprint, fields=[ID], limit=0):
            return last
        self.require_fields([SETTINGS])
        counts = self.values(SETTINGS)
        if len(counts) > 1:
            shown = "; ".join(
                f"{counted(count, 'document')} with [{text}]" for text, count in counts.items()
            )
            raise SettingsError(
                f"the collection mixes settings: {shown}",
                "finish the reband that was interrupted, or delete the documents of one kind"
                f" (neardup delete {self.place} --query '{self.names.of(SETTINGS)}:\"...\"')"
                " and index them again",
            )
        self._learnt.update((SETTINGS, Settings.parse(text)) for text in counts)
        if not counts:
            self._learnt.clear()
        return self.known_settings

    def needed_settings(self) -> Settings:
        """As `stored_settings`, of a collection that has to have some.

        Raises SettingsError also if it is empty or not annotated.
        """
        settings = self.stored_settings()
        if settings is not None:
            return settings
        if count := self.count():
            raise SettingsError(
                f"none of the {counted(count, 'document')} of {self.name!r} has fields to compare",
                f"add them first: neardup annotate {self.place}",
            )
        reason = f"the collection {self.name!r} has no documents"
        raise SettingsError(reason, f"index some: neardup index FILE {self.place}")

    def choose_settings(
        self,
        wanted: Settings | Mapping[str, Any] | None,
        usual: Settings | Callable[[], Settings] | None = None,
        step: str = "leave these settings out to use the stored ones, or index into another"
        " collection",
    ) -> Settings:
        """The settings to index with: those wanted, else those stored, else the usual settings.

        A mapping names some of them. The usual settings are those of `annotate` if the
        collection has other names for our fields. A function that chooses them is called only
        if none are stored.

        Raises ArgumentError if any of them is impossible, before Solr is asked; SettingsError that
        shows both if wanted and stored settings differ, with the next `step`.
        """
        require_possible(wanted)
        # Searches do not see documents of an interrupted run yet, but they count.
        self.commit()
        stored = self.stored_settings()
        if callable(usual):
            usual = usual() if stored is None else stored
        base = stored or usual or (DEFAULT_SETTINGS if self.names.is_plain else ANNOTATED)
        if wanted is None:
            return base
        wanted = settings_of(wanted, base)
        differs = base != wanted or wanted.measure not in (None, base.measure)
        if stored is not None and differs:
            raise SettingsError(
                f"the collection was indexed with [{stored.fingerprint}],"
                f" and [{wanted.fingerprint}] was asked for",
                step,
            )
        return wanted if stored is None else base

    def take_names(self, names: Names) -> None:
        """Call the fields so from now on: these names have just been kept in the schema."""
        object.__setattr__(self, "names", names)  # whoever holds the collection has them, too

    def kept_names(self) -> Names:
        """Read the field names stored in the schema, or the defaults.

        Raises SettingsError if what the schema keeps is not understood.
        """
        try:
            fields = self._rows("fields", fl=NOTE)
        except CoreMissing:
            return PLAIN
        notes = [field for field in fields if field["name"] == NOTE]
        return Names.read(str(notes[0].get("default", "")), self.place) if notes else PLAIN

    def require_fields(self, names: Iterable[str]) -> None:
        """Refuse a collection whose schema lacks fields.

        Raises SchemaError that names those missing, CoreMissing if the collection does not exist.
        """
        present = {field["name"] for field in self._rows("fields")}
        missing = [name for name in self.names.fields(names) if name not in present]
        if missing and not self.names.is_plain:  # a dynamic field may hold a text
            patterns = [field["name"] for field in self._rows("dynamicFields")]
            missing = [
                name
                for name in missing
                if name not in self.names.text or not any(fnmatchcase(name, p) for p in patterns)
            ]
        if missing:
            raise SchemaError(self.url, missing, next_step=self.advise_init(present))

    def advise_init(self, fields: Container[str]) -> str:
        """Say what adds our fields to the schema, which has these."""
        # Then init needs the name of the text, or a prefix.
        if self.names.is_plain and (TEXT not in fields or SHINGLES in fields):
            return f"see what adds them: neardup lint {self.place}"
        return f"add them with: neardup init {self.place}"

    def _rows(self, part: str, **params: str) -> list[dict[str, Any]]:
        """The rows of a part of the schema, each with its name."""

        def require(decoded: Mapping[str, Any]) -> None:
            require_rows(decoded[part], {"name": str}, self.url)

        url = f"{self.url}/schema/{part.lower()}"
        decoded = self.session.ask("GET", url, {part: list}, require=require, params=params)
        return list(decoded[part])


def open_collection(
    address: str | Connection,
    name: str,
    *,
    embedded: bool = False,
    names: Names = PLAIN,
    access: Access | None = None,
) -> Collection:
    """A collection at a Solr's address, or that of a `pysolr.Solr` that the user has.

    The address may hold user and password, and may name the collection itself
    ("http://host:8983/solr/name"), which then wins over `name`; that of pysolr always does.
    `embedded` says that it is in the embedded Solr; `names` are what the collection calls its
    fields; `access` is how it is reached. Nothing is sent yet.

    Raises ArgumentError if the address is not an http or https URL, no collection can have that
    name, or the CA file cannot be read.
    """
    session, url = open_session(address, embedded=embedded, access=access)
    base, name = split_address(url, name, is_core=not isinstance(address, str))
    require_name(name)
    session.outages.home = f"{base}/{name}"
    has_headers = access is not None and bool(access.headers)
    is_known = session.auth is not None or session.carrier is not None
    session.nodes = Nodes(base, has_secrets=is_known or has_headers)
    return Collection(base=base, name=name, session=session, names=names)
