"""The command doctor: the fields of a collection, and its server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.commands.lint import print_findings
from neardup_solr.cli.exit_codes import REFUSED
from neardup_solr.cli.typed import Typed

if TYPE_CHECKING:
    from neardup_solr.argument_types import RowFormat


def doctor(typed: Typed, *, format: RowFormat | None = None) -> int:
    """Check the fields of a collection, and the state of its server.

    Recomputes the fields of a sample. The exit code is 3 if there is a problem.
    """
    with show.watch():
        diagnosis = nd.doctor(typed.connect(), **typed.arguments)
    print_findings(diagnosis.findings, show.choose_format(format))
    for fingerprint, count in diagnosis.settings.items():
        show.say(f"{show.counted(count, 'document')} with [{fingerprint}].")
    documents = show.counted(diagnosis.documents, "document")
    problems = show.counted(len(diagnosis.problems), "problem")
    counts = f"{diagnosis.missing:,} missing, {diagnosis.sampled:,} sampled"
    unknown = diagnosis.health.unknown
    verb = "is" if len(unknown) == 1 else "are"
    but = f"; unknown {verb} {', '.join(unknown)}" if unknown else ""
    show.say(f"{documents}, {counts}: {problems}{but}.")
    return REFUSED if diagnosis.problems else 0
