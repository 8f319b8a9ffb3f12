"""What wrong and surprising input gives, before and now, as a table.

    python -m tests.trials                      # what it gives now
    python -m tests.trials --before CHECKOUT    # and what an earlier checkout gave

A checkout has a .venv of its own, made by its scripts. Each trial runs alone, in a folder of small
files, on the embedded Solr; what it says, and its exit code, are the result. The table of both is
in benchmarks/trials.md.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = 220  # characters of a result in the table


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What somebody tries: Python, or a command if it begins with "$".

    `before` is the same in the words of the earlier version, if they were others; `code` is the
    exit code that is right, and `says` what is said now.
    """

    title: str
    now: str
    before: str = ""
    code: int = 0
    says: str = ""

    @property
    def is_command(self) -> bool:
        """Whether it is typed in a shell."""
        return self.now.startswith("$")


# A traceback quotes source lines, which may have the words of a message that is never printed.
NO_TRACEBACK = """\
import sys
sys.tracebacklimit = 0
import neardup_solr as nd
"""
DOCUMENTS = """\
docs = [nd.Document(id=str(n), text=f"the same text {n % 2}") for n in range(4)]
"""
COLLECTION = """\
c = nd.connect(core="trials", create=True)
"""
NEW = """\
c = nd.connect(collection="trials", create=True)
"""
FRAME = """\
import pandas as pd
df = pd.DataFrame({"id": [1, 2], "text": ["one two three four", "one two three five"]})
"""

