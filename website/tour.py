"""Draw docs/images/tour.svg from a run of docs/guides/tour.md: python -m website.tour.

The commands of the page run on the files of the demo; the picture types each command and shows its
output with the seconds that it took.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from textwrap import wrap

from neardup_solr import demo
from website import ROOT

PAGE = ROOT / "docs" / "guides" / "tour.md"
PICTURE = ROOT / "docs" / "images" / "tour.svg"
COLUMNS, LINES, HOLD = 96, 9, 4  # of a screen; seconds that it stays
WIDE, HIGH = 8.0, 19.0  # of a character, in pixels
STYLE = """text{font:13px ui-monospace,monospace;fill:#d8dee9;white-space:pre}
.command{fill:#fff;font-weight:bold}.seconds{fill:#8fbcbb}
g{opacity:0;animation:show %ds infinite}
@keyframes show{0%%,%.3f%%{opacity:1}%.3f%%,100%%{opacity:0}}
@media (prefers-reduced-motion){g{animation:none}g:first-of-type{opacity:1}}"""


def commands() -> list[str]:
    """Read the commands of the page."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def record(folder: Path) -> list[tuple[str, list[str], float]]:
    """Run the commands in a folder: each with the lines that it prints, and its seconds."""
    for file in (demo.listings(), demo.pairs()):
        shutil.copy(file, folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    screens = []
    for command in commands():
        start = time.perf_counter()
        output = subprocess.run(
            command, shell=True, cwd=folder, check=True, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=os.environ | {"PATH": path, "COLUMNS": str(COLUMNS)},
        ).stdout.splitlines()  # fmt: skip
        home = str(Path.home())
        output = [line.replace(home, "/home/you") for line in output]
        screens.append((command, output, time.perf_counter() - start))
    return screens


def draw(screens: list[tuple[str, list[str], float]]) -> str:
    """Draw the screens as an animated SVG without scripts."""
    total = HOLD * len(screens)
    share = 100 / len(screens)
    groups = []
    for number, (command, output, seconds) in enumerate(screens):
        lines = [part for line in output for part in wrap(line, COLUMNS)]
        rows = [("command", f"$ {command}"), *(("", line) for line in lines[:LINES])]
        rows.append(("seconds", f"{seconds:.1f} s"))
        texts = "".join(
            f'<text class="{kind}" x="12" y="{(row + 1.5) * HIGH:g}">{html.escape(text)}</text>'
            for row, (kind, text) in enumerate(rows)
        )
        groups.append(f'<g style="animation-delay:{number * HOLD}s">{texts}</g>')
    width, height = COLUMNS * WIDE + 24, (LINES + 3) * HIGH
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">\n'
        f"<title>neardup in a terminal</title>\n"
        f"<style>{STYLE % (total, share - 0.001, share)}</style>\n"
        f'<rect width="100%" height="100%" rx="6" fill="#2e3440"/>\n'
        + "\n".join(groups)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        PICTURE.write_text(draw(record(Path(name))), "utf-8")
