"""Write the reference of commands and library to docs/reference/: python -m website.reference.

It is committed, and a test compares it with the code.
"""

from __future__ import annotations

from website import ROOT, commands, library

MADE = "<!-- Made from the code by `python -m website.reference`: change that, not this. -->"


def pages() -> dict[str, str]:
    """The pages of the reference by their names in docs/."""
    made = {"commands": commands.page(), **library.pages()}
    marked = {name: text.replace("\n\n", f"\n\n{MADE}\n\n", 1) for name, text in made.items()}
    return {f"reference/{name}.md": text for name, text in marked.items()}


def main() -> None:
    """Write the pages, and take away those that are not made any more."""
    folder = ROOT / "docs"
    made = pages()
    for old in (folder / "reference").glob("*.md"):
        if f"reference/{old.name}" not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
