"""The command `neardup`, which is also `python -m neardup_solr`: it ends soon by Ctrl-C or SIGTERM.

Either raises KeyboardInterrupt in the main thread, which removes unfinished files, says how to go
on, and ends the command; while a module is loaded, as soon as it is. Python raises it between two
of its steps, so not while a long sort or a compiler of machine code runs. A thread that the system
tells of the signal, too, sees to that.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys


def _end_early(number: int, frame: object) -> None:
    """End the process: nothing is begun, so nothing has to be removed or said but this."""
    os.write(2, b"neardup: interrupted\n")
    os._exit(130)


# Until `watch` is there, while modules load. Python starts other modules by other names.
if __name__ == "__main__" or os.path.basename(sys.argv[0]).startswith("neardup"):
    for _number in signal.SIGINT, signal.SIGTERM:
        if signal.getsignal(_number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(_number, _end_early)

# Loading makes 70,000 objects that stay: looking through them for garbage takes 15 ms.
gc.set_threshold(100_000)

import time
from functools import partial
from threading import Event, Thread, Timer
from types import FrameType
from typing import NoReturn, TextIO

from neardup_solr import hangup
from neardup_solr.cli.exit_codes import INTERRUPTED

SIGNALS = (signal.SIGINT, signal.SIGTERM)
HOLDING = "serve"  # the command that obeys SIGHUP, as soon as it can
SOON = 1.0  # seconds until the main thread has to notice a signal, and to write what is buffered
AT_ONCE = 0.3  # seconds until the process ends after a second signal
LINE_CLEARED_CURSOR_SHOWN = "\r\x1b[2K\x1b[?25h"


def main() -> None:
    """Run the command, which an interrupt ends from here on, while modules are loaded, too.

    The process ends at once: Python would take 40 ms to take down what was loaded, or wait for a
    thread that waits for a Solr that hangs.
    """
    if sys.argv[1:2] == [HOLDING]:
        hangup.hold()
    watch()
    # NumPy's linear algebra starts a thread for each core, which keeps it busy for some time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    errors = sys.stderr
    try:
        from neardup_solr.cli.main import main

        code = main()
        ignore()
    except KeyboardInterrupt:
        report_interrupt(errors)
        os._exit(INTERRUPTED)
    if not code:
        atexit._run_exitfuncs()
    os._exit(code)


def watch() -> None:
    """Handle signals from now on: the first ends the command, a second ends it at once."""
    noticed = Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        # Some extensions end the process by SIGSEGV after an error while they are loaded.
        if loading := _find_loading(frame):
            sys.setprofile(partial(interrupt_after, loading))
            return
        noticed.set()
        raise KeyboardInterrupt

    def interrupt_after(loading: FrameType, frame: FrameType, event: str, _: object) -> None:
        if frame is loading and event == "return":
            sys.setprofile(None)
            noticed.set()
            raise KeyboardInterrupt

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup and `&` in scripts want it
            signal.signal(number, interrupt)
    sys.unraisablehook = _end_if_lost
    if sys.platform == "win32":  # where a pipe that does not block needs Python 3.12
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    Thread(target=_end_after_signal, args=(reader, noticed), daemon=True).start()


def _find_loading(frame: FrameType | None) -> FrameType | None:
    """Return the call that loads a module, and maybe others within, in which a frame was called."""
    loading = None
    while frame:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            loading = frame
        frame = frame.f_back
    return loading


def _end_after_signal(reader: int, noticed: Event) -> None:
    """End the process if the main thread does not notice a signal, and after a second signal."""
    _await_signal(reader)
    if noticed.wait(SOON):
        _await_signal(reader)
        time.sleep(AT_ONCE)
    _end()


def _await_signal(reader: int) -> None:
    while os.read(reader, 1)[0] not in SIGNALS:  # but SIGHUP, which is held
        pass


def _end_if_lost(lost: sys.UnraisableHookArgs) -> None:
    """End the process if an interrupt came where nothing can be raised, such as in an import."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _end()
    sys.__unraisablehook__(lost)


def ignore() -> None:
    """Ignore signals from now on, as nothing is left to interrupt."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def report_interrupt(errors: TextIO | None) -> None:
    """Report the interrupt and restore the terminal, wherever a progress bar was cut off.

    The process ends soon, even if nobody reads what is still to be written.
    """
    ignore()
    last = Timer(SOON, os._exit, [INTERRUPTED])
    last.daemon = True
    last.start()
    sys.stderr = errors  # what is printed above a progress bar goes through that bar
    if errors is not None:
        print(_message(is_terminal=errors.isatty()), file=errors)


def _end() -> NoReturn:
    """End the process without what its main thread was at, which may hold any lock."""
    if files := sys.modules.get("neardup_solr.files"):
        files.remove_unfinished()
    os.write(2, f"{_message(is_terminal=os.isatty(2))}\n".encode())
    os._exit(INTERRUPTED)


def _message(*, is_terminal: bool) -> str:
    return f"{LINE_CLEARED_CURSOR_SHOWN if is_terminal else ''}neardup: interrupted"


if __name__ == "__main__":
    main()
