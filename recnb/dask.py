"""`import recnb.dask` makes `.rec` known to Dask DataFrames: `ddf.rec.against(dtruth).table(k=[5, 10])`.

`recnb.dask.evaluate(recs, truth)` is the same, and takes a pandas frame on either side. The same conventions and the same
numbers as with pandas; `recnb.compare` takes Dask DataFrames from then on. Needs `pip install "recnb[dask]"`.
"""

from importlib import import_module as _import

try:
    _import("dask.dataframe")
except ImportError as problem:  # pragma: no cover
    raise ImportError('recnb.dask needs Dask: pip install "recnb[dask]"') from problem

from recnb.distributed.dask import DaskAccessor, evaluate, register

register()

__all__ = ["DaskAccessor", "evaluate"]
