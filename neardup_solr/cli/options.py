"""The options of the commands: their texts, with types and defaults of the library's functions.

The verb of a command is the function `nd.<verb>`. Each of its arguments that the table of texts has
is an option of that name, and so is each keyword of the command's own function.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib.util import find_spec
from inspect import Parameter
from itertools import filterfalse
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click
from click.core import ParameterSource

import neardup_solr as nd
from neardup_solr import arguments
from neardup_solr.arguments import (
    DIALECT,
    QUERIES,
    check_queries,
    is_path,
    join_names,
    nearest,
    read_words,
    refuse_choice,
    split_names,
    suggest,
)
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import REFUSED
from neardup_solr.errors import ArgumentError, CoreMissing, NeardupError, without_password
from neardup_solr.settings import Settings, require_possible

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection

ARGUMENTS, OTHER, READ = "Arguments", "Options", "Input"
# By heading, in the order of the help. A name is that of the argument; `gate.text` is another text
# for a single command. Before a colon stands what the option takes, if its type does not say so.
TEXTS: dict[str, dict[str, str]] = {
    ARGUMENTS: {
        "source": (
            "File (.txt .csv .tsv .jsonl .json .parquet .xlsx, also .gz .bz2 .xz .zst), several"
            " files that form one table, a folder, or - for standard input."
        ),
        "duplicates.source review.source": "Files or a folder [default: a collection].",
        "tune.source": "Files or a folder to sample, - for standard input [default: a collection].",
        "ids": "Ids of the documents to delete.",
        "one": "ID: Id of a document.",
        "other": "OTHER_ID: Id of the other document.",
        "answer": "same, different or unsure.",
        "evaluate.known": "File of known pairs: two columns of ids.",
        "report": "REPORT: File of reported pairs [default: make a new report].",
    },
    OTHER: {
        "explain.source": "FILE: File, folder or - with both texts (repeatable) [default: Solr].",
        "answer.source": "FILE: File, folder or - (repeatable). An answer lapses if texts change.",
        "answer.answers": "FILE: Answers file.",
        "pairs": "FILE: Import answers from the column named answer in a table of pairs.",
        "search.id": "Id of a document in the collection.",
        "search.text": "Text to search for, or - for standard input.",
        "ordered": "The order of the ids in a pair matters (first source, second source).",
        "into": "OTHER: Write into this collection; leave the original unchanged.",
        "which": "needed (fields are missing or outdated), missing (fields are missing) or all.",
        "query": "QUERY: Only documents that match this query.",
        "delete.query": "QUERY: Also delete all documents that match this query.",
        "annotate.query strip.query": "QUERY: Only documents that match this query (repeatable).",
        "annotate.follow": "Keep running: annotate new and changed documents, until Ctrl-C.",
        "against": (
            "FILE|NAME|URL: Compare with this second file, folder or collection. Columns with other"
            " names are paired as --text-field title=headline or --field name=Kunde."
        ),
        "canonical": (
            "RULE: Document of a cluster to keep: first, longest, shortest, oldest, oldest:FIELD,"
            " or FIELD=wire,agency (prefer the value wire, then agency)."
        ),
        "annotate.mark": "With --follow: also keep the cluster marks up to date.",
        "mark": "Write the clusters into the collection, so that queries can collapse them.",
        "undo": "Remove all marks from the collection.",
        "duplicates.dry_run": "With --mark or --undo: change nothing, only count.",
        "delete.dry_run": "Delete nothing, only count the documents.",
        "dry_run": "Change nothing, only print the fields.",
        "yes": "Do not ask before marking or removing documents that may not be copies.",
        "gate.yes": "Do not hold texts from a template: reject them.",
        "delete.yes": "Delete without asking, even all documents.",
        "reset.yes": "Do not ask for confirmation.",
        "index": "Index the documents that are allowed or tagged.",
        "held": "Append held documents to this .jsonl file, each only once.",
        "strict": "Exit with code 3 if a document is held or rejected.",
        "init.text lint.text annotate.text": "FIELD: Field with the text (repeatable, or a,b).",
        "prefix": "PREFIX: Prefix of the neardup fields, such as nd_.",
        "shards": "Number of shards in SolrCloud [default: 1].",
        "replicas": "Copies of each shard in SolrCloud [default: 1].",
        "remove": "Remove the neardup fields from the schema.",
        "catch": "Similarity of the pairs to find.",
        "avoid": "Similarity of the pairs to skip.",
        "tune.answers": "FILE: Learn a model from the answers in this file.",
        "known": "File of known pairs: two columns of ids.",
        "reband.bands": "Number of LSH bands.",
        "reband.rows": "Rows in a band.",
        "show.job retry.job": "FOLDER: Job folder that index printed [default: all jobs].",
        "port": "Port on 127.0.0.1 [default: the last port used, or a free one].",
        "host": "Address to listen on; without --tokens, only a local address.",
        "serve.port": "Port to listen on; 0 chooses a free port.",
        "root_path": "PATH: Path of the service behind a proxy, such as /neardup.",
        "allow_host": "NAME: Also accept requests with this host name (repeatable, or a,b).",
        "tokens": "FILE: File of access tokens, one client per line: NAME TOKEN RIGHT...",
        "max_body": "SIZE: Maximum size of a request.",
    },
    "Comparison": {
        "tag": (
            "Tag documents at least this similar [default without --hold and --reject: 0.5;"
            " containment 0.8, aligned 0.75, records 0.7]."
        ),
        "hold": "Hold documents at least this similar.",
        "reject": "Reject documents at least this similar.",
        "exact": "Take at least this action for a document with the same text.",
        "by": "Key that near-duplicates must share [default: the first that is indexed].",
        "duplicates.by review.by tune.by": (
            "METHOD: How to find candidate pairs: bands, shingles, words (rare words; for short"
            " records) or all (every pair). Default: all for up to 2,000 short texts; for more or"
            " longer texts, bands (shingles with containment, words with aligned and records)."
        ),
        "candidates": "Candidates to compare for each document.",
        "measure": (
            "MEASURE: words (edit distance), jaccard (of shingles), containment (an excerpt in a"
            " longer text), aligned (short texts), records (short texts; numbers must agree),"
            " estimate (jaccard estimated from signatures), or auto (the collection's measure; for"
            " a file, records if its texts are short, else words)."
        ),
        "fields": (
            "FIELD: Compare this column or field by itself, such as name, zip:exact, price:number"
            " or born:date (repeatable, or a,b). The similarity is then the probability of a match."
        ),
        "max_distance": "Maximum number of words inserted, deleted or replaced.",
        "min_similarity": (
            "Minimum similarity, 0 to 1 [default: 0.5; containment 0.8, aligned 0.75, records 0.7;"
            " none with --max-distance]."
        ),
        "fq": "QUERY: Compare only with documents that match this query (repeatable).",
        "filters": (
            "NAME=QUERY: Let clients choose this filter by its name: fq=NAME (repeatable)."
        ),
        "duplicates.fq review.fq": "QUERY: Use only documents that match this query (repeatable).",
        "same": (
            "FIELD: Compare only documents with an equal value in this field or column, such as"
            " tenant (repeatable, or a,b)."
        ),
        "equal": "RULE: Text that must be equal: numbers, symbols, or a regex (repeatable).",
        "review.answers": "FILE: Answers file; created if missing.",
        "review.reach": "How far below the threshold to ask [default: 0.1; --field: 0.499].",
        "review.port": "Port of the page on 127.0.0.1 [default: a free port].",
        "answers": "FILE: Apply answers: 'same' adds a pair to the result, 'different' removes it.",
        "model": "FILE: Compare with a model written by neardup tune --answers.",
        "without_common": "Ignore passages that many texts share: boilerplate, footers, templates.",
        "cap": "Maximum documents to pair per band or shingle [default: 1024; word: 50].",
        "mutual_best": "With --against: keep a pair only if neither document has a better match.",
        "linkage": (
            "single (one pair links), complete (all match), or as with --mutual-best"
            " [default: single; columns with --against: mutual_best]."
        ),
    },
    "Output": {
        "output": "Write to a .tsv, .csv, .jsonl or .xlsx file.",
        "evaluate.output": "Write all missed and false pairs to .tsv, .csv, .jsonl or .xlsx.",
        "signatures.output": "Parquet file to write.",
        "tune.output": "FILE: Write the model of --answers to this .json file.",
        "duplicates.output": "Write to .tsv, .csv, .jsonl, .xlsx, .parquet or .html (repeatable).",
        "texts": "Write the texts of both documents with each pair.",
        "unique": "Write the records to keep (in SOURCE's format or .jsonl; may be compressed).",
        "removed": "Write the removed records, each with the id of the record kept instead.",
        "rejected": "Write the unusable records, each with reason and position.",
        "format": "Output format [default: table on a terminal, else tsv].",
        "explain.format tune.format": "Output format.",
    },
    READ: {
        "id": "COLUMN: Column with the id, or :row to number the records from 1 [default: id].",
        "text": (
            """COLUMN: Column with the text; a,b joins two (repeatable; quote names with commas)."""
        ),
        "gate.text": "COLUMN: Column with the text (repeatable, or a,b) [default: as indexed].",
        "keep": "COLUMN: Additional column to keep (repeatable, or a,b).",
        "source_format": "FORMAT: lines, csv, tsv, jsonl, json, parquet, xlsx or folder.",
        "delimiter": "CHARACTER: Character between CSV columns, such as ';' or tab.",
        "encoding": "NAME: Text encoding, such as cp1252 [default: UTF-8].",
        "skip_rows": "N: Skip this many lines or rows above the header of a CSV or Excel file.",
        "sheet": "NAME: Sheet of an Excel file [default: the first].",
        "lossy": "Replace invalid characters instead of rejecting the record.",
        "max_doc_bytes": "SIZE: Maximum size of the text of a record, such as 100M.",
        "index.on_repeat": "Record to use for a repeated id [default: last].",
        "duplicates.on_repeat": "Record to use for a repeated id [default: keep all, as 12@row3].",
    },
    "Signatures": {
        "settings.fields": (
            "LIST: Fields to write: all, a list, or changes to the default, such as +profile_hash"
            " or --fields=-content_ng [default: all but profile_hash; no shingles of long texts]."
        ),
        "kind": "Units of the shingles [default: words].",
        "settings.measure": "Default measure of the collection [default: depends on the texts].",
        "shingle_size": "Units in a shingle [default: 3; more for long texts with --kind chars].",
        "language": "NAME: Language for stemming [default: english].",
        "family": "Hash family [default: affine].",
        "hashes": "Hashes in a signature [default: 128].",
        "bands": "LSH bands [default: 42].",
        "settings.rows": "Rows in a band [default: 3].",
    },
    "Performance": {
        "rate": "Maximum number of documents written per second (0: no limit).",
        "batch": "Documents in a batch.",
        "gate.batch": "Documents in a query.",
        "min_replicas": "Replicas of each shard that must store a document.",
        "annotate.remember": "With --mark: file written by duplicates --remember.",
        "remember": "Remember the comparisons; the next run compares only changes.",
        "memory": "SIZE: Memory to use, such as 4G [default: $NEARDUP_MEMORY, or half of RAM].",
    },
    "Failures": {
        "checkpoint_every": "RECORDS: Maximum number of records sent again after an interruption.",
        "patience": "TIME: How long to wait for an unavailable Solr, such as 90s, 5m or 0.",
        "max_failed": "N|SHARE: Exit with code 0 if at most this many fail, such as 20 or 0.1%.",
        "job": "FOLDER: Folder for checkpoints and failed records [default: in the data folder].",
        "resume": "Continue an interrupted run from its last checkpoint.",
    },
    "Solr": {
        "address": (
            "URL: Solr address, such as http://host:8983/solr [default: $NEARDUP_SOLR_URL, or the"
            " embedded Solr, started when needed]."
        ),
        "collection": "NAME: Collection to use [default: from the address, or neardup].",
    },
}
# Options that the help of a command lists first.
FIRST = {
    "index": "id text keep address collection resume",
    "search": "id text measure min_similarity address collection",
    "report": "output measure min_similarity query address collection",
    "duplicates": "output unique measure by min_similarity fields id text against",
    "annotate": "text query which address collection",
    "gate": "reject hold tag index held output measure",
    "serve": "address collection host port tokens",
    "explain": "source measure fields min_similarity",
    "review": "answers measure fields min_similarity against by",
    "tune": "answers output fields measure against",
}
# How an option is typed, if not --name, or not only that.
FLAGS = {
    "address": "--solr",
    "collection": "--collection -c",
    "fields": "--field",
    "filters": "--filter",
    "settings.fields": "--fields",
    "follow": "--follow -f",
    "pairs": "--import",
    "id": "--id-field",
    "search.id": "--id",
    "output": "--output -o",
    "query": "--query -q",
    "rows": "--band-rows",
    "text": "--text-field",
    "search.text": "--text",
    "reset.yes": "--yes -y",
}
# What only --help-all shows, by the names of arguments that can be left out.
SELDOM = {
    "allow_host", "bands", "batch", "cap", "checkpoint_every", "dry_run", "equal", "family",
    "hashes", "kind", "language", "lossy", "max_distance", "max_doc_bytes", "max_failed", "memory",
    "min_replicas", "mutual_best", "on_repeat", "rate", "rejected", "root_path", "rows",
    "sheet", "shingle_size", "skip_rows", "source_format", "undo", "without_common", "yes",
}  # fmt: skip


Function = Callable[..., int]  # of a command; it returns the exit code

# The options of the argument `settings`. Signatures know nothing of fields in Solr, and `tune` is
# asked for bands and rows.
SIGNING = ("kind", "shingle_size", "language", "family", "hashes", "bands", "rows")
SETTINGS = {
    "annotate": ("fields", *SIGNING, "measure"),
    "index": ("fields", *SIGNING, "measure"),
    "tune": ("kind", "shingle_size", "language", "family"),
}
PARTED = ("COLUMN", "FIELD", "NAME")  # metavars of names that may be separated by commas
MOST_NAMES = 8  # of collections, in a message
NUMBERS = {"int": (int, "N"), "float": (float, "NUMBER")}  # by annotation: type and metavar
_METAVAR = re.compile(r"([A-Z_|]+): (.*)")
BY_NAME = {
    name: (heading, text)
    for heading, texts in TEXTS.items()
    for names, text in texts.items()
    for name in names.split()
}


@cache
def arguments_of(verb: str) -> tuple[Parameter, ...]:
    """Read the arguments of `nd.<verb>` from its source: importing it takes longer than the help.

    A default is a literal, or a constant of that module or of `arguments`.
    """
    spec = find_spec(f"neardup_solr.{nd._PLACES[verb]}")
    source = Path(spec.origin).read_text("utf-8") if spec and spec.origin else ""
    header = re.search(rf"^def {verb}\(.*?\) -> ", source, re.DOTALL | re.MULTILINE)
    if header is None:
        raise LookupError(f"the module of {verb} has no function with this name")
    constants = re.findall(r'^([A-Z_]+) = (\d[\d_.]*|"[^"\n]*"|None)\b', source, re.MULTILINE)
    names = vars(arguments) | {name: literal_eval(value) for name, value in constants}
    exec(f"from __future__ import annotations\n{header[0]}None: ...", names)
    return tuple(inspect.signature(names[verb]).parameters.values())


class ParsedOptions(dict[str, Any]):
    """The options of a command as arguments of its verb, and the collection that they name."""

    address: str | None = None
    collection: str | None = None
    paths: Sequence[str] = ()  # of the source
    dialect: Mapping[str, Any]  # of all files that are read
    beside: tuple[str, ...] = ()  # columns that are left out, but may tell copies apart

    def connect(self, **arguments: Any) -> Collection:
        """Return the collection, which waits for a Solr that is away as long as `patience` says."""
        return connect(self.address, self.collection, patience=self.get("patience", 0), **arguments)

    def make_source(self, path: str | Sequence[str]) -> arguments.Source:
        """Make the Source of a file, or of several, all of them written as the options say."""
        return arguments.Source(path, **self.dialect)

    def require_source(self, name: str) -> None:
        """Refuse settings without a source: a collection has its own."""
        if self["settings"] and not self.paths:
            names = ", ".join(_spell_flags(each)[0] for each in self["settings"])
            raise click.BadParameter(f"{names} cannot be set for a collection: add {name}")


class Command(click.Command):
    """A command whose help lists its options under headings.

    In plain text, as rich takes longer to load than most commands to run.
    """

    headings: Mapping[str, str]  # of its parameters, by name
    verb: str | None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what was typed, and show no password of an address among it in an error."""
        try:
            return super().parse_args(ctx, [*args])
        except click.NoSuchOption as error:
            name = error.option_name  # click takes -threshold for -t with others behind it
            long = (each for each in args if each[:2] == name and each[2:3].isalpha())
            raise self.refuse_option(next(long, name).partition("=")[0], ctx) from None
        except click.UsageError as error:
            raise click.UsageError(without_password(error.format_message()), ctx) from None

    def refuse_option(self, option: str, ctx: click.Context) -> click.UsageError:
        """Make the error about an option that does not exist, or stands before the command."""
        usual = "--help-all" if HELP_ALL in self.get_params(ctx) else "--help"
        path = ctx.command_path if ctx.command is self else f"{ctx.command_path} {self.name}"
        step = suggest(option, "options", self._list_names(ctx), "neardup")
        if ctx.command is not self and any(option in param.opts for param in self.params):
            step = f"it goes after the command: {path} {option} ..."
        reason = without_password(f"No such option '{option}'")
        return click.UsageError(add_step(reason, step or f"see {path} {usual}"), ctx)

    def _list_names(self, ctx: click.Context) -> dict[str, str]:
        """Say of each name that the command takes, or took, how it is typed, for `suggest`."""
        of_verb = [each.name for each in arguments_of(self.verb)] if self.verb else []
        of_settings = fields(Settings) if "settings" in of_verb else ()
        python = {each.name: f"settings={{'{each.name}': ...}}" for each in of_settings}
        python |= {each: f"{each}=..." for each in of_verb if each != "settings"}
        names = {each: f"use nd.{self.verb}(..., {typed})" for each, typed in python.items()}
        for param in ctx.find_root().command.params:
            step = f"it goes before the command: neardup {param.opts[0]} ..."
            names[param.name or ""] = step
        names |= read_words("gone").get(self.name or "", {})
        for param in filterfalse(attrgetter("is_eager"), self.get_params(ctx)):
            typed = _type_name(param)
            choices = param.type.choices if isinstance(param.type, click.Choice) else ()
            names |= {f"{param.name} {each}": f"'{typed} {each}'" for each in choices}
            text = f"'{typed}'" if typed[0] == "-" else f"give {typed} without an option name"
            names |= {flag.lstrip("-"): text for flag in (param.name or "", *param.opts)}
        return names

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """List the parameters, with --quiet, and --help-all if --help leaves some out."""
        params = super().get_params(ctx)
        has_more = any(param.name in SELDOM and not param.required for param in params)
        return [*params[:-1], QUIET, *([HELP_ALL] if has_more else []), params[-1]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments and options, by heading."""
        every = self.get_params(ctx)
        if not ctx.meta.get(HELP_ALL.name):
            every = [param for param in every if param.required or param.name not in SELDOM]
        for heading in TEXTS:
            shown = [each for each in every if self.headings.get(each.name or "", OTHER) == heading]
            records = [param.get_help_record(ctx) for param in shown]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(list(filter(None, records)))

    def spell(self) -> dict[str, str]:
        """Spell each argument of the library as it is typed, or by its name if none is."""
        verbs = ["connect", self.verb] if self.verb else ["connect"]
        spelled = {param.name: param.name for verb in verbs for param in arguments_of(verb)}
        return spelled | {param.name or "": _type_name(param) for param in self.params}


def _type_name(param: click.Parameter) -> str:
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name


class ChoiceType(click.Choice[str]):
    """A choice that is refused in the words of the library."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Say which choice was probably meant, and which there are."""
        return str(refuse_choice("", value, self.choices)).removeprefix("`` cannot be ")


class FilePath(click.Path):
    """A file, which nothing and an address are not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Make the path, or refuse the text."""
        if isinstance(value, str) and not is_path(value):
            self.fail(f"it cannot be {without_password(value)!r}; give a path", param, ctx)
        return super().convert(value, param, ctx)


def add_step(problem: str, step: str) -> str:
    """Put a problem and a step, or a question, in a line."""
    return f"{problem}. D{step[1:]}" if step.startswith("did you mean") else f"{problem}; {step}"


def _print_all_help(ctx: click.Context, param: click.Parameter, is_set: bool) -> None:
    if is_set:
        ctx.meta[HELP_ALL.name or ""] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


QUIET = click.Option(["--quiet"], is_flag=True, help="Print only results, warnings and errors.")
HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_print_all_help,
    help="Show all options and exit.",
)  # fmt: skip


