"""Threads that look at Solr and at the tokens of a service, again and again."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from neardup_solr.errors import counted
from neardup_solr.progress import start_thread
from neardup_solr.verbs.serve.log_lines import ServiceLog
from neardup_solr.verbs.serve.request_log import choose_failure
from neardup_solr.verbs.serve.service import Service
from neardup_solr.verbs.serve.tokens import Tokens

LOOK_SECONDS = 0.5  # between two looks
SWITCH_SECONDS = 0.0005  # after which Python's threads take turns, or long work would delay others


class Watch:
    """Looks at the collection of a service and at its tokens, and logs what has changed."""

    def __init__(self, service: Service, tokens: Tokens | None, log: ServiceLog) -> None:
        self.service, self.tokens, self.log = service, tokens, log

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look again and again meanwhile."""
        stop = threading.Event()

        def repeat(work: Callable[[], None], find_pause: Callable[[], float]) -> None:
            while not stop.wait(find_pause()):
                try:
                    work()
                except Exception as error:  # without a next look nothing would be served any more
                    self.log.note_fault(work.__name__, error, choose_failure(error))

        for work, find_pause in (
            (self.look, lambda: LOOK_SECONDS),
            (self.look_at_tokens, lambda: LOOK_SECONDS),
            (self.service.count_gap, lambda: self.service.count_after),
        ):
            threading.Thread(target=repeat, args=(work, find_pause), daemon=True).start()
        self.log.note("INFO", f"serving {self.service.description}")
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            yield
        finally:
            sys.setswitchinterval(interval)
            stop.set()

    def look(self) -> None:
        """Look at the collection, and note if it cannot be served."""
        began = time.monotonic()
        self.service.look()
        self.log.note_outage(str(self.service.problem or ""), since=began)

    def look_at_tokens(self, *, at_once: bool = False) -> None:
        """Read the tokens again if they have changed, or `at_once` is set, and say so."""
        clients = None if self.tokens is None else self.tokens.refresh(at_once=at_once)
        if clients is not None:
            self.log.note("INFO", f"the tokens were read again: {counted(clients, 'client')}")

    def obey_hangup(self) -> None:
        """Read the tokens again, whether they have changed or not."""
        if self.tokens is None:
            self.log.note("INFO", "SIGHUP reads the tokens again, and there are none")
        else:
            start_thread(partial(self.look_at_tokens, at_once=True))
