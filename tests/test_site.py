"""The site: built without a warning, with everything of the commands and of the library in it."""

from __future__ import annotations

import html
import inspect
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import neardup_solr as nd
from tests import ROOT
from website import __main__ as website
from website import commands, curve, library, reference, sources, tour

COMMANDS = commands.commands()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `scripts/docs` builds it."""
    folder = tmp_path_factory.mktemp("docs")
    assert website.build(folder / "pages", folder / "site") == 0
    return folder / "site"


def section(page: str, title: str) -> str:
    """The part of a page of the reference that has this heading."""
    text = (ROOT / "docs" / "reference" / f"{page}.md").read_text("utf-8")
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_is_in_the_reference_with_all_its_options(words: str) -> None:
    """Its arguments, and each spelling of its options, stand there as code."""
    parameters = [p for p in COMMANDS[words].params if "--help" not in p.opts]
    options = {o for p in parameters if p.param_type_name == "option" for o in p.opts}
    arguments = {p.human_readable_name for p in parameters if p.param_type_name == "argument"}
    coded = set(re.findall(r"`(.+?)`", section("commands", f"neardup {words}")))
    assert options | arguments <= coded


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_has_a_section_with_an_example(words: str) -> None:
    """docs/commands.md has its name as a heading, and below it the command in use."""
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    text = page.partition(f"\n## neardup {words}\n")[2].partition("\n## ")[0]
    assert f"$ neardup {words}" in text or f" neardup {words}\n" in text


def test_every_command_is_in_the_list_of_commands() -> None:
    """Each has its line there, under one of the headings of `neardup --help`."""
    listed = re.findall(r"^\| \[`neardup ([a-z -]+)`\]", commands.page(), re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


def test_every_section_is_that_of_a_command() -> None:
    """docs/commands.md has no section of a command which is gone."""
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    assert sorted(re.findall(r"^## neardup (.+)$", page, re.MULTILINE)) == sorted(COMMANDS)


def told(name: str) -> str:
    """What the reference has about a public name."""
    return section(library.group_of(name), name)


@pytest.mark.parametrize("page", reference.pages())
def test_the_reference_is_that_of_the_code(page: str) -> None:
    """The committed pages are what their docstrings and signatures make."""
    path = ROOT / "docs" / page
    written = path.read_text("utf-8") if path.is_file() else ""
    assert written == reference.pages()[page], "run: .venv/bin/python -m website.reference"


@pytest.mark.parametrize("page", reference.pages())
def test_markdown_takes_no_star_of_the_reference_for_emphasis(page: str) -> None:
    """A query such as "*:*" is shown whole: only **Raises** is emphasised."""
    shown = MarkdownIt().render(reference.pages()[page])
    assert "<em>" not in shown
    assert set(re.findall("<strong>(.*?)</strong>", shown)) <= {"Raises"}


def test_every_page_of_the_reference_is_made() -> None:
    """docs/reference has no page of a group that is gone."""
    pages = {f"reference/{path.name}" for path in (ROOT / "docs" / "reference").iterdir()}
    assert pages == set(reference.pages())


@pytest.mark.parametrize("name", nd.__all__)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    """With all its parameters: in its table, or in that of a function or a base that it names."""
    assert inspect.cleandoc(getattr(nd, name).__doc__).partition(" ")[0] in told(name)
    shared = re.findall(r"As in \[`(\w+)`\]\(.*?\): (.*?)\.", told(name))
    bases = {base.__name__ for base in getattr(library.ERRORS.get(name), "__mro__", ())}
    for parameter in library.parameters_of(getattr(nd, name)):
        others = [other for other, names in shared if f"`{parameter.name}`" in names.split(", ")]
        row = re.compile(rf"\n\| `{parameter.name}(=.*?)?` \| ")
        places = {name, *others, *bases} & library.PUBLIC.keys()
        assert any(row.search(told(place)) for place in places), parameter.name


@pytest.mark.parametrize("name", [n for n in nd.__all__ if inspect.isfunction(getattr(nd, n))])
def test_functions_say_what_they_raise(name: str) -> None:
    """The reference has an entry for it in each function's text."""
    assert "**Raises**" in told(name)


def test_parameters_of_functions_are_all_of_them() -> None:
    """What the reference calls the parameters of a function is what Python calls them."""
    for name in nd.__all__:
        what = getattr(nd, name)
        if inspect.isfunction(what):
            theirs = [n for n in inspect.signature(what).parameters if not n.startswith("_")]
            assert [p.name for p in library.parameters_of(what)] == theirs


@pytest.mark.parametrize(
    "broken", ["[a](gone.md)", "[a](#gone)", "[a](index.md#gone)", "![a](b.png)"]
)
def test_a_broken_link_fails_the_build(tmp_path: Path, broken: str) -> None:
    """A page, a heading or a picture that is not there is an error."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.md").write_text(f"# Here\n\n{broken}\n", "utf-8")
    assert website.html(tmp_path / "pages", tmp_path / "site") != 0


def test_what_is_written_by_hand_is_on_the_site(site: Path) -> None:
    """Each Markdown file of docs/ and of benchmarks/ became a page."""
    for folder in ("docs", "benchmarks"):
        for path in (ROOT / folder).rglob("*.md"):
            assert (site / sources.place(path)).with_suffix(".html").is_file(), path


def test_pages_that_moved_lead_to_their_successors(site: Path) -> None:
    """Each earlier address has a page that redirects to a heading of a page of the site."""
    moved = [f"commands/{commands.page_name(words)}" for words in COMMANDS]
    for page in (*moved, *sources.MOVED):
        path = site / f"{page}.html"
        target, _, heading = re.findall(r"url=(.+)\"", path.read_text("utf-8"))[0].partition("#")
        text = (path.parent / target).read_text("utf-8")
        assert not heading or f'id="{heading}"' in text, page


def test_the_curve_is_that_of_the_default_settings() -> None:
    """The picture of docs/concepts.md is drawn anew when bands or rows change."""
    assert curve.PICTURE.read_text("utf-8") == curve.draw(), "python -m website.curve"


def test_the_tour_shows_what_its_page_shows() -> None:
    """Whatever the page prints, which runs as an example, is in the picture."""
    picture = " ".join(re.findall(r"<text[^>]*>(.*?)</text>", tour.PICTURE.read_text("utf-8")))
    for block in re.findall(r"```console\n(.*?)```", tour.PAGE.read_text("utf-8"), re.DOTALL):
        for line in block.splitlines():
            for part in line.split("..."):
                assert html.escape(" ".join(part.split())) in " ".join(picture.split()), line
