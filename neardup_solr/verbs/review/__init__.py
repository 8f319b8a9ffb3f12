"""review: ask people about pairs in the browser, and keep what they answer."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from neardup_solr.answers.answer_file import AnswerFile
from neardup_solr.arguments import MeasureName, OneOrMore, Way, checked
from neardup_solr.errors import DataError, SettingsError
from neardup_solr.log import open_log
from neardup_solr.measures import measure_named
from neardup_solr.progress import LOG, OnError, OnProgress
from neardup_solr.settings import Settings
from neardup_solr.verbs.answer import find_name
from neardup_solr.verbs.duplicates.find import find_duplicates
from neardup_solr.verbs.duplicates.request import Compared, Request
from neardup_solr.verbs.review.request import ReviewRequest
from neardup_solr.verbs.review.session import Reviewed, ReviewSession


@checked
def review(
    source: Compared,
    *,
    answers: str | Path,
    who: str | None = None,
    reach: float | None = None,
    measure: MeasureName = "auto",
    fields: OneOrMore | Mapping[str, str] | None = None,
    min_similarity: float | None = None,
    by: Way | None = None,
    against: Compared | None = None,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    settings: Settings | Mapping[str, Any] | None = None,
    port: int = 0,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
    on_address: Callable[[str], None] | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> Reviewed:
    """Ask people in the browser whether pairs are the same, until the process is interrupted.

    Example: `nd.review("listings.csv", answers="answers.jsonl")`

    The pairs are those that `duplicates` finds with the threshold lowered by `reach`, except pairs
    already in the file `answers`. Doubtful pairs come first; every third pair is drawn at random.
    Answers are saved at once; several browsers and processes may ask at the same time. The page is
    on 127.0.0.1, at an address with a token.

    Raises ArgumentError if there is no pair, SettingsError if starlette or uvicorn is missing, and
    the errors of `duplicates`.
    """
    try:
        from neardup_solr.verbs.review.app import make_app
        from neardup_solr.web import server
    except ImportError as error:
        reason = f"a review needs {error.name}, which is not installed"
        raise SettingsError(reason, "pip install 'neardup-solr[serve]'") from None
    request = ReviewRequest(
        source, answers=answers, who=who, reach=reach, measure=measure, fields=fields,
        min_similarity=min_similarity, by=by, against=against, fq=fq, same=same, id=id, text=text,
        keep=keep, settings=settings, port=port, on_error=on_error, on_progress=on_progress,
        on_address=on_address, on_ready=on_ready,
    ).choose_columns()  # fmt: skip
    request.check()
    token = secrets.token_urlsafe(24)
    step = "omit `port` to use a free one"
    with (  # before any work is done
        closing(server.bind("127.0.0.1", port, step)) as bound,
        closing(AnswerFile(answers)) as file,
        open_log() as log,
        log.gathering(*(each for each in (LOG, *server.LOGGERS) if not each.hasHandlers())),
    ):
        port = bound.getsockname()[1]
        address = f"http://127.0.0.1:{port}/#{token}"
        if on_address is not None:
            on_address(address)
        session = open_session(request, file)
        if on_ready is not None:
            on_ready(address)
        server.run(make_app(session.act, len(session.questions.pairs), token, port), bound)
        return session.close()


def open_session(request: ReviewRequest, file: AnswerFile) -> ReviewSession:
    """Find the pairs to ask about, down to some similarity below the threshold."""
    compared = Request(
        request.source, measure=request.measure, min_similarity=request.min_similarity,
        reach=request.depth, by=request.by, against=request.against, fields=request.fields,
        fq=request.fq, same=request.same, id=request.id, text=request.text, keep=request.shown,
        texts=True, settings=request.settings, on_error=request.on_error,
        on_progress=request.on_progress,
    )  # fmt: skip
    result = find_duplicates(compared)
    if result.chosen:
        LOG.warning("%s", result.chosen)
    if not result.pairs:
        raise DataError("there are no pairs to ask about", "use a larger `reach`")
    threshold = measure_named(result.measure).least(request.limits)
    return ReviewSession(result, file, find_name(request.who), threshold, request.depth)
