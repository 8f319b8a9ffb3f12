"""The words of a command as values: the arguments of its verb, its source, its place in Solr."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import neardup_solr as nd
from neardup_solr.arguments import Source
from neardup_solr.cli import show
from neardup_solr.cli.parameters import FilePath, spell_flags
from neardup_solr.comma_names import join_names
from neardup_solr.errors import CoreMissing
from neardup_solr.option_table import OPTIONS
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import require_possible

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
    from neardup_solr.sources.choice import Chosen
    from neardup_solr.verbs.explain.request import ExplainRequest
    from neardup_solr.verbs.passages.request import PassagesRequest
    from neardup_solr.verbs.review.request import ReviewRequest
    from neardup_solr.verbs.tune.request import TuneRequest


@dataclass(frozen=True, slots=True)
class Place:
    """Place in Solr that options name, or else the usual one."""

    address: str | None = None
    collection: str | None = None

    @property
    def is_named(self) -> bool:
        """True if one of its options was typed."""
        return self.address is not None or self.collection is not None

    def connect(self, **arguments: Any) -> Collection:
        """Return the collection, as `connect` does it."""
        return connect(self.address, self.collection, **arguments)


@dataclass(frozen=True, slots=True)
class Typed:
    """Words of a command, parsed.

    `arguments`: those of its verb, by name; `place`: the collection; `paths`: the files of the
    source; `dialect`: how all files are written that are read.
    """

    arguments: Mapping[str, Any]
    place: Place
    paths: Sequence[str]
    dialect: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def connect(self, **arguments: Any) -> Collection:
        """Return the collection, which waits for a Solr that is away as long as `patience` says."""
        return self.place.connect(patience=self.arguments.get("patience", 0), **arguments)

    def make_source(self, path: str | Sequence[str]) -> Source:
        """Make the Source of a file, or of several, all of them written as the options say."""
        return Source(path, **self.dialect)

    def replace(self, **arguments: Any) -> Typed:
        """Return the same with other values of some arguments."""
        return replace(self, arguments={**self.arguments, **arguments})

    def require_source(self, name: str) -> None:
        """Refuse settings and options for files without a source: a collection has its own."""
        if self["settings"] and not self.paths:
            names = ", ".join(spell_flags("settings", each)[0] for each in self["settings"])
            raise click.BadParameter(f"{names} cannot be set for a collection: add {name}")
        context = click.get_current_context()
        flags = [
            param.opts[0]
            for param in context.command.params
            if param.name in self.dialect
            and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
        ]
        if flags and not self.paths and self.arguments.get("against") is None:
            raise click.BadParameter(
                f"{', '.join(flags)} cannot be set for a collection: add {name}"
            )


@dataclass(frozen=True, slots=True)
class ChosenColumns:
    """Columns of a source that were chosen for what was typed.

    `typed`: with these columns; `options`: how they would be typed; `beside`: columns that are left
    out, but may tell copies apart.
    """

    typed: Typed
    options: Sequence[str] = ()
    beside: tuple[str, ...] = ()


def choose_columns(
    typed: Typed,
    request_class: type[ExplainRequest | PassagesRequest | ReviewRequest | TuneRequest],
) -> ChosenColumns:
    """Add the columns of a source without a text to what was typed, and say which.

    `against` is replaced by what it names. The request of the verb says what is chosen by.
    """
    from neardup_solr.sources import choice
    from neardup_solr.verbs.duplicates.request import DuplicatesRequest

    names = DuplicatesRequest.__annotations__.keys() & typed.arguments.keys()
    request: dict[str, Any] = {name: typed[name] for name in names}
    DuplicatesRequest(**{"source": None} | request).parse()  # or the data would be blamed
    typed = open_other_side(typed)
    if not typed.paths:
        return ChosenColumns(typed)
    chosen = choice.choose_columns(request_class(**typed.arguments).column_request)
    if chosen is None:
        return ChosenColumns(typed)
    say_choice(chosen)
    options = _spell_columns(chosen.arguments)
    return ChosenColumns(typed.replace(**chosen.arguments), options, chosen.beside)


def say_choice(chosen: Chosen) -> None:
    """Say which columns were chosen, as they are typed."""
    for line in chosen.lines(lambda arguments: shlex.join(_spell_columns(arguments))):
        show.say(show.printable(line))


def _spell_columns(arguments: Mapping[str, Any]) -> list[str]:
    """Spell columns that were chosen as they are typed."""
    flags = {"id": "--id-field", "text": "--text-field", "fields": "--field"}
    words: list[str] = []
    for name, value in arguments.items():
        for column in [value] if isinstance(value, str) else value:
            words += [flags[name], column if name == "id" else join_names([column])]
    return words


def open_other_side(typed: Typed) -> Typed:
    """Replace `against`: by a file, a folder, standard input, or the collection that it names."""
    against, address = typed.arguments.get("against"), typed.place.address
    if against is None:
        return typed
    if against == "-" and "-" in typed.paths:
        reason, step = "standard input cannot be both sources", "save one of them to a file"
        raise nd.ArgumentError(reason, step, code="arguments-conflict")
    patience = typed.arguments.get("patience", 0)
    if "://" in against:
        return typed.replace(against=connect(against, None, patience=patience))
    if against == "-" or Path(against).exists() or "/" in against or "." in against:
        return typed.replace(against=typed.make_source(against))
    if has_no_solr(address):
        reason = "there is no such file or folder"
        raise nd.SourceError(against, reason, "check the path", code="file-missing")

    def require_fields(collection: Collection) -> None:
        try:
            collection.require_fields(())
        except CoreMissing:
            reason = "there is no such file or folder, and no collection with that name"
            step = "check the path, or the name"
            raise nd.SourceError(against, reason, step, code="file-missing") from None

    other = connect(address, against, patience=patience, check=require_fields)
    return typed.replace(against=other)


def repeat_options(heading: str) -> list[str]:
    """Spell the options under a heading that the command was given, to be typed again."""
    context = click.get_current_context()
    words: list[str] = []
    for param in context.command.params:
        name, flag = param.name or "", param.opts[0]
        source = context.get_parameter_source(name)
        if name in OPTIONS[heading] and source is ParameterSource.COMMANDLINE:
            value = context.params[name]
            typed = join_names(value) if isinstance(value, tuple) else str(value)
            words += [flag] if value is True else [flag, typed]
    return words


def spell_settings(settings: Settings, names: Sequence[str]) -> list[str]:
    """Spell the options that ask for these settings, if they are not the usual ones."""
    usual = Settings()
    changed = [name for name in names if getattr(settings, name) != getattr(usual, name)]
    return [
        word
        for name in changed
        for word in (spell_flags("settings", name)[0], str(getattr(settings, name)))
    ]


def check_files(params: Iterable[click.Parameter], typed: Mapping[str, Any]) -> None:
    """Refuse a file for two purposes, before any is read or written, by PathError."""
    from neardup_solr.files import check_apart

    files: dict[str, Path | None] = {}
    for name in (each.name or "" for each in params if isinstance(each.type, FilePath)):
        paths = typed[name] if isinstance(typed[name], tuple) else [typed[name]]
        files |= {f"`{name}` {path}" if at else f"`{name}`": path for at, path in enumerate(paths)}
    if any(files.values()):
        against = typed.get("against")  # or a collection
        is_file = against is not None and os.path.exists(against)
        check_apart(files, source=typed.get("source"), against=against if is_file else None)


def connect(
    address: str | None,
    name: str | None,
    *,
    create: bool = False,
    patience: float | str = 0,
    check: Callable[[Collection], None] | None = None,
) -> Collection:
    """Return the collection that the options name, opened as soon as it is used.

    So the library checks all other arguments before a Solr is asked, or started for nothing, of
    which a line tells. With `create`, a missing collection of the embedded Solr is created;
    `patience` is as for `nd.connect`; `check` may refuse the collection once it is open.
    """
    from neardup_solr.solr.collection import Collection
    from neardup_solr.solr.core import Endpoint
    from neardup_solr.solr.patience import keep_patience
    from neardup_solr.verbs.connect import ADDRESS

    create = create and not (address or os.environ.get(ADDRESS))

    def open_endpoint() -> Endpoint:
        opened = nd.connect(address, name, create=create, patience=patience, on_started=show.say)
        if check is not None:
            with keep_patience([opened], patience):
                check(opened)
        return opened.endpoint

    return Collection(open_endpoint)


def has_no_solr(address: str | None) -> bool:
    """Return True if no Solr is named, and the embedded one was never used: it has nothing."""
    from neardup_solr import embedded
    from neardup_solr.verbs.connect import ADDRESS

    return not (address or os.environ.get(ADDRESS) or embedded.is_known())


def choose_settings(**typed: str | int | None) -> dict[str, Any]:
    """Choose the settings that options ask for, by name, as the others are the collection's.

    Raises ArgumentError if one of them is impossible, or a language has no stemmer.
    """
    chosen = {name: value for name, value in typed.items() if value is not None}
    require_possible(chosen)
    if language := chosen.get("language"):
        from neardup_solr.text.shingles import stem_words

        stem_words("", str(language))
    return chosen
