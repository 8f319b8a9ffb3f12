"""The exit codes of the command `neardup`, which stay as they are: scripts go by them.

0 all done; 1 something failed, and a line says what; 2 wrong usage; 3 the answer is no (lint,
doctor, gate --strict); 4 stopped before the end, and --resume goes on; 5 lint does not know this
version of Solr; 130 interrupted.
"""

WRONG_USAGE = 2
REFUSED = 3
STOPPED = 4
UNTRIED = 5
INTERRUPTED = 130
