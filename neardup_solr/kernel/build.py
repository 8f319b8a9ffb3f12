"""Compile all entry points ahead: for this machine, or for the wheel.

    python -m neardup_solr.kernel.build

makes the folder of machine code that a wheel carries; `scripts/build` runs it. Groups of modules
that take as long are compiled by a process each, as numba compiles one function at a time, and so
that numba is not loaded by the program that waits.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from threading import Thread

from neardup_solr.kernel import Compiled, open_store
from neardup_solr.kernel.store import FEATURES, LEVEL, Store, name_carried
from neardup_solr.threads import thread_pool

# A process each: loading numba takes one or two seconds of processor time.
GROUPS = (("shingle_hashes", "lookups"), ("align",), ("joins",), ("graph", "edits"))
MODULES = tuple(chain(*GROUPS))
CHILD = (
    "import sys; sys.path[:] = {}; from neardup_solr.kernel import build; build.compile_modules{}"
)


def compile_all(store: Store) -> None:
    """Compile what the store lacks.

    What is not there afterwards could not be compiled so, or not be kept.
    """
    if not Path(sys.executable or "").name.startswith("python"):
        return  # a program that carries Python
    with store.lock() as can_keep:
        lacking = [name for name in MODULES if can_keep and any(find_lacking(name, store))]
        _compile_groups([group for group in GROUPS if not set(group).isdisjoint(lacking)], None, {})


def compile_modules(modules: Sequence[str], folder: str | None) -> None:
    """Compile the entry points of modules, into a folder or what the usual store lacks of them.

    Ends as soon as the process that wants them, at the other end of standard input, has ended.
    """
    Thread(target=_exit_at_end, daemon=True).start()
    store = open_store() if folder is None else Store.at(Path(folder))
    for entry in chain(*(find_lacking(module, store) for module in modules)):
        entry.compile(entry.kinds, store)


def main() -> None:
    """Compile what a wheel carries, if this is a system that can."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        print("The wheel will carry no machine code: this is not Linux on x86-64.")
        return
    cpu = {"NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": ",".join(f"+{one}" for one in FEATURES)}
    _compile_groups(GROUPS, str(name_carried()), cpu)
    lacking = [one.name for name in MODULES for one in find_lacking(name, Store.at(name_carried()))]
    if lacking:
        sys.exit(f"not compiled: {', '.join(lacking)}")


def find_lacking(module: str, store: Store) -> Iterator[Compiled]:
    """Yield the entry points of a module of which the store has no code."""
    for entry in find_entries(module):
        if store.read(entry.name, repr(entry.kinds)) is None:
            yield entry


def find_entries(module: str) -> list[Compiled]:
    """Find the entry points of a module of the kernel."""
    there = vars(import_module(f"neardup_solr.kernel.{module}")).values()
    return [one for one in there if isinstance(one, Compiled)]


def _compile_groups(
    groups: Sequence[Sequence[str]], folder: str | None, cpu: Mapping[str, str]
) -> None:
    with thread_pool(os.cpu_count() or 1) as pool:
        list(pool.map(partial(_compile_apart, folder, {**os.environ, **cpu}), groups))


def _compile_apart(
    folder: str | None, environment: Mapping[str, str], group: Sequence[str]
) -> None:
    """Compile modules in a process. If it fails, whoever calls an entry point sees the error."""
    words = [sys.executable, "-c", CHILD.format(sys.path, (group, folder))]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, env=environment
    ) as child:
        child.wait()


def _exit_at_end() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
