"""Which metrics were asked for, and with which options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recnb.errors import OptionError, near
from recnb.metric import Metric, metric_named

#: Metrics by name, or each with its own options.
Metrics = Iterable[str] | Mapping[str, Mapping[str, Any]] | None

#: What a table holds when nothing else is asked for.
STANDARD = ("ndcg", "average_precision", "reciprocal_rank", "precision", "recall", "f1", "hit_rate")


def chosen_metrics(metrics: Metrics) -> list[Metric[...]]:
    """Metrics by name, the standard ones if none are named."""
    if isinstance(metrics, str):
        metrics = [metrics]
    if metrics is not None and not isinstance(metrics, Iterable):
        raise OptionError(f"metrics={metrics!r}: name them in a list, such as metrics=['ndcg', 'recall'].")
    chosen = [metric_named(name) for name in (STANDARD if metrics is None else metrics)]
    if not chosen:
        raise OptionError("metrics is empty: name at least one, such as metrics=['ndcg'].")
    names = [metric.name for metric in chosen]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise OptionError(f"metrics names {twice[0]!r} more than once.")
    return chosen


def options_of(
    metric: Metric[...], metrics: Metrics, options: Mapping[str, Any], chosen: Sequence[Metric[...]]
) -> dict[str, Any]:
    """A metric's own options, and of those given for all, the ones that it has; one that none has is refused."""
    everything = {name for one in chosen for name in one.defaults}
    for name in options:
        if name not in everything:
            raise OptionError(
                f"none of {', '.join(one.name for one in chosen)} has an option {name!r}. {near(name, sorted(everything))}"
            )
    mine = {name: value for name, value in options.items() if name in metric.defaults}
    if isinstance(metrics, Mapping):
        mine |= next(own for name, own in metrics.items() if metric_named(name) is metric)
    metric.check(mine)
    return mine