TRIALS = (
    # Calls
    Trial(
        title="The call reads like the command",
        now='print(nd.duplicates("ads.jsonl", measure="jaccard", min_similarity=0.6))',
        says="<Duplicates: ",
    ),
    Trial(
        title="A misspelled argument",
        now='nd.duplicates("ads.jsonl", min_similarty=0.6)',
        code=1,
        says="did you mean `min_similarity`?",
    ),
    Trial(
        title="A measure that is none",
        now='nd.duplicates("ads.jsonl", measure="jacard")',
        before='nd.duplicates("ads.jsonl", verifying=nd.Verifying(measure="jacard"))',
        code=1,
        says="did you mean 'jaccard'?",
    ),
    Trial(
        title='"0.5" as a number',
        now='nd.duplicates("ads.jsonl", min_similarity="0.5")',
        before='nd.duplicates("ads.jsonl", verifying=nd.Verifying('
        'limits=nd.Limits(min_similarity="0.5")))',
        code=1,
        says="such as min_similarity=0.5",
    ),
    Trial(
        title="A similarity in per cent",
        now='nd.duplicates("ads.jsonl", min_similarity=95.0)',
        before='nd.duplicates("ads.jsonl", verifying=nd.Verifying('
        "limits=nd.Limits(min_similarity=95.0)))",
        code=1,
        says="for 95 % give 0.95",
    ),
    Trial(
        title="Settings as a mapping",
        now='print(nd.duplicates("ads.jsonl", settings={"shingle_size": 2}))',
        says="<Duplicates: ",
    ),
    Trial(
        title="A setting that is none",
        now='nd.duplicates("ads.jsonl", settings={"hashs": 64})',
        before=COLLECTION + 'nd.index("ads.jsonl", c, settings={"hashs": 64})',
        code=1,
        says="did you mean 'hashes'?",
    ),
    Trial(
        title="A plain pysolr.Solr as the collection",
        now='import pysolr\nnd.search(pysolr.Solr("http://localhost:1/solr/a"), text="x")',
        code=1,
        says="wrap it: nd.connect(it)",
    ),
    Trial(
        title="An address as the collection",
        now='nd.search("http://localhost:1/solr/a", text="x")',
        code=1,
        says="such as collection=nd.connect(",
    ),
    Trial(
        title="A string where several are meant (same)",
        now=NEW + 'nd.index("ads.jsonl", c)\nprint(nd.search(c, id="1", same="first_word"))',
        before=COLLECTION + 'nd.index("ads.jsonl", c)\n'
        'print(nd.search(c, id="1", criteria=nd.Criteria(same="first_word")))',
        says="[Match(",
    ),
    Trial(
        title="One id where a list is meant (delete)",
        now=NEW + 'nd.delete(c, "12")',
        before=COLLECTION + 'nd.delete(c, ids="12")',
        code=1,
        says='such as ids=["12"]',
    ),
    Trial(
        title="Both an id and a text",
        now=NEW + 'nd.search(c, id="1", text="x")',
        before=COLLECTION + 'nd.search(c, id="1", text="x")',
        code=1,
        says="give either `id` or `text`",
    ),
    Trial(
        title="A report where clusters belong (mark)",
        now=NEW + 'nd.index("ads.jsonl", c)\nnd.mark(c, nd.report(c))',
        before=COLLECTION + 'nd.index("ads.jsonl", c)\nnd.mark(c, nd.report(c))',
        code=1,
        says="`clusters` must be",
    ),
    Trial(
        title="Something else where pairs belong (evaluate)",
        now='nd.evaluate(3, [("a", "b")])',
        code=1,
        says="set `known` to pairs",
    ),
    # Data
    Trial(
        title="A DataFrame as a source",
        now=FRAME + "print(nd.duplicates(df).to_pandas()['id'].tolist())",
        before=FRAME + "print(nd.duplicates(df))",
        says="[1]",
    ),
    Trial(
        title="Dicts as a source",
        now='print(len(nd.duplicates([{"id": 1, "text": "a b"}, {"id": 2, "text": "a b"}]).pairs))',
        says="1",
    ),
    Trial(
        title="Tuples as a source",
        now='print(len(nd.duplicates([("a", "x y"), ("b", "x y")]).pairs))',
        says="1",
    ),
    Trial(
        title="A text that is None, and one that is NaN",
        now="print(nd.duplicates([('a', None), ('b', float('nan')), ('c', 'x y'), ('d', 'x y'),"
        " ('e', 'z')]).errors)",
        before="nd.duplicates([nd.Document(id='a', text=None), nd.Document(id='b', text='x')])",
        says="missing or null",
    ),
    Trial(
        title="A document whose id is a number",
        now="print(nd.duplicates([nd.Document(id=1, text='x y'), nd.Document(id='b', text='x y')]"
        ").pairs[0].id)",
        says="1",
    ),
    Trial(
        title="The result of 600 documents on the screen (characters)",
        now="docs = [nd.Document(id=str(n), text='the same text') for n in range(600)]\n"
        "print(len(repr(nd.duplicates(docs))))",
    ),
    Trial(
        title="A result pickled, copied and compared",
        now=DOCUMENTS + "import copy, pickle\nfound = nd.duplicates(docs)\n"
        "print(pickle.loads(pickle.dumps(found)) == copy.deepcopy(found))",
        says="True",
    ),
    Trial(
        title="Two explanations compared",
        now=DOCUMENTS + "print(nd.explain(docs, '0', '2') == nd.explain(docs, '0', '2'))",
        says="True",
    ),
    # Nothing silent
    Trial(
        title="Two lines that differ in one word of four",
        now="$ neardup duplicates two.txt --format tsv",
        says="1 pair compared",
    ),
    Trial(
        title="Two columns as the text",
        now="$ neardup duplicates books.csv --text-field title --text-field author"
        " --min-similarity 0.8 --format tsv",
        says="0 near-duplicate pairs",
    ),
    Trial(
        title="Indexed again without --keep",
        now="$ neardup index books.csv --text-field title --keep author -c kept;"
        " neardup index books.csv --text-field title -c kept",
        before="$ neardup index books.csv --text-field title --keep author -c kept;"
        " neardup index books.csv --text-field title -c kept",
        code=3,
        says="keep them with --keep author",
    ),
    Trial(
        title="Records that fail, from Python",
        now=NEW + "print(nd.index([('a', 'x y'), ('b', None), ('c', 'z')], c).errors)",
        before=COLLECTION + "print(nd.index([nd.Document(id='a', text='x y'),"
        " nd.Document(id='', text='z')], c))",
        says="missing or null",
    ),
    Trial(
        title="Ids that come again in a file",
        now="$ neardup duplicates repeated.csv --format tsv",
        says="2 records repeat an id: each of them is compared, with its row number added to the id"
        ", as in 12@row7",
    ),
    Trial(
        title="A CSV through a pipe",
        now="$ cat ads.csv | neardup index - -c piped",
        says="Read 4 records = 4 indexed",
    ),
    Trial(
        title="A gate whose output is closed",
        now="$ neardup index ads.jsonl -c closed;"
        " neardup gate many.jsonl --format tsv -c closed | head -1 > /dev/null",
        says="the output was closed",
    ),
    Trial(
        title="Delete everything",
        now="$ neardup index ads.jsonl -c all; neardup delete -q '*:*' -c all < /dev/null",
        code=3,
        says="add --yes to confirm",
    ),
    Trial(
        title="What a deletion would take",
        now="$ neardup index ads.jsonl -c all; neardup delete -q 'id:1' --dry-run -c all",
        says="1 document",
    ),
    # Defaults
    Trial(
        title="Marks on clusters that chain",
        now="$ neardup index chain.jsonl -c chain; neardup duplicates --mark -c chain"
        " --format tsv < /dev/null",
        code=3,
        says="add --yes to mark them anyway",
    ),
    Trial(
        title="A pair that only `aligned` finds",
        now="$ neardup explain 1 2 --source records.csv",
        says="duplicates --measure aligned",
    ),
    Trial(
        title="The bands that tune advises",
        now="$ neardup index many.jsonl -c tuned; neardup tune -c tuned --catch 0.65",
        says="neardup reband --bands",
    ),
    # The command line
    Trial(title="neardup alone", now="$ neardup", says="neardup duplicates ads.csv"),
    Trial(
        title="A choice that is none, before any server is asked",
        now="$ neardup report --by band --solr http://localhost:1/solr",
        code=2,
        says="'band'; did you mean 'bands'?",
    ),
    Trial(
        title="A similarity in per cent, on the command line",
        now="$ neardup duplicates ads.csv --min-similarity 95",
        code=2,
        says="for 95 % give 0.95",
    ),
    Trial(
        title="A size that is none",
        now="$ neardup duplicates ads.csv --memory much",
        code=2,
        says="give one such as 512M or 4G",
    ),
    Trial(
        title="A column that is not there",
        now="$ neardup duplicates ads.csv --text-field body",
        code=3,
        says="--text-field",
    ),
    Trial(
        title="Headers in capitals",
        now="$ neardup duplicates capitals.csv --format tsv",
        says="1 near-duplicate pair",
    ),
    Trial(
        title="A CSV with semicolons",
        now="$ neardup duplicates semicolons.csv --format tsv",
        says="1 near-duplicate pair",
    ),
    Trial(
        title="A CSV in Latin-1",
        now="$ neardup duplicates latin.csv --encoding latin-1 --format tsv",
        says="1 near-duplicate pair",
    ),
    Trial(
        title="A JSON array",
        now="$ neardup duplicates ads.json --format tsv",
        says="near-duplicate pair",
    ),
    Trial(
        title="A file of a header alone",
        now="$ neardup duplicates header.csv --format tsv",
        says="no records",
    ),
    Trial(
        title="An empty file",
        now="$ neardup duplicates empty.csv --format tsv",
        code=3,
    ),
    Trial(
        title="No server",
        now="$ neardup report --solr http://localhost:1/solr",
        code=4,
        says="check the address",
    ),
    Trial(
        title="The file without its duplicates",
        now="$ neardup duplicates ads.csv --unique clean.csv --format tsv; cat clean.csv",
        says="3,driver",
    ),
)

