"""How many examples of each law Hypothesis tries, by the variable RECNB_HYPOTHESIS.

The test command tries a fifteenth of them, always the same ones. CI tries the rest (`ci`,
with a seed of its own, so that these are others), `thorough` 500 of the laws that name
no number, and `mutants` those of the command, where what fails is not made smaller.
"""

from __future__ import annotations

import math
import os

PROFILE = os.environ.get("RECNB_HYPOTHESIS", "default")


def examples(n: int) -> int:
    """The share of n examples that this run tries."""
    in_command = math.ceil(n / 15)
    of_profile = {"default": in_command, "mutants": in_command, "ci": n - in_command}
    return of_profile.get(PROFILE, n)
