"""What there is to know of a Solr without talking to it: queries, schemas, hazards, updates."""
