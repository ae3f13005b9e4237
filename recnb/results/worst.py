"""The users or queries with the worst values of a metric, and what they missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.display.language import N_, _, use_noun
from recnb.display.text import users_in_words
from recnb.metrics.measure import measure_named
from recnb.metrics.metric import ACCURACY, label_of
from recnb.results.arguments import AnyMetric, count_of_users
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import averaged, scoring_of
from recnb.results.shown import Shown
from recnb.results.table import Table
from recnb.results.user_groups import first_by
from recnb.results.user_lists import UserList, user_lists_of

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
    cutoffs = measure.cutoffs()
    scoring = scoring_of(data, measure, cutoffs)
    joined = scoring.joined
    matrix, _mean = averaged(joined, scoring.measure, cutoffs)
    value = matrix[:, 0]
    with_value = np.flatnonzero(~np.isnan(value))
    level = measure.metric.sign * value
    positions = first_by(with_value, n_shown, level, -joined.hits.n_relevant)
    metric_data = replace(data, joined=joined)  # the metric may have its own convention
    lists = user_lists_of(metric_data, positions.tolist(), measure.k)
    users = joined.users.gather(positions)
    columns = {
        "n_relevant": joined.hits.n_relevant[positions],
        "n_found": [len(of_user.found) for of_user in lists],
        "n_missed": [len(of_user.missed) for of_user in lists],
        **_in_words(data, users, lists),
    }
    index = data.keys.index(users, data.user_label)
    name = label_of(measure.name, measure.k)
    if name in HEADINGS or name in index.names:  # a metric of one's own
        name = f"value of {name}"
    headings = {column: _(words) for column, words in HEADINGS.items()}
    with use_noun(data.noun_of_lists):
        words = HIGHEST if measure.metric.better == "low" else LOWEST
        title = _(words, label=measure.label, users=users_in_words(len(with_value)))
    shown = Shown(
        title=title,
        basis=scoring.phrases(),
        headings={name: measure.label, **headings},
        cells=dict.fromkeys(("text", "first", "missing"), "text"),
        most=len(positions),
    )
    frame = pd.DataFrame({name: value[positions], **columns})
    return Table(frame.set_axis(index), shown=shown)


def _in_words(
    data: EvaluationData, users: pl.Series, lists: Sequence[UserList]
) -> dict[str, Any]:
    """Return columns of texts of queries, and of items: on top, and missed.

    These are by title, or else as they are. The one on top is that of the list as given,
    wherever a convention or the cut-off has it count.
    """
    columns: dict[str, Any] = {}
    texts = data.user_texts(users.to_list())
    if texts:
        columns["text"] = [texts.get(user, "") for user in users]
    first = [next(iter(of_user.items.values()), None) for of_user in lists]
    missing = [of_user.missed[0][0] if of_user.missed else None for of_user in lists]
    titles = data.item_titles([item for item in first + missing if item is not None])
    for name, items in (("first", first), ("missing", missing)):
        shown = [titles.get(item) or item for item in items]
        # As objects, ids stay as they are beside users without an item.
        columns[name] = pd.Series(shown, dtype=object)
    return columns
