"""The options of Java in tests, and its cache of Solr's classes, which halves the time of a start.

    python -m tests.java_cache

writes the cache, as scripts/test does, unless there is one for this Java and these jars. Java goes
without a cache that does not fit.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from neardup_solr.embedded import process
from neardup_solr.embedded.layout import find_layout
from neardup_solr.testing import fresh_core, private_home
from tests import ROOT
from tests.solr import nodes

# A small Solr of some minutes ends before a second compiler and threads that collect garbage pay.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def options() -> str:
    """The options for Java, with the cache if there is one."""
    kept = cache()
    # Java tells of each detail of a cache that it cannot use: nobody has to see that.
    known = f'-XX:SharedArchiveFile="{kept}" -Xlog:disable'
    return f"{QUICK} {known}" if kept.is_file() else QUICK


def cache() -> Path:
    """The file for this Java and these jars; Java, too, compares their sizes and times."""
    parts = [process.find_java(), *sorted(find_layout().jars.glob("*.jar"))]
    facts = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in parts]
    return ROOT / "build" / f"solr-{hashlib.sha256(str(facts).encode()).hexdigest()[:12]}.aot"


def main() -> None:
    """Let a cloud of one node work a little, and keep its classes as it ends."""
    with tempfile.TemporaryDirectory() as folder, private_home(Path(folder)):
        kept = cache()
        if kept.is_file():
            return
        kept.parent.mkdir(exist_ok=True)
        made = kept.with_suffix(f".{os.getpid()}")
        os.environ["JDK_JAVA_OPTIONS"] = f'{QUICK} -XX:AOTCacheOutput="{made}"'
        place = find_layout()
        server = nodes.start(place, 1, "512m", print)
        with fresh_core(server.url) as core:
            core.add([{"id": "1"}])
            core.commit()
            assert core.count() == 1
        nodes.stop(place, 1, timeout=300)
        made.replace(kept)


if __name__ == "__main__":
    main()
