"""The talk with Solr."""
