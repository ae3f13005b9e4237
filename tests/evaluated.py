"""The bundled sample as most tests of results ask it: a model evaluated, all compared."""

from typing import Any

import recnb
from tests.sample import SAMPLE

SIDES: dict[str, Any] = {
    "train": SAMPLE.train,
    "items": SAMPLE.items,
    "users": SAMPLE.users,
}
KNN = SAMPLE.models["item-knn"]
EV = recnb.evaluate(KNN, SAMPLE.test, **SIDES)
FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="popular", **SIDES)
