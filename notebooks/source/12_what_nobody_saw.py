# %% [markdown]
# # What nobody saw
#
# **The question: people judge what they happened to see, and they see the bestsellers. How good is a recommender on all that
# nobody saw?**
#
# Every notebook before this one counts a recommended film as a miss if the test data do not have it. Many of these misses
# are films that the user never came across. Would they have liked them? No real data can say, and the sample data cannot
# either: what its people did not watch has no rating. So we make a small world, in which we know what each of 2,000 people
# would like among 200 films, and then look at it as a service does: through what was seen.
#
# The films are numbered, the best known first. A film that a user would like is seen in a month with a chance that depends on
# the film alone, its *propensity*: 0.6 for the best known, 0.04 for the least known. Two months pass: `train` is what
# was seen and liked in the first, `observed` what was new in the second. `full` is the truth that nobody has: all films
# that a user likes and did not find in the first month.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import recnb

rng = np.random.default_rng(1)
users = np.array([f"u{number:04}" for number in range(1, 2001)])
films = np.array([f"f{number:03}" for number in range(1, 201)])

chance = 0.6 / np.sqrt(np.arange(1, 201))
appeal = np.linspace(-1, -2, 200)
taste = rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 200))
likes = rng.random((2000, 200)) < 1 / (1 + np.exp(-appeal - taste))

met = rng.random((2000, 200)) < chance
had = likes & met
to_find = likes & ~had
seen = to_find & (rng.random((2000, 200)) < chance)


def pairs(matrix: np.ndarray) -> pd.DataFrame:
    """A row for each user and film that is marked."""
    at_user, at_film = np.nonzero(matrix)
    return pd.DataFrame({"user": users[at_user], "item": films[at_film]})


train, full, observed = pairs(had), pairs(to_find), pairs(seen)
propensity = pd.Series(chance, index=films)

share = len(observed) / len(full)
print(f"to find: {len(full):,} pairs of user and film, {len(full) / 2000:.1f} a user")
print(f"seen:    {len(observed):,} of them, {len(observed) / 2000:.1f} a user, {share:.1%} of all")

# %% [markdown]
# ## What is liked, and what is seen
#
# A service sees the lower line and takes it for the upper one.

# %%
liked_by, seen_by = to_find.sum(axis=0), seen.sum(axis=0)

ax = plt.figure(layout="constrained", figsize=(8, 3.4)).add_subplot()
for count, line, name in ((liked_by, "-", "would like it"), (seen_by, "--", "seen to like it")):
    by_ten = count.reshape(20, 10).mean(axis=1)
    ax.plot(np.arange(5, 200, 10), by_ten, line, linewidth=2.5, marker="o", label=name)
ax.set(xlabel="films, best known first (means of ten)", ylabel="people", ylim=0)
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

for name, some in (("the 10 best known films", slice(10)), ("the 100 least known   ", slice(100, None))):
    likes_of, seen_of = liked_by[some].sum() / len(full), seen_by[some].sum() / len(observed)
    print(f"{name}: {likes_of:.0%} of what is to be found, {seen_of:.0%} of what was seen")

# %% [markdown]
# ## Three recommenders, two truths
#
# `popular` shows what most people had. `factors` finds a few patterns in who had what (a truncated SVD, as in the sample
# data). `explorer` does the same, but divides each film's column by its propensity first, so that rarely seen films count
# as much as bestsellers.


# %%
def patterns(matrix: np.ndarray) -> np.ndarray:
    """The four strongest patterns of a matrix."""
    left, strength, right = np.linalg.svd(matrix, full_matrices=False)
    return (left[:, :4] * strength[:4]) @ right[:4]


def ten_best(scores: np.ndarray) -> pd.DataFrame:
    """The ten films of each user with the highest scores, without those that the user had."""
    best = np.argsort(np.where(had, np.inf, -scores.round(6)), axis=1, kind="stable")[:, :10]
    rank = np.tile(np.arange(1, 11), 2000)
    return pd.DataFrame({"user": np.repeat(users, 10), "item": films[best.ravel()], "rank": rank})


models = {
    "popular": ten_best(np.tile(had.sum(axis=0), (2000, 1))),
    "factors": ten_best(patterns(had.astype(float))),
    "explorer": ten_best(patterns(had / chance)),
}
METRICS = ["ndcg", "recall", "precision"]
everybody = {"averaged_users": "recs", "no_relevant": "zero", "baseline": "popular", "pairs": "all"}
by_full = recnb.compare(models, full, **everybody)
by_observed = recnb.compare(models, observed, **everybody)

