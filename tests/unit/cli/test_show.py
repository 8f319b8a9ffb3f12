"""What the command prints, on terminals of any width."""

from __future__ import annotations

import pytest

from neardup_solr.cli import show
from neardup_solr.records import Cluster, Match, Member, Pair
from neardup_solr.verbs.report import Report


@pytest.mark.parametrize("width", [20, 40, 66, 80])
def test_ids_and_texts_have_room_on_any_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    """No line is wider than the terminal, and ids are not folded to a letter a line."""
    monkeypatch.setenv("COLUMNS", str(width))
    match = Match(
        id="guide-000001", distance=2, similarity=0.9, shared=7, content="blue door cafe " * 9
    )
    pair = Pair(id=match.id, other_id="guide-000002", distance=2, similarity=0.9)
    show.print_matches([match])
    show.print_report(Report(pairs=(pair,), documents=2, cut=0), {match.id: match.content})
    members = (
        Member(id=match.id, similarity=1.0, distance=0),
        *(Member(id=f"guide-{at:06}", similarity=0.9, distance=2) for at in range(2, 8)),
    )
    cluster = Cluster(
        id=match.id, canonical=match.id, members=members, pairs=21, diameter=1, bridges=()
    )
    show.print_clusters([cluster], {match.id: match.content})
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert sum("guide-000001" in line for line in lines) == 3 + (width < show.NARROW)
    assert sum("blue do" in line for line in lines) == 2 + (width > 20)
    assert sum("and 2 more" in line for line in lines) == 1


@pytest.mark.parametrize("width", [40, 100])
def test_tables_without_a_distance(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    """Where there is no distance nothing stands in its place, on any terminal."""
    monkeypatch.setenv("COLUMNS", str(width))
    match = Match(id="a", distance=None, similarity=0.9, shared=7, content="blue door cafe")
    pair = Pair(id="a", other_id="b", distance=None, similarity=0.8)
    show.print_matches([match])
    show.print_report(Report(pairs=(pair,), documents=2, cut=0), {"a": match.content})
    printed = capsys.readouterr().out
    assert "None" not in printed
    assert "0.900" in printed
    assert "0.800" in printed
    assert ("distance" in printed) == (width == 100)  # the heading of a column
