"""F1 of `duplicates` before and after 30 answers of the page of a review, on tables of many kinds.

    python benchmarks/thirty.py [--tables fake_1000:one ...] [--orders 3]

The review runs in this process, and the known pairs answer its questions. `tune` learns from the
answers, and `duplicates` gets the model with them, as the printed command says. The questions
depend on the order of the rows, so the invented people of the guide and a few small tables are
asked about in several orders. Results go to thirty.md and thirty.json.
"""

from __future__ import annotations

import argparse
import logging
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import answers
from kinds import write_rows
from lib import results
from lib.kinds import Table, compute_figures, read_tables

import neardup_solr as nd
from neardup_solr.answers.answer_file import AnswerFile
from neardup_solr.verbs.review import open_session
from neardup_solr.verbs.review.request import ReviewRequest
from neardup_solr.verbs.review.session import EACH, ReviewSession

ANSWERS = 30
SHUFFLED = ("people", "restaurants:one", "fake_1000:one", "restaurants:two")
PEOPLE = {"name": "text", "street": "text", "town": "text", "phone": "exact", "born": "date"}


def list_tables(orders: int) -> Iterator[Table]:
    """List the tables, some of them with their rows in several orders."""
    records = answers.people()
    rows = [{"id": str(at), **{name: values[at] for name, values in records.values.items()}}
            for at in range(len(next(iter(records.values.values()))))]  # fmt: skip
    pairs = frozenset(
        (min(pair), max(pair)) for pair in ((str(one), str(other)) for one, other in records.known)
    )
    tables = [Table(name="people", family="people", sides=(rows,), pairs=pairs), *read_tables()]
    for table in tables:
        yield table
        for order in range(1, orders if table.name in SHUFFLED else 1):
            draw = random.Random(order)
            sides = tuple(draw.sample(side, len(side)) for side in table.sides)
            yield replace(table, name=f"{table.name} {order}", sides=sides)


def judge(table: Table, pair: Any) -> bool:
    """Tell if a pair is known."""
    ends = str(pair.id), str(pair.other_id)
    return (ends if len(table.sides) > 1 else (min(ends), max(ends))) in table.pairs


def compute_f1(table: Table, pairs: Iterable[Any]) -> float:
    """Compute the F1 of pairs."""
    return compute_figures(table, ((str(pair.id), str(pair.other_id)) for pair in pairs))["f1"]


def answer_questions(table: Table, review: ReviewSession) -> tuple[int, int]:
    """Answer the questions of a page, and count the answers, and those that are "same".

    The page learns after each fifth answer, while the next one is given.
    """
    review._learn = lambda: None  # type: ignore[method-assign]
    questions, learnt, same = review.questions, 0, 0
    judged: Mapping[int, bool] | None = None
    number = questions.next("reader/tab", 0.0)
    while number is not None and len(questions.judged) < ANSWERS:
        is_same = judge(table, review.result.pairs[number])
        same += is_same
        if len(questions.judged) >= learnt + EACH:
            judged, learnt = questions.are_same(), len(questions.judged)
        review._answer([number], "same" if is_same else "different")
        number = questions.next("reader/tab", 0.0)
        if judged is not None:
            questions.prepare(review._learner.predict(judged))
            judged = None
    return len(questions.judged), same


def measure(table: Table, folder: Path) -> dict[str, Any]:
    """Ask about a table, and measure before and after."""
    source, *others = (write_rows(rows, folder / f"{'ab'[at]}.csv")
                       for at, rows in enumerate(table.sides))  # fmt: skip
    fields = PEOPLE if table.family == "people" and "born" in table.sides[0][0] else None
    of_source: dict[str, Any] = {"against": others[0]} if others else {}
    path = folder / "answers.jsonl"
    request = ReviewRequest(source, answers=path, who="truth", fields=fields, **of_source)
    file = AnswerFile(path)
    review = open_session(request.choose_columns(), file)
    before = [pair for pair in review.result.pairs if pair.similarity >= review.threshold]
    count, same = answer_questions(table, review)
    file.close()
    model = folder / "model.json"
    nd.tune(source, answers=path, output=model, fields=fields, **of_source)
    after = nd.duplicates(source, model=model, answers=path, **of_source).pairs
    return {"before": compute_f1(table, before), "after": compute_f1(table, after),
            "answers": count, "same": same}  # fmt: skip


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", help="names of tables")
    parser.add_argument("--orders", type=int, default=3)
    parsed = parser.parse_args()
    logging.disable(logging.WARNING)
    conditions, measured = results.conditions(), {}
    for table in list_tables(parsed.orders):
        if parsed.tables and table.name not in parsed.tables:
            continue
        with tempfile.TemporaryDirectory() as folder:
            measured[table.name] = measure(table, Path(folder))
        print(table.name, measured[table.name], flush=True)
    if parsed.tables:
        return
    rows = [[name, *(f"{row[key]:.3f}" for key in ("before", "after")),
             f"{row['same']} of {row['answers']}"] for name, row in measured.items()]  # fmt: skip
    public = [row for name, row in measured.items() if ":" in name and " " not in name]
    means = [f"{sum(row[key] for row in public) / len(public):.3f}" for key in ("before", "after")]
    rows.append(["**public tables, mean**", *means, ""])
    body = results.table(["table", "before", "after", "same"], rows)
    kept = {"conditions": conditions, "tables": measured}
    results.keep("thirty", kept, [(f"F1 before and after {ANSWERS} answers", body)])


if __name__ == "__main__":
    main()
