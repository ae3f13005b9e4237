"""One case held against what must come of it, and the laws that any evaluation obeys."""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

import recnb
from recnb.errors import RecnbError
from tests.reference import REFERENCE
from tests.strategies import Options
from tests.tools.attack import ways
from tests.tools.attack.cases import Case
from tests.tools.attack.kinds import GRADES, IDS, SCORES
from tests.tools.attack.naive import Expected, RefusedError, UndefinedError, expected

Values = dict[int, float]


class FindingError(AssertionError):
    """Something that recnb must not do."""


def hold(got: float, want: float, what: str) -> None:
    """Hold a number against the one that must come out."""
    got = float(got)
    same = math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(got) and math.isnan(want))
    if not same:
        raise FindingError(f"{what}: {got!r}, and by definition {want!r}")


def mean(values: Values) -> float:
    return math.fsum(values.values()) / len(values) if values else math.nan


@contextlib.contextmanager
def no_crash(what: str = "") -> Iterator[None]:
    """Make a finding of all errors but recnb's own, and of warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except (
        RecnbError,
        FindingError,
        RefusedError,
        UndefinedError,
        ways.NoSuchFrameError,
        KeyboardInterrupt,
        SystemExit,
    ):
        raise
    except BaseException as problem:  # a panic of Polars is no Exception
        raise FindingError(f"raises {type(problem).__name__}{what}: {str(problem)[:500]}") from problem


def check(case: Case) -> str:
    """Hold one case, and say what it was: evaluated, refused as it must be, or refused where it may be."""
    case = settled(case)
    if case.way == "spoiled":
        how, recs, truth = ways.spoiled(case)
        with contextlib.suppress(RecnbError), no_crash(f" of {how}"):
            raise FindingError(f"takes {how}: {recnb.evaluate(recs, truth).ndcg(k=3)!r}")
        return "spoiled"
    try:
        want = expected(case)
    except RefusedError:
        want = None
    except UndefinedError:
        return "undefined"
    try:
        with no_crash():
            {"one list": one_list, "dask": by_dask, "compare": compared}.get(case.way, plain)(case, want)
    except RefusedError:
        return "refused"
    except UndefinedError:  # the second model of a comparison has too many orders to go through
        return "undefined"
    except ways.NoSuchFrameError:
        return "no such frame"
    except RecnbError as problem:
        if want is None or refuses(case, want):
            return "refused"
        if certain(case):
            raise FindingError(f"refused, {type(problem).__name__}: {problem}") from problem
        return "may be refused"
    return "evaluated"


def refuses(case: Case, want: Expected) -> bool:
    """Whether a metric must refuse what the frames alone do not show."""
    try:
        for k, (metric, options) in itertools.product(case.k, {"recall": {}, **case.metrics}.items()):
            want.of(metric, options, k)
    except (RefusedError, UndefinedError) as problem:
        return isinstance(problem, RefusedError)
    return False


def settled(case: Case) -> Case:
    """Return the case as its way in can hold it: one frame has each pair once, a list no equal scores and no empty places."""
    if case.way in ("one frame", "frame of lists", "one list", "spoiled"):
        recs, truth = ({row[:2]: row for row in rows} for rows in (case.recs, case.truth))
        once = {"recs": tuple(recs.values()), "truth": tuple(truth.values())}
        case = replace(case, **once, users=case.users[:1] * 2, items=case.items[:1] * 2)
    if case.way in ("frame of lists", "one list"):
        lists = ways.lists_of(case)
        rows = tuple((user, item, 0, rank) for user, items in lists.items() for rank, item in enumerate(items, 1))
        case = replace(case, recs=rows, columns=("rank",))
    if case.way == "one frame":
        judged = ((user, item, grade) for user, item, _, _, grade in ways.single_rows(case) if grade is not None)
        case = replace(case, truth=tuple(judged))
    if case.way == "frame of lists":
        case = replace(case, truth=tuple(sorted(case.truth, key=lambda row: (ways.place_of_user(row[0]), row[0]))))
    return case


def certain(case: Case) -> bool:
    """Whether recnb must take such columns: ids of a kind that it knows, the same in both frames or text and whole numbers."""
    options, names = case.options, (*case.items, *case.users)
    if case.way == "one list" and any("bool" in name or "float" in name for name in case.items):
        return False  # a list of such items may be one of grades or scores
    if case.way == "dask":
        objects = any(name.startswith("objects") or "Decimals" in name for name in (*names, case.scores, case.grades))
        if objects or {options.get("averaged_users"), options.get("judged")} & {"recs", "both", "list"}:
            return False  # objects become text there, and the scale of ERR may have to be given
    if case.way.startswith("streamed") and options.get("candidates") == "catalogue":
        return False
    foreign = case.way in ("dask", "duckdb", "frame of lists") or case.way.startswith("streamed")
    for side in (case.users, case.items):
        kinds = [IDS[name] for name in side]
        plain = kinds[0].family in ("whole", "text", "wide")
        if not all(kind.certain for kind in kinds) or ((side[0] != side[1] or foreign) and not plain):
            return False
    return "score" not in case.columns or SCORES[case.scores].certain


# Ways in --------------------------------------------------------------------------------------------------------------


def plain(case: Case, want: Expected | None) -> None:
    """Hold an evaluation of frames, which stay as they are and may be changed by their owner afterwards."""
    ways.BUFFERS.clear()
    if case.way == "one frame":
        recs, truth = ways.one_frame(case), None
    else:
        recs, truth = (ways.list_frame(case), None) if case.way == "frame of lists" else ways.frames(case)
    before = [(frame, ways.copied(frame)) for frame in (recs, truth)]
    with ways.evaluated(case, recs, truth) as made:
        if case.changed:
            for frame in (recs, truth):
                ways.changed(frame, case.choices())
        measured(case, want, made)
        if not case.changed and any(copy != ways.copied(frame) for frame, copy in before):
            raise FindingError("a frame of the caller's was changed")


def asked_of(case: Case) -> dict[str, Options]:
    """Return the metrics that have a mean over equal scores, where it is asked for."""
    expects = case.options.get("ties") == "expected"
    return {
        name: one
        for name, one in case.metrics.items()
        if not (expects and (name == "err" or one.get("out_of") == "hits" or one.get("target") == "preferred"))
    }


def measured(case: Case, want: Expected | None, made: recnb.Evaluation) -> None:
    """Hold every metric at every cut-off: each by itself, user by user, and all in a table."""
    asked, choices, by_name = asked_of(case), case.choices(1), dict[str, list[Values]]()
    if want is None:
        for name, options in asked.items():
            made.table([name], k=list(case.k), **options)
        raise FindingError(f"takes what must be refused: {made!r}")
    for name, options in asked.items():
        with contextlib.suppress(UndefinedError):
            by_name[name] = [want.of(name, options, k) for k in case.k]
    if not by_name:
        return
    table = made.table({name: asked[name] for name in by_name}, k=list(case.k))
    for name, at_cutoffs in by_name.items():
        for k, values, shown in zip(case.k, at_cutoffs, table.loc[name].tolist(), strict=True):
            hold(shown, mean(values), f"table {name}@{k} {asked[name]}")
            if choices.chance(0.4):
                of_users(case, getattr(made, name)(k=k, **asked[name]), f"{name}@{k} {asked[name]}", values)
    name = choices.one(list(by_name))
    k, values, options = case.k[0], by_name[name][0], asked[name]
    users = made.users.tolist()
    repr(made)
    if case.options.get("ties") != "expected" and len(users) == len(values) and choices.chance(0.3):
        place = int(choices.rng.integers(len(users)))
        explained = made.explain(name, users[place], k=k, **options)
        hold(explained.value, values[sorted(values)[place]], f"explain {name}@{k} {options}")
        repr(explained)
        repr(made.lint(k=k or 5)) if choices.chance(0.1) else made._repr_html_()
    if choices.chance(0.05) and len(values) > 1 and all(map(math.isfinite, values.values())):
        score = getattr(made, name)(k=k, **options)
        bounds = score.interval()  # of too few users, or too alike, it has no ends
        if not math.isnan(bounds.low) and not bounds.low - 1e-12 <= float(score) <= bounds.high + 1e-12:
            raise FindingError(f"interval of {name}@{k}: {bounds!r} does not hold {float(score)}")


def of_users(case: Case, score: Any, what: str, values: Values) -> None:
    """Hold the value and the name of each user."""
    per_user, label = score.per_user, IDS[case.users[0]].label
    if len(per_user) != len(values):
        raise FindingError(f"{what} is of {len(per_user)} users, and by definition of {sorted(values)}")
    for (user, value), got in zip(sorted(values.items()), per_user.tolist(), strict=True):
        hold(got, value, f"{what}, user {user}")
    hold(score, mean(values), f"score {what}")
    wanted = [label(IDS[case.users[0]].values[user]) for user in sorted(values)] if label else per_user.index.tolist()
    if per_user.index.tolist() != wanted:
        raise FindingError(f"names of users: {per_user.index.tolist()} for {wanted}")


def one_list(case: Case, want: Expected | None) -> None:
    """Hold the functions of one list, and of several at once."""
    kind, several = IDS[case.items[0]], []
    for user, items in ways.lists_of(case).items():
        grades = {item: float(GRADES[case.grades].values[level]) for one, item, level in case.truth if one == user}
        if grades and min(grades.values()) >= 0:
            named = [kind.values[item] for item in items], {kind.values[item]: grade for item, grade in grades.items()}
            several.append((items, grades, named))
    for (name, options), k in itertools.product(case.metrics.items(), case.k):
        function, what = getattr(recnb, name), f"{name}@{k} {options}"
        wanted = [REFERENCE[name](items, grades, k, **options) for items, grades, _named in several]
        for (*_places, named), value in zip(several, wanted, strict=True):
            hold(function(*named, k=k, **options), value, f"one list: {what}")
        if several and not (name == "err" and options.get("max_relevance") is None):
            lists, truths = zip(*(named for *_places, named in several), strict=True)
            hold(function(list(lists), list(truths), k=k, **options), math.fsum(wanted) / len(wanted), f"lists: {what}")


def by_dask(case: Case, want: Expected | None) -> None:
    """Hold the table of Dask frames, cut at any rows."""
    import dask
    import dask.dataframe as dd

    import recnb.dask

    recs, truth = (ways.native(columns) for columns in ways.columns_of(case))
    frames = isinstance(recs, pd.DataFrame) and isinstance(truth, pd.DataFrame)
    if not frames or case.options.get("candidates") == "catalogue":
        raise RefusedError
    if {">i4", "objects of bytes"} & {*case.users, *case.items}:
        raise ways.NoSuchFrameError  # Dask itself cannot shuffle them
    edges = sorted(case.choices().rng.integers(0, len(recs) + 1, 2).tolist())
    pieces = [recs.iloc[start:stop] for start, stop in itertools.pairwise([0, *edges, len(recs)])]
    with dask.config.set(scheduler="sync"), warnings.catch_warnings():
        warnings.simplefilter("default")
        parted = dd.from_map(lambda piece: piece, pieces, meta=recs.iloc[:0])
        text = pd.api.types.is_string_dtype(parted.dtypes["item"]) and not all(
            isinstance(one, str) for one in recs["item"]
        )
        if text and str(case.options.get("ties")).startswith("item"):
            raise ways.NoSuchFrameError  # the ids of this Dask frame are text, which has an order of its own
        table = recnb.dask.evaluate(parted, truth, **case.options).table(asked_of(case), k=list(case.k))
    if want is None:
        raise FindingError(f"takes what must be refused: {table!r}")
    for name, options in asked_of(case).items():
        with contextlib.suppress(UndefinedError):
            for k, shown in zip(case.k, table.loc[name].tolist(), strict=True):
                hold(shown, mean(want.of(name, options, k)), f"dask: {name}@{k} {options}")


def compared(case: Case, want: Expected | None) -> None:
    """Hold the means of two models on the users whom both are judged on."""
    choices = case.choices()
    rows = ((user, item, (level * 5 + 1) % 2, rank) for user, item, level, rank in case.recs if choices.chance(0.8))
    other = replace(case, recs=tuple(rows))
    if not other.recs or case.options.get("candidates") == "catalogue":
        raise RefusedError
    try:
        sides = {"one": want, "other": expected(other)}
    except RefusedError:
        sides = {"one": None}
    (recs, truth), asked, k = ways.frames(case), asked_of(case), case.k[0]
    refused = any(side is None for side in sides.values())
    try:
        found = recnb.compare({"one": recs, "other": ways.frames(other)[0]}, truth, **case.options)
    except RecnbError:
        if refused or not set.intersection(
            *(set(side.of("recall", {}, 1)) for side in sides.values() if side is not None)
        ):
            raise RefusedError from None
        raise
    if refused:
        raise FindingError(f"compares what must be refused: {found!r}")
    for name, options in asked.items():
        with contextlib.suppress(UndefinedError):
            values = {model: side.of(name, options, k) for model, side in sides.items() if side is not None}
            users = [
                user for user in values["one"].keys() & values["other"].keys()
                if not any(math.isnan(side[user]) for side in values.values())
            ]  # fmt: skip
            shown = found.table([name], k=k, **options)
            for model, side in values.items():
                wanted = mean({user: side[user] for user in users})
                hold(shown.loc[model].iloc[0], wanted, f"compare {model}: {name}@{k} {options}")
