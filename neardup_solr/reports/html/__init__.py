"""The report page: an HTML file that needs no other file."""
