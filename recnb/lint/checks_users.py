"""Checks of users: without a list, without relevant items, not in train."""

from __future__ import annotations

import numpy as np

from recnb.data.encoding import distinct
from recnb.lint.check import Check, Findings, finding, severity_of, with_options
from recnb.lint.data import LintData, is_in, outside
from recnb.lint.findings import Quoted

#: Least shares of users for a warning.
GRAVE, MOST = 0.05, 0.5


@Check
def users_without_list(data: LintData) -> Findings:
    """Evaluated users without a list."""
    without = ~data.listed
    n = int(without.sum())
    convention = data.convention
    refused = convention.no_list == "error"
    counted = (convention.no_list, convention.no_hit, convention.average) == ("zero", "zero", "user")
    yield finding(
        data, "warning" if refused else severity_of(n / data.n_users, GRAVE), n, data.n_users,
        "refused" if refused else "zero" if counted else "other",        user=data.user(int(without.argmax())), others=data.mean_of(data.listed), code=with_options(data, users="both"),
    )  # fmt: skip


@Check
def users_without_truth(data: LintData) -> Findings:
    """Users with a list and no relevant item."""
    prepared = data.prepared
    kept = data.convention.no_relevant != "skip"
    everyone, with_relevant = data.ids_in("lists", "user"), distinct(data.relevant_of(prepared.relevant)["user"])
    without = outside(everyone, with_relevant)
    if len(without) == 0:
        return
    n_judged = int(is_in(without, data.ids_in("truth", "user")).sum())
    yield finding(
        data, severity_of(len(without) / len(everyone), MOST), len(without), len(everyone),
        ("kept" if kept else "skip") + ("_judged" if n_judged else ""), user=Quoted(without[0]), judged=n_judged,
    )  # fmt: skip


@Check
def cold_users(data: LintData) -> Findings:
    """Evaluated users who are not in train."""
    cold = ~is_in(data.prepared.users, data.ids_in("train", "user")).to_numpy()
    n = int(cold.sum())
    yield finding(
        data, severity_of(n / data.n_users, GRAVE), n, data.n_users, "all" if n == data.n_users else "some",
        user=data.user(int(cold.argmax())), theirs=data.mean_of(cold), others=data.mean_of(~cold),
        listed=int((cold & data.listed).sum()),
    )  # fmt: skip


@Check
def users_only_in_train(data: LintData) -> Findings:
    """Users of train who are neither evaluated nor have a list."""
    trained = data.ids_in("train", "user")
    gone = outside(outside(trained, data.prepared.users), data.ids_in("lists", "user"))
    if len(gone) == 0:
        return
    yield finding(data, "note", len(gone), len(trained), user=Quoted(gone[0]), share=data.n_users / len(trained))


@Check
def users_undescribed(data: LintData) -> Findings:
    """Evaluated users without a row in the frame of users."""
    assert data.side_data.users is not None
    missing = ~is_in(data.prepared.users, data.side_data.users["user"]).to_numpy()
    n = int(missing.sum())
    yield finding(
        data, severity_of(n / data.n_users, GRAVE), n, data.n_users, user=data.user(int(missing.argmax())),
        theirs=data.mean_of(np.asarray(missing)),
    )  # fmt: skip
