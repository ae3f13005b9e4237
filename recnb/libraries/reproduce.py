"""The number that another library would return for the same frames."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from recnb.conventions.presets import Preset, preset
from recnb.data import Frame, Prepared, Source, read, read_lists
from recnb.data.columns import role_of
from recnb.errors import NoUsersError, OptionError, near
from recnb.libraries.library_errors import refuse
from recnb.libraries.library_metrics import SPECIAL
from recnb.metrics.metric import Metric, metric_named
from recnb.results.aggregation import averaged, cutoffs_under
from recnb.results.item_metrics import FORMULAS, ItemMetrics


def as_in(
    library: str,
    metric: str,
    recs: Frame,
    truth: Frame,
    k: int | None = None,
    train: Frame | None = None,
    features: Any = None,
    catalogue: Collection[Any] | None = None,
    **columns: str,
) -> float:
    """The number that a library's metric returns for these frames, from its recorded convention.

    `library` and `metric` are the names that `recnb.conventions.names()` and `recnb.conventions.metrics(library)`
    list; a suffix such as `[full]` says what the library is given. Metrics beyond accuracy need `train`, `features` (item
    vectors, a frame indexed by item or with an item column) or `catalogue` (all items there are), and say which. What it refuses is refused here; where it returns
    NaN, so does this.

    >>> import pandas as pd
    >>> recs = pd.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [3, 2, 1]})
    >>> truth = pd.DataFrame({"user": [1], "item": ["b"]})
    >>> [round(as_in(name, "ndcg", recs, truth, k=3), 4) for name in ("ranx", "rectools", "lenskit")]
    [0.6309, 0.2961, 1.0]
    """
    chosen = preset(library, metric)
    roles = ("user", "item", "rank", "score", "relevance")
    if unknown := [name for name in columns if name not in roles]:
        hint = "Give all items there are as catalogue=[...]. " if unknown[0] == "items" else ""
        raise OptionError(
            f"{unknown[0]!r} is no option of as_in. {hint}{near(unknown[0], [*roles, 'train', 'features', 'catalogue'])}"
        )
    if chosen.metric in FORMULAS:
        lists = read_lists(recs, columns)
        return ItemMetrics(lists, train, _by_item(features), catalogue).value(chosen.metric, dict(chosen.options), k)
    source = read(recs, truth, columns)
    refuse(source, chosen, k)
    return value_under(source, chosen, k)


def _by_item(features: Any) -> Any:
    """Item vectors: a pandas frame indexed by item as a mapping; anything else as it is."""
    import pandas as pd

    if isinstance(features, pd.DataFrame) and not any(role_of(column) == "item" for column in features.columns):
        return dict(zip(features.index, features.to_numpy(), strict=True))
    return features


def value_under(source: Source, chosen: Preset, k: int | None) -> float:
    """A preset's number for frames that were read."""
    try:
        prepared = prepared_under(source, chosen)
    except NoUsersError:
        return float(dict(chosen.options).get("all_skipped", math.nan))
    options = metric_options(chosen)
    metric = metric_of(chosen)
    cutoffs = cutoffs_under(chosen.convention, k)
    credit = metric.at(prepared.hits(cutoffs.deepest), cutoffs, options)
    if "all_miss" in dict(chosen.options) and not credit.rows.total(1.0, k).any():
        return float(dict(chosen.options)["all_miss"])
    made = averaged(credit, chosen.convention, metric, options)
    if made.kept is not None and not made.kept.any():
        return float(dict(chosen.options).get("all_skipped", math.nan))
    return float(made.means[0])


def prepared_under(source: Source, chosen: Preset) -> Prepared:
    """The frames under a preset's convention."""
    return source.under(source.as_given(chosen.convention))


def metric_of(chosen: Preset) -> Metric[...]:
    """The metric that a preset computes."""
    return SPECIAL[chosen.metric] if chosen.metric in SPECIAL else metric_named(chosen.metric)


def metric_options(chosen: Preset) -> Mapping[str, Any]:
    """The metric's options in a preset, without what says how to average."""
    return {name: value for name, value in chosen.options if name not in ("all_skipped", "all_miss")}


__all__ = ["OptionError", "as_in", "metric_of", "metric_options", "prepared_under", "value_under"]
