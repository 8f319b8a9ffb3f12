"""Commands for a collection and its schema: init, lint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from neardup_solr.skin import find, options, show

if TYPE_CHECKING:
    from neardup_solr.pure.solr.findings import Finding
    from neardup_solr.verbs.existing.preparing import Preparation

DANGEROUS = 3  # the exit code of lint
COLUMNS = ("level", "rule", "about", "reason", "remedy")

NameArgument = Annotated[str, typer.Argument(help="Name of the core or collection.")]
PrefixOption = Annotated[
    str | None, typer.Option(help="What goes before the names of our fields, such as nd_.")
]
TextFieldsOption = Annotated[
    list[str] | None,
    typer.Option("--text-field", help="Field of the collection that holds the text (repeatable)."),
]


def init(
    name: NameArgument,
    solr: options.SolrOption = None,
    shards: Annotated[int, typer.Option(help="Shards of a collection in SolrCloud.")] = 1,
    native: Annotated[
        bool, typer.Option("--native", help="Let Solr compute MinHashes of its own, too.")
    ] = False,
    prefix: PrefixOption = None,
    text_field: TextFieldsOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what would be added or removed.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take our fields out of the schema again.")
    ] = False,
) -> None:
    """Create a core or collection with all fields, or add what is missing to one that is there."""
    from neardup_solr.edges import admin
    from neardup_solr.verbs import connecting
    from neardup_solr.verbs.existing import preparing

    target = options.connect(solr, name)
    connecting.require_named(target, name)
    if remove:
        _say_removed(name, preparing.unprepare(target, dry_run=dry_run), dry_run=dry_run)
    elif admin.exists(target) and not native:
        done = preparing.prepare(target, text=text_field or (), prefix=prefix, dry_run=dry_run)
        _say_prepared(name, target.url, done, dry_run=dry_run)
    elif prefix or text_field or dry_run:
        raise typer.BadParameter(
            f"there is no collection {name!r} yet: create it with neardup init {name} alone"
        )
    else:
        created = connecting.init(target, name=name, shards=shards, native=native)
        show.say(f"{target.url} {'is created' if created else 'is there, with all fields'}.")


def lint(
    name: NameArgument,
    solr: options.SolrOption = None,
    prefix: PrefixOption = None,
    text_field: TextFieldsOption = None,
    format: options.FormatOption = None,
) -> None:
    """Look whether a collection can be annotated, searched and guarded; changes nothing.

    The exit code is 3 where documents would lose something or cannot be written.
    """
    from neardup_solr.verbs import connecting
    from neardup_solr.verbs.existing import linting

    as_rows = find.rows_format(format)
    target = options.connect(solr, name)
    connecting.require_named(target, name)
    found = linting.lint(target, text=text_field or (), prefix=prefix)
    print_findings(found.findings, as_rows)
    counts = [
        show.counted(sum(one.level == level for one in found.findings), level)
        for level in ("danger", "warning", "note")
    ]
    documents = show.counted(found.documents, "document")
    show.say(f"{target.url} ({documents}): {', '.join(counts)}.")
    if found.dangers:
        raise typer.Exit(DANGEROUS)


def print_findings(findings: Sequence[Finding], as_rows: str | None) -> None:
    """Print findings for people, or as rows in one of the formats."""
    from neardup_solr.edges import report

    if as_rows is not None:
        rows = map(asdict, findings)
        show.print_rows(report.format_rows(rows, COLUMNS, as_rows))
        return
    for one in findings:
        print(show.printable(f"{one.level}: {one.about}: {one.reason}"))
        print(show.printable(f"    {one.remedy}"))


def _say_prepared(name: str, url: str, done: Preparation, *, dry_run: bool) -> None:
    if done.is_done and not done.fields and not done.xml:
        show.say(f"{url} is there, with all fields.")
        return
    if done.is_done:
        read = f"the text is that of {', '.join(done.names.text)} from now on"
        added = f"{_fields(done)} added; neardup init {name} --remove takes them out"
        show.say(f"{url}: {added if done.fields else read}.")
    else:
        print(done.xml)
        show.say(
            f"{url}: {_fields(done)} would be added, as above."
            if done.is_mutable
            else f"{url}: this schema cannot be changed over HTTP: paste the lines above into it,"
            " before </schema>, and reload the collection."
        )
    if done.beside:
        show.say(f"The schema is also that of {', '.join(done.beside)}.")
    if not done.is_done and not dry_run:
        raise typer.Exit(1)


def _say_removed(name: str, done: Preparation, *, dry_run: bool) -> None:
    if not done.fields:
        show.say(f"{name} has no fields that neardup init has added.")
    elif dry_run:
        show.say(f"{_fields(done)} would be removed: {', '.join(done.fields)}.")
    else:
        show.say(f"{_fields(done)} removed from the schema of {name}.")


def _fields(done: Preparation) -> str:
    return show.counted(len(done.fields), "field") if done.fields else "the names of fields"