both = {"full truth": by_full.table(METRICS, k=10), "what was seen": by_observed.table(METRICS, k=10)}
pd.concat(both, axis=1).round(3)

# %%
assert all(by_full.table(METRICS, k=10).idxmax() == "explorer")
assert all(by_full.table(METRICS, k=10).idxmin() == "popular")
assert all(by_observed.table(METRICS, k=10).idxmax() == "factors")
assert all(by_observed.table(METRICS, k=10).idxmin() == "explorer")

# %% [markdown]
# By the full truth `explorer` is the best by all three metrics. By what was seen it is by far the worst, because it shows
# films that hardly anybody sees in a month. **A larger test would not help**: more users would be seen through the same
# window. (The levels of the metrics differ as well. Users have 46.8 films to find, of which 3.9 were seen; ten places cannot
# hold 46.8.)
#
# ## Each pair stands for those that were not seen
#
# If a film is seen with a chance of 1 in 20, each liking that was seen stands for about 20 that were not. So it counts 20:
# **a relevant pair weighs 1 / propensity, wherever a metric counts it.** Here is one user. Of the four films that they were
# seen to like, `explorer` has one, the least known of the four.

# %%
weighted = recnb.compare(models, observed, propensity=propensity, **everybody)
explorer = weighted.models["explorer"]

assert observed.query("user == 'u0037'")["item"].tolist() == ["f024", "f124", "f171", "f184"]
explorer.explain("precision", "u0037", k=10)

# %% [markdown]
# One hit with weight 22.6 on ten places is a precision of 2.26. For one user that is absurd. It is no statement about this
# user: 1,515 users have no hit in the list of `explorer` and get 0. The mean over all is what is meant, and there it
# comes right:

# %%
truths = {"full truth": by_full, "what was seen": by_observed, "seen, weighted": weighted}
pd.DataFrame({name: one.table("precision", k=10)["precision@10"] for name, one in truths.items()}).round(3)

# %%
hits = observed.merge(models["explorer"])["item"]  # claim
error = weighted.table("precision", k=10) - by_full.table("precision", k=10)  # claim
of_explorer = explorer.precision(k=10).per_user  # claim
assert (of_explorer == 0).sum() == 1515
assert error.abs().max(axis=None) < 0.004
assert abs(of_explorer.sum() - (1 / propensity[hits]).sum() / 10) < 1e-9

# %% [markdown]
# All three are within 0.004 of what only the full truth knows, from 8 % of the pairs. Under the table of a weighted
# comparison stands what it rests on: the range of the weights, how many pairs of equal weight would be worth as much, and
# the means without weights beside those with them. Their order is another.

# %%
weighted.table(METRICS, k=10)

# %% [markdown]
# `everybody` matters too. 35 users were seen to like nothing. By default such users are left out of means, since nothing
# can be found for them; here they do have films to find, and are a part of what was not seen. So they count 0, with
# `averaged_users="recs", no_relevant="zero"`.
#
# ## The price
#
# The picture has the three metrics by each truth, with intervals of 95 %.

# %%
_, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained", sharey=True)
looks = [("full", "D", "black"), ("as seen", "o", "C1"), ("weighted", "s", "C0")]
for ax, metric in zip(axes, METRICS, strict=True):
    for place, ((name, marker, colour), one) in enumerate(zip(looks, truths.values(), strict=True)):
        rows = {model: ev.table(metric, k=10, intervals=True)[10].loc[metric] for model, ev in one.items()}
        value = pd.DataFrame(rows).T
        around = [value["mean"] - value.low, value.high - value["mean"]]
        height = np.arange(3) - 0.2 * (place - 1)
        ax.errorbar(value["mean"], height, xerr=around, fmt=marker, color=colour, capsize=3, label=name)
    ax.set(title=f"{metric}@10", yticks=range(3), yticklabels=list(models), xlim=0)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False, loc="lower right")

apart = {name: one.differences("precision", k=10).iloc[-1] for name, one in truths.items()}
COLUMNS = ["explorer − factors", "low", "high", "width"]
rows = {name: (one.difference, one.low, one.high, one.high - one.low) for name, one in apart.items()}
difference = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
difference.round(3)

