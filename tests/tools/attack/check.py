"""One case held against what must come of it, and the laws that any evaluation obeys."""

from __future__ import annotations

import contextlib
import itertools
import math
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recnb
from recnb.data import file_parts, tables
from recnb.errors import RecnbError
from tests.strategies import Options
from tests.tools.attack import frames
from tests.tools.attack.cases import Case
from tests.tools.attack.expected import Expected, RefusedError, SkippedError, expected
from tests.tools.attack.kinds import IDS

Values = dict[int, float]
Given = tuple[Any, Any]


class FindingError(AssertionError):
    """Something that recnb must not do."""


def hold(got: float, want: float, what: str) -> None:
    """Hold a number against the one that must come out."""
    got = float(got)
    same = math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-12) or (
        math.isnan(got) and math.isnan(want)
    )
    if not same:
        raise FindingError(f"{what}: {got!r}, and by definition {want!r}")


def mean(values: Values) -> float:
    return math.fsum(values.values()) / len(values) if values else math.nan


@contextlib.contextmanager
def no_crash() -> Iterator[None]:
    """Make a finding of all errors but recnb's own, and of warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except (RecnbError, FindingError, SkippedError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as problem:  # a panic of Polars is no Exception
        raise FindingError(
            f"raises {type(problem).__name__}: {str(problem)[:500]}"
        ) from problem


@contextlib.contextmanager
def place_for(case: Case) -> Iterator[Path]:
    """Give a folder for files; what is streamed and has more than some 3 rows is read
    in batches of 4, and put into 8 parts.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patched,
    ):
        if case.way.startswith("streamed"):
            patched.setattr(tables, "ROWS_IN_MEMORY", 3)
            patched.setattr(file_parts, "N_PARTS", 8)
        yield Path(folder)


def check(case: Case) -> None:
    """Hold one case: evaluated as it must be, refused as it must be, or refused where
    it may be.
    """
    want = None
    try:
        with contextlib.suppress(RefusedError):
            want = expected(case)
        with place_for(case) as folder:
            try:
                given = frames.build(case, folder)
            except (
                Exception
            ):  # each library has its own words for what it has no place for
                return
            with no_crash():
                evaluated(case, want, given)
    except SkippedError:
        return
    except RecnbError as problem:
        if want is not None and not refuses(case, want):
            raise FindingError(
                f"refused, {type(problem).__name__}: {problem}"
            ) from problem


def refuses(case: Case, want: Expected) -> bool:
    """Whether a metric must refuse what the frames alone do not show, or rows elsewhere
    what looks at all of them.
    """
    if (
        case.way.startswith("streamed")
        and case.options.get("candidates") == "catalogue"
    ):
        return True
    try:
        for k, (metric, options) in itertools.product(
            case.k, {"recall": {}, **case.metrics}.items()
        ):
            want.of(metric, options, k)
    except (RefusedError, SkippedError) as problem:
        return isinstance(problem, RefusedError)
    return False


def evaluated(case: Case, want: Expected | None, given: Given) -> None:
    """Hold an evaluation of frames, which stay as they are."""
    before = [frames.copied(frame) for frame in given]
    recs, truth = given
    if case.way == "accessor" and hasattr(recs, "rec"):
        made = recs.rec.against(truth, **case.options)
    else:
        made = recnb.evaluate(recs, truth, **case.options)
    measured(case, want, made)
    if before != [frames.copied(frame) for frame in given]:
        raise FindingError("a frame of the caller's was changed")


def asked_of(case: Case) -> dict[str, Options]:
    """Return the metrics that have a mean over equal scores, where it is asked for."""
    expects = case.options.get("ties") == "expected"
    return {
        name: one
        for name, one in case.metrics.items()
        if not (
            expects
            and (
                name == "err"
                or one.get("out_of") == "hits"
                or one.get("target") == "preferred"
            )
        )
    }


def measured(case: Case, want: Expected | None, made: recnb.Evaluation) -> None:
    """Hold every metric at every cut-off: each by itself, user by user, and all in a
    table.
    """
    asked, choices, by_name = asked_of(case), case.choices(1), dict[str, list[Values]]()
    if want is None:
        for name, options in asked.items():
            made.table([name], k=list(case.k), **options)
        raise FindingError(f"takes what must be refused: {made!r}")
    for name, options in asked.items():
        with contextlib.suppress(SkippedError):
            by_name[name] = [want.of(name, options, k) for k in case.k]
    if not by_name:
        return
    table = made.table({name: asked[name] for name in by_name}, k=list(case.k))
    for name, at_cutoffs in by_name.items():
        for k, values, shown in zip(
            case.k, at_cutoffs, table.loc[name].tolist(), strict=True
        ):
            hold(shown, mean(values), f"table {name}@{k} {asked[name]}")
            if choices.random() < 0.4:
                of_users(
                    case,
                    getattr(made, name)(k=k, **asked[name]),
                    f"{name}@{k} {asked[name]}",
                    values,
                )


def of_users(case: Case, score: Any, what: str, values: Values) -> None:
    """Hold the value and the name of each user."""
    per_user, label = score.per_user, IDS[case.users[0]].label
    if len(per_user) != len(values):
        raise FindingError(
            f"{what} is of {len(per_user)} users, and by definition of {sorted(values)}"
        )
    for (user, value), got in zip(
        sorted(values.items()), per_user.tolist(), strict=True
    ):
        hold(got, value, f"{what}, user {user}")
    hold(score, mean(values), f"score {what}")
    wanted = [label(IDS[case.users[0]].values[user]) for user in sorted(values)]
    if per_user.index.tolist() != wanted:
        raise FindingError(f"names of users: {per_user.index.tolist()} for {wanted}")
