"""How much Hypothesis tries: 40 examples of each law, or 500 with RECNB_HYPOTHESIS=thorough; always the same ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# For the kernels of notebooks: a bar would be there on slow machines alone.
os.environ["RECNB_NO_PROGRESS"] = "1"

COMMON = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}

settings.register_profile("default", max_examples=40, **COMMON)
settings.register_profile("thorough", max_examples=500, **COMMON)
settings.load_profile(os.environ.get("RECNB_HYPOTHESIS", "default"))
