"""What Sphinx needs to know."""

from __future__ import annotations

import sys
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[1]))

from neardup_solr import __version__

project = "neardup_solr"
version = release = __version__
copyright = ""
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_title = f"neardup_solr {release}"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path: list[str] = []
exclude_patterns: list[str] = []

extensions = ["myst_parser"]
# Links to headings are those of the usual code hosts: page.md#the-heading.
myst_heading_anchors = 4
# A signature that does not fit a line has one parameter a line.
maximum_signature_line_length = 60
python_display_short_literal_types = True
add_module_names = False
toc_object_entries = False  # headings name them already
# Each page is highlighted by what its fences say, and nothing else.
highlight_language = "text"
# What is quoted in docstrings is code.
smartquotes = False


def setup(app: Sphinx) -> None:
    """Blocks of parameters for Solr are plain text."""
    app.add_lexer("solr", TextLexer)
