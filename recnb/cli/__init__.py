"""The command line: a report from files, and gates that a release must pass."""

from recnb.cli.arguments import EXIT_CODES
from recnb.cli.command import main

__all__ = ["EXIT_CODES", "main"]
