# %% [markdown]
# # What the hits do not say
#
# **The question: nDCG cannot tell two recommenders apart. What else is there to know about them?**
#
# In [notebook 09](09_compare_models.ipynb) no difference was shown between `item-knn` and `factors`. But nDCG looks at
# hits and at nothing else: not at what the other places of a list are filled with, and never at two lists at once. This
# notebook looks at all that is shown, one question at a time, and says of each number what it sees, and how it can be
# fooled.

# %%
from math import log2

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

import recnb

sample = recnb.datasets.load_sample()
beside = {"train": sample.train, "items": sample.items}
found = recnb.compare(sample.models, sample.test, baseline="popular", **beside)
knn, factors, popular = (found.models[name] for name in ("item-knn", "factors", "popular"))

table = found.table("ndcg", k=10).join(found.beyond(k=10)).T
table.round(4)

# %% [markdown]
# Most need no truth, only the lists and what is known beside them: what users had before (`train=`) and what the items
# are (`items=`). The exceptions are serendipity, which counts hits, and user coverage, which is of the users evaluated. So
# the table holds two populations: the 261 users evaluated, and all 298 with a list; the line below each number says which.
# Look at the column of `popular` first: below nDCG it is lowest in coverage, entropy, personalization, novelty, tail share
# and serendipity, and highest in Gini (the smaller, the more even), in popularity and its rank (the smaller, the less known)
# and in miscalibration (less is better). In one row all are level, and in one, diversity, it is first.

# %%
MORE = ["coverage", "entropy", "personalization", "novelty", "tail_share", "serendipity"]
LESS = ["gini", "popularity", "popularity_rank", "calibration"]

assert (table.loc[MORE].idxmin(axis=1) == "popular").all()
assert (table.loc[LESS].idxmax(axis=1) == "popular").all()
assert table.loc["diversity"].idxmax() == "popular"
assert table.loc["user_coverage"].nunique() == 1

# %% [markdown]
# ## Who is ever shown?
#
# **Coverage** is the share of the 250 films that stand in anybody's first ten. `item-knn` brings a third more of them
# to light than `factors`. So it spreads attention better? **Gini**, 0 if all films are shown equally often and near 1
# if one gets all places, says the opposite.

# %%
times = pd.DataFrame({name: ev.coverage(k=10).per_item for name, ev in found.models.items()})
places = times.sum()
spread = pd.DataFrame(
    {
        "coverage": table.loc["coverage"],
        "gini": table.loc["gini"],
        "films shown": (times > 0).sum(),
        "shown to one user only": (times == 1).sum(),
        "share of the ten most shown": times.apply(lambda one: one.nlargest(10).sum()) / places,
    }
)
ahead = spread.loc["item-knn"] > spread.loc["factors"]

assert np.allclose((times > 0).mean(), spread["coverage"])
assert spread.loc["item-knn"].iloc[2:].round(2).tolist() == [127, 28, 0.39]
assert times["item-knn"].max() == 148
assert ahead[["coverage", "gini", "shown to one user only", "share of the ten most shown"]].all()
spread.round(4)

# %% [markdown]
# Both are right. `item-knn` shows 127 films, 28 of them once, to a single user, and gives 39 % of all places to ten.
# **Coverage counts a film shown once like one shown 148 times.** The curve that Gini measures shows both: how much of
# all places the least shown films get together.

# %%
ax = plt.figure(layout="constrained", figsize=(5.2, 4.2)).add_subplot()
percent = np.arange(len(times) + 1) / len(times)
lorenz = {name: np.r_[0, np.sort(times[name].to_numpy()).cumsum() / places[name]] for name in times}
for (name, curve), line in zip(lorenz.items(), ("-", "--", ":"), strict=True):
    ax.plot(percent, curve, line, linewidth=2, label=name)
ax.plot([0, 1], [0, 1], color="gray", linewidth=1, label="all films alike")
ax.set(xlabel="share of the films, least shown first", ylabel="share of all places")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

