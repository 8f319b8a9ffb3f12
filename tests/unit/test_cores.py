"""The number of threads: of the environment, of the affinity, of the container."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from neardup_solr.cores import count_cores, read_quota
from neardup_solr.errors import ArgumentError

ALL = float(os.cpu_count() or 1)


def test_the_variable_counts_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many cores the machine has."""
    monkeypatch.setenv("NEARDUP_THREADS", "7")
    assert count_cores() == 7


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "inf"])
def test_a_variable_that_is_no_number_of_threads_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the variable and what it is."""
    monkeypatch.setenv("NEARDUP_THREADS", text)
    with pytest.raises(ArgumentError) as caught:
        count_cores()
    assert caught.value.code == "argument-invalid"
    assert "$NEARDUP_THREADS" in str(caught.value)
    assert repr(text) in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux alone has it")
def test_a_process_on_one_core_uses_one_thread() -> None:
    """As `taskset` and batch systems restrict it."""
    code = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    code += "from neardup_solr.cores import count_cores; print(count_cores())"
    environment = {name: text for name, text in os.environ.items() if name != "NEARDUP_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout == "1\n"


def write_files(root: Path, **files: str) -> None:
    """Write files of control groups; a `__` in a name parts folders, a `_dot_` is a point."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("line", "files", "quota"),
    [
        ("0::/", {"cpu_dot_max": "50000 100000\n"}, 0.5),
        ("0::/a/b", {"a__cpu_dot_max": "75000 100000", "a__b__cpu_dot_max": "max 100000"}, 0.75),
        ("0::/a", {"a__cpu_dot_max": "max 100000"}, ALL),
        ("0::/unseen/by/the/container", {"cpu_dot_max": "100000 100000"}, 1.0),
        (
            "3:cpu,cpuacct:/a",
            {
                "cpu__a__cpu_dot_cfs_quota_us": "25000\n",
                "cpu__a__cpu_dot_cfs_period_us": "100000\n",
            },
            0.25,
        ),
        (
            "3:cpu:/",
            {"cpu__cpu_dot_cfs_quota_us": "-1\n", "cpu__cpu_dot_cfs_period_us": "100000\n"},
            ALL,
        ),
        ("0::/", {"cpu_dot_max": "nonsense"}, ALL),
        ("nonsense", {}, ALL),
    ],
)
def test_the_limit_of_a_container_counts(
    line: str, files: dict[str, str], quota: float, tmp_path: Path
) -> None:
    """Both versions of control groups; the smallest limit of a group and those above it."""
    (tmp_path / "groups").write_text(f"{line}\n")
    write_files(tmp_path / "root", **files)
    assert read_quota(tmp_path / "groups", tmp_path / "root") == quota
