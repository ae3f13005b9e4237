"""Checks against train and items: what was seen before, what is new, what no catalogue holds."""

from __future__ import annotations

import numpy as np

from recnb.display.language import N_, Plural
from recnb.lint.check import Findings, check, found, severity_of
from recnb.lint.context import LintContext, lacking
from recnb.lint.values import Theirs

#: The share of relevant rows from which on new items are a warning.
GRAVE = 0.1
#: A list that holds such a share of all items shows nearly everything.
NEARLY_ALL = 0.5


@check("seen_in_train", needs="train")
def seen_in_train(looked: LintContext) -> Findings:
    """Recommended items that their users had before."""
    assert looked.side_data.train is not None
    recs = looked.prepared.recs.select("user", "item").with_row_index("row")
    seen = recs.join(looked.side_data.train, on=["user", "item"], how="semi")["row"].to_numpy().astype(np.int64)
    if len(seen) == 0:
        return
    mask = looked.flagged(seen)
    if not mask.any():
        return
    reach = mask & looked.in_reach
    places = looked.rows.places(looked.hits)
    hits = int(reach[places[places >= 0]].sum())
    example = looked.place(int((reach if reach.any() else mask).argmax()))
    yield found(
        looked, "seen_in_train", "warning", int(mask.sum()), len(mask),
        short=Plural(
            "{n:,} recommended row of {of:,} is of an item that its user had in train (users: {users:,})",
            "{n:,} recommended rows of {of:,} are of items that their users had in train (users: {users:,})",
        ),
        effect=N_(
            "They take {reach:,} of {places:,} places in {cut}, {hits:,} of them as hits. Without them, and with lists closed up, {label} is "
            "{without:.4f} instead of {value:.4f}."
        ),
        example=N_("User {user}: {item} at rank {rank:,}."),
        advice=N_("If what was seen is not to be recommended again, take it out before ranking:"),
        reach=int(reach.sum()), hits=hits,
        places=int(looked.in_reach.sum()), without=looked.without_rows(mask),
        users=len(np.unique(looked.rows.user[mask])), code=_anti(looked, "recs"), **example,
    )  # fmt: skip


@check("train_in_truth", needs="train")
def train_in_truth(looked: LintContext) -> Findings:
    """Pairs that are in train and in the truth: the answer was known."""
    train = looked.side_data.train
    assert train is not None
    leaked = looked.prepared.truth.join(train, on=["user", "item"], how="semi", maintain_order="left")
    if leaked.height == 0:
        return
    row = leaked.row(0, named=True)
    everything = leaked.height == looked.prepared.truth.height
    rest = np.nan
    if not everything:
        rest = looked.without_relevant(leaked.select("user", "item"))
    yield found(
        looked, "train_in_truth", "warning", leaked.height, looked.prepared.truth.height,
        short=Plural(
            "{n:,} relevant pair of {of:,} is in train as well",
            "{n:,} relevant pairs of {of:,} are in train as well",
        ),
        effect=(
            N_(
                "The model knew all the answers: {label} = {value:.4f} says how well it remembers, not how well it predicts."
            )
            if everything
            else N_(
                "The model knew these answers, or was not allowed to recommend them. {label} is {value:.4f}; with a truth free of them it is "
                "{rest:.4f}."
            )
        ),
        example=N_("User {user}, item {item}."),
        advice=N_("Split again, so that no pair is on both sides:"),
        rest=rest,
        user=Theirs.of(row["user"]), item=Theirs.of(row["item"]), code="" if everything else _anti(looked, "truth"),
    )  # fmt: skip


@check("cold_relevant", needs="train")
def cold_relevant(looked: LintContext) -> Findings:
    """Relevant items that train does not know."""
    truth = looked.prepared.truth
    new = looked.items_relevant.filter(lacking(looked.items_relevant, looked.items_trained))
    if len(new) == 0:
        return
    cold = truth["item"].is_in(new.implode()).to_numpy()
    user = looked.hits.truth_user if len(looked.hits.truth_user) == len(cold) else looked.prepared.truth_user
    warm = np.bincount(user[~cold], minlength=looked.n_users)
    of = np.bincount(user, minlength=looked.n_users)
    most = float((warm[of > 0] / of[of > 0]).mean())
    row = truth.row(int(cold.argmax()), named=True)
    n = int(cold.sum())
    yield found(
        looked, "cold_relevant", severity_of(n / len(cold), GRAVE), n, len(cold),
        short=Plural(
            "{n:,} relevant pair of {of:,} is of an item that is not in train (different items: {items:,})",
            "{n:,} relevant pairs of {of:,} are of items that are not in train (different items: {items:,})",
        ),
        effect=N_("A model that knows items from train alone cannot find them: its recall cannot pass {most:.4f}."),
        example=N_("User {user}, item {item}."),
        advice=N_("Say so beside the number, or leave such items out of the truth for all models alike."),
        items=len(new), most=most,
        user=Theirs.of(row["user"]), item=Theirs.of(row["item"]),
    )  # fmt: skip