for name, curve in lorenz.items():
    gini = 1 - (curve[1:] + curve[:-1]).sum() / len(times)  # twice the area up to the diagonal
    least = curve[len(times) * 4 // 5]
    assert abs(gini - found.models[name].gini(k=10)) < 1e-12
    print(f"{name:9} the least shown four fifths get {least:.3f} of all places; Gini {gini:.4f}")

# %% [markdown]
# ## How well known is it?
#
# **Novelty** is the mean surprise of a list in bits: a film that c of 298 users had before is worth log2(298 / c). Halve
# its audience and it is worth one bit more. It is rarity among all users (Castells, Vargas and Wang 2011), and blind to what
# this user knows.

# %%
knn.explain("novelty", "u002", k=5)

# %%
had = sample.train["item"].value_counts()
n_users = sample.train["user"].nunique()
first_five = sample.models["item-knn"].query("user == 'u002' and rank <= 5")["item"]
by_hand = sum(log2(n_users / had[item]) for item in first_five) / 5

assert abs(by_hand - knn.novelty(k=5).per_user["u002"]) < 1e-12
print(f"by hand {by_hand:.4f}")

# %% [markdown]
# Novelty, **popularity** and **tail share** (places for the least popular four fifths) ask the same question on
# different scales. Each user has a value, so two models can be compared as in notebook 09, user by user:

# %%
rows = {}
for metric in ("novelty", "popularity", "tail_share", "calibration"):
    of_each = [getattr(model, metric)(k=10).per_user for model in (factors, knn)]
    made = recnb.paired(*of_each, bounds=(0, np.inf))
    rows[metric] = (made.difference, made.low, made.high)
columns = ["factors − item-knn", "low", "high"]
of_factors = pd.DataFrame.from_dict(rows, orient="index", columns=columns)

assert of_factors.loc["novelty", "low"] > 0
assert round(of_factors.loc["novelty"].iloc[0], 2) == 0.16
assert of_factors.loc["popularity", "high"] < 0
assert (of_factors.loc[["tail_share", "calibration"], "low"] < 0).all()
assert (of_factors.loc[["tail_share", "calibration"], "high"] > 0).all()
of_factors.round(4)

# %% [markdown]
# `factors` shows less known films, by 0.16 bits; in the tail and in the genres no difference is shown. Coverage and Gini are
# numbers of all lists together: no user has a share in them that could be averaged, so they have no interval.

# %%
try:
    knn.coverage(k=10).interval()
except recnb.errors.RecnbError as refused:
    print(refused)

# %% [markdown]
# ## Would they have found it anyway?
#
# A hit that the list of the most popular films has as well needed no recommender. **Serendipity** (Ge et al. 2010) is
# precision without those hits.

# %%
hits = found.table("precision", k=10).join(table.loc["serendipity"])
hits["share of hits"] = hits["serendipity"] / hits["precision@10"]

assert hits.loc["popular", "serendipity"] == 0
assert hits.loc["factors", "share of hits"] > 0.5 > hits.loc["item-knn", "share of hits"]
hits.round(4)

# %% [markdown]
# The 0 of `popular` is no measurement: it is what the metric holds the others against, and its precision of 0.0985 is
# what one gets for nothing. More than half of `item-knn`'s hits are of that kind.
#
# ## Is it made for them?
#
# **Personalization** is how different the lists of two users are. A list for everybody ought to have 0, and `popular`
# has 0.40:

# %%
first_ten = pd.DataFrame({"item": had.index[:10], "rank": range(1, 11)})
same = sample.users[["user"]].merge(first_ten, how="cross")
truly_same = same.rec.against(sample.test).personalization(k=10)

assert abs(truly_same) < 1e-12
assert round(popular.personalization(k=10), 2) == 0.40
print(f"one list for all {truly_same:.4f}, popular {popular.personalization(k=10):.4f}")

# %% [markdown]
# The difference is what users had seen already: it is taken out, and others move up. That is personal in the sense of
# the number, and in no other.
#
# ## Is it mixed, and is it theirs?
#
# **Diversity** is how unlike the films of one list are, by genre. `popular` wins it. To see what that is worth, we ask
# how diverse people are themselves: the last ten films that each of them chose.

# %%
chosen = sample.train.sort_values(["user", "day"], ascending=[True, False], kind="stable")
chosen = chosen.assign(rank=chosen.groupby("user").cumcount() + 1)[["user", "item", "rank"]]
own = chosen.rec.against(sample.test, items=sample.items).diversity(k=10)
diverse = table.loc[["diversity"]].assign(**{"their own choice": float(own)})
diverse = diverse.T.sort_values("diversity", ascending=False)

assert diverse.index.tolist() == ["popular", "item-knn", "factors", "their own choice"]
more = (popular.diversity(k=10).per_user > own.per_user).mean()
print(f"popular is more diverse than {more:.0%} of the users are")
diverse.round(4)

# %% [markdown]
# A mixture is no merit if nobody asked for it. **Calibration** (Steck 2018) asks instead whether the genres of a list
# are those of the user: it is the divergence of the two in bits, 0 if they agree, so that *less is better*. For which
# user does `item-knn` improve most on `popular`?

# %%
user = (popular.calibration(k=10).per_user - knn.calibration(k=10).per_user).idxmax()
display(popular.explain("calibration", user, k=10), knn.explain("calibration", user, k=10))

# %%
of_popular, of_knn = (ev.calibration(k=10).per_user[user] for ev in (popular, knn))
mixed_popular, mixed_knn = (ev.diversity(k=10).per_user[user] for ev in (popular, knn))

shown = sample.models["popular"].query("user == @user and rank <= 10").merge(sample.items, on="item")
assert not shown["genres"].str.contains("comedy").any()
assert of_popular > 4 * of_knn
assert mixed_popular > mixed_knn
print(f"{user}: miscalibration {of_popular:.2f} by popular, {of_knn:.2f} by item-knn")
print(f"{user}: diversity      {mixed_popular:.2f} by popular, {mixed_knn:.2f} by item-knn")

# %% [markdown]
# Four fifths of what this user watched is comedy, and `popular` shows none; its list is the more diverse one of the
# two.
#
# ## None of them is a goal
#
# Whoever wants novel, diverse, even lists that cover everything can have them: by chance.

# %%
rng = np.random.default_rng(3)
seen = sample.train.groupby("user")["item"].agg(set)
rows = []
for user, had_before in seen.items():
    unseen = [item for item in rng.permutation(sample.items["item"]) if item not in had_before]
    rows += [(user, item, rank) for rank, item in enumerate(unseen[:10], 1)]
at_random = pd.DataFrame(rows, columns=["user", "item", "rank"])

models = {**sample.models, "random": at_random}
four = recnb.compare(models, sample.test, baseline="popular", **beside)
with_random = four.table("ndcg", k=10).join(four.beyond(k=10)).T

highest, lowest = with_random.idxmax(axis=1), with_random.idxmin(axis=1)
fooled = ["coverage", "entropy", "personalization", "novelty", "tail_share", "diversity"]
assert (highest[fooled] == "random").all()
assert (lowest[["gini", "popularity", "popularity_rank", "ndcg@10"]] == "random").all()
assert with_random.loc["serendipity", "random"] < with_random.loc["serendipity", "item-knn"] / 4
assert (with_random.loc["calibration", "random"] > with_random.loc["calibration", ["item-knn", "factors"]]).all()
assert with_random.loc["serendipity", "random"] > with_random.loc["serendipity", "popular"]
assert with_random.loc["calibration", "random"] < with_random.loc["calibration", "popular"]
assert round(with_random.loc["ndcg@10", "popular"] / with_random.loc["ndcg@10", "random"]) == 6
with_random.round(4)

# %% [markdown]
# Random lists stand at the wanted end of nine of the twelve rows below nDCG, and are useless. Serendipity and calibration
# look at the user as well and put them behind both candidates. But even these two put them before `popular`, which has
# nearly six times their nDCG. None of these metrics stands for accuracy. They are read **beside** it: of models that it cannot tell apart, which has more of what is
# wanted?

# %%
_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, metric in ((left, "coverage"), (right, "novelty")):
    points = pd.DataFrame(
        {model: [getattr(ev, metric)(k=10), ev.ndcg(k=10)] for model, ev in four.items()}, [metric, "ndcg"]
    ).T
    points.plot.scatter(metric, "ndcg", ax=ax)
    for model, place in points.iterrows():
        ax.annotate(model, place, xytext=(5, 3), textcoords="offset points")
    ax.margins(0.2)
    print(points.round(4), end="\n\n")
    assert (points.loc[["item-knn", "factors"]] > points.loc["popular"]).all(axis=None)

assert table.loc["novelty", "factors"] > table.loc["novelty", "item-knn"]
assert table.loc["coverage", "factors"] < table.loc["coverage", "item-knn"]

# %% [markdown]
# `popular` is behind both candidates in both pictures: there is nothing to be traded. Between the candidates there is:
# `factors` is further right in novelty, `item-knn` in coverage. Which of them to take is a question of what the service
# is for.
#
# ## Whose coverage, whose novelty?
#
# These numbers have conventions too. Here is what libraries make of the very same lists of `item-knn`, with k = 10:

# %%
SAY = [
    ("rectools", "coverage[catalogue]", "of 250 films"),
    ("rectools", "coverage[train]", "of 248 films that train has"),
    ("recbole", "coverage", "of 251: the padding id is an item"),
    ("rectools", "coverage_count", "films, not divided"),
    ("recommenders", "coverage", "k is not asked for: whole lists; of 248"),
    ("rectools", "novelty", "users who had it, mean over users"),
    ("replay-rec", "surprisal", "divided by log2(users): 0 to 1"),
    ("recmetrics", "novelty", "whole lists of 20, divided by k = 10"),
]
lists = sample.models["item-knn"]
known = {"train": sample.train, "items": sample.items}
said = pd.DataFrame(SAY, columns=["library", "metric", "what it decides"])
said["value"] = [recnb.as_in(*one[:2], lists, sample.test, k=10, **known) for one in SAY]
said.round(4)

# %% [markdown]
# Coverage from 0.506 to 127 and novelty from 0.28 to 5.25, and none of them is wrong. Each is a few options away from
# the other:

# %%
value = said.set_index(["library", "metric"])["value"]
ours = {
    ("rectools", "coverage[catalogue]"): knn.coverage(k=10),
    ("rectools", "coverage[train]"): knn.coverage(k=10, population="train"),
    ("recbole", "coverage"): knn.coverage(k=10, population="catalogue+padding"),
    ("rectools", "coverage_count"): knn.coverage(k=10, normalize=False),
    ("recommenders", "coverage"): knn.coverage(k=10, population="train", cutoff="none"),
    ("rectools", "novelty"): knn.novelty(k=10),
    ("replay-rec", "surprisal"): knn.novelty(k=10, normalize=True),
    ("recmetrics", "novelty"): knn.novelty(k=10, cutoff="none", divisor="k"),
}

assert set(ours) == set(value.index)
assert all(abs(value[name] - mine) < 1e-9 for name, mine in ours.items())
print(*(f"{mine:9.4f}  {library} {name}" for (library, name), mine in ours.items()), sep="\n")

# %% [markdown]
# A coverage of 0.73 beside one of 0.51 does not make one model better: one counted ten places a list and the other twenty.
#
# ## To take along
#
# - Read them beside accuracy, never alone: chance is novel, even and diverse.
# - Coverage counts a film once however often it is shown; look at Gini with it.
# - `popular` belongs in every table. Its coverage, novelty and serendipity are what one gets for nothing.
# - Diversity knows nothing of the user. Calibration does.
# - Write the convention beside the number, as recnb does: `knn.novelty(k=10).basis`.
# - All of this is offline. It decides what goes into an online test.
#
# [Notebook 11](11_scale.ipynb) is about data that do not fit into memory.
