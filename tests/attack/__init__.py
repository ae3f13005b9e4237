"""A standing attack: random frames of every kind, in by every way, under every option, against naive definitions.

`python -m tests.attack --minutes 60 --seed 7` runs it by hand; `tests/test_attack.py` runs three minutes of it with a seed
that changes by day. A data set is a `Case` (`drawing.py`) of small whole numbers, which `kinds.py` makes ids, scores and
relevance of. What must come out (`naive.py`) is worked out of the numbers alone, by `tests/reference.py` and
`tests/conventions_reference.py`; `ways.py` brings the frames to recnb, and `checks.py` and `others.py`
hold one against the other.
"""
