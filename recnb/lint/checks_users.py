"""Checks of users: without a list, without relevant items, not in train."""

from __future__ import annotations

import numpy as np

from recnb.data.encoding import distinct
from recnb.display.language import N_, Plural
from recnb.lint.check import Findings, check, finding, severity_of, with_options
from recnb.lint.data import LintData, is_in, outside
from recnb.lint.findings import Quoted

#: Least shares of users for a warning.
GRAVE, MOST = 0.05, 0.5


@check(N_("users without a list"))
def users_without_list(data: LintData) -> Findings:
    """Evaluated users without a list."""
    without = ~data.listed
    n = int(without.sum())
    yield finding(
        data, severity_of(n / data.n_users, GRAVE), n, data.n_users,
        short=Plural("{n:,} user of {of:,} has no list", "{n:,} users of {of:,} have no list"),
        effect="They count 0: {label} is {value:.4f}, and {others:.4f} over those with a list.",
        example="Such as user {user}.",
        advice="If nothing was to be recommended to them, evaluate those in both frames:",
        user=data.user(int(without.argmax())), others=data.mean_of(data.listed),
        code=with_options(data, users="both"),
    )  # fmt: skip


@check(N_("users without relevant items"))
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
        short=Plural(
            "{n:,} user of {of:,} with a list has no relevant item",
            "{n:,} users of {of:,} with a list have no relevant item",
        ),
        effect={
            "skip": "They are left out: the mean is of those who have something to find.",
            "skip_judged": "They are left out: the mean is of those who have something to find. {judged:,} of them are in the truth, with nothing relevant.",
            "kept": "The convention in force keeps those it evaluates at a fixed value, which is no measure of their lists.",
            "kept_judged": "The convention in force keeps those it evaluates at a fixed value, which is no measure of their lists. {judged:,} of them are in the truth, with nothing relevant.",
        }[('kept' if kept else 'skip') + ('_judged' if n_judged else '')],
        example="Such as user {user}.",
        advice="No change is needed, unless these users should have test items: then check the split and `relevant_from=`.",
        user=Quoted(without[0]), judged=n_judged, )  # fmt: skip


@check(N_("new users"), needs="train")
def cold_users(data: LintData) -> Findings:
    """Evaluated users who are not in train."""
    cold = ~is_in(data.prepared.users, data.ids_in("train", "user")).to_numpy()
    n = int(cold.sum())
    yield finding(
        data, severity_of(n / data.n_users, GRAVE), n, data.n_users,
        short=Plural("{n:,} user of {of:,} is not in train", "{n:,} users of {of:,} are not in train"),
        effect=(
            "No user of the truth is in train: are both of the same users? {listed:,} of them have a list."
            if n == data.n_users
            else "The model had no data about them: {label} is {theirs:.4f} for them and {others:.4f} for the others. {listed:,} of them have a list."
        ),
        example="Such as user {user}.",
        advice="Report new users apart, or split so that each user has rows in train.",
        user=data.user(int(cold.argmax())), theirs=data.mean_of(cold), others=data.mean_of(~cold),
        listed=int((cold & data.listed).sum()), )  # fmt: skip


@check(N_("users in train alone"), needs="train")
def users_only_in_train(data: LintData) -> Findings:
    """Users of train who are neither evaluated nor have a list."""
    trained = data.ids_in("train", "user")
    gone = outside(outside(trained, data.prepared.users), data.ids_in("lists", "user"))
    if len(gone) == 0:
        return
    yield finding(
        data, "note", len(gone), len(trained),
        short=Plural(
            "{n:,} user of {of:,} in train is neither evaluated nor recommended anything",
            "{n:,} users of {of:,} in train are neither evaluated nor recommended anything",
        ),
        effect="{label} covers {share:.0%} as many users as train has, usually the more active ones.",
        example="Such as user {user}.",
        advice="State which users the number is about.",
        user=Quoted(gone[0]),
        share=data.n_users / len(trained),
    )  # fmt: skip


@check(N_("users without a row"), needs="users")
def users_undescribed(data: LintData) -> Findings:
    """Evaluated users without a row in the frame of users."""
    assert data.side_data.users is not None
    missing = ~is_in(data.prepared.users, data.side_data.users["user"]).to_numpy()
    n = int(missing.sum())
    yield finding(
        data, severity_of(n / data.n_users, GRAVE), n, data.n_users,
        short=Plural(
            "{n:,} user of {of:,} has no row in the frame of users",
            "{n:,} users of {of:,} have no row in the frame of users",
        ),
        effect="They belong to no segment; their {label} is {theirs:.4f}.",
        example="Such as user {user}.",
        advice="Add their rows to `users=`.",
        user=data.user(int(missing.argmax())), theirs=data.mean_of(np.asarray(missing)),
    )  # fmt: skip
