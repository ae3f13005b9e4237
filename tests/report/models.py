"""Models of the sample whose reports are tested: without `users=`, unlike those of
`tests.evaluated`.
"""

import recnb
from tests.sample import SAMPLE

SIDE_DATA = {"train": SAMPLE.train, "items": SAMPLE.items}
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **SIDE_DATA)
FOUND = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular", **SIDE_DATA)
EVERY_PAIR = recnb.compare(SAMPLE.models, SAMPLE.test, pairs="all", **SIDE_DATA)
