"""Which pairs of documents may be near-duplicates: candidates."""

CAP = 1_024  # documents of one band key that are all paired with each other
