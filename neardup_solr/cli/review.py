"""The command review: questions about pairs in the browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.cli.duplicates import find_side
from neardup_solr.cli.options import ParsedOptions
from neardup_solr.files import private

REDIRECT = '<!DOCTYPE html><meta http-equiv="refresh" content="0; url={0}"><a href="{0}">{0}</a>'


def review(parsed: ParsedOptions) -> int:
    """Judge pairs in the browser, those first whose answer helps most."""
    parsed.require_source("SOURCE")
    if parsed["against"] is not None:
        parsed["against"] = find_side(parsed)
    options.choose_columns(parsed)
    parsed["source"] = parsed["source"] or parsed.connect()
    show.compile_kernel()
    with ExitStack() as shown, TemporaryDirectory(prefix="neardup-") as folder:
        watching = shown.enter_context(show.watch(comparing="pairs"))

        def tell(address: str) -> None:
            shown.close()  # the bars, which have the terminal
            _tell(address, Path(folder) / "review.html")

        reviewed = nd.review(on_ready=tell, **watching, **parsed)
    kept, left = show.counted(reviewed.kept, "answer"), show.counted(reviewed.tally.left, "pair")
    show.say(f"Kept {kept} in {reviewed.answers}; {left} left.")
    return 0


def _tell(address: str, redirect: Path) -> None:
    """Print where the page is, and open it for a person.

    The browser is started with the name of a file that leads there: every user of the machine can
    read the arguments of a process, and the address has the token.
    """
    print(address, flush=True)
    show.say("Open this address in a browser of this machine; Ctrl-C ends the review.")
    with suppress(webbrowser.Error):  # there is none
        browser = webbrowser.get()
        # One of the terminal, such as w3m, would take it, and has no JavaScript.
        is_of_terminal = type(browser) is webbrowser.GenericBrowser and "BROWSER" not in os.environ
        if sys.stdout.isatty() and not is_of_terminal:
            with open(redirect, "w", encoding="utf-8", opener=private) as file:
                file.write(REDIRECT.format(address))
            # It may run until it is closed, and the page has to be served meanwhile.
            Thread(target=browser.open, args=(redirect.as_uri(),), daemon=True).start()
