"""Checks of users: who has no list, who has no truth, who is new."""

from __future__ import annotations

import numpy as np

from recnb.frames.codes import distinct
from recnb.lint.check import Findings, check, found, severity_of, with_option
from recnb.lint.looked import Looked, lacking
from recnb.results.lint_words import Theirs

#: Shares of users from which on a finding is a warning.
GRAVE, MOST = 0.05, 0.5


@check("users_without_list")
def users_without_list(looked: Looked) -> Findings:
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
        user=looked.user(int(without.argmax())), others=looked.mean_of(looked.listed),
        variant={"effect": "refused" if refused else "zero" if plain else "otherwise"}, code=with_option(looked, 'users="both"'),
    )  # fmt: skip


@check("users_without_truth")
def users_without_truth(looked: Looked) -> Findings:
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
        user=Theirs.of(strange[0]), judged=n_judged, variant={"effect": ("kept" if kept else "skip") + ("_judged" if n_judged else "")},
    )  # fmt: skip


@check("cold_users", needs="train")
def cold_users(looked: Looked) -> Findings:
    """Users who are evaluated and of whom train knows nothing."""
    cold = lacking(looked.prepared.users, looked.users_trained).to_numpy()
    n = int(cold.sum())
    if n == 0:
        return
    yield found(
        looked, "cold_users", severity_of(n / looked.n_users, GRAVE), n, looked.n_users,
        user=looked.user(int(cold.argmax())), theirs=looked.mean_of(cold), others=looked.mean_of(~cold),
        listed=int((cold & looked.listed).sum()), variant={"effect": "all" if n == looked.n_users else "some"},
    )  # fmt: skip


@check("users_only_in_train", needs="train")
def users_only_in_train(looked: Looked) -> Findings:
    """Users who were trained on and are neither evaluated nor recommended anything."""
    known = looked.users_trained
    gone = lacking(known, looked.prepared.users) & lacking(known, looked.users_listed)
    n = int(gone.sum())
    if n == 0:
        return
    yield found(
        looked, "users_only_in_train", "note", n, len(known), user=Theirs.of(known.filter(gone)[0]),
        share=looked.n_users / len(known),
    )  # fmt: skip


@check("users_undescribed", needs="users")
def users_undescribed(looked: Looked) -> Findings:
    """Users who are evaluated and have no row in the frame of users."""
    assert looked.beside.users is not None
    missing = lacking(looked.prepared.users, looked.beside.users["user"]).to_numpy()
    n = int(missing.sum())
    if n == 0:
        return
    yield found(
        looked, "users_undescribed", severity_of(n / looked.n_users, GRAVE), n, looked.n_users,
        user=looked.user(int(missing.argmax())), theirs=looked.mean_of(np.asarray(missing)),
    )  # fmt: skip