@check("cold_recommended", needs="train")
def cold_recommended(looked: LintContext) -> Findings:
    """Recommended items that train does not know."""
    new = looked.items_listed.filter(lacking(looked.items_listed, looked.items_trained))
    if len(new) == 0:
        return
    rows = int(looked.prepared.recs["item"].is_in(new.implode()).sum())
    yield found(
        looked, "cold_recommended", "note", len(new), len(looked.items_listed),
        short=Plural(
            "{n:,} recommended item of {of:,} is not in train",
            "{n:,} recommended items of {of:,} are not in train",
        ),
        effect=N_(
            "They take {rows:,} of {all:,} rows; novelty and popularity, which count in train, know nothing of them."
        ),
        example=N_("Such as {items}."),
        advice=N_(
            "Right for a model that knows items by their content; otherwise look whether `train=` is what it was trained on."
        ),
        rows=rows, all=looked.prepared.recs.height,
        items=Theirs(tuple(new.head(3).to_list())),
    )  # fmt: skip


@check("recommended_outside_items", needs="items")
def recommended_outside_items(looked: LintContext) -> Findings:
    """Recommended items that have no row in the frame of items."""
    assert looked.side_data.items is not None
    outside = looked.items_listed.filter(lacking(looked.items_listed, looked.side_data.items["item"]))
    if len(outside) == 0:
        return
    mask = looked.flagged(np.flatnonzero(looked.prepared.recs["item"].is_in(outside.implode()).to_numpy()))
    yield found(
        looked, "recommended_outside_items", "warning", len(outside), len(looked.items_listed),
        short=Plural(
            "{n:,} recommended item of {of:,} is not in the catalogue, `items=`",
            "{n:,} recommended items of {of:,} are not in the catalogue, `items=`",
        ),
        effect=N_(
            "They take {reach:,} of {places:,} places in {cut}. Without them, and with lists closed up, {label} is {without:.4f} instead of "
            "{value:.4f}; coverage may pass 1."
        ),
        example=N_("Such as {items}."),
        advice=N_("Look whether these can still be had; if so, add them to `items=`."),
        items=Theirs(tuple(outside.head(3).to_list())), reach=int((mask & looked.in_reach).sum()),
        places=int(looked.in_reach.sum()), without=looked.without_rows(mask),
    )  # fmt: skip


@check("relevant_outside_items", needs="items")
def relevant_outside_items(looked: LintContext) -> Findings:
    """Relevant items that have no row in the frame of items."""
    assert looked.side_data.items is not None
    outside = looked.items_relevant.filter(lacking(looked.items_relevant, looked.side_data.items["item"]))
    if len(outside) == 0:
        return
    rows = int(looked.prepared.truth["item"].is_in(outside.implode()).sum())
    yield found(
        looked, "relevant_outside_items", "warning", len(outside), len(looked.items_relevant),
        short=Plural(
            "{n:,} relevant item of {of:,} is not in the catalogue, `items=`",
            "{n:,} relevant items of {of:,} are not in the catalogue, `items=`",
        ),
        effect=N_(
            "{rows:,} of {relevant:,} relevant pairs cannot be found by a model that recommends from the catalogue."
        ),
        example=N_("Such as {items}."),
        advice=N_("Add them to `items=`, or leave them out of the truth for all models alike."),
        rows=rows,
        relevant=looked.prepared.truth.height, items=Theirs(tuple(outside.head(3).to_list())),
    )  # fmt: skip


@check("k_above_catalogue")
def k_above_catalogue(looked: LintContext) -> Findings:
    """A cut-off that leaves little or nothing of the catalogue out."""
    if looked.k is None:
        return
    items = looked.side_data.items
    if items is not None:
        size, whose = items.height, "items"
    else:
        size, whose = len(looked.ids("item")), "frames"
    if looked.k < NEARLY_ALL * size:
        return
    how = "above" if looked.k > size else "all" if looked.k == size else "nearly"
    yield found(
        looked, "k_above_catalogue", "note" if how == "nearly" else "warning", looked.k, size,
        short={
            "above": N_("k = {n:,} is above the number of items, {of:,}"),
            "all": N_("k = {n:,} is the number of all items"),
            "nearly": N_("The first {n:,} places hold {share:.0%} of all {of:,} items"),
        }[how],
        effect=(
            N_("A list in any order would find most: recall and hit rate tell little.")
            if how == 'nearly'
            else N_("No list can be cut: recall and hit rate are 1 for a list of everything, however ordered.")
        ),
        example={
            "items": N_("The catalogue is `items=`."),
            "frames": N_("The catalogue is taken to be all items of the frames given."),
        }[whose],
        advice=N_("Take a smaller k, or metrics that see the order."),
        share=looked.k / size,
        )  # fmt: skip


def _anti(looked: LintContext, frame: str) -> str:
    """The line that takes the rows of train out of a frame of the caller's."""
    keys = [looked.label_of("user", frame), looked.label_of("item", frame)]
    if looked.speaks_polars:
        return f'{frame} = {frame}.join(train, on={keys!r}, how="anti")'
    return f"{frame} = {frame}[~pd.MultiIndex.from_frame({frame}[{keys!r}]).isin(pd.MultiIndex.from_frame(train[{keys!r}]))]"