# %%
full_row, seen_row, weighted_row = difference.itertuples(index=False)  # claim
assert [(one.model, one.baseline) for one in apart.values()] == [("explorer", "factors")] * 3
assert 3.5 < weighted_row[3] / full_row[3] < 3.7
assert seen_row[3] == difference.iloc[:, 3].min()
assert seen_row[2] < 0 < full_row[1]
assert 0 < weighted_row[1] < 0.002 < full_row[0] < weighted_row[2]

# %% [markdown]
# In precision, the difference between `explorer` and `factors` has an interval that is 3.6 times as wide as that from the full
# truth, and leaves out 0 only just. That is the price. Yet what was seen, taken as it is, has the narrowest interval of all,
# and the difference in it has the wrong sign. **It is certain, and wrong.**
#
# Was our month a lucky one? The world stays as it is, with the same lists, and we let 200 other months be seen.

# %%
as_seen, by_weight = [], []
in_list = {name: pd.crosstab(one["user"], one["item"]) for name, one in models.items()}
in_list = {name: one.reindex(columns=films, fill_value=0) for name, one in in_list.items()}
for _month in range(200):
    of_month = to_find & (rng.random((2000, 200)) < chance)
    hits = {name: (one.to_numpy() * of_month).sum(axis=0) for name, one in in_list.items()}
    as_seen.append({name: one.sum() / 20_000 for name, one in hits.items()})
    by_weight.append({name: (one / chance).sum() / 20_000 for name, one in hits.items()})
as_seen, by_weight = pd.DataFrame(as_seen), pd.DataFrame(by_weight)
true = by_full.table("precision", k=10)["precision@10"]

_, both = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained", width_ratios=[1, 2])
for ax, values, name in zip(both, (as_seen, by_weight), ("as seen", "weighted"), strict=True):
    for at, model in enumerate(models):
        ax.hist(values[model], bins=15, alpha=0.6, color=f"C{at}", label=model)
        if name == "weighted":
            ax.axvline(true[model], color=f"C{at}", linestyle="--", linewidth=2)
    ax.set(title=f"200 months, {name}", xlabel="precision@10", yticks=[])
    ax.spines[["top", "right", "left"]].set_visible(False)
both[1].legend(frameon=False, title="dashed: full")

first = [(values.idxmax(axis=1) == "explorer").sum() for values in (as_seen, by_weight)]
print(f"explorer is first in {first[0]} of 200 months as seen, and in {first[1]} weighted")
rows = {"full truth": true, "mean as seen": as_seen.mean(), "deviation as seen": as_seen.std()}
rows |= {"mean, weighted": by_weight.mean(), "deviation, weighted": by_weight.std()}
pd.DataFrame(rows).T.round(3)

# %%
off = by_weight.mean() - true  # claim
assert (off.abs() < 3 * by_weight.std() / 200**0.5).all()
assert (as_seen.max() < true / 3).all()
assert by_weight.std().idxmax() == "explorer"
assert (as_seen.idxmax(axis=1) == "explorer").sum() == 0

# %% [markdown]
# What was seen puts `explorer` first in no month, and its numbers lie close together, far from the truth (the dashed lines on
# the right). The weighted ones lie on both sides of it and agree with it on average: they are *unbiased*. They are further
# apart, most of all those of `explorer`, whose hits are few and heavy.
#
# ## Where it fails: shares within a user
#
# Look at the picture of intervals again. In nDCG and recall the weights lead to no truth: both put `factors` first, and recall
# puts `explorer` last. The propensities are right to the last digit. What went wrong? Recall divides by the relevant weight of
# *this user*, and this was seen in part, too. Of a user with one seen film, recall is 0 or 1 and the weight cancels. Here is
# the recall of `popular` for users of whom none, one, two and more films were seen:

# %%
observed["weight"] = 1 / observed["item"].map(propensity)
films_seen = pd.Series(seen.sum(axis=1), users).clip(upper=6)
of_popular = {name: one.models["popular"].recall(k=10).per_user for name, one in truths.items()}
rows = {name: one.groupby(films_seen).mean() for name, one in of_popular.items()}
by_number = pd.DataFrame({"number of users": films_seen.value_counts(), **rows}).sort_index()
by_number.rename_axis("films seen (6: or more)").round(4)

