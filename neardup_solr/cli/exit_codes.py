"""The exit codes of the command `neardup`, which stay as they are: scripts go by them."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from neardup_solr.errors import NeardupError

INCOMPLETE: Final = 1
WRONG_USAGE: Final = 2
REFUSED: Final = 3
STOPPED: Final = 4
UNTRIED: Final = 5
INTERRUPTED: Final = 130

LATER: Final = (408, 429)  # statuses of requests that may succeed later
OF_A_DISK: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

MEANINGS: Final = {
    0: "done",
    INCOMPLETE: "done, but not with all records: some could not be used, or the output was closed",
    WRONG_USAGE: "wrong usage: the command line is wrong, whatever the data are",
    REFUSED: "refused because of the data or the collection: a source that cannot be read, a"
    " missing column or right, an argument that does not fit them, a removal to confirm with --yes."
    " Nothing was written, but for the batches that `annotate` wrote before. `lint`, `doctor`,"
    " `gate --strict`, `solr status`: no",
    STOPPED: "stopped by Solr, the network or a disk: run the command again, `index` with --resume",
    UNTRIED: "`lint` has not been tested with this version of Solr",
    INTERRUPTED: "interrupted",
}


def code_of(error: NeardupError) -> int:
    """Return the exit code of an error that ends a command.

    The request is at fault in an ArgumentError, unless it is a DataError, and what was asked about
    in most other errors. An error that tells how to go on has stopped work that was begun.
    """
    from neardup_solr.errors import (
        ArgumentError,
        DataError,
        ServerError,
        SolrAnswerError,
        SolrHalted,
        SolrUnreachable,
    )

    if isinstance(error, ArgumentError) and not isinstance(error, DataError):
        return WRONG_USAGE
    if getattr(error, "__notes__", ()) or _is_of_a_disk(error):
        return STOPPED
    if isinstance(error, SolrAnswerError):  # of a request that is wrong: an unknown field, say
        is_refusal = 400 <= error.status < 500 and error.status not in LATER
        return REFUSED if is_refusal else STOPPED
    is_outside = isinstance(error, SolrUnreachable | SolrHalted | ServerError)
    return STOPPED if is_outside else REFUSED


def _is_of_a_disk(error: BaseException | None) -> bool:
    """Return True if an error was raised because a disk is full or fails."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in OF_A_DISK:
            return True
        error = error.__cause__ or error.__context__
    return False
