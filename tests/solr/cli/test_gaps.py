"""What search and report say of documents that cannot be found."""

from __future__ import annotations

from pathlib import Path

import neardup_solr as nd
from tests.solr.cli.conftest import Run


def test_documents_without_fields_and_without_words(
    run: Run, solr: nd.Collection, tmp_path: Path
) -> None:
    """A search of a whole collection says nothing of it; else what is missing, and what to do."""
    source = tmp_path / "some.tsv"
    source.write_text("id\ttext\n1\tone two three four\n2\tone two three four\n3\t\u200b\n")
    assert run("index", str(source)).returncode == 0
    assert run("search", "--id", "1").stderr == ""
    wordless = "The document has no text or no words, so it has no near-duplicates.\n"
    assert run("search", "--id", "3").stderr == wordless
    assert run("search", "--text", "other words").stderr == "No near-duplicates found.\n"
    solr.add([{"id": "late", "content": "one two three four"}])
    solr.commit()
    gap = "Incomplete: documents without a signature: 1; index them again.\n"
    found = run("search", "--id", "1", "--format", "tsv")
    assert found.stdout.splitlines()[1].startswith("2\t")
    assert (found.returncode, found.stderr) == (0, gap)
    assert run("report", "--by", "bands").stderr.endswith(gap)
