"""Frames that one machine does not hold: users are put together by the engine, each part is evaluated by itself, sums are merged.

    kernel.py   what is done with the rows of some users, whatever the engine
    dask.py     Dask DataFrames; `import recnb.dask` makes `ddf.rec` of it

An engine's package is imported with its module and nowhere else.
"""
