"""The command init: the fields in the schema of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import REFUSED
from neardup_solr.cli.typed import Typed

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.init import Preparation


def init(typed: Typed) -> int:
    """Create a collection, or add the neardup fields to an existing one."""
    target = typed.connect()
    done = nd.init(target, **typed.arguments)
    if typed["remove"]:
        _say_removed(target.name, done, is_dry=typed["dry_run"])
        return 0
    if done.is_created:
        show.say(f"Created {target.url}; next: neardup index FILE {target.place}")
        return 0
    _say_prepared(target, done)
    return 0 if done.is_done or typed["dry_run"] else REFUSED


def _say_prepared(target: Collection, done: Preparation) -> None:
    url, place = target.url, target.place
    if done.is_done and not done.fields and not done.xml:
        show.say(f"{url} exists and has all fields.")
        return
    if done.is_done:
        texts = ", ".join(done.names.text)
        step = "" if done.dangers else f"; next: neardup annotate {place}"
        undo = f" (to undo: neardup init {place} --remove)"
        read = f"the text is now read from {texts}{step}"
        show.say(f"{url}: {f'{_count_fields(done)} added{step}{undo}' if done.fields else read}.")
    else:
        print(done.xml)
        show.warn(
            f"{url}: {_count_fields(done)} would be added, as shown above."
            if done.is_mutable
            else f"{url}: this schema cannot be changed over HTTP: paste the lines above into it,"
            " before </schema>, and reload the collection."
        )
    if done.growth is not None:
        show.say(f"By default {done.growth}.")
    for danger in done.dangers[:1]:
        more = (
            f" (and {len(done.dangers) - 1} more: neardup lint {place})" if done.dangers[1:] else ""
        )
        problem = f"{danger.about}: {danger.reason}{more}"
        show.warn(f"But annotate will refuse to run: {problem}; next: {danger.remedy}.")
    if done.beside:
        show.say(f"The schema is shared with {', '.join(done.beside)}.")


def _say_removed(name: str, done: Preparation, *, is_dry: bool) -> None:
    if not done.fields:
        show.say(f"{name} has no fields added by neardup init.")
    elif is_dry:
        show.warn(f"{_count_fields(done)} would be removed: {', '.join(done.fields)}.")
    else:
        show.say(f"{_count_fields(done)} removed from the schema of {name}.")


def _count_fields(done: Preparation) -> str:
    return show.counted(len(done.fields), "field") if done.fields else "the field names"
