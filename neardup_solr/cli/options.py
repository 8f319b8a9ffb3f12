"""The options of the commands: their types and defaults from the library's functions.

The verb of a command is the function `nd.<verb>`. Each of its arguments that the table of texts has
is an option of that name, and so is each keyword of the command's own function.
"""

from __future__ import annotations

import inspect
import io
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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click
from click.core import ParameterSource

import neardup_solr as nd
from neardup_solr import arguments
from neardup_solr.arguments import DIALECT, GONE
from neardup_solr.cli import show
from neardup_solr.cli.texts import ARGUMENTS, FLAGS, OTHER, SELDOM, TEXTS
from neardup_solr.errors import CoreMissing, NeardupError, without_password
from neardup_solr.settings import OPTIONAL_FIELDS, Settings, require_possible

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection

Function = Callable[..., int]  # of a command; it returns the exit code

# The options of the argument `settings`. Signatures know nothing of fields in Solr, and `tune` is
# asked for bands and rows.
SIGNING = ("kind", "shingle_size", "language", "family", "hashes", "bands", "rows")
SETTINGS = {
    "annotate": ("fields", *SIGNING, "measure"),
    "index": ("fields", *SIGNING, "measure"),
    "tune": ("kind", "shingle_size", "language", "family"),
}
PARTED = ("COLUMN", "FIELD")  # metavars of names that may be separated by commas
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
        raise LookupError(f"no function {verb} in the module that it is imported from")
    constants = re.findall(r'^([A-Z_]+) = (\d[\d_.]*|"[^"\n]*"|None)\b', source, re.MULTILINE)
    names = vars(arguments) | {name: literal_eval(value) for name, value in constants}
    exec(f"from __future__ import annotations\n{header[0]}None: ...", names)
    return tuple(inspect.signature(names[verb]).parameters.values())


class ParsedOptions(dict[str, Any]):
    """What was typed, as arguments of the verb, and the collection that it names."""

    address: str | None = None
    collection: str | None = None
    paths: Sequence[str] = ()  # of the source
    dialect: Mapping[str, Any]  # of all files that are read

    def connect(self, **asked: Any) -> Collection:
        """Return the collection, which waits for a Solr that is away as long as `patience` says."""
        return connect(self.address, self.collection, patience=self.get("patience", 0), **asked)

    def make_source(self, path: str | Sequence[str]) -> arguments.Source:
        """Make the Source of a file, or of several, all of them written as the options say."""
        return arguments.Source(path, **self.dialect)

    def require_source(self, name: str) -> None:
        """Refuse settings without a source: a collection has its own."""
        if self["settings"] and not self.paths:
            asked = ", ".join(self["settings"])
            raise click.BadParameter(f"a collection has its own {asked}: name a {name}")


