"""What `write_unique` writes, by any number of threads and in blocks of any size."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES


def write_sources(folder: Path) -> Iterator[Path]:
    """Sources of each format with copies, odd records and bad ones."""
    texts = [f"wort{at % 40} ist hier das {at % 7}. von {at} Wörtern" for at in range(90)]
    texts[::9] = ['a "quoted" text, which\ngoes on in a line'] * 10
    objects = [json.dumps({"text": text, "id": f"d{at}", "n": at}) for at, text in enumerate(texts)]
    objects[5:5] = ["", "{", '{"id": "x"}', '{"id": "y", "text": "a", "text": "b"}']
    rows = [f'd{at},"{text.replace(chr(34), chr(34) * 2)}",{at}' for at, text in enumerate(texts)]
    rows[1::2] = [
        f"d{at},{texts[at].split()[0]} plain and short {at % 5},{at}" for at in range(1, 90, 2)
    ]
    rows[30:30] = ["", "id,text,n", "too,many,cells,here", 'bad "quote,x', "e,,3", "f,short"]
    lines = [text.partition("\n")[0] for text in [*texts[:45], *texts[:45]]]
    array = [json.loads(each) for each in objects if each.endswith("}")]
    contents = {
        "a.jsonl": "\n".join(objects),
        "b.csv": "id,text,n\n" + "\n".join(rows) + "\n\n",
        "c.csv": ("id,text,n\n" + "\n".join(rows)).replace("\n", "\r\n"),
        "d.txt": "\n".join([*lines, " ", "z", ""]),
        "e.json": json.dumps(array, indent=1),
    }
    for name, content in contents.items():
        path = folder / name
        path.write_text(content, newline="")
        yield path
    path = folder / "f.parquet"
    values = {"id": [f"d{at}" for at in range(90)], "text": [*texts[:89], None], "n": [*range(90)]}
    pq.write_table(pa.table(values), path, row_group_size=13)
    yield path


@pytest.mark.parametrize("at", range(6))
def test_unique_is_the_same_however_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Whatever the size of blocks and the number of threads, each record is in one file."""
    source = [*write_sources(tmp_path)][at]
    written: list[tuple[Any, list[Any], bytes]] = []
    for block, alone in ((1 << 18, 8), (16, 0), (200, 0)):
        monkeypatch.setattr(SIZES, "read_block", block)
        monkeypatch.setattr(SIZES, "read_alone", alone)
        for threads in ("1", "2", "3", "7"):
            monkeypatch.setenv("NEARDUP_THREADS", threads)
            suffix = ".jsonl" if source.suffix == ".json" else source.suffix
            suffixes = suffix, suffix.replace(".txt", ".jsonl")
            paths = [tmp_path / f"{at}{each}" for at, each in enumerate(suffixes)]
            rejected = tmp_path / "rejected.jsonl"
            found = nd.duplicates(source, on_error=lambda _: None)
            unique = found.write_unique(paths[0], removed=paths[1], rejected=rejected, yes=True)
            assert unique.removed > 5
            tables = source.suffix == ".parquet"
            contents = [pq.read_table(path).to_pylist() if tables else path.read_bytes()
                        for path in paths]  # fmt: skip
            written.append((unique, contents, rejected.read_bytes()))
    assert all(each == written[0] for each in written)
    unique = written[0][0]
    assert unique.records == unique.kept + unique.removed + unique.repeated + unique.failed
