"""How results are printed and kept: a table and JSON beside the scripts, and what they hold for."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parents[1]
PACKAGES = ("neardup-solr", "numpy", "numba", "datasketch", "rensa", "gaoya")


def conditions() -> dict[str, Any]:
    """The machine, the versions, and how busy the machine is with other things."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; numbers to three digits."""
    lines = [heads, ["---"] * len(heads), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def keep(name: str, measured: dict[str, Any], sections: Sequence[tuple[str, str]]) -> None:
    """Print the sections (heading, body), and write NAME.json and NAME.md."""
    under = _conditions_line(measured["conditions"])
    parts = [f"# {name}", under, *(f"## {heading}\n\n{body}" for heading, body in sections)]
    text = "\n\n".join(parts) + "\n"
    print(text)
    (BENCHMARKS / f"{name}.md").write_text(text, encoding="utf-8")
    (BENCHMARKS / f"{name}.json").write_text(
        json.dumps(measured, indent=1) + "\n", encoding="utf-8"
    )


def _conditions_line(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return (
        f"{found['processor']}, {found['cores']} cores; Python {found['python']}, {versions};"
        f" load average at the start {found['load_average']}"
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
