"""A metric at many cut-offs, with an interval at each: a table that is drawn as a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recnb.display.language import _
from recnb.errors import OptionError, is_several
from recnb.metrics.hits import Cutoffs
from recnb.results.arguments import check_options, measure_at
from recnb.results.table import Table
from recnb.results.values import values_of

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

#: The cut-offs of a curve if none are given.
CUTOFFS = range(1, 21)


def curve_of(data: EvaluationData, metric: str, k: Any, options: Mapping[str, Any]) -> Table:
    """Return a row per cut-off: the number of a metric and the ends of its interval, NaN where it has none."""
    usual = is_several(k) and [*k] == [*CUTOFFS]
    chosen, cutoff = measure_at(metric, None if usual or is_several(k) else k)
    if usual and cutoff is not None:
        k = range(1, cutoff + 1)
    elif is_several(k) and chosen.cutoff is not None:
        raise OptionError(f"{metric!r} has its cut-off, and k= names others: leave one of them out.")
    cutoffs = Cutoffs.of_curve(k)
    check_options(chosen, options)
    found = values_of(data, chosen, cutoffs, options)
    numbers = np.transpose([found.mean, *found.interval()])
    frame = pd.DataFrame(numbers, pd.Index([*cutoffs], name="k"), [chosen.name, "low", "high"])
    table = Table.made(frame, [*found.basis.phrases(), _("95% intervals")])
    n_users = None if found.of_all else int(found.n_users[-1])
    table.attrs |= {"drawn": "curve", "symbol": chosen.symbol, "n_users": n_users}
    return table
