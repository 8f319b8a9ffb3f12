"""`python -m neardup_solr` is the command `neardup`."""

from neardup_solr.skin.cli import main

main()
