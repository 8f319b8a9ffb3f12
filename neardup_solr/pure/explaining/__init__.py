"""Why two documents are found or missed."""
