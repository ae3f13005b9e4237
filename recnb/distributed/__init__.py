"""Frames that one machine does not hold: an engine puts users together, each part is evaluated in a task, sums are added up.

`recnb.dask` and `recnb.spark` make the parts; `evaluation.py` has what a task does with one, and the Evaluation that asks for it.
"""
