"""Build the site, or show it while it is written: python -m website [serve] [--port 8000]."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from website import PAGES, ROOT, SITE
from website.commands import commands, page_name
from website.sources import MOVED

WATCHED = ("docs", "website", "neardup_solr", "benchmarks")
SUFFIXES = {".md", ".py", ".png", ".css"}


def main() -> None:
    """Build once and leave with Sphinx's exit code, or build again after each change."""
    options = argparse.ArgumentParser(prog="scripts/docs", description=__doc__)
    options.add_argument("what", nargs="?", choices=["build", "serve"], default="build")
    options.add_argument("--port", type=int, default=8000, help="where `serve` shows the site")
    options.add_argument("--pages", type=Path, default=PAGES, help="folder for the Markdown pages")
    options.add_argument("--site", type=Path, default=SITE, help="folder for the HTML pages")
    chosen = options.parse_args()
    if chosen.what == "serve":
        serve(chosen.pages, chosen.site, chosen.port)
    sys.exit(build(chosen.pages, chosen.site))


def build(pages: Path, site: Path) -> int:
    """Write the pages and make HTML of them; every warning is an error."""
    # A process of its own, so that `serve` sees docstrings and options as they are now.
    written = subprocess.run(
        [sys.executable, "-m", "website.sources", str(pages)], cwd=ROOT, check=False
    )
    return written.returncode or html(pages, site)


def html(pages: Path, site: Path) -> int:
    """Make HTML of the pages in a folder; Sphinx's exit code."""
    sphinx = [sys.executable, "-m", "sphinx", "--builder", "html", "--quiet"]
    strict = ["--fail-on-warning", "--jobs", "auto"]
    configured = ["--conf-dir", str(ROOT / "website"), "--doctree-dir", f"{site}.doctrees"]
    made = subprocess.run([*sphinx, *strict, *configured, str(pages), str(site)], check=False)
    if made.returncode == 0:
        redirect(site)
        print(f"{site / 'index.html'}")
    return made.returncode


def redirect(site: Path) -> None:
    """Write a page at each earlier address that leads to its successor."""
    moved = {
        f"commands/{page_name(each)}": f"commands#neardup-{page_name(each)}" for each in commands()
    }
    for old, new in (moved | MOVED).items():
        page, _, heading = new.partition("#")
        target = f"{'../' * old.count('/')}{page}.html{'#' * bool(heading)}{heading}"
        path = site / f"{old}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'<meta http-equiv="refresh" content="0; url={target}">\n', "utf-8")


def serve(pages: Path, site: Path, port: int) -> None:
    """Show the site on this machine, and build it again whenever a source changes."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        print(f"http://127.0.0.1:{port}/ (Ctrl-C ends it; reload the page after a change)")
        built = 0.0
        try:
            while True:
                if changed() > built:
                    built = changed()
                    build(pages, site)
                time.sleep(1)
        except KeyboardInterrupt:
            sys.exit()


def changed() -> float:
    """When a source was changed last."""
    files = [path for folder in WATCHED for path in (ROOT / folder).rglob("*")]
    files += ROOT.glob("*.md")
    return max(path.stat().st_mtime for path in files if path.suffix in SUFFIXES)


if __name__ == "__main__":
    main()
