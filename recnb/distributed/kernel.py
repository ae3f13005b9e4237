"""The work of an engine on the rows of some users: the same join and metrics as on one machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import Facts, Frame, Layout, table_of, validation
from recnb.data import Part as Rows
from recnb.data.parts import Kept
from recnb.distributed.partial import Partial, Question, partial_of, takes_scale
from recnb.errors import FrameError
from recnb.options import ParsedOptions
from recnb.results.evaluation_data import EvaluationData, index_of

if TYPE_CHECKING:
    import pandas as pd

#: The column that holds the place of each row before an engine moved it, so that equal scores keep the order they had.
ROW = "recnb_row"

#: The column of the bucket that an engine puts each user into.
BUCKET = "recnb_bucket"


@dataclass(frozen=True, eq=False)
class Plan:
    """How the rows of parts are read: columns and conventions."""

    given: ParsedOptions
    layout: Layout


@dataclass(frozen=True, eq=False)
class Part:
    """Some users, joined, with the facts for checks that need all parts."""

    data: EvaluationData
    facts: Facts


def part(recs: Frame, truth: Frame, plan: Plan) -> Part:
    """Join the rows of some users, which may be none on either side; columns are named by role."""
    left = _rows(recs, "recommendations", plan.layout.recs_read, plan.layout.recs)
    right = _rows(truth, "truth", plan.layout.truth, plan.layout.truth)
    rows = Rows.of(left, right, plan.layout)
    return Part(plan.given.data(rows.source), rows.facts)


def _rows(frame: Frame, name: str, roles: Mapping[str, str], labels: Mapping[str, str]) -> pl.DataFrame:
    table = table_of(frame, name, {role: role for role in (*roles, ROW)}).sort(ROW).drop(ROW)
    if table.height == 0:
        return table
    # A missing id is described by the other ids of its row.
    for role, other in (("user", "item"), ("item", "user")):
        if (missing := validation.is_missing(table[role])).any():
            raise FrameError(
                f"{name}: column {labels[role]!r} has missing {role} ids, such as that beside {other} "
                f"{table[other].filter(missing)[0]!r}. Drop those rows: frame.dropna(subset=[{labels[role]!r}])."
            )
    return validation.ids(table, name, labels)


def scale(part: Part) -> float:
    """The highest relevance in the truth of a part."""
    return part.data.prepared.max_relevance


def partial(part: Part, question: Question, top: float | None = None) -> tuple[Partial, Facts]:
    """The sums of a part."""
    return partial_of(part.data, question, scale=top), part.facts


def added(parts: Iterable[tuple[Partial, Facts]]) -> tuple[Partial, Facts]:
    """Several parts as one."""
    return reduce(lambda a, b: (a[0].plus(b[0]), a[1] + b[1]), parts)


def settled(totals: tuple[Partial, Facts], plan: Plan) -> Partial:
    """Return the sums of all parts after the checks that need all parts."""
    whole, facts = totals
    facts.check(whole.counts.n_users, whole.counts.n_relevant, whole.convention, plan.layout)
    return whole


def values(part: Part, question: Question, top: float | None = None, *, drop: bool = False) -> pd.DataFrame:
    """Each user's values, a column for each metric at each cut-off.

    One who is left out of a mean is NaN, or is dropped, which goes for one metric at one cut-off.
    """
    import pandas as pd

    frames = []
    for metric, own in question.chosen():
        chosen_options = {**own, "max_relevance": top} if top and takes_scale(metric, own) else own
        scoring = part.data.scoring(metric, chosen_options, whole=question.k.values == (None,))
        index, labels = index_of(scoring.prepared.users), question.labels_of(metric)
        if len(index) == 0:
            frames.append(pd.DataFrame(np.empty((0, len(labels))), index, labels))
            continue
        matrix, _mean = scoring.averaged(question.k)
        frame = pd.DataFrame(matrix, index, labels)
        frames.append(frame[~np.isnan(matrix[:, 0])] if drop else frame)
    return frames[0] if len(frames) == 1 else pd.concat(frames, axis=1)


def gathered(part: Part, convention: Convention) -> Kept:
    """Hits and counts of a part under a convention, without the rows of its lists."""
    source = part.data.prepared.source
    assert source is not None
    return Kept.of(convention, True, Rows(source, part.facts))
