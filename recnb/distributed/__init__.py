"""Frames that one machine does not hold.

`recnb.dask` and `recnb.spark` make parts, which are joined where they are and return
their hits.
"""
