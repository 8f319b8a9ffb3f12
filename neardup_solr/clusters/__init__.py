"""Which documents belong together, and which of them to keep."""
