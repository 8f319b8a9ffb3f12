"""A question as HTML: two records side by side, with what differs marked."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from neardup_solr.measures import floor
from neardup_solr.records import AnyId, Cluster, Duplicate, key_of
from neardup_solr.reports.html import show_invisibles
from neardup_solr.text import diff
from neardup_solr.verbs.review.questions import Questions

MOST_CHARACTERS = 20_000  # of a text that are shown
BEFORE = 200  # characters that are shown before the first difference of longer texts
AROUND = 40  # words that are shown on either side of a longer run in common
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
    head = "<tr><td></td><th scope='col'>First</th><th scope='col'>Second</th></tr>"
    members = "" if cluster is None else "".join(_list_members(cluster, texts))
    reason = escape(_tell_reason(pair, threshold, cluster))
    table = f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody>"
    return f"<p class='why-asked'>{reason}</p><table class='records'>{table}</table>{members}"


def make_end(questions: Questions) -> str:
    """Make the HTML that stands in place of a question if nobody needs to be asked."""
    left = questions.tally().left
    if left:
        said = "Others are asked about the pairs that are left. Load this page again to go on."
    else:
        said = "All answers are kept. Close this page, and end the command with Ctrl-C."
    return f"<p class='note'>{said}</p>"


def make_bar(questions: Questions) -> str:
    """Make the HTML of the bar: how many pairs are judged."""
    tally = questions.tally()
    counts = f"{tally.same:,} same, {tally.different:,} different, {tally.unsure:,} unsure"
    return f"<p>{counts}; {tally.left:,} pairs left</p>"


def _tell_reason(pair: Duplicate, threshold: float, cluster: Cluster | None) -> str:
    """Say why the pair is asked about."""
    side = "at least" if pair.similarity >= floor(threshold) else "below"
    what = "Probability of a match" if pair.measure == "fields" else f"Similarity by {pair.measure}"
    reason = f"{what} {pair.similarity:.3f}, {side} the threshold {threshold:g}"
    if cluster is None or len(cluster.members) < 3:
        return reason
    return f"{reason}; in a cluster of {len(cluster.members):,} documents"


def _compare(name: str, first: str, second: str, *, is_id: bool = False) -> str:
    """Make a row of a field: both values, with the words marked that only one of them has."""
    if is_id:
        cells = [show_invisibles(value, is_id=True) for value in (first, second)]
    else:
        cells = _mark_words(first, second)
    values = (f"<td dir='auto'>{cell or '<i>nothing</i>'}</td>" for cell in cells)
    heading = show_invisibles(name)
    return f"<tr><th scope='row'>{heading}</th>{''.join(values)}</tr>"


def _mark_words(first: str, second: str) -> list[str]:
    """Mark the words that only one of two texts has, if both have any.

    Of long texts a part is shown, which begins before the first difference.
    """
    begin = 0
    if max(len(first), len(second)) > MOST_CHARACTERS:
        most = range(min(len(first), len(second)))
        same = bisect_left(most, True, key=lambda at: first[: at + 1] != second[: at + 1])
        begin = max(0, same - BEFORE)
    parts = [text[begin : begin + MOST_CHARACTERS] for text in (first, second)]
    one, other = map(diff.split, parts)
    cells: list[list[str]] = [[_elide(begin, "equal characters")] if begin else [] for _ in parts]
    for change in diff.changes(one.forms, other.forms) if one.forms and other.forms else ():
        for words, run, tag, cell in (
            (one, change.first, "del", cells[0]),
            (other, change.second, "ins", cells[1]),
        ):
            if change.kind == "equal":
                cell += _show_common(words, run)
            elif run.stop > run.start:
                cell.append(f"<{tag}>{show_invisibles(words.text(run))}</{tag}>")
    for text, part, cell in zip((first, second), parts, cells, strict=True):
        if not (one.forms and other.forms) and part.strip():
            cell.append(show_invisibles(part))
        if len(text) > begin + MOST_CHARACTERS:
            cell.append(_elide(len(text) - begin - MOST_CHARACTERS, "more characters"))
    return [" ".join(cell) for cell in cells]


def _show_common(words: diff.Words, run: slice) -> Iterator[str]:
    """Show a run of words that both texts have, without the middle of a long one."""
    left_out = run.stop - run.start - 2 * AROUND
    if left_out <= 1:
        yield show_invisibles(words.text(run))
        return
    yield show_invisibles(words.text(slice(run.start, run.start + AROUND)))
    yield _elide(left_out, "words in common")
    yield show_invisibles(words.text(slice(run.stop - AROUND, run.stop)))


def _elide(count: int, what: str) -> str:
    return f"<i class='elided'>… {count:,} {what} …</i>"


def _list_members(cluster: Cluster, texts: Mapping[AnyId, str]) -> Iterator[str]:
    """List the documents of a cluster, with a button for all of them if they are few."""
    count = len(cluster.members)
    if not 2 < count <= MOST_MEMBERS:
        return
    yield f"<details class='cluster'><summary>All {count} documents of the cluster</summary><ul>"
    for member in cluster.members:
        begin = texts.get(key_of(member.id, member.side), "")[: 4 * PREVIEW]
        text = " ".join(begin.split())[:PREVIEW]
        id = show_invisibles(str(member.id), is_id=True)
        yield f"<li><code>{id}</code> {show_invisibles(text)}</li>"
    yield "</ul><button type='button' class='quiet' data-say='cluster'>All are the same"
    yield " <kbd aria-hidden='true'>A</kbd></button></details>"
