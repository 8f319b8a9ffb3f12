"""review: ask people about pairs in the browser, and keep what they answer."""

from __future__ import annotations

import secrets
from contextlib import closing

from neardup_solr.answers.answer_file import AnswerFile
from neardup_solr.errors import DataError, SettingsError
from neardup_solr.log import open_log
from neardup_solr.measures import measure_named
from neardup_solr.progress import LOG
from neardup_solr.verbs.answer import find_name
from neardup_solr.verbs.duplicates.find import find_duplicates
from neardup_solr.verbs.review.outputs import ReviewOutputs
from neardup_solr.verbs.review.request import ReviewRequest
from neardup_solr.verbs.review.session import Reviewed, ReviewSession


def run_review(request: ReviewRequest) -> Reviewed:
    """Ask people in the browser whether pairs are the same, until the process is interrupted."""
    try:
        from neardup_solr.verbs.review.app import make_app
        from neardup_solr.web import server
    except ImportError as error:
        reason = f"a review needs {error.name}, which is not installed"
        step = "pip install 'neardup-solr[serve]'"
        raise SettingsError(reason, step, code="package-missing") from None
    request = request.choose_columns()
    request.check()
    token = secrets.token_urlsafe(24)
    step = "omit `port` to use a free one"
    with (  # before any work is done
        closing(server.bind("127.0.0.1", request.port, step)) as bound,
        closing(AnswerFile(request.answers)) as file,
        open_log() as log,
        log.gathering(*(each for each in (LOG, *server.LOGGERS) if not each.hasHandlers())),
    ):
        port = bound.getsockname()[1]
        address = f"http://127.0.0.1:{port}/#{token}"
        if request.on_address is not None:
            request.on_address(address)
        session = open_session(request, file)
        if request.on_ready is not None:
            request.on_ready(address)
        app = make_app(session, token, port)
        server.run(app, bound)
        return session.close()


def open_session(request: ReviewRequest, file: AnswerFile) -> ReviewSession:
    """Find the pairs to ask about, down to some similarity below the threshold."""
    result = find_duplicates(
        request.compare(reach=request.depth, keep=request.shown, texts=True,
                        on_error=request.on_error, on_progress=request.on_progress)
    )  # fmt: skip
    if result.chosen:
        LOG.warning("%s", result.chosen)
    if not result.pairs:
        raise DataError("there are no pairs to ask about", "use a larger `reach`", code="no-pairs")
    threshold = measure_named(result.measure).least(request.limits)
    outputs = ReviewOutputs.of(request, result)
    return ReviewSession(result, file, find_name(request.who), threshold, request.depth, outputs)
