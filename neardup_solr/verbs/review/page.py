"""A question as HTML: two records side by side, with what differs marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from neardup_solr.records import AnyId, Cluster, Duplicate, key_of
from neardup_solr.reports.html import show_invisibles
from neardup_solr.text import diff
from neardup_solr.verbs.evaluate.answers import Share
from neardup_solr.verbs.review.questions import Questions

MOST_WORDS = 2_000  # of a text that is shown
MOST_MEMBERS = 12  # of a cluster that is judged at once
PREVIEW = 160  # characters


def make_question(
    pair: Duplicate,
    threshold: float,
    cluster: Cluster | None,
    texts: Mapping[AnyId, str],
    kept: Mapping[AnyId, Mapping[str, Any]],
) -> str:
    """Make the HTML of a question. Nothing in a text is markup in it."""
    one, other = key_of(pair.id, pair.sides[0]), key_of(pair.other_id, pair.sides[1])
    rows = [_compare("Id", str(pair.id), str(pair.other_id), is_id=True)]
    columns, others = kept.get(one, {}), kept.get(other, {})
    for name in columns:
        values = [str("" if row.get(name) is None else row[name]) for row in (columns, others)]
        rows.append(_compare(name, *values))
    if pair.measure != "fields":  # which are columns already
        rows.append(_compare("Text", texts.get(one, ""), texts.get(other, "")))
    head = "<tr><th></th><th scope='col'>First</th><th scope='col'>Second</th></tr>"
    members = "" if cluster is None else "".join(_list_members(cluster, texts))
    reason = escape(_tell_reason(pair, threshold, cluster))
    table = f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody>"
    return f"<p class='why-asked'>{reason}</p><table class='records'>{table}</table>{members}"


def make_bar(questions: Questions) -> str:
    """Make the HTML of the bar: how many pairs are judged, and how sure the figures are."""
    tally = questions.tally()
    counts = (
        f"{tally.same:,} same, {tally.different:,} different, {tally.unsure:,} unsure;"
        f" {tally.left:,} pairs left"
    )
    if tally.same + tally.different == 0:
        return f"<p>{counts}</p>"
    precision = _gauge(f"Precision from {questions.threshold:g}", tally.precision)
    return f"<p>{counts}</p>{precision}{_gauge('Recall of the pairs found', tally.recall)}"


def _gauge(name: str, share: Share) -> str:
    """A scale from 0 to 100 % with the interval filled."""
    value, low, high = (100 * one for one in (share.value, share.low, share.high))
    said = f"{name} {value:.0f} % ({low:.0f} to {high:.0f})"
    return (
        f"<p class='gauge'><span>{said}</span><svg class='scale' viewBox='0 0 100 4'"
        f" preserveAspectRatio='none' aria-hidden='true'><rect width='100' height='4'/>"
        f"<rect class='sure' x='{low:.1f}' width='{max(high - low, 1):.1f}' height='4'/></svg></p>"
    )


def _tell_reason(pair: Duplicate, threshold: float, cluster: Cluster | None) -> str:
    """Say why the pair is asked about."""
    side = "at least" if pair.similarity >= threshold else "below"
    what = "Probability of a match" if pair.measure == "fields" else f"Similarity by {pair.measure}"
    said = f"{what} {pair.similarity:.3f}, {side} the threshold {threshold:g}"
    if cluster is None or len(cluster.members) < 3:
        return said
    ends = {pair.id, pair.other_id}.intersection(cluster.bridges)
    holds = ", which one of the two holds together" if ends else ""
    return f"{said}; in a cluster of {len(cluster.members):,} documents{holds}"


def _compare(name: str, first: str, second: str, *, is_id: bool = False) -> str:
    """Make a row of a field: both values, with the words marked that only one of them has."""
    if is_id:
        cells = [show_invisibles(value, is_id=True) for value in (first, second)]
    else:
        cells = ["".join(cell) for cell in _mark_words(diff.split(first), diff.split(second))]
    values = (f"<td dir='auto'>{cell or '<i>nothing</i>'}</td>" for cell in cells)
    heading = show_invisibles(name)
    return f"<tr><th scope='row'>{heading}</th>{''.join(values)}</tr>"


def _mark_words(first: diff.Words, second: diff.Words) -> tuple[list[str], list[str]]:
    one: list[str] = []
    other: list[str] = []
    changes = diff.changes(first.forms[:MOST_WORDS], second.forms[:MOST_WORDS])
    for change in changes:
        for words, part, tag, cells in (
            (first, change.first, "del", one),
            (second, change.second, "ins", other),
        ):
            if part.stop > part.start:
                shown = show_invisibles(words.text(part))
                cells.append(shown if change.kind == "equal" else f"<{tag}>{shown}</{tag}>")
    for words, cells in ((first, one), (second, other)):
        if len(words.forms) > MOST_WORDS:
            cells.append(f"<i>… {len(words.forms) - MOST_WORDS:,} more words</i>")
    return [" ".join(one)], [" ".join(other)]


def _list_members(cluster: Cluster, texts: Mapping[AnyId, str]) -> Iterator[str]:
    """List the documents of a cluster, with a button for all of them if they are few."""
    count = len(cluster.members)
    if not 2 < count <= MOST_MEMBERS:
        return
    yield f"<details class='cluster'><summary>All {count} documents of the cluster</summary><ul>"
    for member in cluster.members:
        text = " ".join(texts.get(key_of(member.id, member.side), "").split())[:PREVIEW]
        id = show_invisibles(str(member.id), is_id=True)
        yield f"<li><code>{id}</code> {show_invisibles(text)}</li>"
    yield "</ul><button type='button' class='quiet' data-say='cluster'>All are the same"
    yield " <kbd aria-hidden='true'>A</kbd></button></details>"
