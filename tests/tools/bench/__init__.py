"""How long recnb takes and how much memory, beside a hand-written Polars query and other libraries.

`data.py` makes the frames; `contenders.py` says how recnb, the query and other libraries are asked; `measure.py` times calls,
and one contender in a process of its own; `__main__.py` prints the tables. What counts are ratios within one run.
"""
