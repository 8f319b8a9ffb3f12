"""duplicates: all near-duplicate pairs of a collection or a file, verified and clustered."""
