"""Reports: tables in all formats, the page, and copies of records of a source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from neardup_solr.errors import SettingsError, SourceError
from neardup_solr.sources.part import NEEDS_FORMATS

Added: TypeAlias = Mapping[str, str | float | None]
# Takes records of the source, or None, and what is written beside the columns of each.
Add: TypeAlias = Callable[[Sequence[Any], Added], None]
# The columns beside those of the source, and what they hold.
Beside: TypeAlias = Mapping[str, type[str | float | int]]


def require_library(path: Path, format: str, library: str) -> None:
    """Refuse to write a file in a format without its library, by SourceError."""
    if find_spec(library) is None:
        reason = f"{format} needs the library {library}"
        raise SourceError(str(path), reason, NEEDS_FORMATS, code="package-missing")


def load_library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        reason = f"{name} is not installed"
        raise SettingsError(reason, f"pip install {name}", code="package-missing") from None
