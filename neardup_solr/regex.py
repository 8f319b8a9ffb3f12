"""Regular expressions that are compiled when they are first used: a command uses one in eight."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Regex:
    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments

    def __getattr__(self, name: str) -> Any:
        """Compile, and keep the methods, so that they are called as fast as those of a pattern."""
        compiled = re.compile(*self._arguments)
        for each in dir(compiled):
            if not each.startswith("_"):
                setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Make a pattern, as `re.compile`, which finds an error in it only when it is used."""
    return cast("re.Pattern[AnyStr]", _Regex(pattern, flags))
