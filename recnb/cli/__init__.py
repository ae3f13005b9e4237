"""The command line: a report from files, as a page, a table for a paper, a log, or a
gate that a release must pass.
"""

from recnb.cli.arguments import EXIT_CODES
from recnb.cli.command import main

__all__ = ["EXIT_CODES", "main"]
