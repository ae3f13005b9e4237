"""Results of some users that add up to those of all.

sums.py     `Partial`: sums for each metric and cut-off, and how much is behind them
stored.py   the same as plain Python for JSON, and back
"""

from recnb.partial.sums import Measure, Partial, PartialCounts, nothing_like, refuse_unless_mean

__all__ = ["Measure", "Partial", "PartialCounts", "nothing_like", "refuse_unless_mean"]
