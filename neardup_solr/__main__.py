"""`python -m neardup_solr` is the command `neardup`."""

from neardup_solr.cli.main import main

main()
