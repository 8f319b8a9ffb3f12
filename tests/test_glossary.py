"""The glossary of docs/design.md: a word has one meaning, and its home has its name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "neardup_solr"
ROW = re.compile(r"^\| ([a-z ]+) \| (.+) \| `([\w/.]+)`(?: `(\w+)`)? \|$", re.MULTILINE)
PAGE = (ROOT / "docs" / "design.md").read_text("utf-8")
WORDS = ROW.findall(PAGE[PAGE.index("## Glossary") : PAGE.index("## Three paths")])
RETIRED = re.compile(r"(?:Face|Desk|Lane|Ledger|Keeper|Input|Memory)(?![a-z])")


def classes_of(path: Path) -> set[str]:
    """The classes of a module."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.ClassDef)}


def test_the_glossary_is_whole() -> None:
    """It has the words that a reader needs, each once."""
    words = [word for word, *_ in WORDS]
    assert len(words) == len(set(words)) >= 40
    meanings = [meaning for _, meaning, *_ in WORDS]
    assert len(meanings) == len(set(meanings))


@pytest.mark.parametrize(("word", "meaning", "home", "name"), WORDS, ids=[w[0] for w in WORDS])
def test_a_word_has_its_home(word: str, meaning: str, home: str, name: str) -> None:
    """The module is there, tells of the word, and has the class."""
    text = (PACKAGE / home).read_text("utf-8")
    assert re.search(rf"\b{word.split()[0]}", text, re.IGNORECASE), (
        f"{home} does not tell of {word}"
    )
    assert not name or name in classes_of(PACKAGE / home)


def test_no_class_has_a_name_that_says_less() -> None:
    """The words that were used before the glossary do not come back."""
    names = {name for path in PACKAGE.rglob("*.py") for name in classes_of(path)}
    assert {name for name in names if RETIRED.search(name)} == set()
