"""The documentation as a site: `scripts/docs` builds it.

`sources` puts together the Markdown pages, those of docs/ and those that `commands` and `library`
write from the code; Sphinx makes HTML of them, as `conf` says.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
