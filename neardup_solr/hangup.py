"""SIGHUP while a service starts: it waits until the service can obey it, and ends nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType


class Hangup:
    """Handler of SIGHUP that only notes that it `came`, and if there `had_terminal` before."""

    def __init__(self) -> None:
        self.came, self.had_terminal = False, has_terminal()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note the signal."""
        self.came = True


def hold() -> None:
    """Let SIGHUP wait from now on, unless it is ignored or handled already."""
    number = getattr(signal, "SIGHUP", None)  # not on Windows
    if number is not None and signal.getsignal(number) == signal.SIG_DFL:
        with suppress(ValueError):  # not in the main thread
            signal.signal(number, Hangup())


@contextmanager
def held() -> Iterator[None]:
    """Let SIGHUP wait within the block. After it, the signal ends the process again."""
    hold()
    try:
        yield
    finally:
        number = getattr(signal, "SIGHUP", None)
        if number is not None and isinstance(signal.getsignal(number), Hangup):
            signal.signal(number, signal.SIG_DFL)


def has_terminal() -> bool:
    """Return True if the process has a terminal, which is lost when its window is closed."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return False
    return True
