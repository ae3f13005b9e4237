"""The users or queries with the worst values of a metric, and what they missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from recnb.display.language import N_, _, use_noun
from recnb.display.text import users_in_words
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import measure_named
from recnb.metrics.metric import ACCURACY, label_of
from recnb.results.arguments import AnyMetric, count_of_users
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import averaged, scoring_of
from recnb.results.shown import Shown
from recnb.results.table import Table
from recnb.results.user_groups import RankedItem, first_by, shown_users

LOWEST = N_("{label}: the lowest of {users}")
HIGHEST = N_("{label}, of which less is better: the highest of {users}")

#: What stands above the columns.
HEADINGS = {
    "n_relevant": N_("relevant"),
    "n_found": N_("found"),
    "n_missed": N_("missed"),
    "text": N_("text"),
    "first": N_("first of the list"),
    "missing": N_("most relevant missed"),
}


def worst(
    data: EvaluationData,
    metric: AnyMetric,
    k: int | None = None,
    *,
    n: int = 10,
    **options: Any,
) -> Table:
    """Return the users or queries with the lowest values of a metric, a row each.

    Among users with equal values, those with more relevant items come first. Users
    without a value are left out, and weights of users do not change the order.

    Parameters
    ----------
    metric : str or Metric
        A metric of accuracy. If less is better, the highest values come first.
    k : int, optional
        The cut-off; None is the whole list.
    n : int, default 10
        The number of users.
    **options
        Options of the metric.

    Returns
    -------
    Table
        A row per user: the value, n_relevant, n_found and n_missed; the text of the
        query if `users=` has a column `text`; the item on top of the list (first)
        and the most relevant one that is not in it (missing), by title or text if
        `items=` has one.

    See Also
    --------
    user : The list of one of them.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> ev.worst("ndcg", k=10, n=2).to_frame()[["n_relevant", "n_found", "first"]]
          n_relevant  n_found first
    user
    u056           8        0  None
    u156           7        0  i027
    """
    measure = measure_named(metric, ACCURACY).with_options(options).cut_at(k)
    n_shown = count_of_users("n", n, least=1)
    cutoffs = Cutoffs.one(measure.k)
    scoring = scoring_of(data, measure, cutoffs)
    joined = scoring.joined
    matrix, _mean = averaged(joined, scoring.measure, cutoffs)
    value = matrix[:, 0]
    with_value = np.flatnonzero(~np.isnan(value))
    level = measure.metric.sign * value
    positions = first_by(with_value, n_shown, level, -joined.hits.n_relevant)
    metric_data = replace(data, joined=joined)  # the metric may have its own convention
    users = shown_users([metric_data], positions.tolist(), [value], measure.k)
    columns: dict[str, Any] = {
        "n_relevant": [user.n_relevant for user in users],
        "n_found": [user.n_hits for user in users],
        "n_missed": [user.n_missed for user in users],
    }
    if any(user.text for user in users):
        columns["text"] = [user.text for user in users]
    columns["first"] = _first_of_each([user.lists[0] for user in users])
    columns["missing"] = _first_of_each([user.missed for user in users])
    index = data.keys.index(joined.users.gather(positions), data.user_label)
    name = label_of(measure.name, measure.k)
    if name in HEADINGS or name in index.names:  # a metric of one's own
        name = f"value of {name}"
    headings = {column: _(words) for column, words in HEADINGS.items()}
    with use_noun(data.noun_of_lists):
        words = HIGHEST if measure.metric.better == "low" else LOWEST
        title = _(words, label=measure.label, users=users_in_words(len(with_value)))
    shown = Shown(
        title=title,
        basis=scoring.basis.phrases(),
        headings={name: measure.label, **headings},
        cells=dict.fromkeys(("text", "first", "missing"), "text"),
        most=len(positions),
    )
    frame = pd.DataFrame({name: value[positions], **columns})
    return Table(frame.set_axis(index), shown=shown)


def _first_of_each(lists: Sequence[Sequence[RankedItem]]) -> pd.Series[Any]:
    """Return the first item of each list by title or id, None where there is none."""
    first = [items[0].title_or_id if items else None for items in lists]
    # As objects, ids stay as they are beside users without an item.
    return pd.Series(first, dtype=object)
