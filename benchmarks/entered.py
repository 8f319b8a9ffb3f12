"""How many files of the package a reader goes through who follows a command.

    python benchmarks/entered.py [CHECKOUT]

A file is entered if one of its functions is called after the imports: by `search` and by `index`
until the request that does their work goes out to Solr, by `duplicates FILE` until its end. Of
another checkout the commands are run by its own `.venv`, if it has one, so that two versions can
be compared. The Solr that they talk to is this version's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from lib.solr import running_solr

import neardup_solr as nd
from neardup_solr import demo
from neardup_solr.testing import fresh_core

PACKAGE = "neardup_solr"
HERE = Path(__file__).parents[1]
# The command, and what its own request holds: for search the order, for index documents.
COMMANDS = {
    ("search", "--id", "lantern-003"): '"score desc',
    ("index", str(demo.listings())): '"content_bands":[',
    ("duplicates", str(demo.listings())): "",
}
# Runs in a process of its own: the package's folder, the part of a request that ends the count,
# and the words of the command are its arguments.
TRACED = """
import os, runpy, sys, threading

folder, last = os.path.join(sys.argv[1], ""), sys.argv[2].encode()
entered, is_on = {}, True
FUNCTION = 1  # CO_OPTIMIZED: no module and no body of a class

def is_imported(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False

def called(frame, event, _):
    global is_on
    if event != "call" or not is_on:
        return
    code = frame.f_code
    if code.co_name == "send" and code.co_filename.endswith("sessions.py") and last:
        is_on = last not in (frame.f_locals["request"].body or b"")
    elif code.co_filename.startswith(folder) and code.co_flags & FUNCTION:
        path = code.co_filename.removeprefix(folder)
        if path not in entered and not is_imported(frame.f_back):
            entered[path] = code.co_name

sys.argv[1:] = sys.argv[3:]
sys.path.insert(0, os.path.dirname(folder.rstrip(os.sep)))
out, sys.stdout = sys.stdout, sys.stderr
threading.setprofile(called)
sys.setprofile(called)
try:
    runpy.run_module("neardup_solr", run_name="__main__")
finally:
    sys.setprofile(None)
    assert not (last and is_on), "the command's own request was not seen"
    print(*entered, sep=chr(10), file=out)
"""


def main() -> None:
    """Count and print the files of each command."""
    parser = argparse.ArgumentParser(description="files of the package that a command enters")
    parser.add_argument("checkout", type=Path, nargs="?", default=HERE)
    checkout = parser.parse_args().checkout.resolve()
    with running_solr() as base, fresh_core(base) as solr:
        nd.index(demo.listings(), solr)
        for words, last in COMMANDS.items():
            files = entered(checkout, words, last, solr.url)
            print(f"{words[0]}: {len(files)} files", *files, sep="\n  ", end="\n\n")


def entered(checkout: Path, words: tuple[str, ...], last: str, solr: str) -> list[str]:
    """The files of a checkout's package that a command enters, in order."""
    own = checkout / ".venv" / "bin" / "python"
    python = str(own) if own.exists() else sys.executable
    done = subprocess.run(
        [python, "-c", TRACED, str(checkout / PACKAGE), last, *words],
        env=os.environ | {"NEARDUP_SOLR_URL": solr},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.split()


if __name__ == "__main__":
    main()