FILES = {
    "ads.csv": "id,text\n1,chef wanted in berlin now\n2,chef wanted in berlin today\n"
    "3,driver for a truck\n4,nurse for the night\n",
    "ads.jsonl": '{"id": "1", "text": "chef wanted in berlin now"}\n'
    '{"id": "2", "text": "chef wanted in berlin today"}\n'
    '{"id": "3", "text": "driver for a truck"}\n{"id": "4", "text": "nurse for the night"}\n',
    "ads.json": '[{"id": "1", "text": "chef wanted in berlin now"},\n'
    ' {"id": "2", "text": "chef wanted in berlin today"}]\n',
    "two.txt": "1 the red house stands\n2 the blue house stands\n",
    "books.csv": "id,title,author\n1,winter songs,berta birch of the hills\n"
    "2,summer tales,berta birch of the hills\n3,letters,anna almond\n",
    "repeated.csv": "id,text\n1,one two\n1,one three\n2,four five\n2,six seven\n3,eight\n",
    "capitals.csv": "ID,Text\n1,one two three\n2,one two three\n",
    "semicolons.csv": "id;text\n1;one two three\n2;one two three\n",
    "header.csv": "id,text\n",
    "empty.csv": "",
    "records.csv": "id,text\n1,jonathan smithe 12 oak street\n2,jonathon smith 12 oak str\n",
    "many.jsonl": "".join(
        f'{{"id": "{n}", "text": "text number {n * 7919 % 1009} with some words {n % 50}"}}\n'
        for n in range(3000)
    ),
    "chain.jsonl": "".join(
        f'{{"id": "{n}", "text": "{" ".join(f"w{w}" for w in range(n, n + 10))}"}}\n'
        for n in range(8)
    ),
}


