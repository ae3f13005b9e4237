"""Numbers of other libraries: reproduce one, explain the difference to ours, and
identify the convention behind a number.
"""

from recnb.libraries.variant import as_in

__all__ = ["as_in"]
