"""Frames that one machine does not hold: `recnb.dask` and `recnb.spark` make parts,
which are evaluated where they are and added up.
"""
