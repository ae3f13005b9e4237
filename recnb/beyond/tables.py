"""Tables of metrics beyond accuracy, and of how often each item is shown."""

from __future__ import annotations

import numpy as np
import pandas as pd

from recnb.beyond.scoring import users_with_lists_in_words
from recnb.display.language import _, pgettext, template
from recnb.errors import OptionError, RecnbError
from recnb.metrics.hits import Cutoffs, one_cutoff
from recnb.metrics.measure import Measure
from recnb.metrics.metric import LIST_METRICS
from recnb.results.basis import depth_in_words
from recnb.results.evaluation_data import EvaluationData
from recnb.results.means_tables import by_cutoff, phrases_of
from recnb.results.numbers import Numbers, panels_beyond
from recnb.results.scoring import recorded_in
from recnb.results.shown import Shown
from recnb.results.table import Table
from recnb.results.values import Panel


def beyond_table(data: EvaluationData, k: object) -> Table:
    """Return every metric beyond accuracy that the data allow, a row each.

    What the others need is said below.
    """
    recorded = recorded_in(data.library)
    if not recorded:
        raise OptionError(
            f"{data.library} has no metric beyond accuracy that recnb has recorded."
        )
    cutoffs = Cutoffs.of(k)
    panels = list[Panel]()
    lacks: dict[str, list[str]] = {}  # what is missing, with the metrics that lack it
    for name in recorded:
        measure = Measure(LIST_METRICS[name])
        try:
            panels += panels_beyond({"": data}, measure, cutoffs)
        except RecnbError as problem:
            why = problem.lack or str(problem).removeprefix(f"{name}: ")
            lack = template(why).removesuffix(".")
            lacks.setdefault(lack, []).append(name)
    numbers = Numbers(panels, [""])
    absent = [
        _("not here: {names} ({why})", names=", ".join(names), why=why)
        for why, names in lacks.items()
    ]
    basis = [*phrases_of(numbers.bases), *absent]
    return by_cutoff(numbers, cutoffs, basis)


def items_of(data: EvaluationData, k: object) -> Table:
    """Count how often each item is recommended and found, the most recommended first.

    Each item of frames, train and `items=` is there once.
    """
    cutoff = one_cutoff(k)
    lists = data.item_data.lists().upto(cutoff)
    evaluated = data.item_data.lists(evaluated=True).upto(cutoff)
    items, n_items = lists.catalogue.ids, lists.n_items
    truth_item = lists.truth_item
    # A user and an item are one number: a place is a hit if its pair is in the truth.
    pair = evaluated.user * n_items + evaluated.item
    truth_pair = data.joined.hits.truth_user * n_items + truth_item
    is_hit = np.isin(pair, truth_pair)
    counts = {
        "shown": lists.times_shown,
        "share": lists.times_shown / max(len(lists.item), 1),
        "hits": np.bincount(evaluated.item[is_hit], minlength=n_items),
        "relevant": np.bincount(truth_item, minlength=n_items),
    }
    frame = pd.DataFrame(counts, index=pd.Index(items.to_numpy(), name="item"))
    titles = data.item_titles(items.to_list())
    if titles:
        frame.insert(0, "title", frame.index.map(titles).fillna(""))
    frame = frame.sort_values("shown", ascending=False, kind="stable")
    depth = depth_in_words(cutoff)
    users = users_with_lists_in_words(data, lists.users)
    of_lists = _("shown and share: {users}, {at}", users=users, at=depth)
    basis = [of_lists, f"{_('hits and relevant')}: {data.basis}"]
    headings = {
        "item": _("{item}"),
        "title": _("title"),
        "shown": pgettext("of an item", "shown"),
        "share": pgettext("of an item", "share"),
        "hits": pgettext("of an item", "hits"),
        "relevant": pgettext("of an item", "relevant"),
    }
    shown = Shown(title=depth, basis=basis, headings=headings, most=20)
    return Table(frame, shown=shown)