# %%
assert by_number.iloc[:, 1].between(0.045, 0.065).all()
assert by_number.iloc[1, 3] == by_number.iloc[1, 2] > 3 * by_number.iloc[1, 1]
assert (by_number.iloc[1:, 3].rank().iloc[[0, -1]].tolist()) == [6, 1]


# %% [markdown]
# By the full truth `popular` has 0.05 to 0.06, whoever the users are. What is measured of users with one film seen is four
# times that, and no weight moves it. The way out is to divide *once*: all weights of hits by all weights of relevant pairs.
# That is the mean over users in which each counts as much as their relevant pairs weigh, and `user_weight=` makes it.


# %%
def recall_of_all(chances: pd.Series, least: float | None = None) -> pd.Series:
    """Recall of all pairs together; no pair counts as less likely to be seen than `least`."""
    weight = 1 / observed["item"].map(chances).clip(lower=least)
    of_users = weight.groupby(observed["user"]).sum()
    options = {"propensity": chances, "min_propensity": least, "user_weight": of_users}
    return recnb.compare(models, observed, **options).table("recall", k=10)["recall@10"]


number = full.groupby("user").size()
truth = recnb.compare(models, full, user_weight=number).table("recall", k=10)["recall@10"]
recall = {
    "full truth": truth,
    "what was seen": recall_of_all(propensity, 1),
    "seen, weighted": recall_of_all(propensity),
}
recall = pd.DataFrame(recall)
recall.round(4)

# %%
by_hand = observed.merge(models["explorer"])["weight"].sum() / observed["weight"].sum()  # claim
assert abs(recall.iloc[2, 2] - by_hand) < 1e-9
assert abs(recall.iloc[2, 0] - len(full.merge(models["explorer"])) / len(full)) < 1e-9
assert (recall.iloc[:, 2] - recall.iloc[:, 0]).abs().max() < 0.002
assert [recall[name].idxmax() for name in recall] == ["explorer", "factors", "explorer"]
for metric in ("dcg", "rbp"):  # claim
    sums = [one.table(metric, k=10)[f"{metric}@10"] for one in (by_full, weighted)]  # claim
    assert sums[0].idxmax() == sums[1].idxmax() == "explorer"
    assert ((sums[1] / sums[0] - 1).abs() < 0.03).all()

# %% [markdown]
# Now recall is right as well, within 0.002. For nDCG there is no such way: its ideal list is made of what was seen, and
# no weight puts into it what was not. **Weighted nDCG is no estimate of the full one.** Whoever wants the rank to count takes `dcg` or `rbp`, which are sums, as precision is:
# weighted, they come within 3 % of the full truth here.
#
# ## Where it fails: propensities that are guessed
#
# We knew the propensities, since we made the world. Outside, they are estimated, mostly by how many users of `train` have the
# film: `recnb.popularity_propensity(train, gamma=...)`, where a larger gamma takes rare films for less seen. Which gamma?
# The left picture has recall of all pairs (as in the last table) for each of them.

# %%
gammas = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]
guessed = {one: recnb.popularity_propensity(train, gamma=one, items=films) for one in gammas}
by_gamma = pd.DataFrame({one: recall_of_all(chances) for one, chances in guessed.items()}).T

leasts = [0.04, 0.05, 0.06, 0.08, 0.1, 0.15, 0.25, 0.5, 1]
by_least = pd.DataFrame({one: recall_of_all(propensity, one) for one in leasts}).T

_, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", sharey=True)
for ax, values in ((left, by_gamma), (right, by_least)):
    for at, model in enumerate(models):
        ax.plot(values.index, values[model], "os^"[at], linestyle="-", color=f"C{at}", label=model)
        ax.axhline(truth[model], color=f"C{at}", linestyle="--")
    ax.spines[["top", "right"]].set_visible(False)
left.set(title="propensities guessed", xlabel="gamma", ylabel="recall of all pairs", ylim=0)
right.set(title="propensities known, but clipped", xlabel="min_propensity", xscale="log")
right.set_xticks([0.05, 0.1, 0.2, 0.5, 1], labels=["0.05", "0.1", "0.2", "0.5", "1"])
left.legend(frameon=False, title="dashed: full")
some = {"gamma": by_gamma.loc[[0, 0.5, 1, 2]], "min_propensity": by_least.loc[[0.04, 0.06, 0.1, 1]]}
pd.concat(some).round(4)

