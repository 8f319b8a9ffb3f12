"""The marks of clusters, which are brought up to date beside a follower."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr import errors
from neardup_solr.progress import LOG, start_thread
from neardup_solr.solr.collection import Collection

if TYPE_CHECKING:
    from neardup_solr.verbs.mark import Marks


class FollowMarks:
    """Marks the clusters of a collection anew, as the run of `duplicates` of a file finds them.

    `counts` are those of all marks that were changed, `changed` of those since the last report.

    Raises SourceError if the file is of no run of the collection, SettingsError if documents cannot
    be marked.
    """

    def __init__(self, collection: Collection, remember: Path) -> None:
        from neardup_solr.verbs.duplicates.remember import read_asked
        from neardup_solr.verbs.mark import require_markable

        self.collection, self._remember = collection, remember
        self._arguments = read_asked(remember, collection)
        require_markable(collection)
        self.counts, self.changed = Counter[str](), 0
        self._running: tuple[Future[Marks], object] | None = None  # and the state it began with
        self._marked: object = None  # the state before the last good marking
        self._next = 0.0

    @property
    def is_running(self) -> bool:
        """True while marks are being written."""
        return self._running is not None

    @property
    def is_due(self) -> bool:
        """True if it is time to look whether documents have changed."""
        return self._running is None and time.monotonic() >= self._next

    def begin(self, state: object, pause: float) -> None:
        """Mark in a thread, unless the documents have the state of the last marking.

        Another is due after a pause of so many seconds.
        """
        self._next = time.monotonic() + pause
        if state != self._marked:
            self._running = start_thread(self._mark), state

    def _mark(self) -> Marks:
        from neardup_solr.verbs.duplicates.find import find_duplicates
        from neardup_solr.verbs.duplicates.request import DuplicatesRequest
        from neardup_solr.verbs.mark import mark_clusters

        patience = self.collection.session.outages.patience
        arguments = {**self._arguments, "patience": patience}
        request = DuplicatesRequest(self.collection, remember=self._remember, **arguments)
        result = find_duplicates(request)
        # The user has confirmed the marks of the remembered run; a line is logged now, too.
        return mark_clusters(
            self.collection,
            result,
            fq=(),
            yes=True,
            dry_run=False,
            patience=patience,
            on_progress=None,
        )

    def take(self, seconds: float = 0.0) -> None:
        """Count the marks that a marking has changed, if it ends within so many seconds."""
        if self._running is None or not wait([self._running[0]], seconds).done:
            return
        (future, state), self._running = self._running, None
        try:
            marks = future.result()
        except (errors.SolrError, errors.SourceError) as error:  # it is tried again
            LOG.warning("following %s: marking failed: %s", self.collection.name, error)
        else:
            self._marked = state
            self.changed += marks.marked + marks.cleared
            self.counts.update(marked=marks.marked, cleared=marks.cleared)
