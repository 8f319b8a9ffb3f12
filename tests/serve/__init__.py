"""The service over real sockets, with a real Solr."""
