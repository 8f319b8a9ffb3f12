"""The exit codes of the command `neardup`, which stay as they are: scripts go by them.

0 success; 1 failure, with a message; 2 wrong usage; 3 the answer is no (lint, doctor, gate
--strict); 4 stopped early (continue with --resume); 5 lint has not been tested with this version of
Solr; 130 interrupted.
"""

WRONG_USAGE = 2
REFUSED = 3
STOPPED = 4
UNTRIED = 5
INTERRUPTED = 130
