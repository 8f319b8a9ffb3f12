"""The command `neardup`, which is also `python -m neardup_solr`."""

import os
import sys

from neardup_solr.cli import exit_codes, interrupts


def main() -> None:
    """Run the command; an interrupt ends it from here on, while modules are loaded, too."""
    interrupts.watch()
    errors = sys.stderr
    try:
        from neardup_solr.cli.main import main

        main()
        interrupts.ignore()
    except KeyboardInterrupt:
        interrupts.say_interrupted(errors)
        os._exit(exit_codes.INTERRUPTED)


if __name__ == "__main__":
    main()
