"""The scripts of the checkout: the Python and the environment that they take."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"
FOUND = 'source "$SCRIPTS/setup" && echo "$PYTHON and $*"'

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the scripts are for a Unix shell")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with no Python of pyenv, and a folder for commands that is first on the PATH."""
    commands = tmp_path / "commands"
    commands.mkdir()
    monkeypatch.setenv("SCRIPTS", str(SCRIPTS))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def command(path: Path, body: str) -> None:
    """Make a command of one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def bash(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    """What a bash script did with some words."""
    return subprocess.run(
        ["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=False
    )


def test_a_python_on_the_path_is_taken(folder: Path) -> None:
    """--python 3.77 is python3.77, if there is one, and the other words are the script's own."""
    command(folder / "commands" / "python3.77", "exit 0")
    assert bash(FOUND, "--python", "3.77", "-k", "x").stdout == "python3.77 and -k x\n"


def test_else_the_python_of_pyenv_is_taken(folder: Path) -> None:
    """A command on the PATH that does not run, as pyenv leaves there, is passed over."""
    command(folder / "commands" / "python3.77", "exit 127")
    kept = folder / "pyenv" / "versions" / "3.77.1" / "bin" / "python"
    command(kept, "exit 0")
    assert bash(FOUND, "--python", "3.77").stdout == f"{kept} and \n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--python", "3.77"), 1, "There is no Python 3.77"),
        (("--python", "newest"), 2, "--python takes a version such as 3.12"),
        (("--python",), 2, "--python takes a version such as 3.12"),
    ],
)
@pytest.mark.parametrize("script", ["demo", "test", "check", "build"])
def test_a_python_that_is_not_there(
    folder: Path, script: str, words: tuple[str, ...], code: int, said: str
) -> None:
    """It ends with what to do, before anything is set up."""
    ended = bash(str(SCRIPTS / script) + ' "$@"', *words)
    assert ended.returncode == code
    assert ended.stderr.startswith(said)
    assert ended.stdout == ""


def test_an_old_python_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python before 3.11 sets up nothing, and how to name another is said."""
    command(folder / "commands" / "old", "exit 1")
    monkeypatch.setenv("PYTHON", "old")
    ended = bash('"$SCRIPTS/demo"')
    assert ended.returncode == 1
    assert "Python 3.11 or newer is needed" in ended.stderr
    assert "demo --python 3.12" in ended.stderr


def test_the_checks_run_in_the_environment_of_a_newcomer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that sets Python up otherwise reaches scripts/test, the way to the network does."""
    command(folder / "scripts" / "test", "env; echo words: $*")
    runner = folder / ".ci" / "run"
    runner.parent.mkdir()
    shutil.copy(SCRIPTS.parent / ".ci" / "run", runner)
    for name in ("PYTHONUNBUFFERED", "NUMBA_CACHE_DIR", "https_proxy", "PIP_CERT"):
        monkeypatch.setenv(name, "x y")
    ran = subprocess.run([runner, "-k", "a"], capture_output=True, text=True, check=True)
    given = ran.stdout.splitlines()
    assert {"https_proxy=x y", "PIP_CERT=x y", f"HOME={Path.home()}", "words: -k a"} <= {*given}
    assert not [line for line in given if line.startswith(("PYTHON", "NUMBA"))]
    both = subprocess.run([runner], capture_output=True, text=True, check=True).stdout
    assert [line for line in both.splitlines() if line.startswith("words:")] == [
        "words:", "words: --rest"
    ]  # fmt: skip
