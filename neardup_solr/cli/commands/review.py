"""The command review: pairs for people, in the browser."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from neardup_solr.cli import show
from neardup_solr.cli.typed import Typed, choose_columns
from neardup_solr.files import private
from neardup_solr.log import unblocked

REDIRECT = '<!DOCTYPE html><meta http-equiv="refresh" content="0; url={0}"><a href="{0}">{0}</a>'


@unblocked()
def review(typed: Typed) -> int:
    """Judge pairs in the browser, the most useful pairs first."""
    typed.require_source("SOURCE")
    from neardup_solr.verbs.review import run_review
    from neardup_solr.verbs.review.request import ReviewRequest, name_answers

    if typed["answers"] is None:
        typed = typed.replace(answers=name_answers(typed.paths))
    columns = choose_columns(typed, ReviewRequest)
    typed = columns.typed
    typed = typed.replace(source=typed["source"] or typed.connect())
    show.compile_kernel()
    from tempfile import TemporaryDirectory

    with ExitStack() as shown, TemporaryDirectory(prefix="neardup-") as folder:
        watching: dict[str, Any] = {}
        is_typed = sys.stdout.isatty()  # programs read the address, and ask at once

        def show_address(address: str) -> None:
            if is_typed:
                print(address, flush=True)
                show.say("The page opens once the documents have been compared.")
            else:
                show.say(f"The page will be at {address} once the documents have been compared.")
            watching.update(shown.enter_context(show.watch(comparing="pairs")))

        def open_page(address: str) -> None:
            shown.close()  # the bars, which have the terminal
            if not is_typed:
                print(address, flush=True)
            show.say("Open this address in a browser on this machine; Ctrl-C ends the review.")
            _open_browser(address, Path(folder) / "review.html")

        # The bars begin when the address has been shown, before anything is read.
        names = ("on_error", "on_progress")
        later: dict[str, Any] = {key: lambda each, key=key: watching[key](each) for key in names}
        reviewed = run_review(
            ReviewRequest(on_address=show_address, on_ready=open_page, beside=columns.beside,
                          **later, **typed.arguments)
        )  # fmt: skip
    kept = show.counted(reviewed.kept, "answer")
    if reviewed.chosen:
        kept += f" and {show.counted(reviewed.chosen, 'choice of a value', 'choices of values')}"
    show.say(f"Saved {kept} to {reviewed.answers}, which now has {reviewed.tally} for these pairs.")
    if reviewed.advice:
        show.say(f"{show.in_options(reviewed.advice)}.")
    return 0


def _open_browser(address: str, redirect: Path) -> None:
    """Open a page for a person.

    The browser is started with the name of a file that leads there: every user of the machine can
    read the arguments of a process, and the address has the token.
    """
    import webbrowser
    from threading import Thread

    with suppress(webbrowser.Error):  # there is none
        browser = webbrowser.get()
        # One of the terminal, such as w3m, would take it, and has no JavaScript.
        is_of_terminal = type(browser) is webbrowser.GenericBrowser and "BROWSER" not in os.environ
        if sys.stdout.isatty() and not is_of_terminal:
            with open(redirect, "w", encoding="utf-8", opener=private) as file:
                file.write(REDIRECT.format(address))
            # It may run until it is closed, and the page has to be served meanwhile.
            Thread(target=browser.open, args=(redirect.as_uri(),), daemon=True).start()
