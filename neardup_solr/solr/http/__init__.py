"""Requests to a Solr, and answers that count."""
