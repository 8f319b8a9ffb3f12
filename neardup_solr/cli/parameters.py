"""The parameters of the parser: each of a row of the table and an argument of a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click

from neardup_solr.checks import QUERIES, check_queries, is_path, refuse_choice
from neardup_solr.comma_names import split_names
from neardup_solr.errors import ArgumentError, without_password
from neardup_solr.option_rows import find_row
from neardup_solr.option_table import PLACED, Option
from neardup_solr.regex import regex

PARTED = ("COLUMN", "FIELD", "NAME")  # what is typed for names that commas may separate
NUMBERS = {int: "N", float: "NUMBER"}
_PERCENT_OR_COMMA = regex(r"\s*(\d+)(?:[.,](\d+))?\s*(%?)\s*")
_NAME = regex(r"`(\w+)`")
_END_OF_SENTENCE = regex(r"(?= \[)|(?=\.(?: |$))")


class ChoiceType(click.Choice[str]):
    """A choice that is refused in the words of the library."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Say which choice was probably meant, and which there are."""
        return str(refuse_choice("", value, self.choices)).removeprefix("`` cannot be ")


class NumberType(click.types.FloatParamType):
    """A number with a point. Shares in percent, and decimal commas, are refused with what fits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Make the number, or refuse the text."""
        text = str(value)
        match = _PERCENT_OR_COMMA.fullmatch(text)
        if match and ("%" in text or "," in text):
            number = float(f"{match[1]}.{match[2] or 0}") / (100 if match[3] else 1)
            self.fail(f"it cannot be {text!r}; give {number:g}", param, ctx)
        return super().convert(value, param, ctx)


class FilePath(click.Path):
    """A file, which nothing and an address are not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Make the path, or refuse the text."""
        if isinstance(value, str) and not is_path(value):
            self.fail(f"it cannot be {without_password(value)!r}; give a path", param, ctx)
        return super().convert(value, param, ctx)


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


def spell_flags(scope: str, name: str) -> list[str]:
    """Return the flags of an option of a command."""
    return _list_flags(find_row(scope, name)[1], name)


def _list_flags(option: Option, name: str) -> list[str]:
    return option.flags.split() or [f"--{name.replace('_', '-')}"]


def spell_text(scope: str, text: str) -> str:
    """Put a text of the table in the words of a command: `against` is --against."""
    return _NAME.sub(lambda match: spell_flags(scope, match[1])[0], text)


def make_parameter(
    scope: str, argument: Parameter, hint: Any, heading: str, option: Option
) -> click.Parameter:
    """Make the parameter of an argument of a command, by its type, and its heading and row."""
    kinds = _list_kinds(hint)
    is_several = argument.name == "source" or (
        Sequence in kinds and tuple not in kinds  # pairs of ids come in one file
    )
    kind, takes = _choose_type(kinds)
    takes = option.takes or takes
    is_required = argument.default is argument.empty
    default = None if is_required else argument.default
    if is_several and default is not None:
        default = (default,) if isinstance(default, str) else tuple(default)

    def read(ctx: click.Context, param: click.Parameter, typed: Any) -> Any:
        if argument.name == "source":
            return list(typed) or None
        if takes in PARTED and (is_several or typed == ""):
            try:
                typed = split_names(typed if is_several else [typed])
            except ArgumentError as error:
                raise click.BadParameter(str(error), ctx, param) from None
        if argument.name in QUERIES and typed is not None:
            check_queries(argument.name, typed)
        return (typed or default) if is_several else typed

    attributes: dict[str, Any] = {"callback": read, "type": kind, "required": is_required}
    if heading == PLACED:
        several = -1 if is_several else 1
        placed = Placed([argument.name], nargs=several, metavar=option.takes or None, **attributes)
        placed.text = spell_text(scope, option.text)
        return placed
    text = spell_text(scope, _describe_repetition(option, takes) if is_several else option.text)
    attributes |= {"help": text, "show_default": True}
    if not is_required:
        attributes["default"] = default
    names = [argument.name, *_list_flags(option, argument.name)]
    if bool in kinds:
        return click.Option(names, **attributes | {"type": None, "is_flag": True})
    return click.Option(names, multiple=is_several, metavar=takes, **attributes)


def _describe_repetition(option: Option, takes: str | None) -> str:
    """Say in the first sentence of a text that the option can be repeated."""
    note = " (repeatable, or a,b)" if takes in PARTED else " (repeatable)"
    return _END_OF_SENTENCE.sub(note, option.text, count=1)


def _list_kinds(hint: Any) -> tuple[Any, ...]:
    """List the types that an annotation allows, and those in its sequences."""
    origin = get_origin(hint)
    if origin is Literal:
        return (hint,)
    inner = () if origin is Mapping else get_args(hint)
    return (origin or hint, *(kind for each in inner for kind in _list_kinds(each)))


def _choose_type(kinds: Sequence[Any]) -> tuple[click.ParamType[Any] | type, str | None]:
    """Choose what the parser makes of a word that is typed, and what help calls it."""
    choice = next((kind for kind in kinds if get_origin(kind) is Literal), None)
    if choice is not None:
        return ChoiceType(get_args(choice)), None
    if Path in kinds:
        return FilePath(path_type=Path), "FILE"
    number = next((kind for kind in kinds if kind in NUMBERS), None)
    if number is None or str in kinds:
        return str, None
    return NumberType() if number is float else number, NUMBERS[number]
