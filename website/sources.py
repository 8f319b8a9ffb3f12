"""Put together the Markdown pages of the site: python -m website.sources FOLDER.

The pages of docs/ keep their names; the results of benchmarks/ and a few other files come to
them, and links are turned to where each page now is.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from website import ROOT, reference

# The parts of the navigation; commands and library list their own pages.
NAVIGATION = {
    "Guides": (
        "guides/tour", "guides/file", "guides/collection", "guides/own-solr",
        "guides/short-records",
        "guides/evening", "guides/new-documents", "guides/daily", "migrate",
    ),
    "Reference": (
        "commands", "library", "sources", "duplicates", "passages", "scanned", "measures",
        "clusters",
        "answers", "review", "unique", "merge", "report", "collapse", "gate", "serve", "clients",
        "annotate", "explain", "tuning", "parameters", "fields", "operations", "security",
        "versions", "reliability",
    ),
    "Further": (
        "concepts", "cloud", "spark", "interoperability", "design",
    ),
    "Project": ("figures/index", "changes"),
}  # fmt: skip
# Pages that are gone, with the page and the heading that took their place.
MOVED = {
    "aligned": "measures#how-aligned-works",
    "environment": "operations#environment-variables",
    "native": "interoperability#solrs-minhash-filter",
    "results": "index#compared",
    "scale": "spark#how-far-one-machine-goes",
    "sql": "interoperability#find-candidates-in-sql",
}
COMMANDS = "reference/commands"
ELSEWHERE = {"CHANGELOG.md": "changes.md", "solr_config/README.md": "fields.md"}
LINK = re.compile(r"\[(?P<text>[^]]*)\]\((?P<target>[^)#\s]+)(?P<heading>#[^)\s]*)?\)")


def main() -> None:
    """Write all pages to a folder, where only those that have changed get a new date."""
    folder = Path(sys.argv[1])
    made = pages()
    for old in [path for path in folder.rglob("*") if path.is_file()]:
        if str(old.relative_to(folder)) not in made:
            old.unlink()
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, Path):
            shutil.copyfile(text, path)
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def pages() -> dict[str, str | Path]:
    """Every file of the site by its name there: the text of a page, or the file to copy."""
    by_hand = {place(path): _linked(path) for path in _sources()}
    found: dict[str, str | Path] = {
        f"images/{path.name}": path for path in (ROOT / "docs" / "images").iterdir()
    }
    found |= {path.name: path for path in (ROOT / "docs").glob("*.ipynb")}
    found |= by_hand
    found["index.md"] = by_hand["index.md"] + _navigation()
    found["figures/index.md"] = by_hand["figures/index.md"] + _figures(list(by_hand))
    made = reference.pages()
    found["commands.md"] = by_hand["commands.md"] + _tree([COMMANDS])
    names = (name.removesuffix(".md") for name in made)
    found["library.md"] = by_hand["library.md"] + _tree(n for n in names if n != COMMANDS)
    return found | made


def place(path: Path) -> str:
    """The name of a file on the site, empty if it has none."""
    name = str(path.relative_to(ROOT))
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    if path.parent.name == "benchmarks" and path.suffix == ".md":
        return "figures/index.md" if path.stem == "README" else f"figures/{path.name}"
    return name.removeprefix("docs/") if name.startswith("docs/") else ""


def _sources() -> list[Path]:
    folders = (ROOT / "docs").rglob("*.md"), (ROOT / "benchmarks").glob("*.md")
    return sorted(
        [path for found in folders for path in found] + [ROOT / name for name in ELSEWHERE]
    )


def _linked(path: Path) -> str:
    """The text of a file whose links lead to other files of the checkout, turned to the site.

    A link that is called like the file gets the title of the page instead.
    """

    def turned(link: re.Match[str]) -> str:
        target = (path.parent / link["target"]).resolve()
        if "://" in link["target"] or not target.exists() or not target.is_relative_to(ROOT):
            return link[0]  # Sphinx tells what is missing
        there = place(target)
        if not there:
            raise SystemExit(f"{path.relative_to(ROOT)}: {link['target']} is no page of the site")
        text = _title(target) if link["text"].endswith(".md") else link["text"]
        leads = os.path.relpath(there, Path(place(path)).parent)
        return f"[{text}]({leads}{link['heading'] or ''})"

    return LINK.sub(turned, path.read_text(encoding="utf-8"))


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _navigation() -> str:
    trees = [("", ("Start here <self>",)), *NAVIGATION.items()]
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(names) + "\n```\n"
        if caption
        else "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
        for caption, names in trees
    )


def _figures(names: list[str]) -> str:
    found = [Path(name).stem for name in names if name.startswith("figures/")]
    return _tree(name for name in sorted(found) if name != "index")


def _tree(names: Iterable[str]) -> str:
    """The pages below a page in the navigation."""
    listed = "\n".join(names)
    return f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


if __name__ == "__main__":
    main()
