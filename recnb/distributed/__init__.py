"""Frames that one machine does not hold: an engine puts users together, a function is called of each part, sums are added up.

    kernel.py      what a task does: it reads its part, and sends back sums over users that add up
    evaluation.py  the Evaluation that asks for them, and fetches hits where more is asked for
    dask.py        Dask DataFrames; `import recnb.dask` makes `ddf.rec` of it
    spark.py       Spark DataFrames: `recnb.spark.evaluate`

An engine's package is imported with its module and nowhere else.
"""
