"""Models against each other on the same users.

Means, paired differences, tests, and what may be concluded of them.
"""

from recnb.comparison.comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
