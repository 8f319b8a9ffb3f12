"""The rules of lint: what is wrong with a collection that is there, each with its remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from neardup_solr.pure.solr import hazards
from neardup_solr.pure.solr.findings import DANGER, NOTE, WARNING, Facts, Finding, clash
from neardup_solr.pure.solr.query import CLAUSES

TESTED = (9, 10, 1)
_HIDING = frozenset({"fq", "defType", "q", "fl", "rows", "start", "sort", "group", "wt"})


def findings(facts: Facts) -> list[Finding]:
    """All findings, the gravest first; the commands of their remedies name the collection."""
    found = [
        replace(finding, remedy=finding.remedy.replace("NAME", facts.name))
        for rule in RULES
        for finding in rule(facts)
    ]
    return sorted(found, key=lambda one: (DANGER, WARNING, NOTE).index(one.level))


def _select(facts: Facts) -> Iterator[Finding]:
    for part in ("appends", "invariants"):
        for name in sorted(_HIDING & facts.select.get(part, {}).keys()):
            if (name, facts.select[part][name]) != ("wt", "json"):
                yield Finding(
                    level=DANGER,
                    rule="select",
                    about=f"/select {part} {name}",
                    reason="it changes our queries, so that they do not see all",
                    remedy="give people that setting by another handler",
                )


def _own(facts: Facts) -> Iterator[Finding]:
    missing = []
    for name, needed in facts.wanted.items():
        if problem := clash(name, needed, facts.schema, facts.names, facts.used or ()):
            yield Finding(
                level=DANGER,
                rule="clash",
                about=name,
                reason=f"a field of ours has the name of one that is there: {problem}",
                remedy="choose a prefix: neardup init NAME --prefix nd_ (or delete that field,"
                " where it is not yours)",
            )
        elif name not in facts.schema.fields:
            missing.append(name)
    if missing:
        yield Finding(
            level=NOTE,
            rule="missing",
            about=", ".join(missing),
            reason="fields of ours are not there yet",
            remedy="neardup init NAME adds them",
        )


def _mutable(facts: Facts) -> Iterator[Finding]:
    if facts.is_mutable is False:
        lacks = any(name not in facts.schema.fields for name in facts.wanted)
        yield Finding(
            level=WARNING if lacks else NOTE,
            rule="schema",
            about="schemaFactory",
            reason="the schema cannot be changed over HTTP (classic, or mutable=false)",
            remedy="paste the XML that neardup init NAME prints, then reload",
        )


def _clauses(facts: Facts) -> Iterator[Finding]:
    if facts.takes_clauses is False:
        yield Finding(
            level=WARNING,
            rule="clauses",
            about="maxBooleanClauses",
            reason=f"a query of {CLAUSES:,} clauses is refused: long texts cannot be"
            " searched by shingles",
            remedy="set it to 1024 in solrconfig.xml and in solr.xml, or search --by bands",
        )


def _release(facts: Facts) -> Iterator[Finding]:
    numbers = tuple(int(part) for part in facts.version.split(".") if part.isdecimal())
    if not numbers:
        return
    if numbers < TESTED:
        yield Finding(
            level=WARNING,
            rule="version",
            about=f"Solr {facts.version}",
            reason="it has known holes that 9.10.1 closes (CVE-2026-22022,"
            " CVE-2026-22444, and others the older it is)",
            remedy="upgrade to 9.10.1",
        )
    elif numbers[0] > TESTED[0]:
        yield Finding(
            level=NOTE,
            rule="version",
            about=f"Solr {facts.version}",
            reason="this package is tested with Solr 9.10.1",
            remedy="try it on a copy first",
        )


def _access(facts: Facts) -> Iterator[Finding]:
    if facts.is_open and not facts.is_local:
        yield Finding(
            level=WARNING,
            rule="access",
            about="authentication",
            reason="whoever reaches this address may read, change and delete all",
            remedy="set up security.json, with blockUnknown and an all permission",
        )
    elif not facts.is_encrypted and not facts.is_local:
        yield Finding(
            level=WARNING,
            rule="access",
            about="TLS",
            reason="user and password are sent unencrypted",
            remedy="use https",
        )


def _place(facts: Facts) -> Iterator[Finding]:
    if len(facts.alias_of) > 1:
        yield Finding(
            level=DANGER,
            rule="alias",
            about=", ".join(facts.alias_of),
            reason="the name is an alias of several collections, and updates would all"
            " go to the first",
            remedy="name one of the collections",
        )
    if facts.is_read_only:
        yield Finding(
            level=DANGER,
            rule="read-only",
            about="readOnly",
            reason="the collection is read-only",
            remedy="set its readOnly to false (MODIFYCOLLECTION)",
        )
    if facts.beside:
        yield Finding(
            level=NOTE,
            rule="shared",
            about=", ".join(facts.beside),
            reason="these collections share the configset: fields that are added are"
            " theirs as well",
            remedy="nothing is done to their documents",
        )


RULES: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    hazards.key,
    hazards.versions,
    hazards.update_log,
    hazards.lost_fields,
    hazards.children,
    hazards.update_chain,
    hazards.texts,
    _select,
    _own,
    _mutable,
    _clauses,
    _place,
    _release,
    _access,
)
