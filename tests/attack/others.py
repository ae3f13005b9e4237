"""Ways in that give no Evaluation: one list, Dask, two models; and metrics of whole lists."""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import recnb
from recnb.errors import RecnbError
from tests.attack import ways
from tests.attack.drawing import Case, Drawer
from tests.attack.held import FindingError, hold, mean
from tests.attack.kinds import GRADES, IDS
from tests.attack.naive import Expected, RefusedError, UndefinedError, expected
from tests.reference import REFERENCE
from tests.strategies import Options


def one_list(case: Case, want: Expected | None) -> None:
    """The functions of one list, and of several at once."""
    kind = IDS[case.items[0]]
    lists, several = ways.lists_of(case), []
    for user, items in lists.items():
        grades = {item: GRADES[case.grades].values[level] for one, item, level in case.truth if one == user}
        if not grades or any(float(grade) < 0 for grade in grades.values()):
            continue
        several.append((items, {item: float(grade) for item, grade in grades.items()}))
    for name, options in case.metrics.items():
        function = getattr(recnb, name)
        for k in case.k:
            wanted = [REFERENCE[name](items, grades, k, **options) for items, grades in several]
            given = [
                ([kind.values[item] for item in items], {kind.values[item]: grade for item, grade in grades.items()})
                for items, grades in several
            ]
            for (items, grades), value in zip(given, wanted, strict=True):
                hold(function(items, grades, k=k, **options), value, f"one list {name}", f"{name}@{k} {options}")
            if several and not (name == "err" and options.get("max_relevance") is None):
                score = function([items for items, _ in given], [grades for _, grades in given], k=k, **options)
                hold(score, math.fsum(wanted) / len(wanted), f"several lists {name}", f"{name}@{k} {options}")


def means(case: Case, want: Expected | None, table: Any, names: list[str]) -> None:
    if want is None:
        raise FindingError("takes what must be refused", repr(table))
    for name in names:
        with contextlib.suppress(UndefinedError):
            for k, shown in zip(case.k, table.loc[name].tolist(), strict=True):
                hold(
                    shown,
                    mean(want.of(name, case.metrics[name], k)),
                    f"table {name}",
                    f"{name}@{k} {case.metrics[name]}",
                )


def asked_of(case: Case) -> dict[str, Options]:
    expects = case.options.get("ties") == "expected"
    return {
        name: one
        for name, one in case.metrics.items()
        if not (expects and (name == "err" or one.get("out_of") == "hits"))
    }


def is_text_made(recs: pd.DataFrame, parted: Any) -> bool:
    """Whether Dask made text of items that are other objects, such as tuples."""
    return pd.api.types.is_string_dtype(parted.dtypes["item"]) and not all(isinstance(one, str) for one in recs["item"])


def by_dask(case: Case, want: Expected | None) -> None:
    import dask
    import dask.dataframe as dd

    import recnb.dask

    if case.options.get("candidates") == "catalogue":
        raise RefusedError
    if {">i4", "objects of bytes"} & {*case.users, *case.items}:
        raise ways.NoSuchFrameError  # Dask itself cannot shuffle them
    recs, truth = (ways.native(columns) for columns in ways.columns_of(case))
    if not isinstance(recs, pd.DataFrame) or not isinstance(truth, pd.DataFrame):
        raise RefusedError
    edges = sorted(Drawer(np.random.default_rng(case.seed)).rng.integers(0, len(recs) + 1, 2).tolist())
    pieces = [recs.iloc[a:b] for a, b in itertools.pairwise([0, *edges, len(recs)])]
    asked = asked_of(case)
    with dask.config.set(scheduler="sync"), warnings.catch_warnings():
        warnings.simplefilter("default")
        parted = dd.from_map(lambda piece: piece, pieces, meta=recs.iloc[:0])
        if str(case.options.get("ties")).startswith("item") and is_text_made(recs, parted):
            raise ways.NoSuchFrameError  # the ids of this Dask frame are text, which has an order of its own
        made = recnb.dask.evaluate(parted, truth, **case.options).table(asked, k=list(case.k))
    means(case, want, made, list(asked))


