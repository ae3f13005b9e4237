"""Measures of retrieval with incomplete judgments, as trec_eval and ir_measures define them: functions of hits.

Items of the truth that are not relevant are judged as well; all others are not. `hits.judged` has both.
"""

from __future__ import annotations

import numpy as np

from recnb.metrics.gain import out_of_count
from recnb.metrics.hits import Cutoff, Hits
from recnb.metrics.metric import Credit, metric, number_option
from recnb.metrics.sorting import Floats

ONE_ORDER = "{} depends on one order of the list"


@metric(
    called="judged share",
    symbol="Judged", credit="1", out_of="min(k, list_length)", bounds=(0, 1), references=["buckley2004"],
    sentence="Of what was shown, how much the truth has a grade for. Where it is low, other numbers are not certain.",
    needs=("judged",), retrieval=True, per_row_texts=False,
)  # fmt: skip
def judged(hits: Hits, k: Cutoff = None) -> Credit:
    """Share of the first k items that are judged, relevant or not; of shorter lists, the share of all items."""
    rows = hits.of_judged
    rows.refuse_ties(ONE_ORDER.format("Judged"))
    return Credit(rows, k, rows.weight, out_of_count(rows, k, "list"))


@metric(
    called="binary preference",
    symbol="Bpref", credit="1 - min(nonrelevant_above, n_relevant) / max(1, min(n_nonrelevant, n_relevant))",
    out_of="n_relevant", bounds=(0, 1), references=["buckley2004"],
    sentence="How few items judged not relevant are above the relevant ones. Items that are not judged do not count.",
    needs=("judged",), retrieval=True,
)  # fmt: skip
def bpref(hits: Hits, k: Cutoff = None) -> Credit:
    """Mean, over a user's relevant items, of the share of judged nonrelevant items that are not above each.

    At most as many nonrelevant items count as there are relevant ones. A relevant item that is not in the list adds 0.
    """
    hits.refuse_ties(ONE_ORDER.format("Bpref"))
    relevant, fewer = hits.n_relevant, np.maximum(1, np.minimum(hits.n_nonrelevant, hits.n_relevant))
    above = np.minimum(hits.nonrelevant_above, relevant[hits.user])
    return Credit(hits, k, 1.0 - above / fewer[hits.user], out_of_count(hits, k, "relevant"))


@metric(
    called="interpolated precision", symbol="IPrec", credit="rise", bounds=(0, 1), references=["manning2008"],
    sentence="The highest precision at any rank from which on this share of the relevant items is found.",
    retrieval=True,
)  # fmt: skip
def interpolated_precision(hits: Hits, k: Cutoff = None, *, recall: float = 0.0) -> Credit:
    """Highest precision at any rank where recall is at least `recall`; 0 if it is nowhere.

    A level of `recall * n_relevant` items counts as reached as in trec_eval, which adds 0.9 and rounds down.
    """
    number_option("recall", recall, "share of the relevant items, from 0 to 1", lambda share: 0 <= share <= 1, 0.1)
    hits.refuse_ties(ONE_ORDER.format("IPrec"))
    return Credit(hits, k, rise(hits, recall))


def rise(hits: Hits, recall: float) -> Floats:
    """By how much each hit exceeds the highest precision at the user's hits before it, from a level of recall on."""
    needed = (recall * hits.n_relevant + 0.9).astype(np.int64)
    precision = np.where(hits.nth >= needed[hits.user], hits.nth / hits.rank, 0.0)
    # The running maximum within users, of places in the sorted values: whole numbers stay exact.
    order = np.argsort(precision, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    base = hits.user * len(order)
    highest = precision[order[np.maximum.accumulate(place + base) - base]]
    before = np.r_[0.0, highest[:-1]]
    before[np.flatnonzero(np.r_[True, hits.user[1:] != hits.user[:-1]])] = 0.0
    return np.asarray(highest - before[: len(highest)])
