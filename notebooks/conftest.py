"""Notebooks are compared with their stored outputs, which have no progress bars; a slow machine would show some."""

import os

os.environ["RECNB_NO_PROGRESS"] = "1"
