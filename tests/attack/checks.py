"""One case held against what must come of it, and the laws that any evaluation obeys."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import recnb
from recnb.errors import RecnbError
from tests.attack import ways
from tests.attack.drawing import Case, Drawer
from tests.attack.held import FindingError, Values, hold, mean
from tests.attack.kinds import IDS, SCORES
from tests.attack.naive import Expected, RefusedError, UndefinedError, expected
from tests.attack.others import beyond, by_dask, compared, one_list
from tests.strategies import Options


@contextlib.contextmanager
def no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def check(case: Case) -> str:
    """Hold one case, and say what it was: evaluated, refused as it must be, or refused where it may be."""
    if not case.recs or not case.truth:
        return "empty"
    case = settled(case)
    if case.way == "spoiled":
        return must_refuse(case)
    try:
        want = expected(case)
    except RefusedError:
        want = None
    except UndefinedError:
        return "undefined"
    try:
        with no_warning():
            {"one list": one_list, "dask": by_dask, "compare": compared, "beyond": beyond}.get(case.way, plain)(
                case, want
            )
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
            raise FindingError("refused", f"{type(problem).__name__}: {problem}") from problem
        return "may be refused"
    except FindingError:
        raise
    except BaseException as problem:  # a panic of Polars is no Exception
        if isinstance(problem, (KeyboardInterrupt, SystemExit)):
            raise
        raise FindingError(f"raises {type(problem).__name__}", str(problem)[:500]) from problem
    return "evaluated"


def refuses(case: Case, want: Expected) -> bool:
    """Whether a metric must refuse what the frames alone do not show."""
    try:
        for k in case.k:
            for metric, options in {"recall": {}, **case.metrics}.items():
                want.of(metric, options, k)
    except RefusedError:
        return True
    except UndefinedError:
        return False
    return False


def settled(case: Case) -> Case:
    """The case as its way in can hold it: one frame has each pair once, a list no equal scores and no empty places."""
    if case.way in ("one frame", "frame of lists", "one list", "beyond", "spoiled"):
        recs = {row[:2]: row for row in case.recs}
        truth = {row[:2]: row for row in case.truth}
        case = replace(
            case,
            recs=tuple(recs.values()),
            truth=tuple(truth.values()),
            users=case.users[:1] * 2,
            items=case.items[:1] * 2,
        )
    if case.way in ("frame of lists", "one list", "beyond"):
        lists = ways.lists_of(case)
        recs_of_lists = tuple(
            (user, item, 0, rank) for user, items in lists.items() for rank, item in enumerate(items, 1)
        )
        case = replace(case, recs=recs_of_lists, columns=("rank",))
    if case.way == "one frame":
        judged = tuple((user, item, grade) for user, item, _, _, grade in ways.single_rows(case) if grade is not None)
        case = replace(case, truth=judged)
    if case.way == "frame of lists":
        place = {
            user: at for at, user in enumerate(sorted({row[0] for row in case.truth}, key=lambda user: (user * 7) % 11))
        }
        case = replace(case, truth=tuple(sorted(case.truth, key=lambda row: place[row[0]])))
    return case


def certain(case: Case) -> bool:
    """Whether recnb must take such columns: ids of a kind that it knows, the same in both frames or text and whole numbers."""
    averaged = case.options.get("ties") == "expected" and case.options.get("duplicates") in ("keep", "rows")
    if averaged and any(options.get("target") == "preferred" for options in case.metrics.values()):
        return False  # the first place of an item that is repeated has no mean over orders
    if case.way == "one list" and any("bool" in name or "float" in name for name in case.items):
        return False  # a list of such items may be one of grades or scores
    if case.way == "dask" and {case.options.get("averaged_users"), case.options.get("judged")} & {
        "recs",
        "both",
        "list",
    }:
        return False  # the scale of ERR may have to be given
    if case.way == "dask" and any(
        name.startswith("objects") or "Decimals" in name
        for name in (*case.items, *case.users, case.scores, case.grades)
    ):
        return False  # objects become text there
    if case.way.startswith("streamed") and case.options.get("candidates") == "catalogue":
        return False
    for side in (case.users, case.items):
        kinds = [IDS[name] for name in side]
        if not all(kind.certain for kind in kinds) or (
            side[0] != side[1] and kinds[0].family not in ("whole", "text", "wide")
        ):
            return False
        if case.way in (
            "dask",
            "duckdb",
            "streamed duckdb",
            "frame of lists",
            "streamed dataset",
            "streamed files",
        ) and kinds[0].family not in ("whole", "text", "wide"):
            return False
    return "score" not in case.columns or SCORES[case.scores].certain


def must_refuse(case: Case) -> str:
    how, recs, truth = ways.spoiled(case)
    try:
        with no_warning():
            found = recnb.evaluate(recs, truth)
            raise FindingError(f"takes {how}", repr(found.ndcg(k=3)))
    except RecnbError:
        return "spoiled"
    except FindingError:
        raise
    except BaseException as problem:  # a panic of Polars is no Exception
        if isinstance(problem, (KeyboardInterrupt, SystemExit)):
            raise
        raise FindingError(f"raises {type(problem).__name__} of {how}", str(problem)[:500]) from problem


# Ways in that give an Evaluation --------------------------------------------------------------------------------------


def plain(case: Case, want: Expected | None) -> None:
    ways.BUFFERS.clear()
    if case.way == "one frame":
        recs, truth = ways.one_frame(case), None
    elif case.way == "frame of lists":
        recs, truth = ways.list_frame(case), None
    else:
        recs, truth = ways.frames(case)
    before = [(frame, ways.copied(frame)) for frame in (recs, truth)]
    with ways.evaluated(case, recs, truth) as made:
        if case.changed:
            for frame in (recs, truth):
                ways.changed(frame, Drawer(np.random.default_rng(case.seed)))
        measured(case, want, made)
        if not case.changed:
            for frame, copy in before:
                if copy != ways.copied(frame):
                    raise FindingError("a frame of the caller's was changed")


def measured(case: Case, want: Expected | None, made: recnb.Evaluation) -> None:
    """Every metric at every cut-off: each by itself, user by user, and all in a table."""
    draw = Drawer(np.random.default_rng(case.seed + 1))
    by_name: dict[str, list[Values]] = {}
    for name, options in case.metrics.items():
        if case.options.get("ties") == "expected" and (name == "err" or options.get("out_of") == "hits"):
            continue
        if want is None:
            made.table([name], k=list(case.k), **options)
            getattr(made, name)(k=case.k[0], **options)
            continue
        with contextlib.suppress(UndefinedError):
            by_name[name] = [want.of(name, options, k) for k in case.k]
    if want is None:
        raise FindingError("takes what must be refused", repr(made))
    if not by_name:
        return
    table = made.table({name: case.metrics[name] for name in by_name}, k=list(case.k))
    for name, at_cutoffs in by_name.items():
        for k, values, shown in zip(case.k, at_cutoffs, table.loc[name].tolist(), strict=True):
            what = f"{name}@{k} {case.metrics[name]}"
            hold(shown, mean(values), f"table {name}", what)
            if draw.chance(0.4):
                of_users(case, made, name, case.metrics[name], k, values)
    laws(case, made, by_name, draw)


def of_users(case: Case, made: recnb.Evaluation, name: str, options: Options, k: int | None, values: Values) -> None:
    score = getattr(made, name)(k=k, **options)
    per_user = score.per_user
    what = f"{name}@{k} {options}"
    if len(per_user) != len(values):
        raise FindingError("users", f"{what} is of {len(per_user)} users, and by definition of {sorted(values)}")
    for (user, value), got in zip(sorted(values.items()), per_user.tolist(), strict=True):
        hold(got, value, f"a user's {name}", f"{what}, user {user}")
    hold(score, mean(values), f"score {name}", what)
    label = IDS[case.users[0]].label
    if label is not None:
        wanted = [label(IDS[case.users[0]].values[user]) for user in sorted(values)]
        if per_user.index.tolist() != wanted:
            raise FindingError("names of users", f"{per_user.index.tolist()} for {wanted}")


def laws(case: Case, made: recnb.Evaluation, by_name: dict[str, list[Values]], draw: Drawer) -> None:
    """What is shown can be shown, and explains the number."""
    repr(made)
    name = draw.one(list(by_name))
    k, values = case.k[0], by_name[name][0]
    users = made.users.tolist()
    expects = case.options.get("ties") == "expected"
    if len(users) == len(values) and draw.chance(0.3) and not expects:
        place = int(draw.rng.integers(len(users)))
        explained = made.explain(name, users[place], k=k, **case.metrics[name])
        hold(explained.value, values[sorted(values)[place]], f"explain {name}", f"@{k} {case.metrics[name]}")
        repr(explained)
    if draw.chance(0.05) and len(values) > 1 and all(map(math.isfinite, values.values())):
        score = getattr(made, name)(k=k, **case.metrics[name])
        bounds = score.interval()
        # Too few users, or too alike, for an interval: it has no ends.
        if not math.isnan(bounds.low) and not bounds.low - 1e-12 <= float(score) <= bounds.high + 1e-12:
            raise FindingError("interval", f"{name}@{k}: {bounds!r} does not hold {float(score)}")
    if draw.chance(0.1):
        made._repr_html_()
        made.to_frame()
    if draw.chance(0.03) and not expects:
        repr(made.lint(k=case.k[0] or 5))