class Command(click.Command):
    """A command whose help lists its options under headings.

    In plain text, as rich takes longer to load than most commands to run.
    """

    headings: Mapping[str, str]  # of its parameters, by name
    verb: str | None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what was typed, and show no password of an address among it in an error."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            said = without_password(error.format_message())
            name = error.option_name if isinstance(error, click.NoSuchOption) else ""
            if step := self._step_for(name):
                said = f"No such option '{name}'; {step}"
            elif name in ("--threshold", "--similarity") and "min_similarity" in self.headings:
                said = f"No such option '{name}'. Did you mean '--min-similarity'?"
            raise click.UsageError(said, ctx) from None

    def _step_for(self, option: str) -> str:
        """Say what to do instead of an option that is no more, or an argument in Python alone."""
        argument = option[2:].replace("-", "_")
        step = GONE.get(f"{self.name}.{option[2:]}") or GONE.get(option, "")
        is_of_verb = self.verb and argument in [each.name for each in arguments_of(self.verb)]
        return step or (f"nd.{self.verb}(..., {argument}=...) takes it" if is_of_verb else "")

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """List the parameters, with --help-all if --help leaves some out."""
        params = super().get_params(ctx)
        has_more = any(param.name in SELDOM and not param.required for param in params)
        return [*params[:-1], HELP_ALL, params[-1]] if has_more else params

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments and options, by heading."""
        every = self.get_params(ctx)
        if not ctx.meta.get(HELP_ALL.name):
            every = [param for param in every if param.required or param.name not in SELDOM]
        for heading in TEXTS:
            params = [param for param in every if self.heading(param) == heading]
            records = [
                (param.make_metavar(ctx), param.text)
                if isinstance(param, Placed)
                else param.get_help_record(ctx)
                for param in params
            ]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(list(filter(None, records)))

    def spell(self) -> dict[str, str]:
        """Spell each argument of the library as it is typed, or by its name if none is."""
        verbs = ["connect", self.verb] if self.verb else ["connect"]
        spelled = {param.name: param.name for verb in verbs for param in arguments_of(verb)}
        return spelled | {
            param.name or "": param.human_readable_name
            if isinstance(param, Placed)
            else param.opts[0]
            for param in self.params
        }

    def heading(self, param: click.Parameter) -> str:
        """Return the heading of a parameter in the help."""
        return self.headings.get(param.name or "", OTHER)


def _print_all_help(ctx: click.Context, param: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        ctx.meta[HELP_ALL.name or ""] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_print_all_help,
    help="Show all options and exit.",
)  # fmt: skip


class Placed(click.Argument):
    """An argument without a flag, and what help tells about it."""

    text = ""


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
    wanted |= {
        _find_key("settings", each): _optional(each, Settings.__annotations__[each])
        for each in shaping
    }
    params = {
        wanted[key].name: (heading, _make_parameter(key, wanted[key]))
        for key, (heading, _) in BY_NAME.items()
        if key in wanted
    }

    def call(**typed: Any) -> None:
        def pick(names: Iterable[str]) -> dict[str, Any]:
            return {each: typed[each] for each in names}

        parsed = ParsedOptions(
            pick(each for each in names if each in params and each != "collection")
        )
        parsed.address, parsed.collection = typed.get("address"), typed.get("collection")
        parsed.dialect = pick(dialect)
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

    made = Command(
        name,
        callback=call,
        params=[param for _, param in params.values()],
        help=inspect.getdoc(function),
    )
    made.verb = verb
    made.headings = {each: heading for each, (heading, _) in params.items()}
    return made


def _suggest_names(error: CoreMissing, parsed: ParsedOptions, *, may_create: bool) -> None:
    """Name in an error the collections that may be meant, if their server tells of them."""
    from difflib import get_close_matches

    from neardup_solr.solr import admin

    try:
        names = sorted(admin.names(parsed.connect()))
    except NeardupError:
        return
    if near := get_close_matches(error.name, names, n=1):
        create = error.next_step.removeprefix("check the name, or ")
        meant = f"did you mean {near[0]!r}?"
        error.next_step = f"{meant} If not, {create}" if may_create else meant
    elif names and not may_create:
        error.next_step = f"those there are: {', '.join(names[:MOST_NAMES])}"


def _find_key(command: str, name: str) -> str:
    """Return the key of an option in the table."""
    own = f"{command}.{name}"
    return own if own in BY_NAME else name


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
        if is_several:
            return (split_names(typed) if metavar in PARTED else typed) or default
        return typed

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
        return click.Choice(get_args(choice)), None
    if "Path" in words and "Collection" not in words:  # whose address is no path
        return click.Path(path_type=Path), "FILE"
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

    Return the options that would ask for them.
    """
    from neardup_solr.verbs import columns

    chosen = columns.choose_columns(parsed, by_fields=by_fields) if parsed.paths else None
    if chosen is None:
        return []
    parsed.update(chosen.arguments)
    flags = {"id": "--id-field", "text": "--text-field", "fields": "--field"}
    words: list[str] = []
    for name, value in chosen.arguments.items():
        for one in [value] if isinstance(value, str) else value:
            words += [flags[name], one if name == "id" else join_names([one])]
    for line in chosen.lines(lambda _: shlex.join(words)):
        show.say(show.printable(line))
    return words


def spell_settings(settings: Settings, names: Sequence[str]) -> list[str]:
    """Spell the options that ask for these settings, if they are not the usual ones."""
    usual = Settings()
    changed = [name for name in names if getattr(settings, name) != getattr(usual, name)]
    words: list[str] = []
    for name in changed:
        value = getattr(settings, name)
        if name == "fields":
            value = ",".join(one for one in OPTIONAL_FIELDS if one in value)
        words += [_spell_flags(name)[0], str(value)]
    return words


def split_names(typed: Iterable[str]) -> tuple[str, ...]:
    """Split names that were given one by one, or as a line of CSV: those with a comma in quotes."""
    import csv

    try:
        rows = [row for each in typed for row in csv.reader([each], strict=True)]
    except csv.Error:
        reason = "a name with a comma or a quote is written as in CSV"
        raise click.BadParameter(f"""{reason}, such as '"Surname, name",city'""") from None
    return tuple(name.strip() for row in rows for name in row if name.strip())


def join_names(names: Iterable[str]) -> str:
    """Join names to what `split_names` splits."""
    import csv

    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def connect(
    address: str | None,
    name: str | None,
    *,
    create: bool = False,
    patience: float | str = 0,
    check: Callable[[Collection], None] | None = None,
) -> Collection:
    """Return the collection that the options name, opened as soon as it is asked for anything.

    So the library checks all other arguments before a Solr is asked, or started for nothing, of
    which a line tells. With `create`, a missing collection of the embedded Solr is created;
    `patience` is as for `nd.connect`; `check` may refuse the collection once it is open.
    """

    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.connect import ADDRESS

    create = create and not (address or os.environ.get(ADDRESS))
    names = {each.name for each in fields(Collection)}

    class Unopened(Collection):
        __slots__ = ()

        def __getattr__(self, field: str) -> Any:  # only of fields that are not set yet
            if field not in names:
                raise AttributeError(field)
            opened = nd.connect(
                address, name, create=create, patience=patience, on_started=show.say
            )
            if check is not None:
                check(opened)
            for each in names:
                object.__setattr__(self, each, getattr(opened, each))
            object.__setattr__(self, "__class__", Collection)
            return getattr(self, field)

    return object.__new__(Unopened)


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
        show.say(f"neardup: {unasked}")
        raise click.exceptions.Exit(2)
    if not click.confirm(question, err=True):
        show.say(declined)
        raise click.exceptions.Exit(1)