def write_files(folder: Path) -> None:
    """The files that trials read."""
    for name, content in FILES.items():
        (folder / name).write_text(content)
    (folder / "latin.csv").write_bytes("id,text\n1,zwölf für\n2,zwölf für\n".encode("latin-1"))


def run(trial: Trial, checkout: Path, folder: Path, *, now: bool) -> tuple[int, str]:
    """The exit code of a trial in a checkout, and all that it says."""
    code = trial.now if now else _beside(trial.before or trial.now)
    python = Path(sys.executable).parent if now else checkout / ".venv" / "bin"
    environment = os.environ | {
        "PATH": f"{python}:{os.environ['PATH']}",
        "PYTHONPATH": str(checkout),
        "COLUMNS": "200",
    }
    words = ["bash", "-c", code[1:]]
    if not trial.is_command:
        words = [str(python / "python"), "-c", NO_TRACEBACK + textwrap.dedent(code)]
    done = subprocess.run(
        words, cwd=folder, env=environment, text=True, capture_output=True, timeout=300, check=False
    )
    return done.returncode, f"{done.stdout}\n{done.stderr}"


def _beside(code: str) -> str:
    """The same for an earlier version, in collections of its own."""
    return re.sub(r"-c (\w+)", r"-c \1_before", code).replace('"trials"', '"trials_before"')


def problems(trial: Trial, code: int, said: str) -> Iterator[str]:
    """What is not as it should be with what a trial gives now."""
    if code != trial.code:
        yield f"exit code {code}, not {trial.code}"
    if trial.says not in said:
        yield f"does not say {trial.says!r}"
    raw = re.search(r"^(TypeError|AttributeError|KeyError|ValueError|IndexError).*", said, re.M)
    if raw:
        yield raw[0]


def told(code: int, said: str, says: str) -> str:
    """What was said that matters, else the last line, with the exit code, for the table."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = next((line for line in lines if says and says in line), (lines or ["(nothing)"])[-1])
    last = last.removeprefix("neardup_solr.errors.").replace("|", "\\|")
    shown = f"{last[:LONGEST]}…" if len(last) > LONGEST else last
    return f"{code}: {shown}"


def main() -> None:
    """Run the trials and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--before", type=Path, help="checkout of an earlier version")
    given = parser.parse_args()
    heads = ["trial", *(["before"] if given.before else []), "now"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for number, trial in enumerate(TRIALS, 1):
            cells = [f"{number}. {trial.title}"]
            folder = Path(name, str(number))
            for checkout in (*([given.before] if given.before else []), ROOT):
                folder.mkdir(exist_ok=True)
                write_files(folder)
                code, said = run(trial, checkout, folder, now=checkout == ROOT)
                cells.append(told(code, said, trial.says))
            print(f"| {' | '.join(cells)} |", flush=True)
            for problem in problems(trial, code, said):
                wrong += 1
                print(f"{number}. {trial.title}: {problem}", file=sys.stderr)
    print(f"{len(TRIALS)} trials, {wrong} of them wrong now", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
