"""Frames that one machine does not hold: users are put together by the engine, each part is evaluated by itself, sums are merged.

    kernel.py   what is done with the rows of some users, whatever the engine
    dask.py     Dask DataFrames; `import recnb.dask` makes `ddf.rec` of it
    spark.py    Spark DataFrames: `recnb.spark.evaluate`; spark_frames.py is how Spark reads them, spark_parts.py what its workers do

An engine's package is imported with its module and nowhere else.
"""
