"""Where the configset and the server files lie: inside the wheel, or at a checkout's top level."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from neardup_solr.pure.errors import ServerError


def solr_config() -> Path:
    """The folder `solr_config`: `conf` is the configset, `server` the embedded Solr's own files.

    Raises ServerError if neither the installed package nor a checkout around it has the folder.
    """
    package = Path(str(files("neardup_solr")))
    for folder in (package / "solr_config", package.parent / "solr_config"):
        if (folder / "server").is_dir():
            return folder
    raise ServerError(
        f"the folder solr_config is missing beside {package}",
        "install neardup-solr again: pip install --force-reinstall neardup-solr",
    )
