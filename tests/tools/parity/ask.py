"""Ask a library: `python -m tests.tools.parity.ask ranx ndcg recall <data.json`, run where the library is."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from importlib import metadata

from tests.tools.parity import boosting, matrices, recommending, search
from tests.tools.parity.common import value
from tests.tools.parity.environments import ASKED


def main(library: str, *names: str) -> None:
    """Write the library's version, and what its metrics (all if none is named) say of the data sets on standard input."""
    script = ASKED[library].script
    data = json.load(sys.stdin)
    module = next(module for module in (boosting, matrices, recommending, search) if hasattr(module, script))
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metrics = getattr(module, script)()
        values = {name: [value(metrics[name], one) for one in data] for name in names or metrics}
    distribution = {"xgboost": "xgboost-cpu"}.get(library, library.split(" ")[0])
    json.dump({"version": metadata.version(distribution), "values": values}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