class Placed(click.Argument):
    """An argument without a flag, and what help tells about it."""

    text = ""

    def make_metavar(self, ctx: click.Context) -> str:
        """Return the name of the argument in usage, in brackets if it is optional."""
        name = super().make_metavar(ctx)
        return name if self.required or name[0] == "[" else f"[{name}]"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return what help calls the argument, and its text."""
        return self.make_metavar(ctx), self.text


def command(name: str, function: Function, verb: str | None) -> Command:
    """Make the command of a function, by its own keywords and the arguments of a verb."""
    parameters = inspect.signature(function).parameters.values()
    keywords = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
    extra = [each.name for each in keywords]  # which the verb does not have
    of_verb = [each for each in arguments_of(verb) if each.name not in extra] if verb else []
    names = [each.name for each in of_verb]
    of_source = inspect.signature(arguments.Source).parameters
    dialect = DIALECT if "source" in names else ()
    shaping = SETTINGS.get(name, SIGNING) if "settings" in names else ()
    every = (*keywords, *_name_places(of_verb), *map(of_source.__getitem__, dialect))
    wanted = {_find_key(name, each.name): each for each in every}
    of_settings = Settings.__annotations__
    wanted |= {_find_key("settings", each): _optional(each, of_settings[each]) for each in shaping}
    first = [_find_key(name, each) for each in FIRST.get(name, "").split()]
    keys = sorted(dict.fromkeys([*first, *BY_NAME]), key=lambda key: BY_NAME[key][0] != ARGUMENTS)
    params = {
        wanted[key].name: (
            OTHER if key in first else BY_NAME[key][0],
            _make_parameter(key, wanted[key]),
        )
        for key in keys
        if key in wanted
    }

    def call(**typed: Any) -> None:
        def pick(names: Iterable[str]) -> dict[str, Any]:
            return {each: typed[each] for each in names}

        _check_files([param for _, param in params.values()], typed)
        of_library = (each for each in names if each in params and each != "collection")
        parsed = ParsedOptions(pick(of_library))
        parsed.address, parsed.collection = typed.get("address"), typed.get("collection")
        parsed.dialect = pick(each for each in dialect if each in params)
        if dialect and parsed["source"]:
            parsed.paths = parsed["source"]
            parsed["source"] = parsed.make_source(parsed.paths)
        if shaping:
            parsed["settings"] = choose_settings(**pick(shaping))
        try:
            code = function(parsed, **pick(extra))
        except CoreMissing as error:
            _suggest_names(error, parsed, may_create=verb in ("index", "gate"))
            raise
        if code:
            raise click.exceptions.Exit(code)

    listed = [param for _, param in params.values()]
    made = Command(name, callback=call, params=listed, help=inspect.getdoc(function))
    made.verb = verb
    made.headings = {each: heading for each, (heading, _) in params.items()}
    return made


def _check_files(params: Iterable[click.Parameter], typed: Mapping[str, Any]) -> None:
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


def _suggest_names(error: CoreMissing, parsed: ParsedOptions, *, may_create: bool) -> None:
    """Name in an error the collections that may be meant, if their server tells of them."""
    from neardup_solr.solr import admin

    try:
        names = sorted(admin.names(parsed.connect()))
    except NeardupError:
        return
    if near := nearest(error.name, names):
        create = error.next_step.removeprefix("check the name, or ")
        meant = f"did you mean {near[0]!r}?"
        error.next_step = f"{meant} If not, {create}" if may_create else meant
    elif names and not may_create:
        error.next_step = f"available: {', '.join(names[:MOST_NAMES])}"


def _find_key(command: str, name: str) -> str:
    """Return the key of an option in the table."""
    key = f"{command}.{name}"
    return key if key in BY_NAME else name


def _optional(name: str, annotation: str = "str | None") -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _name_places(arguments: Iterable[Parameter]) -> Iterator[Parameter]:
    """Give the arguments, those of a collection as its address and name, which may be left out."""
    for argument in arguments:
        # A source, or a collection.
        is_any = argument.name == "source" and argument.annotation != "SourceLike"
        if is_any:
            yield argument.replace(default=None)
        elif argument.name != "collection":
            yield argument
        if is_any or argument.name == "collection":
            yield from (_optional("address"), _optional("collection"))


def _make_parameter(key: str, argument: Parameter) -> click.Parameter:
    """Make the parameter of an argument, by its annotation and its text."""
    heading, text = BY_NAME[key]
    words = re.findall(r"\w+", argument.annotation)
    kind, metavar = _choose_type(words)
    if stated := _METAVAR.match(text):
        metavar, text = stated.groups()
    has_several = bool({"Sequence", "OneOrMore"} & {*words}) and "tuple" not in words
    is_several = argument.name == "source" or has_several  # pairs of ids come in one file
    is_required = argument.default is argument.empty
    default = None if is_required else argument.default
    if is_several and default is not None:
        default = (default,) if isinstance(default, str) else tuple(default)

    def read(ctx: click.Context, param: click.Parameter, typed: Any) -> Any:
        if argument.name == "source":
            return list(typed) or None
        if metavar in PARTED and (is_several or typed == ""):
            try:
                typed = split_names(typed if is_several else [typed])
            except ArgumentError as error:
                raise click.BadParameter(str(error), ctx, param) from None
        if argument.name in QUERIES and typed is not None:
            check_queries(argument.name, typed)
        return (typed or default) if is_several else typed

    attributes: dict[str, Any] = {"callback": read, "type": kind, "required": is_required}
    if heading == ARGUMENTS:
        several = -1 if is_several else 1
        placed = Placed([argument.name], nargs=several, metavar=stated and metavar, **attributes)
        placed.text = text
        return placed
    attributes |= {"help": text, "show_default": True}
    if not is_required:
        attributes["default"] = default
    names = [argument.name, *_spell_flags(key)]
    if words[0] == "bool":
        return click.Option(names, **attributes | {"type": None, "is_flag": True})
    return click.Option(names, multiple=is_several, metavar=metavar, **attributes)


def _spell_flags(key: str) -> list[str]:
    """Return the flags of an option in the table."""
    name = key.rpartition(".")[2]
    return (FLAGS.get(key) or FLAGS.get(name) or f"--{name.replace('_', '-')}").split()


def _choose_type(words: Sequence[str]) -> tuple[click.ParamType[Any] | type, str | None]:
    """Choose what the parser makes of a word that is typed, and what the help calls it."""
    choices = (getattr(arguments, word, None) for word in words)
    choice = next((each for each in choices if get_origin(each) is Literal), None)
    if choice is not None:
        return ChoiceType(get_args(choice)), None
    if "Path" in words and "Collection" not in words:  # whose address is no path
        return FilePath(path_type=Path), "FILE"
    return NUMBERS.get(words[0], (str, None)) if "str" not in words else (str, None)


def repeat_options(heading: str) -> list[str]:
    """Spell the options under a heading that the command was given, to be typed again."""
    context = click.get_current_context()
    words: list[str] = []
    for param in context.command.params:
        name, flag = param.name or "", param.opts[0]
        source = context.get_parameter_source(name)
        if name in TEXTS[heading] and source is ParameterSource.COMMANDLINE:
            value = context.params[name]
            typed = join_names(value) if isinstance(value, tuple) else str(value)
            words += [flag] if value is True else [flag, typed]
    return words


def choose_columns(parsed: ParsedOptions, *, by_fields: bool = True) -> list[str]:
    """Add the columns of a source without a text to what was typed, and say which.

    `against` is replaced by what it names. Return the options that would ask for these columns.
    """
    from neardup_solr.sources import choice
    from neardup_solr.verbs.duplicates.read import check_values

    check_values(parsed)  # or the data would be blamed
    _choose_other_side(parsed)
    chosen = choice.choose_columns(parsed, by_fields=by_fields) if parsed.paths else None
    if chosen is None:
        return []
    parsed.update(chosen.arguments)
    parsed.beside = chosen.beside
    flags = {"id": "--id-field", "text": "--text-field", "fields": "--field"}
    words: list[str] = []
    for name, value in chosen.arguments.items():
        for column in [value] if isinstance(value, str) else value:
            words += [flags[name], column if name == "id" else join_names([column])]
    for line in chosen.lines(lambda _: shlex.join(words)):
        show.say(show.printable(line))
    return words


def spell_settings(settings: Settings, names: Sequence[str]) -> list[str]:
    """Spell the options that ask for these settings, if they are not the usual ones."""
    usual = Settings()
    changed = [name for name in names if getattr(settings, name) != getattr(usual, name)]
    return [
        word for name in changed for word in (_spell_flags(name)[0], str(getattr(settings, name)))
    ]


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
    from neardup_solr.solr.collection import Collection, waiting
    from neardup_solr.solr.core import Endpoint
    from neardup_solr.verbs.connect import ADDRESS

    create = create and not (address or os.environ.get(ADDRESS))

    def open_endpoint() -> Endpoint:
        opened = nd.connect(address, name, create=create, patience=patience, on_started=show.say)
        if check is not None:
            with waiting([opened], patience):
                check(opened)
        return opened.endpoint

    return Collection(open_endpoint)


def _choose_other_side(parsed: ParsedOptions) -> None:
    """Replace `against`: by an existing file or folder, or the collection of an address or name."""
    against, solr = parsed.get("against"), parsed.address
    if against is None:
        return
    patience = parsed.get("patience", 0)
    if "://" in against:
        parsed["against"] = connect(against, None, patience=patience)
    elif Path(against).exists() or "/" in against or "." in against:
        parsed["against"] = parsed.make_source(against)
    elif has_no_solr(solr):
        raise nd.SourceError(against, "there is no such file or folder", "check the path")
    else:

        def require_fields(collection: Collection) -> None:
            try:
                collection.require_fields(())
            except CoreMissing:
                reason = "there is no such file or folder, and no collection with that name"
                raise nd.SourceError(against, reason, "check the path, or the name") from None

        parsed["against"] = connect(solr, against, patience=patience, check=require_fields)


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


def choose_format(format: str | None) -> str | None:
    """Choose the format of rows to print, None for a table."""
    if format is None:
        return None if sys.stdout.isatty() else "tsv"
    return None if format == "table" else format


def confirm(question: str, *, unasked: str, declined: str) -> None:
    """Ask at a terminal, and exit if `declined`, or refuse, as `unasked`, without one."""
    if not sys.stdin.isatty():
        show.warn(f"neardup: {unasked}")
        raise click.exceptions.Exit(REFUSED)
    if not click.confirm(question, err=True):
        show.say(declined)
        raise click.exceptions.Exit(REFUSED)
