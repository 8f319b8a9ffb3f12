"""Help in groups: options under the headings of `options`, commands by what they are about.

Plain text, as rich takes longer to load than most commands to run.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from neardup_solr.errors import without_password

OTHER = "Options"
START = """\
The near-duplicates of a file, without any Solr:
  neardup duplicates ads.csv --id-field ad --text-field title,body

A collection: index a file, then ask for the near-duplicates of one document, or of all:
  neardup index ads.csv --text-field title,body
  neardup search --id 17
  neardup duplicates -o report.html

Your own Solr: what would change, before anything does:
  neardup lint -c articles --solr http://localhost:8983/solr --text-field body

See it work on invented listings: neardup demo. All commands: neardup --help
"""
# The commands by heading.
GROUPS = {
    "To begin": ("demo", "index", "search", "report", "duplicates"),
    "A Solr that is there": ("init", "lint", "annotate", "strip", "doctor", "reband"),
    "Every day": ("gate", "delete", "dead-letters"),
    "A closer look": ("explain", "evaluate", "tune", "signatures"),
    "The embedded Solr": ("solr",),
}


class Command(TyperCommand):
    """A command whose help lists its options in groups."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what was typed; an error shows no password of an address among it."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if isinstance(message := getattr(error, "message", None), str):
                vars(error)["message"] = without_password(message)
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, those without a heading of their own first."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], OTHER: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            is_argument = parameter.param_type_name == "argument"
            heading = getattr(parameter, "rich_help_panel", None) or OTHER
            groups.setdefault("Arguments" if is_argument else heading, []).append(record)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


class Group(TyperGroup):
    """The command itself: alone it shows how to begin; its help lists commands in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under their headings."""
        limit = formatter.width - 6 - max(map(len, self.commands))
        for heading, names in GROUPS.items():
            found = [(name, self.commands[name]) for name in names if name in self.commands]
            if found:
                with formatter.section(heading):
                    formatter.write_dl(
                        [(name, command.get_short_help_str(limit)) for name, command in found]
                    )
