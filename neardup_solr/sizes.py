"""Sizes of the work: how much is taken at once, kept or looked at, and how long a wait lasts.

They bound memory and waits and change no answer, but for those that say so: bounds of a page, of a
sheet, and of what a search compares. A test sets them by `neardup_solr.testing.SIZES`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Sizes:
    """Sizes by name. Times are in seconds, sizes of files in bytes, of texts in characters."""

    # Sources and files
    read_block: int = 1 << 18  # bytes that are read at a time
    read_alone: int = 8  # blocks that are read before more are read ahead, by all cores
    read_files: int = 64  # of a folder that are read together
    any_growth: int = 1 << 28  # bytes up to which a compressed file may grow by any factor
    sheet_rows: int = 1 << 20  # of a workbook, with the header, as Excel has it
    kept_pages: int = 1 << 28  # bytes of a mapped file that stay in memory once they were read
    held_column: int = 1 << 26  # bytes of a column held in memory; more of them go to a file
    held_signatures: int = 1 << 28  # bytes, of which all are read again

    # Signatures, candidates, comparisons
    signed_text: int = 1 << 20  # text in a call: it and what is made of it fit a cache
    crossed_documents: int = 2_000  # up to which each is compared with each
    band_keys: int = 1 << 28  # bytes of the keys of bands that are joined at once
    few_band_keys: int = 1 << 25  # while they have few pairs
    candidate_block: int = 1 << 20  # pairs, about
    shingle_lookups: int = 1 << 20  # shingles that are looked up together
    cap_sample: int = 500  # records that tell what the cap loses
    cap_neighbours: int = 100  # others for each of these
    compared_block: int = 1 << 17  # pairs that are compared before they are kept
    compared_by_thread: int = 1 << 12  # pairs, at most
    part_text: int = 1 << 22  # text of documents that are read together, about
    wedge_steps: int = 1 << 20  # to neighbours, for the wedges of all documents or of a sample

    # Pages
    page_pairs: int = 20_000
    page_rows: int = 12 << 20  # bytes of clusters and ids, read when the page opens
    page_text: int = 24 << 20

    # Requests to Solr
    probe_seconds: float = 10.0  # for the answer that shows that a Solr is back
    read_seconds: float = 300.0  # for an answer: a commit that merges segments may take minutes
    least_read_seconds: float = 5.0  # for an answer, however little patience is left
    outage_pause: float = 0.5  # between two looks whether Solr is back
    longest_wait: float = 30.0  # between two attempts, if the server does not ask for more
    settle_pause: float = 1.0  # between two looks at a cloud that may catch up
    answer_piece: int = 1 << 20  # bytes of a large answer
    export_block: int = 1 << 23  # bytes of an export
    export_document: int = 1 << 26  # bytes of a document, whose fields have at most 32,766 each
    page_of_ids: int = 10_000  # bare ids in an answer

    # Searches for a batch of texts
    hot_term: int = 1_024  # documents from which a term is left out, as by the default `cap`
    large_term: int = 200  # documents that take longer to fetch and compare than all else
    fetched_documents: int = 5_000  # for a batch: ten megabytes or so
    nearest_documents: int = 1_000  # that are compared if hot terms find more
    cached_documents: int = 1 << 26  # bytes

    # Writes
    index_batch_text: int = 1 << 22
    last_seconds: float = 1.0  # for the last documents, once the user wants to stop
    mark_batch: int = 1_000  # documents of a request
    gate_seeds: int = 1 << 23  # of the documents of a run; of more, a sample finds long passages
    template_groups: int = 1_000  # that the gate keeps to know a template
    follow_pause: float = 1.0  # between two looks for what is new
    follow_report: float = 60.0  # between two lines about what was done
    follow_visible: int = 2_000  # milliseconds after which searches show it, by a soft commit
    follow_portion: int = 2_000  # documents that are read and written before the next look
    caught_up_seconds: float = 10.0  # between two lines about that, as documents may trickle in
    standby_seconds: tuple[float, float] = (4.0, 6.0)  # another follower may be late, at random

    # Embedded Solr
    download_pauses: tuple[float, ...] = (0.5, 2.0)  # before the next attempts at a jar
    silent_loading: float = 5.0  # before a line says that cores are loading

    # Spark
    spark_split: int = 4_000_000  # documents whose keys of a band a task joins, 100 MB
    spark_block: int = 1 << 15  # pairs
    driver_pairs: int = 20_000_000  # that are joined to clusters on the driver


SIZES = Sizes()
