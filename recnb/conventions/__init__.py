"""The conventions behind a number.

How lists are ordered, what is relevant, which users count, and a metric's options.

Two libraries that report nDCG@10 of the same data rarely agree, since each makes these
decisions without stating them. A `Convention` names every decision, and is shown in
words with each number.
"""

from recnb.conventions.convention import (
    WORDS,
    Convention,
    in_words,
    options_in_words,
    value_of,
)
from recnb.conventions.presets import names
from recnb.conventions.presets import variants as metrics

__all__ = [
    "WORDS",
    "Convention",
    "in_words",
    "metrics",
    "names",
    "options_in_words",
    "value_of",
]
