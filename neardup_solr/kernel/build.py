"""Compile all entry points ahead: for this machine, or for the wheel.

    python -m neardup_solr.kernel.build

makes the folder of machine code that a wheel carries; `scripts/build` runs it. Processes compile
module by module in parallel, as numba compiles a function at a time.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from itertools import repeat
from pathlib import Path
from threading import Thread

from neardup_solr.cores import count_cores
from neardup_solr.kernel import MEMORY, Compiled, compile_memory
from neardup_solr.kernel.store import FEATURES, LEVEL, Store, name_carried, open_store

# Those that take longest first.
MODULES = (
    "align",
    "shingle_hashes",
    "joins",
    "json_lines",
    "csv_rows",
    "document_json",
    "text_lines",
    "graph",
    "edits",
)
PASSAGES = ("growth", "cover", "seeds", "fold")  # which only passages need


def fill_store(module: str) -> None:
    """Compile what the usual store lacks, once for all processes that wait for the same.

    That is a module and those that go with it.

    Ends as soon as the process at the other end of standard input has ended. What is not in the
    store afterwards could not be compiled so, or not be kept.
    """
    from filelock import FileLock

    Thread(target=_end_after_input, daemon=True).start()
    if folder := open_store().folder:
        with FileLock(folder / ".lock"):
            _compile_modules(folder, PASSAGES if module in PASSAGES else MODULES)


def main() -> None:
    """Compile what a wheel carries, if this is a system that can."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        print("The wheel will carry no machine code: this is not Linux on x86-64.")
        return
    features = ",".join(f"+{feature}" for feature in FEATURES)
    os.environ |= {"NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": features}
    modules = (*MODULES, *PASSAGES)
    _compile_modules(name_carried(), modules)
    store = Store.at(name_carried())
    if names := [entry.name for module in modules for entry in list_lacking(module, store)]:
        sys.exit(f"not compiled: {', '.join(names)}")


def list_entries(module: str) -> list[Compiled]:
    """List the entry points of a module of the kernel."""
    values = vars(import_module(f"neardup_solr.kernel.{module}")).values()
    return [value for value in values if isinstance(value, Compiled)]


def list_lacking(module: str, store: Store) -> Iterator[Compiled]:
    """Yield the entry points of a module of which the store has no code."""
    for entry in list_entries(module):
        if store.read(entry.name, repr(entry.kinds)) is None:
            yield entry


def _compile_modules(folder: Path, names: Sequence[str]) -> None:
    store = Store.at(folder)
    if store.read(*MEMORY) is None:
        compile_memory(store)
    modules = [name for name in names if any(list_lacking(name, store))]
    if modules:
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(count_cores(), spawn, _end_with_parent) as pool:
            list(pool.map(_compile_module, modules, repeat(folder)))


def _compile_module(module: str, folder: Path) -> None:
    store = Store.at(folder)
    for entry in list_lacking(module, store):
        entry.compile(entry.kinds, store)


def _end_after_input() -> None:
    sys.stdin.read()
    os._exit(1)


def _end_with_parent() -> None:
    Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


if __name__ == "__main__":
    main()
