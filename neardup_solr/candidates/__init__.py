"""Whole collections: candidate pairs, clusters, the document of a cluster to keep."""
