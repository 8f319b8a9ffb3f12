"""Near-duplicates on Apache Spark: DataFrames in, DataFrames out.

    from neardup_solr import spark

    ads = session.read.json("ads.jsonl")
    near = spark.pairs(ads, measure="jaccard", min_similarity=0.6)
    near.write.parquet("pairs")
    spark.clusters(near).write.parquet("clusters")

The same compiled kernel signs, joins and compares as on a machine alone, with the same settings and
results; it gets its data as Arrow batches. `pip install "neardup-solr[spark]"` on the driver, and
`neardup-solr` with pyarrow on the executors.
"""

from neardup_solr.spark.collections import Written, read, write
from neardup_solr.spark.driver import local
from neardup_solr.spark.near import candidates, clusters, fields, pairs

__all__ = ["Written", "candidates", "clusters", "fields", "local", "pairs", "read", "write"]
