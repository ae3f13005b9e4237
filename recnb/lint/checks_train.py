"""Checks against train and items: items seen before, new items, items outside the catalogue."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import polars as pl

from recnb.display.language import N_, Plural
from recnb.lint.check import Findings, check, finding, severity_of
from recnb.lint.data import LintData, is_in, outside, pair_at
from recnb.lint.findings import Quoted

#: The least share of relevant rows of new items for a warning.
GRAVE = 0.1
#: The least share of all items for a list that has nearly all.
NEARLY_ALL = 0.5


@check(N_("items seen before"), needs="train")
def seen_in_train(data: LintData) -> Findings:
    """Recommended items that are in train for their users."""
    assert data.side_data.train is not None
    recs = data.prepared.recs.select("user", "item").with_row_index("row")
    seen = recs.join(data.side_data.train, on=["user", "item"], how="semi")["row"].to_numpy()
    if len(seen) == 0 or not (mask := np.isin(data.rows.row, seen)).any():
        return
    reach = mask & data.in_reach
    places = data.rows.places(data.hits)
    hits = int(reach[places[places >= 0]].sum())
    example = data.place(int((reach if reach.any() else mask).argmax()))
    yield finding(
        data, "warning", int(mask.sum()), len(mask),
        short=Plural(
            "{n:,} recommended row of {of:,} is of an item that its user had in train (users: {users:,})",
            "{n:,} recommended rows of {of:,} are of items that their users had in train (users: {users:,})",
        ),
        effect="They take {reach:,} of {places:,} places in {cut}, {hits:,} of them as hits. Without them, and with lists closed up, {label} is {without:.4f} instead of {value:.4f}.",
        example="User {user}: {item} at rank {rank:,}.",
        advice="If what was seen is not to be recommended again, take it out before ranking:",
        reach=int(reach.sum()), hits=hits,
        places=int(data.in_reach.sum()), without=data.without_rows(mask),
        users=len(np.unique(data.rows.user[mask])), code=_anti(data, "recs"), **example,
    )  # fmt: skip


@check(N_("leakage from train to truth"), needs="train")
def train_in_truth(data: LintData) -> Findings:
    """Pairs that are in train and in the truth: leakage."""
    train = data.side_data.train
    assert train is not None
    leaked = data.prepared.truth.join(train, on=["user", "item"], how="semi", maintain_order="left")
    if leaked.height == 0:
        return
    everything = leaked.height == data.prepared.truth.height
    rest = np.nan if everything else data.without_relevant(leaked.select("user", "item"))
    yield finding(
        data, "warning", leaked.height, data.prepared.truth.height,
        short=Plural(
            "{n:,} relevant pair of {of:,} is in train as well",
            "{n:,} relevant pairs of {of:,} are in train as well",
        ),
        effect=(
            "All answers were in train: {label} = {value:.4f} measures memory, not prediction."
            if everything
            else "These answers were in train, or could not be recommended. {label} is {value:.4f}; without them it is {rest:.4f}."
        ),
        example="User {user}, item {item}.",
        advice="Split again, so that no pair is on both sides:",
        rest=rest, **pair_at(leaked, 0), code="" if everything else _anti(data, "truth"),
    )  # fmt: skip


@check(N_("new relevant items"), needs="train")
def cold_relevant(data: LintData) -> Findings:
    """Relevant items that are not in train."""
    truth = data.prepared.truth
    new = outside(data.ids_in("relevant", "item"), data.ids_in("train", "item"))
    if len(new) == 0:
        return
    cold = is_in(truth["item"], new).to_numpy()
    user = data.prepared.truth_user
    warm = np.bincount(user[~cold], minlength=data.n_users)
    of = np.bincount(user, minlength=data.n_users)
    most = float((warm[of > 0] / of[of > 0]).mean())
    n = int(cold.sum())
    yield finding(
        data, severity_of(n / len(cold), GRAVE), n, len(cold),
        short=Plural(
            "{n:,} relevant pair of {of:,} is of an item that is not in train (different items: {items:,})",
            "{n:,} relevant pairs of {of:,} are of items that are not in train (different items: {items:,})",
        ),
        effect="A model trained on train alone cannot recommend them: its recall cannot exceed {most:.4f}.",
        example="User {user}, item {item}.",
        advice="Report it with the number, or remove such items from the truth for all models.",
        items=len(new), most=most, **pair_at(truth, int(cold.argmax())),
    )  # fmt: skip


@check(N_("new recommended items"), needs="train")
def cold_recommended(data: LintData) -> Findings:
    """Recommended items that are not in train."""
    new, facts = _items_outside(data, "lists", data.ids_in("train", "item"))
    if len(new) == 0:
        return
    yield finding(
        data, "note", **facts,
        short=Plural(
            "{n:,} recommended item of {of:,} is not in train",
            "{n:,} recommended items of {of:,} are not in train",
        ),
        effect="They take {rows:,} of {all:,} rows; novelty and popularity are counted in train, where they do not occur.",
        example="Such as {items}.",
        advice="Expected of a model that uses the content of items; otherwise check whether `train=` is what it was trained on.",
        rows=int(is_in(data.prepared.recs["item"], new).sum()), all=data.prepared.recs.height,
    )  # fmt: skip


@check(N_("recommended items outside the catalogue"), needs="items")
def recommended_outside_items(data: LintData) -> Findings:
    """Recommended items that have no row in the frame of items."""
    assert data.side_data.items is not None
    unlisted, facts = _items_outside(data, "lists", data.side_data.items["item"])
    if len(unlisted) == 0:
        return
    mask = is_in(data.prepared.recs["item"], unlisted).to_numpy()[data.rows.row]
    yield finding(
        data, "warning", **facts,
        short=Plural(
            "{n:,} recommended item of {of:,} is not in the catalogue, `items=`",
            "{n:,} recommended items of {of:,} are not in the catalogue, `items=`",
        ),
        effect="They take {reach:,} of {places:,} places in {cut}. Without them, and with lists closed up, {label} is {without:.4f} instead of {value:.4f}; coverage may pass 1.",
        example="Such as {items}.",
        advice="Check whether these can still be had; if so, add them to `items=`.",
        reach=int((mask & data.in_reach).sum()), places=int(data.in_reach.sum()), without=data.without_rows(mask),
    )  # fmt: skip


@check(N_("relevant items outside the catalogue"), needs="items")
def relevant_outside_items(data: LintData) -> Findings:
    """Relevant items that have no row in the frame of items."""
    assert data.side_data.items is not None
    unlisted, facts = _items_outside(data, "relevant", data.side_data.items["item"])
    if len(unlisted) == 0:
        return
    yield finding(
        data, "warning", **facts,
        short=Plural(
            "{n:,} relevant item of {of:,} is not in the catalogue, `items=`",
            "{n:,} relevant items of {of:,} are not in the catalogue, `items=`",
        ),
        effect="{rows:,} of {relevant:,} relevant pairs cannot be found by a model that recommends from the catalogue.",
        example="Such as {items}.",
        advice="Add them to `items=`, or remove them from the truth for all models.",
        rows=int(is_in(data.prepared.truth["item"], unlisted).sum()), relevant=data.prepared.truth.height,
    )  # fmt: skip


@check(N_("a cut-off above the catalogue"))
def k_above_catalogue(data: LintData) -> Findings:
    """A cut-off that leaves out few or none of all items."""
    if data.k is None:
        return
    items = data.side_data.items
    size = len(data.ids_in("all", "item")) if items is None else items.height
    if data.k < NEARLY_ALL * size:
        return
    how = "above" if data.k > size else "all" if data.k == size else "nearly"
    yield finding(
        data, "note" if how == "nearly" else "warning", data.k, size,
        short={
            "above": "k = {n:,} is above the number of items, {of:,}",
            "all": "k = {n:,} is the number of all items",
            "nearly": "The first {n:,} places hold {share:.0%} of all {of:,} items",
        }[how],
        effect=(
            "A list in any order has most relevant items: recall and hit rate mean little."
            if how == 'nearly'
            else "No list can be cut: recall and hit rate are 1 for a list of everything, however ordered."
        ),
        example=(
            "The catalogue is taken to be all items of the frames given."
            if items is None
            else "The catalogue is `items=`."
        ),
        advice="Take a smaller k, or metrics that see the order.",
        share=data.k / size,
        )  # fmt: skip


def _items_outside(
    data: LintData, frame: Literal["lists", "relevant"], others: pl.Series
) -> tuple[pl.Series, dict[str, Any]]:
    """The items of a frame that are not among the others, and facts about them."""
    ids = data.ids_in(frame, "item")
    items = outside(ids, others)
    return items, {"n": len(items), "of": len(ids), "items": Quoted(*items.head(3).to_list())}


def _anti(data: LintData, frame: str) -> str:
    """The line of code that removes the pairs of train from one of the user's frames."""
    keys = [data.label_of("user", frame), data.label_of("item", frame)]
    return data.code(
        pandas=f"{frame} = {frame}[~pd.MultiIndex.from_frame({frame}[{keys!r}]).isin(pd.MultiIndex.from_frame(train[{keys!r}]))]",
        polars=f'{frame} = {frame}.join(train, on={keys!r}, how="anti")',
    )
