"""A review of a small table, as a process of its own."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup_solr.minhash import sign

NEAR = "Lantern Court 12 Harbour Street Bristol fish and chips since 1961"


@contextmanager
def reviewing(
    path: Path, rows: int = 12, *words: str, lines: str = "", most_bytes: int | None = None
) -> Iterator[str]:
    """Run a review that keeps its answers in a file, and give the address of its page.

    No file of it gets larger than `most_bytes`.
    """
    table = path.with_name("table.csv")
    rows_ = (f"{n},{NEAR} {n % 3} {'closed' if n % 2 else 'open'}\n" for n in range(rows))
    table.write_text(lines or "id,text\n" + "".join(rows_), encoding="utf-8")
    asked = ("review", str(table), "--answers", str(path), *words)

    if most_bytes:  # or it would compile the kernel, which it could not keep
        sign.compile_kernel()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes or 0, resource.RLIM_INFINITY))

    process = subprocess.Popen(
        [sys.executable, "-m", "neardup_solr", *asked],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"LOGNAME": "ann"},
        preexec_fn=limit if most_bytes else None,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
