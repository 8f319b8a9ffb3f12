"""The table of options: one row for each, which the command and the library share.

A row has the text of an option, what it takes, how it is typed, and whether only `--help-all`
shows it. Its type and its default are those of the argument of its name in `neardup_solr.api`, or
in the function of the command. Help, the references and `help(nd.duplicates)` are made of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """Row of the table.

    `text` has arguments in backticks, which help spells as options: `against` is --against.
    `takes`: what is typed after the option, if its type does not say so; `flags`: how it is typed,
    if not --name; `seldom`: True for an option that only --help-all shows.
    """

    text: str
    takes: str = ""
    flags: str = ""
    seldom: bool = False


PLACED = "Arguments"  # typed without a flag
OTHER = "Options"
READ = "Input"
LIBRARY = "Library"  # what the command has in another way, or not at all

_OUTPUT = "Write to a .tsv, .csv, .jsonl or .xlsx file."
_CANDIDATES_BY = (
    "How to find candidate pairs: bands, shingles, passages, words (rare words; for short records)"
    " or all (every pair). Default: all for up to 2,000 short texts; for more or longer texts,"
    " bands (shingles with containment, words with aligned and records); passages with passages."
)

# By heading, in the order of the help. A name is that of the argument; `gate.text` is the row of a
# single command or function.
OPTIONS: Mapping[str, Mapping[str, Option]] = {
    PLACED: {
        "source": Option(
            "File (.txt .csv .tsv .jsonl .json .parquet .xlsx, also .gz .bz2 .xz .zst), several"
            " files that form one table, a folder, or - for standard input."
        ),
        "duplicates.source review.source passages.source": Option(
            "Files or a folder, else a collection."
        ),
        "tune.source": Option(
            "Files or a folder to sample, - for standard input, else a collection."
        ),
        "ids": Option("Ids of the documents to delete."),
        "one": Option("Id of a document.", "ID"),
        "other": Option("Id of the other document.", "OTHER_ID"),
        "answer": Option("same, different or unsure."),
        "evaluate.known": Option("File of known pairs: two columns of ids."),
        "report": Option("File of reported pairs [default: make a new report].", "REPORT"),
    },
    OTHER: {
        "explain.source": Option("File, folder or - with both texts, else a collection.", "FILE"),
        "answer.source": Option(
            "File, folder or - with both texts, else a collection. An answer lapses if texts"
            " change.",
            "FILE",
        ),
        "answer.answers": Option("Answers file.", "FILE"),
        "pairs": Option(
            "Import answers from the column named answer in a table of pairs.", "FILE", "--import"
        ),
        "search.id": Option("Id of a document in the collection.", flags="--id"),
        "search.text": Option(
            "Text to search for; in the command, - is standard input.", flags="--text"
        ),
        "search.passages": Option(
            "List the passages that documents share with the text, however unlike they are as a"
            " whole. Candidates are found by shingles."
        ),
        "gate.passages serve.passages": Option(
            "Also tell the passages that a document shares with those in the collection (found by"
            " shingles) and with earlier new ones. A copy, an edition or a part is judged by the"
            " share of it that they cover."
        ),
        "ordered": Option("The order of the ids in a pair matters (first source, second source)."),
        "into": Option("Write into this collection; leave the original unchanged.", "OTHER"),
        "which": Option(
            "needed (fields are missing or outdated), missing (fields are missing) or all."
        ),
        "query": Option("Only documents that match this query.", "QUERY", "--query -q"),
        "delete.query": Option(
            "Also delete all documents that match this query.", "QUERY", "--query -q"
        ),
        "follow": Option(
            "Keep running: annotate new and changed documents, until Ctrl-C.", flags="--follow -f"
        ),
        "against": Option(
            "Compare with this second file, folder or collection. Columns with other names are"
            " paired, as in `text` title=headline or `fields` name=Kunde.",
            "FILE|NAME|URL",
        ),
        "canonical": Option(
            "Document of a cluster to keep: first, longest, shortest, fullest (of columns), oldest,"
            " newest, oldest:FIELD, newest:FIELD, or FIELD=wire,agency (prefer the value wire, then"
            " agency).",
            "RULE",
        ),
        "annotate.mark": Option("With `follow`: also keep the cluster marks up to date."),
        "mark": Option(
            "Write the clusters into the collection, so that queries can collapse them."
        ),
        "undo": Option("Remove all marks from the collection.", seldom=True),
        "duplicates.dry_run": Option(
            "With `mark` or `undo`: change nothing, only count.", seldom=True
        ),
        "delete.dry_run": Option("Delete nothing, only count the documents.", seldom=True),
        "dry_run": Option("Change nothing, only tell what would change.", seldom=True),
        "yes": Option(
            "Do not ask before marking or removing documents that may not be copies.", seldom=True
        ),
        "gate.yes": Option("Do not hold texts from a template: reject them.", seldom=True),
        "delete.yes": Option("Delete without asking, even all documents.", seldom=True),
        "reset.yes": Option("Do not ask for confirmation.", flags="--yes -y", seldom=True),
        "index": Option("Index the documents that are allowed or tagged."),
        "held": Option("Append held documents to this .jsonl file, each only once."),
        "strict": Option("Exit with code 3 if a document is held or rejected."),
        "init.text lint.text annotate.text": Option(
            "Field with the text.", "FIELD", "--text-field"
        ),
        "prefix": Option("Prefix of the neardup fields, such as nd_.", "PREFIX"),
        "shards": Option("Number of shards in SolrCloud [default: 1]."),
        "replicas": Option("Copies of each shard in SolrCloud [default: 1]."),
        "remove": Option("Remove the neardup fields from the schema."),
        "catch": Option("Similarity of the pairs to find."),
        "avoid": Option("Similarity of the pairs to skip."),
        "tune.answers": Option("Learn a model from the answers in this file.", "FILE"),
        "known": Option("File of known pairs: two columns of ids."),
        "reband.bands": Option("Number of LSH bands."),
        "reband.rows": Option("Rows in a band.", flags="--band-rows"),
        "show.job retry.job": Option(
            "Job folder that index printed [default: all jobs].", "FOLDER"
        ),
        "port": Option("Port on 127.0.0.1 [default: the last port used, or a free one]."),
        "host": Option("Address to listen on; without `tokens`, only a local address."),
        "serve.port": Option("Port to listen on; 0 chooses a free port."),
        "root_path": Option(
            "Path of the service behind a proxy, such as /neardup.", "PATH", seldom=True
        ),
        "allow_host": Option("Also accept requests with this host name.", "NAME", seldom=True),
        "tokens": Option("File of access tokens, one client per line: NAME TOKEN RIGHT...", "FILE"),
        "max_body": Option("Maximum size of a request.", "SIZE"),
    },
    "Comparison": {
        "tag": Option(
            "Tag documents at least this similar [default without `hold` and `reject`: 0.5;"
            " containment 0.8, passages 0.7, aligned 0.75, records 0.7]."
        ),
        "hold": Option("Hold documents at least this similar."),
        "reject": Option("Reject documents at least this similar."),
        "exact": Option("Take at least this action for a document with the same text."),
        "by": Option("Key that near-duplicates must share [default: the first that is indexed]."),
        "duplicates.by review.by tune.by": Option(_CANDIDATES_BY, "METHOD"),
        "candidates": Option("Most candidates to compare for each document."),
        "measure": Option(
            "words (edit distance), jaccard (of shingles), containment (an excerpt in a longer"
            " text), passages (excerpts and scanned texts), aligned (short texts), records (short"
            " texts; numbers must agree), estimate (jaccard estimated from signatures), or auto"
            " (the collection's measure; for a file, records if its texts are short, else words).",
            "MEASURE",
        ),
        "fields": Option(
            "Compare this column or field by itself, such as name, zip:exact, price:number or"
            " born:date. The similarity is then the probability of a match.",
            "FIELD",
            "--field",
        ),
        "max_distance": Option(
            "Maximum number of words inserted, deleted or replaced.", seldom=True
        ),
        "min_similarity": Option(
            "Minimum similarity, 0 to 1 [default: 0.5; containment 0.8, passages 0.7, aligned 0.75,"
            " records 0.7;"
            " none with `max_distance`]."
        ),
        "fq": Option("Compare only with documents that match this query.", "QUERY"),
        "duplicates.fq review.fq passages.fq": Option(
            "Use only documents that match this query.", "QUERY"
        ),
        "mark.fq": Option("Only documents that match this query.", "QUERY"),
        "filters": Option(
            "Let clients choose this filter by its name: fq=NAME.", "NAME=QUERY", "--filter"
        ),
        "same": Option(
            "Compare only documents with an equal value in this field or column, such as tenant.",
            "FIELD",
        ),
        "equal": Option(
            "Text that must be equal: numbers, symbols, or a regex.", "RULE", seldom=True
        ),
        "review.answers": Option(
            "Answers file; created if missing. By default beside the source.", "FILE"
        ),
        "review.reach": Option(
            "How far below the threshold to ask [default: 0.1; with `fields`: 0.499]."
        ),
        "review.port": Option("Port of the page on 127.0.0.1 [default: a free port]."),
        "answers": Option(
            "Apply answers: 'same' adds a pair to the result, 'different' removes it.", "FILE"
        ),
        "model": Option("Compare with a model written by neardup tune --answers.", "FILE"),
        "min_words": Option(
            "Words of a passage, at least [default: 8 to 20, by the size of SOURCE]."
        ),
        "search.min_words gate.min_words": Option(
            "With `passages`: words of a passage, at least [default: 20]."
        ),
        "without_common": Option(
            "Ignore passages that many texts share: boilerplate, footers, templates.", seldom=True
        ),
        "cap": Option(
            "Maximum documents to pair per band or shingle [default: 1024; word: 50; passage: 64].",
            seldom=True,
        ),
        "mutual_best": Option(
            "With `against`: keep a pair only if neither document has a better match.", seldom=True
        ),
        "linkage": Option(
            "single (one pair links), complete (all match) or mutual_best (with `against`: neither"
            " has a better match) [default: single; columns with `against`: mutual_best]."
        ),
    },
    "Output": {
        "output": Option(_OUTPUT, flags="--output -o"),
        "passages.output": Option(
            "Write to a .tsv, .csv, .jsonl, .xlsx or .parquet file.", flags="--output -o"
        ),
        "evaluate.output": Option(
            "Write all missed and false pairs to .tsv, .csv, .jsonl or .xlsx.", flags="--output -o"
        ),
        "signatures.output": Option("Parquet file to write.", flags="--output -o"),
        "tune.output": Option(
            "Write the model of `answers` to this .json file.", "FILE", "--output -o"
        ),
        "duplicates.output": Option(
            "Write to .tsv, .csv, .jsonl, .xlsx, .parquet or .html.", flags="--output -o"
        ),
        "texts": Option("Write the texts of both documents with each pair."),
        "passages.texts": Option("Write each passage as it stands in both documents."),
        "strike": Option(
            "Write the source without its repeated passages (in its format or .jsonl), and a list"
            " of these beside it."
        ),
        "unique": Option(
            "Write the records to keep (in SOURCE's format or .jsonl; may be compressed)."
        ),
        "removed": Option(
            "Write the removed records, each with the id of the record kept instead."
        ),
        "merge": Option(
            "Write one record for each cluster, with the values of all of its records, and all"
            " other records; FILE.values has each value with its record."
        ),
        "merge_rule": Option(
            "How a column is merged: kept, frequent, longest, newest, newest:COLUMN, first:COLUMN"
            " or joined; * stands for all other columns.",
            "COLUMN:RULE",
        ),
        "rejected": Option(
            "Write the unusable records, each with reason and position.", seldom=True
        ),
        "format": Option("Output format [default: table on a terminal, else tsv]."),
        "explain.format tune.format": Option("Output format."),
    },
    READ: {
        "id": Option(
            "Column with the id, or :row to number the records from 1 [default: id].",
            "COLUMN",
            "--id-field",
        ),
        "text": Option(
            "Column with the text, or several to join; names with commas need quotes.",
            "COLUMN",
            "--text-field",
        ),
        "gate.text": Option(
            "Column with the text [default: as indexed].", "COLUMN", "--text-field"
        ),
        "keep": Option("Additional column to keep.", "COLUMN"),
        "source_format": Option(
            "lines, csv, tsv, jsonl, json, parquet, xlsx or folder.", "FORMAT", seldom=True
        ),
        "delimiter": Option("Character between CSV columns, such as ';' or tab.", "CHARACTER"),
        "encoding": Option("Text encoding, such as cp1252 [default: UTF-8].", "NAME"),
        "skip_rows": Option(
            "Skip this many lines or rows above the header of a CSV or Excel file.", seldom=True
        ),
        "sheet": Option("Sheet of an Excel file [default: the first].", "NAME", seldom=True),
        "lossy": Option("Replace invalid characters instead of rejecting the record.", seldom=True),
        "strip_html": Option("Read texts in HTML without tags and entities.", seldom=True),
        "max_doc_bytes": Option(
            "Maximum size of the text of a record, such as 100M.", "SIZE", seldom=True
        ),
        "index.on_repeat": Option("Record to use for a repeated id [default: last].", seldom=True),
        "duplicates.on_repeat": Option(
            "Record to use for a repeated id [default: keep all, as 12@row3].", seldom=True
        ),
    },
    "Signatures": {
        "settings.fields": Option(
            "Fields to write: all, a list, or changes to the default, such as +profile_hash or"
            " --fields=-content_ng [default: all but profile_hash; no shingles of long texts].",
            "LIST",
            "--fields",
        ),
        "kind": Option("Units of the shingles [default: words].", seldom=True),
        "settings.measure": Option(
            "Default measure of the collection [default: depends on the texts]."
        ),
        "shingle_size": Option(
            "Units in a shingle [default: 3; more for long texts with `kind` chars].", seldom=True
        ),
        "language": Option("Language for stemming [default: english].", "NAME", seldom=True),
        "family": Option("Hash family [default: affine].", seldom=True),
        "hashes": Option("Hashes in a signature [default: 128].", seldom=True),
        "tune.hashes": Option("Maximum number of hashes that bands may use.", seldom=True),
        "bands": Option("LSH bands [default: 42].", seldom=True),
        "rows": Option("Rows in a band [default: 3].", flags="--band-rows", seldom=True),
    },
    "Performance": {
        "rate": Option(
            "Maximum number of documents written per second (0: no limit).", seldom=True
        ),
        "batch": Option("Documents in a batch.", seldom=True),
        "gate.batch": Option("Documents in a query.", seldom=True),
        "min_replicas": Option("Replicas of each shard that must store a document.", seldom=True),
        "annotate.remember": Option("With `mark`: file written by duplicates --remember."),
        "remember": Option(
            "Remember comparisons and weights of fields; the next run compares changes alone."
        ),
        "memory": Option(
            "Memory to use, such as 4G [default: $NEARDUP_MEMORY, or half of RAM].",
            "SIZE",
            seldom=True,
        ),
    },
    "Failures": {
        "checkpoint_every": Option(
            "Maximum number of records sent again after an interruption.", "RECORDS", seldom=True
        ),
        "patience": Option(
            "How long to wait for an unavailable Solr, such as 90s, 5m or 0.", "TIME"
        ),
        "max_failed": Option(
            "Exit with code 0 if at most this many fail, such as 20 or 0.1%.",
            "N|SHARE",
            seldom=True,
        ),
        "job": Option(
            "Folder for checkpoints and failed records [default: in the data folder].", "FOLDER"
        ),
        "resume": Option("Continue an interrupted run from its last checkpoint."),
    },
    "Solr": {
        "address": Option(
            "Solr address, such as http://host:8983/solr [default: $NEARDUP_SOLR_URL, or the"
            " embedded Solr, started when needed].",
            "URL",
            "--solr",
        ),
        "connect.collection": Option(
            "Collection to use [default: from the address, or neardup].",
            "NAME",
            "--collection -c",
        ),
    },
    LIBRARY: {
        "collection": Option("Collection, as opened by `connect`."),
        "connect.patience": Option(
            "How long to wait for SolrCloud nodes or ZooKeeper, such as 90s, 5m or 0."
        ),
        "create": Option("Create the collection in the embedded Solr if it is missing."),
        "heap": Option('Memory of the embedded Solr, such as "1g".'),
        "ca": Option("File of certificates to trust."),
        "cert": Option("File of the client certificate, or (certificate, key)."),
        "headers": Option("Headers of each request."),
        "proxy": Option("Address of a proxy."),
        "plain_http": Option("Allow sending credentials to a remote machine over plain HTTP."),
        "clusters": Option("Clusters to mark; an empty list clears all marks."),
        "found": Option("Result to evaluate, or its file."),
        "as_given": Option("Do not complete the known pairs by transitivity."),
        "settings": Option("How to compute signatures."),
        "checkpoint": Option("File of finished comparisons; an interrupted call continues there."),
        "threads": Option("Threads that compute and send."),
        "concurrency": Option(
            "Threads for searches; five times as many requests of a kind may be open."
        ),
        "max_documents": Option("Maximum number of documents in a request."),
        "from_id": Option("First id."),
        "to_id": Option("Last id."),
        "later_only": Option("Compare each document only with documents of later ids."),
        "who": Option("Name to record with the answers, by default the user's."),
        "most": Option("Maximum number of matches in a decision."),
        "miss": Option("Maximum share of the pairs to find that may be missed."),
        "load": Option("Maximum share of the pairs to skip that may become candidates."),
        "sample": Option("Number of documents to sample."),
        "seed": Option("Seed of the sample."),
        "on_error": Option(
            "Called with each `RecordError`; by default, it is logged as a warning."
        ),
        "read.on_error": Option("Called with each `RecordError`, instead of raising it."),
        "on_progress": Option("Called with the `Progress` of each stage."),
        "on_address": Option("Called with the address of the page before documents are compared."),
        "on_ready": Option("Called with the address once requests are answered."),
        "on_started": Option("Called with messages while the embedded Solr starts."),
    },
}
