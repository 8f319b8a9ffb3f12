"""The talk with Solr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from neardup_solr.solr.collection import Collection


def is_collection(given: object) -> TypeIs[Collection]:
    """Tell a Collection from other sources. Without one, what talks with Solr is not loaded."""
    module = sys.modules.get("neardup_solr.solr.collection")
    return module is not None and isinstance(given, module.Collection)
