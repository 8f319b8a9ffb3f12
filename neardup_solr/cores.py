"""The processor cores that this process may use: threads of a work are as many."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from neardup_solr.variables import read_number

THREADS: Final = "NEARDUP_THREADS"
GROUPS: Final = Path("/proc/self/cgroup")  # of the process: a line `number:controllers:path` each
ROOT: Final = Path("/sys/fs/cgroup")


def count_cores() -> int:
    """Count the cores: $NEARDUP_THREADS, else those that affinity and the container allow.

    Raises ArgumentError if the variable is not a whole number of 1 or more.
    """
    return read_number(THREADS, 0, "set it to a number of threads, such as 4", _parse) or min(
        _count_allowed(), math.ceil(read_quota())
    )


def _parse(text: str) -> int:
    threads = int(text)
    if threads < 1:
        raise ValueError(text)
    return threads


def _count_allowed() -> int:
    """Count the cores on which the system may run this process."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS or Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def read_quota(groups: Path = GROUPS, root: Path = ROOT) -> float:
    """Read how many cores' time the control groups of Linux give, the number of all without limit.

    The smallest quota of the group and those above it counts. Version 2 of control groups writes
    it to `cpu.max`, version 1 to `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
    """
    quotas = [float(os.cpu_count() or 1)]
    with suppress(OSError, ValueError):
        for line in groups.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                quotas += _list_quotas(root, path, ("cpu.max",))
            elif "cpu" in controllers.split(","):
                files = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
                quotas += _list_quotas(root / "cpu", path, files)
    return min(quotas)


def _list_quotas(root: Path, path: str, files: tuple[str, ...]) -> Iterator[float]:
    """List the quotas of a group and those above it. A container may see only its own, as /."""
    group = PurePosixPath(path.lstrip("/"))
    for each in (group, *group.parents):
        with suppress(OSError, ValueError):
            words = " ".join((root / each / file).read_text() for file in files).split()
            quota, period = words[:2]
            if quota not in ("max", "-1"):
                yield int(quota) / int(period)
