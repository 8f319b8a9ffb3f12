"""The documentation as a site: `scripts/docs` builds it.

`reference` writes docs/reference/ from the code, by `commands` and `library`; `sources` puts the
Markdown pages together; Sphinx makes HTML of them, as `conf` says.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"


def escape_stars(text: str) -> str:
    """Escape stars, which Markdown takes for emphasis, in a text but for its code."""
    return re.sub(r"`[^`]*`|\*", lambda part: r"\*" if part[0] == "*" else part[0], text)
