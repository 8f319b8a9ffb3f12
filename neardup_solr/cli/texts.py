"""The help of each option and argument of the commands, in the order in which it is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Text(NamedTuple):
    """The help of an option, and the way it is typed."""

    help: str
    metavar: str | None = None
    flags: str = ""  # if not --name, or not only that
    least: int | None = None
    most: int | None = None
    default: str | None = None  # to be shown, if the argument's own is not
    read: Callable[[str], object] | None = None  # makes the argument of what was typed

    def spell(self, name: str) -> list[str]:
        """Return the flags of an argument of this name."""
        return self.flags.split() or [f"--{name.replace('_', '-')}"]


ARGUMENTS, OTHER, READ = "Arguments", "Options", "How the source is read"
NO_TAB = {"tab": "\t", "\\t": "\t"}
# By heading, in the order of the help. A name is that of the argument; `gate.text` is another text
# for a single command.
TEXTS: dict[str, dict[str, Text]] = {
    ARGUMENTS: {
        "source": Text(
            "File (.txt .csv .tsv .jsonl .json .parquet .xlsx, also .gz .zst), several that are"
            " parts of one table, folder, or - for standard input."
        ),
        "duplicates.source": Text(
            "File, several that are parts of one table, or folder, compared without any Solr"
            " (default: a collection)."
        ),
        "tune.source": Text(
            "Files or folder to sample, - for standard input (default: a collection)."
        ),
        "ids": Text("Ids of documents."),
        "one": Text("Id of a document.", "ID"),
        "other": Text("Id of another document.", "OTHER_ID"),
        "evaluate.known": Text("Known pairs: two columns of ids."),
    },
    OTHER: {
        "explain.source": Text(
            "File or folder that has both (repeatable), - for standard input (default: a"
            " collection).",
            "FILE",
        ),
        "search.id": Text("Id of a document in the collection.", flags="--id"),
        "search.text": Text("A text.", flags="--text"),
        "file": Text("A file with a text, - for standard input.", "FILE"),
        "found": Text("Pairs of a report (default: a new report).", "FILE", "--report"),
        "ordered": Text("The pairs are of two sides, as of --against: a, b is not b, a."),
        "from_id": Text("First id.", "ID"),
        "to_id": Text("Last id.", "ID"),
        "later_only": Text("Compare each document only with later ids."),
        "into": Text("Write into this other collection; change nothing in the first.", "OTHER"),
        "which": Text(
            "needed: documents whose fields are missing or stale; missing: only those without"
            " fields, and no other text is read; all: every one."
        ),
        "query": Text("Only documents that this query matches.", "QUERY", "--query -q"),
        "annotate.query strip.query": Text(
            "Only documents that this query matches (repeatable).", "QUERY", "--query -q"
        ),
        "delete.query": Text("All documents that this query matches.", "QUERY", "--query -q"),
        "against": Text(
            "Compare with this file, folder or collection instead of within the source.",
            "FILE|NAME|URL",
        ),
        "within": Text("With --against: also compare within each of the two."),
        "mutual_best": Text(
            "With --against: keep a pair only if each is the other's most similar one."
        ),
        "canonical": Text(
            "Document of a cluster to keep: first, longest, shortest, oldest, oldest:FIELD,"
            " FIELD:asc, FIELD:desc, or trusted values, FIELD=wire,agency.",
            "RULE",
        ),
        "mark": Text("Write the clusters into the collection, so that queries can collapse them."),
        "undo": Text("Remove all marks from the collection."),
        "duplicates.dry_run": Text("With --mark or --undo: only say what would change."),
        "delete.dry_run": Text("Only say how many would be deleted."),
        "dry_run": Text("Only print what would be added or removed."),
        "yes": Text("Do not ask before clusters that chain are marked."),
        "delete.yes": Text("Delete everything without being asked."),
        "reset.yes": Text("Do not ask.", flags="--yes -y"),
        "index": Text("Index what is allowed or tagged."),
        "held": Text("Add held documents to this .jsonl file, unless it already has them.", "FILE"),
        "strict": Text("Exit code 3 if one is held or rejected."),
        "init.text lint.text annotate.text": Text(
            "Field of the collection with the text (repeatable, or a,b: they are joined).",
            "FIELD",
            "--text-field",
        ),
        "prefix": Text("Prefix of the names of our fields, such as nd_.", "PREFIX"),
        "shards": Text("Shards of a collection in SolrCloud.", least=1, default="1"),
        "replicas": Text("Copies of each shard in SolrCloud.", least=1, default="1"),
        "remove": Text("Remove our fields from the schema again."),
        "sample": Text("Documents to compute anew.", least=0),
        "catch": Text("Similarity of pairs to catch."),
        "miss": Text("Share of them that may be missed."),
        "avoid": Text("Similarity of pairs to pass over."),
        "load": Text("Share of them that may be found."),
        "tune.sample": Text("Documents to compare with each other."),
        "seed": Text("Another number draws another sample."),
        "known": Text("Known pairs: two columns of ids.", "FILE"),
        "reband.bands": Text("LSH bands.", least=1),
        "reband.rows": Text("Rows of a band.", flags="--band-rows", least=1),
        "show.job retry.job": Text(
            "Folder of the job that index has told [default: all jobs of the collection].", "FOLDER"
        ),
        "heap": Text("Java's memory, such as 512m or 2g.", "SIZE", default="1g"),
        "port": Text("Port on 127.0.0.1.", default="the last one, else a free one"),
        "password": Text(
            "Ask for a user and a password, generated and kept in a file.",
            flags="--password/--no-password",
            default="as before, at first none",
        ),
        "cloud": Text(
            "Start N nodes as a SolrCloud, in place of a single Solr; 0: a single Solr.",
            default="as before, at first 0",
        ),
        "lines": Text("How many lines.", flags="-n --lines", least=1),
        "follow": Text("Wait for more.", flags="--follow -f"),
        "node": Text("Of a cloud, which node's log.", least=1),
    },
    "What counts as a near-duplicate": {
        "tag": Text(
            "Tag what is at least this similar (default if none of the three is given: 0.5;"
            " containment 0.8, aligned 0.75)."
        ),
        "hold": Text("Hold back what is at least this similar."),
        "reject": Text("Reject what is at least this similar."),
        "exact": Text("At least this action for the same text."),
        "by": Text(
            "What near-duplicates have to share (default: the first of these that the collection"
            " has)."
        ),
        "duplicates.by": Text(
            "What candidates share: bands, shingles (most of one of the two), words (rare ones; for"
            " short records), or all for every pair (default: all up to 2,000 documents, for more"
            " bands; shingles for --measure containment, words for aligned)."
        ),
        "candidates": Text("Candidates to compare for each document.", least=1),
        "measure": Text(
            "words (edit distance), jaccard (of shingles), containment (an excerpt in a longer"
            " text), aligned (short records), or estimate (jaccard by signatures)."
        ),
        "max_distance": Text("At most this many words inserted, deleted or replaced.", least=0),
        "min_similarity": Text(
            "At least this similarity by the measure, 0 to 1 (default: 0.5; containment 0.8,"
            " aligned 0.75; none if --max-distance is given)."
        ),
        "fq": Text("Compare only with documents that match this (repeatable).", "QUERY"),
        "duplicates.fq": Text(
            "Read only documents of the collection that match this (repeatable); --mark and --undo"
            " leave the marks of others as they are.",
            "QUERY",
        ),
        "same": Text(
            "Field that has to be equal, such as tenant or first_word (repeatable, or a,b); a"
            " document without it is compared with nothing.",
            "FIELD",
        ),
        "duplicates.same": Text(
            "Field or column that has to be equal, such as tenant (repeatable, or a,b); a document"
            " without it is compared with nothing.",
            "FIELD",
        ),
        "cap": Text(
            "Most documents of a band key or shingle that are all paired with each other (default:"
            " 1024; of a word: 50).",
            least=2,
        ),
        "most": Text("Matches that a decision names.", least=1),
        "linkage": Text(
            "Clusters: single, what pairs connect; complete, only if any two are a pair."
        ),
    },
    "What comes out": {
        "output": Text("Write to a .tsv, .csv, .jsonl or .xlsx file.", "FILE", "--output -o"),
        "evaluate.output": Text(
            "Write all missed and false pairs to a .tsv, .csv, .jsonl or .xlsx file.",
            "FILE",
            "--output -o",
        ),
        "signatures.output": Text("The .parquet file to write.", "FILE", "--output -o"),
        "duplicates.output": Text(
            "Write to a .tsv, .csv, .jsonl, .xlsx or .parquet file, or to an .html page"
            " (repeatable).",
            "FILE",
            "--output -o",
        ),
        "texts": Text(
            "Write the texts of both documents beside each pair, as --keep does with columns."
        ),
        "unique": Text(
            "Write the records of SOURCE that stay without near-duplicates, in its format or as"
            " .jsonl; .gz or .zst behind it compresses.",
            "FILE",
        ),
        "removed": Text(
            "Write the other records, each with the id of the one that is kept for it.", "FILE"
        ),
        "rejected": Text(
            "Write the records that cannot be used, each with the reason and its position.", "FILE"
        ),
        "format": Text("How to print (default: table on a terminal, else tsv)."),
        "explain.format tune.format": Text("How to print."),
    },
    READ: {
        "id": Text(
            "Column of the id, or :row to number the records from 1 [default: id].",
            "COLUMN",
            "--id-field",
        ),
        "text": Text(
            "Column of the text (repeatable, or a,b: they are joined; a name with a comma in"
            """ quotes, '"a, b",c').""",
            "COLUMN",
            "--text-field",
        ),
        "gate.text": Text(
            "Column of the text (repeatable, or a,b: they are joined) [default: the text fields of"
            " the collection; text for one of ours].",
            "COLUMN",
            "--text-field",
        ),
        "keep": Text("Further column to keep (repeatable, or a,b).", "COLUMN"),
        "source_format": Text(
            "lines, csv, tsv, jsonl, json, parquet, xlsx or folder (default: by suffix).", "FORMAT"
        ),
        "delimiter": Text(
            "Character between the columns of a CSV, such as ';' or tab.",
            "CHARACTER",
            read=lambda typed: NO_TAB.get(typed, typed),
        ),
        "encoding": Text("Encoding of the text, such as cp1252 [default: UTF-8].", "NAME"),
        "lossy": Text("Replace invalid characters; keep the record."),
        "max_doc_bytes": Text("Refuse records with more text than this, such as 100M.", "SIZE"),
        "on_repeat": Text("Which record counts if an id comes again."),
        "duplicates.on_repeat": Text(
            "Which record counts if an id comes again; keep: each, as 12@row3 and 12@row7."
        ),
    },
    "What shapes the signatures": {
        "fields": Text(
            "Fields to write: all, a list, =-content_ng for all but this one, or +profile_hash for"
            " text profiles too.",
            "LIST",
        ),
        "kind": Text("What shingles are made of [words]."),
        "shingle_size": Text("Pieces in a shingle [3].", least=1),
        "language": Text("Language of the stems [english].", "NAME"),
        "family": Text("Hash family [affine]."),
        "hashes": Text("Hashes in a signature [128].", least=1, most=65_536),
        "bands": Text("LSH bands [42].", least=1),
        "settings.rows": Text("Rows of a band [3].", flags="--band-rows", least=1),
        "signatures": Text("Terms in content_sg [20].", least=0),
    },
    "How the work is done": {
        "rate": Text("Write at most this many documents a second (0: no limit).", least=0),
        "threads": Text("Sender threads.", least=1),
        "batch": Text("Documents in a batch.", least=1),
        "gate.batch": Text("Documents that one query asks about.", least=1, most=1000),
        "min_replicas": Text(
            "Replicas of each shard in SolrCloud that must have a document before it counts.",
            least=1,
        ),
        "remember": Text(
            "Remember there what was compared: the next run compares only what is new or has"
            " changed.",
            "FILE",
        ),
        "full": Text("With --remember: start over, and compare everything."),
        "limit": Text("Read at most this many documents (of each side).", least=1),
        "memory": Text("Memory to use, such as 4G (default: half of the machine's).", "SIZE"),
        "spill": Text("Folder for what does not fit into the memory.", "FOLDER"),
    },
    "What happens after a fault": {
        "checkpoint_every": Text(
            "At most so many records are sent again after an interruption.", "RECORDS", least=1
        ),
        "checkpoint": Text(
            "Keep there what is compared, so that the same command goes on after an interruption"
            " [default: beside the first file that is written].",
            "FILE",
        ),
        "patience": Text(
            "How long to wait for a Solr that goes away or restarts once it has answered, such as"
            " 90s, 5m or 0.",
            "TIME",
        ),
        "max_failed": Text(
            "Leave with exit code 0 if at most so many records fail, such as 20 or 0.1%.",
            "N|SHARE",
        ),
        "job": Text(
            "Folder of the checkpoint and of the records that failed [default: one in the data"
            " folder].",
            "FOLDER",
        ),
        "resume": Text("Go on after the last checkpoint of a run that was interrupted."),
        "restart": Text("Begin anew, whatever an earlier run has left."),
    },
    "Where the collection is": {
        "address": Text(
            "Address of a Solr, such as http://host:8983/solr (default: $NEARDUP_SOLR_URL, or else"
            " the embedded Solr, started when needed).",
            "URL",
            "--solr",
        ),
        "collection": Text(
            "Collection to work with [default: that of the address, or else neardup].",
            "NAME",
            "--collection -c",
        ),
    },
}

# Options of earlier versions.
RENAMED = {
    "--core": "--collection",
    "--from": "--from-id",
    "--to": "--to-id",
    "--missing": "--which missing",
    "--all": "--which all",
    "--rows": "--candidates",
}
