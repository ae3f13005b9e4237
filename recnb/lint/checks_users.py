"""Checks of users: who has no list, who has no truth, who is new."""

from __future__ import annotations

import numpy as np

from recnb.data.encoding import distinct
from recnb.display.language import N_, Plural
from recnb.lint.check import Findings, check, found, severity_of, with_option
from recnb.lint.context import LintContext, lacking
from recnb.lint.values import Theirs

#: Shares of users from which on a finding is a warning.
GRAVE, MOST = 0.05, 0.5


@check("users_without_list")
def users_without_list(looked: LintContext) -> Findings:
    """Users who are evaluated and were recommended nothing."""
    without = ~looked.listed
    n = int(without.sum())
    if n == 0:
        return
    counted = looked.convention.no_list == "zero" and looked.convention.no_hit == "zero"
    plain = counted and looked.convention.average == "user"
    refused = looked.convention.no_list == "error"
    yield found(
        looked, "users_without_list", "warning" if refused else severity_of(n / looked.n_users, GRAVE), n, looked.n_users,
        short=Plural("{n:,} user of {of:,} has no list", "{n:,} users of {of:,} have no list"),
        effect=(
            N_("The convention in force refuses them, so {label} has no value.")
            if refused
            else (
                N_("They count 0: {label} is {value:.4f}, and {others:.4f} over those with a list.")
                if plain
                else N_(
                    "The convention in force says what becomes of them; over those with a list {label} is {others:.4f}."
                )
            )
        ),
        example=N_("Such as user {user}."),
        advice=N_("If nothing was to be recommended to them, evaluate those in both frames:"),
        user=looked.user(int(without.argmax())), others=looked.mean_of(looked.listed),
        code=with_option(looked, 'users="both"'),
    )  # fmt: skip


@check("users_without_truth")
def users_without_truth(looked: LintContext) -> Findings:
    """Users with a list who have nothing to be found."""
    prepared = looked.prepared
    kept = looked.convention.no_relevant != "skip"
    everyone = looked.users_listed
    with_relevant = distinct(prepared.relevant["user"])
    strange = everyone.filter(lacking(everyone, with_relevant))
    if len(strange) == 0:
        return
    n_judged = int(strange.is_in(looked.users_judged.implode()).sum())
    yield found(
        looked, "users_without_truth", severity_of(len(strange) / len(everyone), MOST), len(strange), len(everyone),
        short=Plural(
            "{n:,} user of {of:,} with a list has no relevant item",
            "{n:,} users of {of:,} with a list have no relevant item",
        ),
        effect={
            "skip": N_("They are left out: the mean is of those who have something to find."),
            "skip_judged": N_(
                "They are left out: the mean is of those who have something to find. {judged:,} of them are in the truth, with nothing "
                "relevant."
            ),
            "kept": N_(
                "The convention in force keeps those it evaluates at a fixed value, which is no measure of their lists."
            ),
            "kept_judged": N_(
                "The convention in force keeps those it evaluates at a fixed value, which is no measure of their lists. {judged:,} of them "
                "are in the truth, with nothing relevant."
            ),
        }[('kept' if kept else 'skip') + ('_judged' if n_judged else '')],
        example=N_("Such as user {user}."),
        advice=N_(
            "Nothing to type, unless these users should have had test items: then look at the split and at `relevant_from=`."
        ),
        user=Theirs.of(strange[0]), judged=n_judged, )  # fmt: skip


@check("cold_users", needs="train")
def cold_users(looked: LintContext) -> Findings:
    """Users who are evaluated and of whom train knows nothing."""
    cold = lacking(looked.prepared.users, looked.users_trained).to_numpy()
    n = int(cold.sum())
    if n == 0:
        return
    yield found(
        looked, "cold_users", severity_of(n / looked.n_users, GRAVE), n, looked.n_users,
        short=Plural("{n:,} user of {of:,} is not in train", "{n:,} users of {of:,} are not in train"),
        effect=(
            N_(
                "Nothing was known of anybody: are train and truth of the same users? {listed:,} of them have a list."
            )
            if n == looked.n_users
            else N_(
                "Nothing was known of them: {label} is {theirs:.4f} for them and {others:.4f} for the others. {listed:,} of them have a list."
            )
        ),
        example=N_("Such as user {user}."),
        advice=N_("Report new users apart, or split so that each user has rows in train."),
        user=looked.user(int(cold.argmax())), theirs=looked.mean_of(cold), others=looked.mean_of(~cold),
        listed=int((cold & looked.listed).sum()), )  # fmt: skip


@check("users_only_in_train", needs="train")
def users_only_in_train(looked: LintContext) -> Findings:
    """Users who were trained on and are neither evaluated nor recommended anything."""
    known = looked.users_trained
    gone = lacking(known, looked.prepared.users) & lacking(known, looked.users_listed)
    n = int(gone.sum())
    if n == 0:
        return
    yield found(
        looked, "users_only_in_train", "note", n, len(known),
        short=Plural(
            "{n:,} user of {of:,} in train is neither evaluated nor recommended anything",
            "{n:,} users of {of:,} in train are neither evaluated nor recommended anything",
        ),
        effect=N_("{label} speaks of {share:.0%} as many users as train holds, usually the more active ones."),
        example=N_("Such as user {user}."),
        advice=N_("Nothing to type; say whom the number is about."),
        user=Theirs.of(known.filter(gone)[0]),
        share=looked.n_users / len(known),
    )  # fmt: skip


@check("users_undescribed", needs="users")
def users_undescribed(looked: LintContext) -> Findings:
    """Users who are evaluated and have no row in the frame of users."""
    assert looked.side_data.users is not None
    missing = lacking(looked.prepared.users, looked.side_data.users["user"]).to_numpy()
    n = int(missing.sum())
    if n == 0:
        return
    yield found(
        looked, "users_undescribed", severity_of(n / looked.n_users, GRAVE), n, looked.n_users,
        short=Plural(
            "{n:,} user of {of:,} has no row in the frame of users",
            "{n:,} users of {of:,} have no row in the frame of users",
        ),
        effect=N_("They belong to no segment; their {label} is {theirs:.4f}."),
        example=N_("Such as user {user}."),
        advice=N_("Add their rows to `users=`."),
        user=looked.user(int(missing.argmax())), theirs=looked.mean_of(np.asarray(missing)),
    )  # fmt: skip
