"""The documentation as a site: `scripts/docs` builds it.

`reference` writes docs/reference/ from the code, by `commands` and `library`; `sources` puts the
Markdown pages together; Sphinx makes HTML of them, as `conf` says.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
