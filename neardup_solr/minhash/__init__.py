"""What is computed from a text and indexed: signatures, bands, entries; and what they tell."""
