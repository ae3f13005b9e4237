"""Models against each other on the same users.

Means, paired differences, tests, and what may be concluded of them. Two models become
numbers in this order:

    compare            frames or files by name
    models.py          models_of: an Evaluation of each
    common.py          on_common_users: the same conventions, truth and users, or an error
    comparison.py      Comparison._measured: the Numbers of all models and their pairs
    tables.py          means, differences, curves: views of these numbers
    basis.py           the words below them

`runs.py` takes splits as the sample, and `overlap.py` compares the lists themselves.
"""

from recnb.comparison.comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
