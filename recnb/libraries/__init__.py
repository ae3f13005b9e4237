"""Numbers of other libraries: `as_in`, `why` and `identify`.

They reproduce one, explain the difference to ours, and find the convention behind it.
"""

from recnb.libraries.as_in import as_in

__all__ = ["as_in"]
