"""Ctrl-C and SIGTERM end a process, whether or not Python can handle them at that moment."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

INTERRUPTED = (130, "neardup: interrupted\n")
# Work without the interpreter's lock, of some minutes, that no signal cuts short.
WORK = "__import__('hashlib').pbkdf2_hmac('sha256', b'', b'', 1_000_000_000)"
SECONDS = 30  # until a process on a busy machine has ended, which takes one or two

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as Unix has them")


def ended(script: str, *signals: int) -> tuple[int, str]:
    """Exit code and standard error of a script, which gets signals once it has said "ready"."""
    running = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n", running.communicate()
        for number in signals:
            time.sleep(1)  # so that the work has begun, and two signals are two
            running.send_signal(number)
        try:
            _, said = running.communicate(timeout=SECONDS)
        finally:
            running.kill()
    return running.returncode, said


@pytest.mark.parametrize(
    "module",
    ["neardup_solr.hangup", "neardup_solr.cli.exit_codes", "neardup_solr.cli.main", "click",
     "neardup_solr.cli.show", "neardup_solr.cli.commands.duplicates"],
)  # fmt: skip
def test_while_modules_are_loaded(module: str) -> None:
    """There is one line, not a traceback of Python's."""
    script = f"""
import os, runpy, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv[:] = ["/usr/bin/neardup", "duplicates", "none.csv"]
print("ready", flush=True)
runpy.run_module("neardup_solr", run_name="__main__")
"""
    assert ended(script) == INTERRUPTED


def test_while_an_extension_is_loaded() -> None:
    """One whose start calls Python, and ends the process by SIGSEGV if that raises an error."""
    script = """
import os, runpy, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if "orjson.orjson" in sys.modules or loading:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000): pass
        loading.extend([name] * (name == "orjson.orjson"))
loading = []
sys.meta_path.insert(0, Interrupting())
sys.argv[:] = ["/usr/bin/neardup", "duplicates", "none.csv"]
print("ready", flush=True)
runpy.run_module("neardup_solr", run_name="__main__")
"""
    assert ended(script) == INTERRUPTED


@pytest.mark.parametrize("end", ["", "raise ImportError"])
def test_what_is_said_after_a_module_is_loaded(end: str, tmp_path: Path) -> None:
    """A command that loads a module late still cleans up, and says how to go on."""
    loops = "for _ in range(1000): pass"
    late = f"import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n{loops}\nprint(1)\n{end}\n"
    (tmp_path / "late.py").write_text(late, "utf-8")
    script = f"""
import os, sys
from neardup_solr import __main__ as command
command.watch()
sys.path.insert(0, {str(tmp_path)!r})
sys.stdout = sys.stderr
os.write(1, b"ready\\n")
try:
    import late
    print("went on")
except KeyboardInterrupt:
    print("removed")
    sys.exit(command.INTERRUPTED)
"""
    assert ended(script) == (130, "1\nremoved\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_while_python_cannot_handle_signals(number: int, tmp_path: Path) -> None:
    """The process ends all the same, and what was not written to its end is removed."""
    script = f"""
import os
import neardup_solr as nd
from neardup_solr import __main__ as command
command.watch()
def texts():
    yield "1", "one two three"
    assert os.listdir()
    print("ready", flush=True)
    {WORK}
os.chdir({str(tmp_path)!r})
nd.signatures(texts(), "signatures.parquet")
"""
    assert ended(script, number) == INTERRUPTED
    assert list(tmp_path.iterdir()) == []


def test_a_second_signal_ends_at_once() -> None:
    """A command that finishes something after the first one is not waited for."""
    script = f"""
from neardup_solr import __main__ as command
command.watch()
print("ready", flush=True)
try:
    __import__("time").sleep(600)
except KeyboardInterrupt:
    {WORK}
"""
    assert ended(script, signal.SIGINT, signal.SIGINT) == INTERRUPTED


def test_an_interrupt_that_python_drops() -> None:
    """One that is raised where Python can only report it, as in a finalizer, counts."""
    script = """
import os, signal
from neardup_solr import __main__ as command
command.watch()
class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000): pass
print("ready", flush=True)
Finalized()
__import__("time").sleep(600)
"""
    assert ended(script) == INTERRUPTED


def test_after_all_is_done() -> None:
    """A command that has ended, while its process still ends, has done what it was to do."""
    script = """
import atexit, os, runpy, signal, sys
print("ready", flush=True)
sys.argv[1:] = ["--version"]
atexit.register(os.kill, os.getpid(), signal.SIGINT)
runpy.run_module("neardup_solr", run_name="__main__")
"""
    assert ended(script) == (0, "")


def test_an_output_that_nobody_reads() -> None:
    """What is still to be written after an interrupt is not waited for."""
    script = """
import os, sys
from neardup_solr import __main__ as command
command.watch()
reader, full = os.pipe()
print("ready", flush=True)
try:
    __import__("time").sleep(600)
except KeyboardInterrupt:
    command.report_interrupt(sys.stderr)
    os.write(full, b"x" * 10_000_000)
"""
    assert ended(script, signal.SIGINT) == INTERRUPTED