def compared(case: Case, want: Expected | None) -> None:
    """Two models on the users whom both are judged on: the means of each and the mean difference."""
    if case.options.get("candidates") == "catalogue":
        raise RefusedError
    draw = Drawer(np.random.default_rng(case.seed))
    other = replace(
        case,
        recs=tuple(
            (user, item, (level * 5 + 1) % 2, rank) for user, item, level, rank in case.recs if draw.chance(0.8)
        ),
    )
    if not other.recs:
        raise RefusedError
    try:
        sides = {"one": want, "other": expected(other)}
    except RefusedError:
        sides = {"one": None}
    truth = ways.frames(case)[1]
    asked = asked_of(case)
    models = {"one": ways.frames(case)[0], "other": ways.frames(other)[0]}
    try:
        found = recnb.compare(models, truth, **case.options)
    except RecnbError:
        if any(side is None for side in sides.values()):
            raise RefusedError from None
        shared = [set(side.of("recall", {}, 1)) for side in sides.values() if side is not None]
        if not shared[0] & shared[1]:
            raise RefusedError from None
        raise
    if any(side is None for side in sides.values()):
        raise FindingError("compares what must be refused", repr(found))
    for name, options in asked.items():
        k = case.k[0]
        with contextlib.suppress(UndefinedError):
            values = {model: side.of(name, options, k) for model, side in sides.items() if side is not None}
            users = {
                user
                for user in values["one"].keys() & values["other"].keys()
                if not any(math.isnan(side[user]) for side in values.values())
            }
            shown = found.table([name], k=k, **options)
            for model, side in values.items():
                hold(
                    shown.loc[model].iloc[0],
                    mean({user: side[user] for user in users}),
                    f"compare {name}",
                    f"{model}: {name}@{k} {options}",
                )


# Beyond accuracy ------------------------------------------------------------------------------------------------------

BEYOND: dict[str, tuple[str, Options]] = {
    "coverage": ("coverage", {"population": "catalogue", "count_only_catalogue": True, "normalize": True}),
    "gini": ("gini", {"population": "catalogue", "normalizer": "n", "weight": None}),
    "entropy": ("entropy", {"normalize": False}),
    "personalization": ("personalization", {"overlap": "cosine"}),
    "novelty": ("novelty", {"popularity": "users", "cold": "log2(users)", "divisor": "list", "normalize": False}),
    "popularity": ("popularity", {"popularity": "users", "cold": "zero", "divisor": "list"}),
    "popularity_rank": ("popularity_rank", {"popularity": "users", "cold": "zero", "divisor": "list"}),
    "tail_share": ("tail_share", {"ratio": 0.8, "divisor": "list"}),
    "diversity": ("diversity", {"distance": "cosine", "divisor": "pairs", "single": "skip"}),
}  # fmt: skip


def beyond(case: Case, want: Expected | None) -> None:
    """Metrics of whole lists, with train and items of the same ids, against the loops of the laws."""
    from tests.metrics.test_beyond_laws import Data, mean_of, naive

    draw = Drawer(np.random.default_rng(case.seed))
    users, items = IDS[case.users[0]], IDS[case.items[0]]
    n_items = min(len(items.values), 8)
    train = [
        (draw.one(range(min(len(users.values), 6))), draw.one(range(n_items))) for _ in range(draw.one([1, 4, 12]))
    ]
    genres = {item: draw.some(3, 3) or [0] for item in range(n_items)}
    data = Data(
        ways.lists_of(case),
        train,
        {item: [float(one in genres[item]) for one in range(3)] for item in genres},
        list(range(n_items)),
    )
    frame = ways.native(
        {"user": ways.values_of(users, [u for u, _ in train]), "item": ways.values_of(items, [i for _, i in train])}
    )
    catalogue = ways.native(
        {
            "item": ways.values_of(items, list(genres)),
            "genre": pd.Series(["|".join("pqr"[one] for one in some) for some in genres.values()]),
        }
    )
    recs, truth = ways.frames(case)
    made = recnb.evaluate(recs, truth, train=frame, items=catalogue)
    if case.changed:
        for one in (frame, catalogue, recs, truth):
            ways.changed(one, draw)
    if want is None:
        raise FindingError("takes what must be refused", repr(made))
    for k in case.k:
        for name, (formula, options) in BEYOND.items():
            wanted = naive(formula, options, data, k)
            if isinstance(wanted, dict) and not wanted:
                continue
            score = getattr(made, name)(k=k)
            value = wanted if isinstance(wanted, float) else mean_of(wanted)
            hold(score, value, f"beyond {name}", f"{name}@{k}")
