"""A review of a small table, as a process of its own."""

import os
import random
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
    path: Path, rows: int = 12, *words: str, lines: str = "", most_bytes: int | None = None,
    is_named: bool = True,
) -> Iterator[str]:  # fmt: skip
    """Run a review of table.csv that keeps its answers in a file, and give the address of its page.

    The file is not named to it unless it `is_named`.

    No file of it gets larger than `most_bytes`.
    """
    table = path.with_name("table.csv")
    rows_ = (f"{n},{NEAR} {n % 3} {'closed' if n % 2 else 'open'}\n" for n in range(rows))
    table.write_text(lines or "id,text\n" + "".join(rows_), encoding="utf-8")
    named = ("--answers", str(path)) if is_named else ()
    asked = ("review", str(table), *named, *words)

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


MEMBERS = """id,name,street,city,phone,updated
1,Marta Linsen,12 Mill Road,Bonn,,2023-01-05
2,Marta Linsen,12 Mill Rd.,,030 9999,2024-05-01
3,Marta Linsen,12 Mill Road,bonn,030 1234,2024-02-11
4,Jonas Weber,3 Castle Lane,Ulm,0731 77,2024-01-01
5,Jonas Weber,3 Castle Lane,Ulm,0731 78,2024-01-01
6,Ida Berg,7 Quay Street,Kiel,0431 5,2024-01-01
"""
BY_NAME = ("--field", "name,street")


def make_people(count: int = 60) -> str:
    """Lines of invented people: each third is there again, and each fifth has a double's name."""
    draw, lines = random.Random(1), ["id,name,street,born"]
    syllables = ["ka", "lo", "mi", "re", "su", "ta", "ven", "dor", "bal", "hin"]
    for number in range(count):
        name = " ".join("".join(draw.choices(syllables, k=3)).title() for _ in range(2))
        street = f"{''.join(draw.choices(syllables, k=3)).title()} Street {draw.randint(1, 99)}"
        born = f"{draw.randint(1940, 2004)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        lines.append(f"{number},{name},{street},{born}")
        if number % 3 == 0:
            lines.append(f"{100 + number},{name[:-1]},{street.replace('Street', 'St.')},{born}")
        if number % 5 == 1:
            lines.append(f"{200 + number},{name},{street},{1900 + number}-02-{number % 28 + 1:02}")
    return "\n".join(lines) + "\n"
