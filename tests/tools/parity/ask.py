"""Ask a library: `python -m tests.tools.parity.ask ranx ndcg recall <data.json`, run
where the library is.
"""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from importlib import metadata

from tests.tools.parity import boosting, matrices, recommending, retrieval, search
from tests.tools.parity.data import DataSet, Metric


def value(metric: Metric, data: DataSet) -> float | str:
    """The metric's value, or the error that the library raised."""
    try:
        return float(metric(data))
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


def main(asked: str, *names: str) -> None:
    """Write the library's version, and what its metrics (all if none is named) say of
    the data sets on standard input.
    """
    library, data = asked.split(" ")[0], json.load(sys.stdin)
    functions = {
        name: one
        for module in (boosting, matrices, recommending, retrieval, search)
        for name, one in vars(module).items()
    }
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metrics: dict[str, Metric] = functions[library.replace("-", "_")]()
        values = {
            name: [value(metrics[name], one) for one in data]
            for name in names or metrics
        }
    distribution = {"xgboost": "xgboost-cpu"}.get(library, library)
    json.dump({"version": metadata.version(distribution), "values": values}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
