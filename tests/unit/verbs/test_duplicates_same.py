"""Only documents with equal values of a field are compared: by every way, and before the cap."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup_solr as nd
from neardup_solr import demo
from neardup_solr.errors import ArgumentError, SettingsError
from tests.refusals import refusal

TENANTS = ("a", "b", "A", "")
TEXT = "the night ferry to Orla leaves the old pier at nine"


def listings(copies: int = 1) -> list[nd.Document]:
    """The listings of the demo, each `copies` times for each of the tenants."""
    return [
        nd.Document(
            id=f"{one.id}-{tenant or 'none'}-{copy}", text=one.text, kept={"tenant": tenant}
        )
        for one in list(nd.read(demo.listings()))[:60]
        for copy in range(copies)
        for tenant in TENANTS
        if isinstance(one, nd.Document)
    ]


def found_pairs(found: nd.Duplicates) -> list[tuple[str, str, float]]:
    """The pairs, in the order of their ids."""
    return sorted((pair.id, pair.other_id, pair.similarity) for pair in found.pairs)


@pytest.mark.parametrize("linkage", ["single", "complete"])
@pytest.mark.parametrize(
    ("by", "cap"),
    [("bands", None), ("bands", 2), ("shingles", None), ("words", None), ("words", 2),
     ("all", None)],
)  # fmt: skip
def test_it_is_as_if_each_group_were_compared_alone(by: Any, linkage: Any, cap: int | None) -> None:
    """The same pairs, clusters and hot keys; a document without a value has no pair."""
    how: dict[str, Any] = {"by": by, "linkage": linkage, "cap": cap}
    how |= {"measure": "containment"} if by == "shingles" else {}
    given = listings(copies=2)
    found = nd.duplicates(given, same="tenant", **how)
    alone = [
        nd.duplicates([one for one in given if one.kept["tenant"] == tenant], **how)
        for tenant in TENANTS[:3]
    ]
    assert found_pairs(found) == sorted(chain.from_iterable(map(found_pairs, alone)))
    assert len(found.pairs) > 100
    assert {one.id for one in found.clusters} == {c.id for each in alone for c in each.clusters}
    assert found.hot_keys == sum(each.hot_keys for each in alone)
    assert found.candidates == sum(each.candidates for each in alone)
    assert found.gaps == ("documents without tenant: 120, which were not compared",)
    assert found.same == ("tenant",)


def test_by_shingles_each_group_counts_for_the_cap() -> None:
    """What stands in more tenants than the cap is found in each of them all the same."""
    given = [
        nd.Document(id=f"{tenant}-{copy}", text=TEXT, kept={"tenant": f"t{tenant}"})
        for tenant in range(1_100)
        for copy in "ab"
    ]
    found = nd.duplicates(given, same="tenant", measure="containment", cap=20)
    assert (found.by, len(found.pairs), found.hot_keys) == ("shingles", 1_100, 0)


def test_values_are_compared_exactly() -> None:
    """A number is its text, whatever library wrote it; nothing is trimmed, folded or parsed."""
    values: Sequence[Any] = (
        "5", 5, 5.0, " 5", "05", True, "true", None, None, "", "", float("nan"), float("nan"),
        "é", "e\u0301", "*", [5], ["x", "y"], ["y", "x", "x"], ["y"], np.int64(7), "7",
    )  # fmt: skip
    given = [
        nd.Document(id=str(at), text=TEXT, kept={"year": value}) for at, value in enumerate(values)
    ]
    found = nd.duplicates(given, same="year")
    assert sorted(sorted(m.id for m in one.members) for one in found.clusters) == [
        ["0", "1", "16", "2"], ["17", "18"], ["20", "21"], ["5", "6"],
    ]  # fmt: skip


def test_all_of_several_fields_have_to_be_equal() -> None:
    """A boundary between values cannot be moved from one field to the other."""
    kept = [("a", "bc"), ("ab", "c"), ("a", "bc"), ("a", None)]
    given = [
        nd.Document(id=str(at), text=TEXT, kept={"tenant": one, "month": other})
        for at, (one, other) in enumerate(kept)
    ]
    found = nd.duplicates(given, same=["tenant", "month", "tenant"])
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("0", "2")]
    assert "without tenant or month: 1, " in found.gaps[0]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_columns_of_files_on_two_sides(tmp_path: Path, suffix: str) -> None:
    """The values of one side are those of the other, also if one has numbers and one texts."""
    old, new = tmp_path / "old.csv", tmp_path / f"new.{suffix}"
    old.write_text(f"id,text,year\n1,{TEXT},2023\n2,{TEXT},2024\n3,{TEXT},\n")
    if suffix == "csv":
        new.write_text(f"id,text,year\n9,{TEXT},2024\n")
    else:
        new.write_text(f'{{"id": 9, "text": "{TEXT}", "year": 2024}}\n')
    found = nd.duplicates(new, against=old, same="year")
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("9", "2")]


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    """A column that is not there, one that is always empty, and a filter for a file."""
    source = tmp_path / "a.csv"
    source.write_text(f"id,text,tenant\n1,{TEXT},\n2,{TEXT},\n")
    with refusal(SettingsError, "field-empty", "tenant"):
        nd.duplicates(source, same="tenant")
    with pytest.raises(nd.SourceError, match="tennant"):
        nd.duplicates(source, same="tennant")
    with refusal(ArgumentError, "arguments-conflict", "`fq`"):
        nd.duplicates(source, fq="tenant:a")


def test_every_pair_of_a_group_may_be_more_than_of_all() -> None:
    """The limit counts the pairs that are compared."""
    documents = [
        nd.Document(id=str(at), text=TEXT, kept={"tenant": str(at // 5)}) for at in range(10_000)
    ]
    with pytest.raises(SettingsError, match="49,995,000 pairs"):
        nd.duplicates(documents, by="all", measure="words")
    found = nd.duplicates(documents, by="all", measure="words", same="tenant")
    assert found.candidates == len(found.pairs) == 2_000 * 10
    assert all(int(pair.id) // 5 == int(pair.other_id) // 5 for pair in found.pairs)


def test_a_remembered_run_knows_no_groups(tmp_path: Path) -> None:
    """A document may change its group and nothing else; comparisons are still used again."""

    def documents(tenants: Sequence[str]) -> list[nd.Document]:
        return [
            nd.Document(id=str(at), text=f"{TEXT} {at // 20}", kept={"tenant": tenant})
            for at, tenant in enumerate(tenants)
        ]

    how: dict[str, Any] = {"by": "bands", "measure": "words", "remember": tmp_path / "known"}
    before, after = documents(["a", "b"] * 50), documents(["a", "b", "b", "b"] * 25)
    nd.duplicates(before, same="tenant", **how)
    again = nd.duplicates(after, same="tenant", **how)
    full = nd.duplicates(after, same="tenant", by="bands", measure="words")
    assert found_pairs(again) == found_pairs(full)
    assert again.since is not None
    assert again.since.reused > 100
    everything = nd.duplicates(after, **how)
    assert found_pairs(everything) == found_pairs(nd.duplicates(after, by="bands", measure="words"))
    assert found_pairs(nd.duplicates(after, same="tenant", **how)) == found_pairs(full)


def fleet() -> list[dict[str, str]]:
    """Boats, of which 30 are entered twice, with a slip or without a year."""
    draw = random.Random(3)

    def name(*parts: str) -> str:
        return "".join(draw.choice(part.split("|")) for part in parts)

    boats = [
        {
            "boat": name("Sea|North|Blue|Old|Grey|Swift", "gull|wind|star|fox", "| II| of Senn"),
            "owner": name("Marta|Jonas|Otto|Lena|Ines", " Linsen| Weber| Holm| Dahl| Keller"),
            "built": str(draw.randint(1960, 2019)),
            "port": draw.choice(["Kiel", "Brest", "Split"]),
        }
        for _ in range(120)
    ]
    for boat in draw.sample(boats, 30):
        built = draw.choice([boat["built"], ""])
        boats.append({**boat, "owner": boat["owner"].replace("e", "", 1), "built": built})
    return [{"id": str(number), **boat} for number, boat in enumerate(boats)]


@pytest.mark.parametrize(
    "options",
    [{"same": "port"}, {"same": "owner"}, {"same": "built"}, {"same": ("port", "built")},
     {"answers": "answers.jsonl"}],
    ids=str,
)  # fmt: skip
def test_the_probability_of_a_pair_depends_on_no_other_that_is_left_out(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weights of fields are learnt from all records, and `explain` knows the same ones."""
    monkeypatch.chdir(tmp_path)
    boats, fields = fleet(), "boat,owner,built:exact"

    def find(**limits: Any) -> dict[tuple[str, str], float]:
        found = nd.duplicates(boats, fields=fields, **limits)
        return {(pair.id, pair.other_id): pair.similarity for pair in found.pairs}

    usual = find(min_similarity=0.01)
    for id, other_id in [*usual][:6]:
        nd.answer(boats, id, other_id, "same", answers="answers.jsonl", text=["boat", "owner"])
    some = find(**options)
    assert 4 < len(some) < len(usual)
    assert some == pytest.approx({pair: usual[pair] for pair in some})
    pair = next(iter(some))
    explained = nd.explain(boats, *pair, fields=fields)
    assert explained.facts.probability == pytest.approx(some[pair])
