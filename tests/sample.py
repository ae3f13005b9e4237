"""The bundled sample, read once for all tests, none of which changes it."""

import recnb

SAMPLE = recnb.datasets.load_sample()
