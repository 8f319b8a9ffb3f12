"""annotate: add fields to documents of a collection. strip: remove them. reband: other bands."""