# %%
best, off = by_gamma.idxmax(axis=1), (by_gamma / truth - 1).abs().max(axis=1)  # claim
assert best.tolist() == ["factors"] * 4 + ["explorer"] * 5
assert off.min() > 0.2
assert by_least.idxmax(axis=1).tolist() == ["explorer"] * 3 + ["factors"] * 6
assert (by_least.loc[0.04] - recall.iloc[:, 2]).abs().max() < 1e-12
assert (by_least.loc[1] - recall.iloc[:, 1]).abs().max() < 1e-12

# %% [markdown]
# At no gamma are all three lines at their dashed ones. Up to 0.75 `factors` is first, from 1 on `explorer`: **the answer is in
# the gamma.** It cannot be otherwise, because popularity is no propensity. A film that few people had may have been
# seen by few, or seen by many and liked by few, and the guess takes both for the first. A service that writes down what was
# *shown*, liked or not, counts that instead, and comes close, in the right order:

# %%
logged = recnb.popularity_propensity(pairs(met), gamma=1, items=films)
pd.DataFrame({"full truth": truth, "what was shown": recall_of_all(logged)}).round(4)

# %%
by_log = recall_of_all(logged)  # claim
assert (by_log / truth - 1).abs().max() < 0.07 < off.min() / 3
assert by_log.rank().tolist() == truth.rank().tolist() == [1, 2, 3]

# %% [markdown]
# With gamma 1 it divides each film's number by the largest. So the best known film gets 1, and ought to have 0.6: all
# propensities are too large by one factor. That does not matter in a share, and in a sum it does.
#
# ## Where it fails: tiny propensities, and clipping
#
# At gamma 2 the smallest propensity is 0.0015, and a pair of that film weighs 670. Here is the precision of `explorer`, which
# is 0.422 by the full truth. `min_propensity=` raises smaller propensities to it; at 0.001 it raises none.

# %%
rows = {}
for least in (0.001, 0.03, 0.1):
    options = {"averaged_users": "recs", "no_relevant": "zero", "min_propensity": least}
    ev = recnb.evaluate(models["explorer"], observed, propensity=guessed[2], **options)
    interval, weights = ev.precision(k=10).interval(), ev.hits().truth_weight
    n_equal = weights.sum() ** 2 / (weights**2).sum()
    rows[least] = (ev.precision(k=10), interval.low, interval.high, round(weights.max(), 1), round(n_equal))
COLUMNS = ["precision@10", "low", "high", "heaviest pair", "pairs of equal weight"]
tiny = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
tiny.rename_axis("min_propensity").round(4)

# %%
assert 0.001 < guessed[2].min() < 0.00155
assert tiny.iloc[0, 3] == 670.4
assert (tiny.iloc[:, 2] - tiny.iloc[:, 1]).is_monotonic_decreasing
assert tiny.iloc[1, 1] > true["explorer"] > tiny.iloc[2, 2]
assert tiny.iloc[0, 0] > 1.8 * true["explorer"]
assert "clipped" in ev.lint().names

# %% [markdown]
# Unclipped, the number is nearly double the truth, and its interval is far from it. The higher the clip, the narrower the
# interval, and somewhere between 0.03 and 0.1 the number is right; but only the full truth could tell where. Clipping is no
# cure: it counts rare films for less, and that is the bias which the weights were to take away. In the right picture above
# the propensities are the true ones, and nothing was to be mended. From 0.08 on `factors` is first, and at 1 every pair
# weighs 1: what was seen, once more. `ev.lint()` says how many pairs a clip touches, and how far it moves nDCG.
#
# ## To take along
#
# - Test data are what was seen. A low number of a recommender that shows little-known items may be the number of the test.
# - Weighted *sums* (precision, dcg, rbp), with no user left out, are right on average if the propensities are. Shares within a
#   user (recall, nDCG) are not, where few items of a user were seen; recall can be divided once, by `user_weight=`.
# - The price is a wider interval. Read how many pairs of equal weight there are.
# - Write down what was shown: from what was liked, propensities are a guess. Try several, and say whether the order holds.
# - Clipping brings the bias back. Say where you clipped, and what the number is without.
# - What can never be seen (a propensity of 0) comes back by no weight. Show a little at random, and it can be seen.
