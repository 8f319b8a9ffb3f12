"""The help of each option and argument of the commands, in the order in which it is shown."""

from __future__ import annotations

ARGUMENTS, OTHER, READ = "Arguments", "Options", "How the source is read"
# By heading, in the order of the help. A name is that of the argument; `gate.text` is another text
# for a single command. Before a colon stands what the option takes, if its type does not say so.
TEXTS: dict[str, dict[str, str]] = {
    ARGUMENTS: {
        "source": (
            "File (.txt .csv .tsv .jsonl .json .parquet .xlsx, also .gz .zst), several that are"
            " parts of one table, folder, or - for standard input."
        ),
        "duplicates.source review.source": (
            "File, several that are parts of one table, or folder, compared without any Solr"
            " (default: a collection)."
        ),
        "tune.source": "Files or folder to sample, - for standard input (default: a collection).",
        "ids": "Ids of documents.",
        "one": "ID: Id of a document.",
        "other": "OTHER_ID: Id of another document.",
        "answer": "same, different or unsure.",
        "evaluate.known": "Known pairs: two columns of ids.",
        "report": "REPORT: Pairs of a report (default: a new report).",
    },
    OTHER: {
        "explain.source": "FILE: File or folder with both (repeatable), or - (default: Solr).",
        "answer.source": "FILE: File or folder with both, to note their texts (repeatable), or -.",
        "answer.answers": "FILE: File of the answers.",
        "pairs": "FILE: Note the answers of a table of pairs, in its column answer.",
        "search.id": "Id of a document in the collection.",
        "search.text": "A text, or - for standard input.",
        "ordered": "The pairs are of two sides, as of --against: a, b is not b, a.",
        "into": "OTHER: Write into this other collection; change nothing in the first.",
        "which": (
            "needed: documents whose fields are missing or stale; missing: only those without"
            " fields, and no other text is read; all: every one."
        ),
        "query": "QUERY: Only documents that this query matches.",
        "annotate.query strip.query": "QUERY: Only documents that this query matches (repeatable).",
        "annotate.follow": "Go on: annotate what comes or changes within seconds, until Ctrl-C.",
        "against": (
            "FILE|NAME|URL: Compare with this file, folder or collection instead of within the"
            " source."
        ),
        "mutual_best": "With --against: keep a pair only if each is the other's most similar one.",
        "canonical": (
            "RULE: Document of a cluster to keep: first, longest, shortest, oldest, oldest:FIELD,"
            " or trusted values, FIELD=wire,agency."
        ),
        "annotate.mark": "With --follow: also keep the marks of clusters up to date.",
        "mark": "Write the clusters into the collection, so that queries can collapse them.",
        "undo": "Remove all marks from the collection.",
        "duplicates.dry_run": "With --mark or --undo: only say what would change.",
        "delete.dry_run": "Only say how many would be deleted.",
        "dry_run": "Only print what would be added or removed.",
        "yes": "Do not ask before what may be chains or templates is marked or removed.",
        "gate.yes": "Reject templates, too, whose documents differ where all of them do.",
        "delete.yes": "Delete everything without being asked.",
        "reset.yes": "Do not ask.",
        "index": "Index what is allowed or tagged.",
        "held": "Add held documents to this .jsonl file, unless it already has them.",
        "strict": "Exit code 3 if one is held or rejected.",
        "init.text lint.text annotate.text": (
            "FIELD: Field of the collection with the text (repeatable, or a,b: they are joined)."
        ),
        "prefix": "PREFIX: Prefix of the names of our fields, such as nd_.",
        "shards": "Shards of a collection in SolrCloud [default: 1].",
        "replicas": "Copies of each shard in SolrCloud [default: 1].",
        "remove": "Remove our fields from the schema again.",
        "catch": "Similarity of pairs to catch.",
        "avoid": "Similarity of pairs to pass over.",
        "tune.answers": ("FILE: Learn a model from the answers of people in this file."),
        "known": "Known pairs: two columns of ids.",
        "reband.bands": "LSH bands.",
        "reband.rows": "Rows of a band.",
        "show.job retry.job": "FOLDER: Job that index has told [default: all of the collection].",
        "port": "Port on 127.0.0.1 [default: the last one, else a free one].",
        "host": "Address to listen on; without --tokens one of this machine.",
        "serve.port": "Port to listen on; 0 takes one that is free.",
        "root_path": "PATH: Path under which a proxy has the service, such as /neardup.",
        "allow_host": "NAME: Answer requests to this name, and pages of it, too (repeatable).",
        "tokens": "FILE: Tokens and rights of the clients, a line NAME TOKEN RIGHT... each.",
        "max_body": "SIZE: Most bytes of a request.",
    },
    "What counts as a near-duplicate": {
        "tag": (
            "Tag what is at least this similar (default if none of the three is given: 0.5;"
            " containment 0.8, aligned 0.75, records 0.7)."
        ),
        "hold": "Hold back what is at least this similar.",
        "reject": "Reject what is at least this similar.",
        "exact": "At least this action for the same text.",
        "by": "What near-duplicates have to share (default: the first that the collection has).",
        "duplicates.by review.by tune.by": (
            "What candidates share: bands, shingles (most of one of the two), words (rare ones; for"
            " short records), or all for every pair (default: all up to 2,000 documents, for more"
            " bands; shingles for --measure containment, words for aligned and records)."
        ),
        "candidates": "Candidates to compare for each document.",
        "measure": (
            "auto (that of the collection; of a file, records for short texts and words for long"
            " ones), words (edit distance), jaccard (of shingles), containment (an excerpt in a"
            " longer text), aligned (short texts), records (those that differ if their numbers do),"
            " or estimate (jaccard by signatures)."
        ),
        "duplicates.measure": (
            "auto (records for short texts, words for long ones), words (edit distance), jaccard"
            " (of shingles), containment (an excerpt in a longer text), aligned (short texts),"
            " records (those that differ if their numbers do), estimate (jaccard by signatures),"
            " fields (--field)."
        ),
        "duplicates.fields explain.fields review.fields tune.fields": (
            "FIELD: Column or field that is compared apart, such as name, zip:exact, price:number"
            " or born:date (repeatable, or a,b). The similarity is the probability of a match."
        ),
        "max_distance": "At most this many words inserted, deleted or replaced.",
        "min_similarity": (
            "At least this similarity by the measure, 0 to 1 (default: 0.5; containment 0.8,"
            " aligned 0.75, records 0.7; none if --max-distance is given)."
        ),
        "fq": "QUERY: Compare only with documents that match this (repeatable).",
        "duplicates.fq review.fq": (
            "QUERY: Read only documents of the collection that match this (repeatable); --mark and"
            " --undo leave the marks of others as they are."
        ),
        "same": (
            "FIELD: Field or column that has to be equal, such as tenant (repeatable, or a,b); a"
            " document without it is compared with nothing."
        ),
        "equal": (
            "RULE: What has to be equal in both texts, too: numbers (versions, years, amounts, Part"
            " II), or a regular expression (repeatable)."
        ),
        "review.answers": ("FILE: File of the answers, which is made if it is not there."),
        "review.port": "Port of the page on 127.0.0.1 (default: one that is free).",
        "answers": (
            "FILE: Obey the answers of people in this file: what"
            " is different is never found again, and what is the same always is."
        ),
        "model": "FILE: Compare by a model that neardup tune --answers has written.",
        "without_common": "Compare texts without what many share: boilerplate, footers, templates.",
        "cap": (
            "Most documents of a band key or shingle that are all paired with each other (default:"
            " 1024; of a word: 50)."
        ),
        "linkage": "Clusters: single, what pairs connect; complete, only if any two are a pair.",
    },
    "What comes out": {
        "output": "Write to a .tsv, .csv, .jsonl or .xlsx file.",
        "evaluate.output": "Write all missed and false pairs to .tsv, .csv, .jsonl or .xlsx.",
        "signatures.output": "The .parquet file to write.",
        "tune.output": "FILE: Write the model of --answers to this .json file.",
        "duplicates.output": "Write to .tsv, .csv, .jsonl, .xlsx, .parquet or .html (repeatable).",
        "texts": "Write the texts of both documents beside each pair, as --keep does with columns.",
        "unique": (
            "Write the records of SOURCE that stay without near-duplicates, in its format or"
            " as .jsonl; .gz or .zst behind it compresses."
        ),
        "removed": "Write the other records, each with the id of the one that is kept for it.",
        "rejected": "Write the records that cannot be used, each with reason and position.",
        "format": "How to print (default: table on a terminal, else tsv).",
        "explain.format tune.format": "How to print.",
    },
    READ: {
        "id": "COLUMN: Column of the id, or :row to number the records from 1 [default: id].",
        "text": (
            "COLUMN: Column of the text (repeatable, or a,b: they are joined; a name with a comma"
            """ in quotes, '"a, b",c')."""
        ),
        "duplicates.text review.text tune.text": (
            "COLUMN: Column of the text (repeatable, or a,b: they are joined; a name with a comma"
            """ in quotes, '"a, b",c'). If there is no text, columns are chosen by their values."""
        ),
        "gate.text": (
            "COLUMN: Column of the text (repeatable, or a,b: they are joined) [default: the text"
            " fields of the collection; text for one of ours]."
        ),
        "keep": "COLUMN: Further column to keep (repeatable, or a,b).",
        "source_format": "FORMAT: lines, csv, tsv, jsonl, json, parquet, xlsx or folder.",
        "delimiter": "CHARACTER: Character between the columns of a CSV, such as ';' or tab.",
        "encoding": "NAME: Encoding of the text, such as cp1252 [default: UTF-8].",
        "lossy": "Replace invalid characters; keep the record.",
        "max_doc_bytes": "SIZE: Refuse records with more text than this, such as 100M.",
        "on_repeat": "Which record counts if an id comes again.",
        "duplicates.on_repeat": "Which record counts if an id comes again; keep: each, as 12@row3.",
    },
    "What shapes the signatures": {
        "fields": (
            "LIST: Fields to write: all, a list, =-content_ng for all but this one, or"
            " +profile_hash for text profiles too [of long texts: no shingles]."
        ),
        "kind": "What shingles are made of [words].",
        "settings.measure": (
            "What texts are compared by, unless a command is told (default: records for short"
            " ones, words for long ones, jaccard for --kind chars)."
        ),
        "shingle_size": "Pieces in a shingle [3].",
        "language": "NAME: Language of the stems [english].",
        "family": "Hash family [affine].",
        "hashes": "Hashes in a signature [128].",
        "bands": "LSH bands [42].",
        "settings.rows": "Rows of a band [3].",
    },
    "How the work is done": {
        "rate": "Write at most this many documents a second (0: no limit).",
        "batch": "Documents in a batch.",
        "gate.batch": "Documents that one query asks about.",
        "min_replicas": "Replicas of each shard that must have a document before it counts.",
        "annotate.remember": "With --mark: the file that duplicates --remember has written.",
        "remember": "Remember what was compared: the next run compares only what changed.",
        "memory": "SIZE: Memory to use, such as 4G (default: half of the machine's).",
    },
    "What happens after a fault": {
        "checkpoint_every": "RECORDS: Most records that are sent again after an interruption.",
        "patience": "TIME: How long to wait for a Solr that is away, such as 90s, 5m or 0.",
        "max_failed": "N|SHARE: Exit code 0 if at most so many records fail, such as 20 or 0.1%.",
        "job": "FOLDER: Checkpoint, and records that failed [default: one in the data folder].",
        "resume": "Go on after the last checkpoint of a run that was interrupted.",
    },
    "Where the collection is": {
        "address": (
            "URL: Address of a Solr, such as http://host:8983/solr (default: $NEARDUP_SOLR_URL, or"
            " else the embedded Solr, started when needed)."
        ),
        "collection": "NAME: Collection to work with [default: the address's, else neardup].",
    },
}
# How an option is typed, if not --name, or not only that.
FLAGS = {
    "address": "--solr",
    "collection": "--collection -c",
    "duplicates.fields": "--field",
    "explain.fields": "--field",
    "review.fields": "--field",
    "tune.fields": "--field",
    "follow": "--follow -f",
    "pairs": "--import",
    "id": "--id-field",
    "search.id": "--id",
    "output": "--output -o",
    "query": "--query -q",
    "rows": "--band-rows",
    "text": "--text-field",
    "search.text": "--text",
    "reset.yes": "--yes -y",
}
# What only --help-all shows, by the names of arguments that can be left out.
SELDOM = {
    "allow_host", "bands", "batch", "cap", "checkpoint_every", "family", "hashes", "language",
    "lossy", "max_doc_bytes", "max_failed", "memory", "min_replicas", "mutual_best", "on_repeat",
    "rate", "root_path", "rows", "shingle_size", "source_format", "without_common", "yes",
}  # fmt: skip
