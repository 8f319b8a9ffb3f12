"""What annotate adds to a collection of somebody else's: to its index, and to a plain answer.

    python benchmarks/foreign.py [--documents 20000]

Documents of about 200 words, those of corpus.py, go into a collection of a shop by plain pysolr.
It is prepared (`init`, a prefix) and annotated, by default and with other fields, each in a
collection of its own, and in one that is prepared and annotated as they were before: all fields,
bands as terms. Measured are the size of the index without deleted documents, what `lint` estimated
before, and the bytes of `q=*:*&rows=10`.

Results go to foreign.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pysolr
import requests
from lib import results
from lib.corpus import corpus
from lib.solr import running_solr

sys.path.insert(0, str(Path(__file__).parents[1]))

import neardup_solr as nd
from neardup_solr.solr import admin, own_schema, schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import Names
from neardup_solr.verbs.lint.growth import estimate_growth
from tests.solr import api, foreign

PAGE = 1_000
NAMES = Names(id="sku", text=("body",), prefix="nd_")
SHOP = foreign.SCHEMA.replace('<copyField source="body" dest="catchall"/>', "")
EARLIER = "as before: all of them, bands as terms"
# What is written: names of the columns, and the settings asked for.
WAYS: dict[str, Any] = {
    "by default": None,
    "`--fields=-signature`": {"fields": "-signature"},
    "`--fields=+content_ng`": {"fields": "+content_ng"},
    EARLIER: nd.Settings(),
}


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=20_000)
    count = parser.parse_args().documents
    texts = corpus(count, seed=1).documents
    found: dict[str, Any] = {"conditions": results.conditions(), "documents": count}
    with running_solr():
        found["ways"] = {way: _measured(texts, way) for way in WAYS}
    results.keep("foreign", found, [("Growth", _table(found))])


def _measured(texts: list[str], way: str) -> dict[str, float]:
    with _filled(texts) as solr:
        before, answer = _size(solr), _answer(solr)
        if way == EARLIER:
            _prepare_earlier(solr)
        else:
            nd.init(solr, text=NAMES.text, prefix=NAMES.prefix)
        estimate = estimate_growth(solr)
        assert estimate is not None
        nd.annotate(solr, settings=WAYS[way])
        after = _size(solr)
        return {
            "before": before, "after": after, "times": after / before,
            "estimated": before + estimate.added_bytes, "answer_before": answer,
            "answer_after": _answer(solr),
        }  # fmt: skip


@contextmanager
def _filled(texts: list[str]) -> Iterator[Collection]:
    with foreign.collection(schema=SHOP) as solr:
        plain = pysolr.Solr(solr.url, timeout=600)
        for at in range(0, len(texts), PAGE):
            page = enumerate(texts[at : at + PAGE], start=at)
            plain.add([{"sku": f"id{number}", "body": [text]} for number, text in page])
        plain.commit()
        yield solr


def _prepare_earlier(solr: Collection) -> None:
    fields = own_schema.definitions(list(own_schema.own_fields(NAMES).values()))
    types = [one for one in own_schema.own_types() if one["class"] != "solr.LongPointField"]
    schema.change(solr, {"add-field-type": types, "add-field": fields})
    api.keep_names(solr, id=NAMES.id, text=NAMES.text, prefix=NAMES.prefix)
    solr.take_names(NAMES)


def _size(solr: Collection) -> int:
    pysolr.Solr(solr.url, timeout=600).optimize()
    size = admin.index_bytes(solr)
    assert size is not None
    return size


def _answer(solr: Collection) -> int:
    params = {"q": "*:*", "rows": "10", "defType": "lucene", "indent": "false"}
    return len(requests.get(f"{solr.url}/select", params=params, timeout=60).content)


def _table(found: dict[str, Any]) -> str:
    heads = ["fields", "index before, MB", "after, MB", "times", "estimated by default, MB",
             "answer before, bytes", "after, bytes"]  # fmt: skip
    rows = [
        [way, one["before"] / 1e6, one["after"] / 1e6, one["times"], one["estimated"] / 1e6,
         one["answer_before"], one["answer_after"]]
        for way, one in found["ways"].items()
    ]  # fmt: skip
    return results.table(heads, rows)


if __name__ == "__main__":
    main()
