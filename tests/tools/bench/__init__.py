"""How long recnb takes and how much memory, beside a hand-written Polars query and
other libraries; ratios within one run count.
"""
