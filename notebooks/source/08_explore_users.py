# %% [markdown]
# # From a mean to one user
#
# **The question: whom does a number speak of, and what happened to them?**
#
# A report says nDCG@10 = 0.2589. That is 261 people put into one number. This notebook goes the way down: from the mean to
# how the users spread about it, to the groups that fare better or worse, to one user, to their list, to the terms of
# their score. In a running notebook `explore()` does all of it by hand.

# %%
import pandas as pd

import recnb

sample = recnb.datasets.load_sample()
users = sample.users.replace({"segment": {"new": "light"}})
ev = sample.models["item-knn"].rec.against(sample.test, users=users, train=sample.train)
score = ev.ndcg(k=10)
score

# %% [markdown]
# ## By hand
#
# Choose a metric and k; pick a bar to see the users in it alone; sort the list, search it, choose a user. Below it
# the user's list then stands with the hits marked, what was missed, and at the end how the score is made.
# (Without a kernel, the same place shows the explorer as it starts.)

# %%
ev.explore("ndcg", k=10)

# %% [markdown]
# ## The mean is nobody
#
# The rest of this notebook walks one path through it, a line of code for each step. First, how users spread:

# %%
per_user = score.per_user
edges = [-0.001, 0, 0.25, 0.5, 0.75, 0.999, 1]
names = ["exactly 0", "up to 0.25", "up to 0.5", "up to 0.75", "below 1", "exactly 1"]
pd.cut(per_user, edges, labels=names).value_counts(sort=False).rename_axis("ndcg@10").rename("users").to_frame()

# %%
near = per_user.between(float(score) - 0.05, float(score) + 0.05).sum()
print(f"mean {score:.4f}; within 0.05 of it: {near} of {len(per_user)} users; without any hit: {(per_user == 0).sum()}")

assert (per_user == 0).sum() == len(per_user) - (ev.hit_rate(k=10).per_user > 0).sum()
assert abs(per_user.mean() - float(score)) < 1e-12

# %% [markdown]
# Almost a third of the users found nothing in their first ten, and the mean is made by the others. "The average user gets
# 0.26" is a sentence about very few people.
#
# ## Who are they?
#
# The users frame has a segment for each: `light` with fewer than 12 ratings, `devoted` with 30 or more. (The data call the
# light ones "new", but many of them joined as early as the others.) `by=` breaks the mean down: each segment with an
# interval, and how far it stands from all other users, with p-values corrected for looking at several.

# %%
ev.table(["ndcg", "recall"], k=10, by="segment")

# %%
by_segment = ev.table("ndcg", k=10, by="segment").loc[("ndcg", 10)]

assert by_segment["mean"].idxmin() == "light"
assert by_segment.loc["light", "p_holm"] < 0.05
assert by_segment.loc["devoted", "p_holm"] < 0.05
assert abs((by_segment["mean"] * by_segment["n_users"]).sum() / by_segment["n_users"].sum() - float(score)) < 1e-12

# %% [markdown]
# By nDCG light users fare worse; in recall no gap is shown (p = 0.48). Which is it? Their ratings were counted in train and
# test together, so the segment also decides how much there is to be found, and users with more test items hit more even
# by chance, which no division takes away ([04b](04b_ndcg_claims.ipynb) computes how much more):

# %%
relevant = sample.test.groupby("user").size().rename("relevant items")
by_size = users.merge(relevant, on="user").groupby("segment")["relevant items"].mean()

assert by_size.round(1).to_dict() == {"devoted": 7.7, "light": 2.7, "regular": 3.6}
by_size.round(1).to_frame()

# %% [markdown]
# So compare segments in more than one metric, and better make them of what was known before the test. `by="activity"`
# groups users by how much they did in train:

# %%
ev.table("ndcg", k=10, by="activity")

# %% [markdown]
# Of these four groups the least active one is below the rest, and the most active one above; for the two in the middle
# no gap is shown. This does not say why: the active users also have more test items.
#
# ## One of them
#
# Of the light users who got a list and found nothing in its first ten, the one who had the most to be found:

# %%
explorer = ev.explore("ndcg", k=10)
explorer.choose(by="segment")
frame = explorer.to_frame()
lost = frame[(frame["segment"] == "light") & (frame["value"] == 0) & (frame["length"] > 0)]
lost = lost.sort_values("relevant", ascending=False, kind="stable")
lost.head()

# %%
user = lost.index[0]
ev.explain("ndcg", user, k=10)

# %% [markdown]
# What did this user have before, and what did they go on to like? Titles and genres tell more than ids:

# %%
titles = sample.items.set_index("item")[["title", "genres"]]
before = sample.train[sample.train["user"] == user].merge(titles, on="item")
after = sample.test[sample.test["user"] == user].merge(titles, on="item")
shown = sample.models["item-knn"].query("user == @user and rank <= 10").merge(titles, on="item")

most_shown = shown["genres"].str.split("|").explode().value_counts(sort=True).head(3).index
print(f"{len(before)} ratings before; in the first ten mostly {', '.join(most_shown)}")
after[["title", "genres", "rating"]]

# %% [markdown]
# ## How much would a hit have been worth?
#
# The same user in the playground: put one of the missed films on top and see what it does to this user, and to the mean.

# %%
ranking = shown["item"].tolist()
wanted = dict(zip(after["item"], after["rating"], strict=True))
best = max(wanted, key=wanted.get)
play = recnb.playground([best, *ranking[:9]], wanted, k=10)
gained = play.explain("ndcg").value

print(f"{titles.loc[best, 'title']!r} on top: {gained:.4f} for this user, {gained / len(per_user):+.4f} for the mean")

# %%
recs = sample.models["item-knn"]
mine = recs[recs["user"] == user]
changed = mine.assign(item=[best, *mine["item"].iloc[:-1]])
repaired = pd.concat([recs[recs["user"] != user], changed]).rec.against(sample.test).ndcg(k=10)

assert abs(float(repaired) - float(score) - gained / len(per_user)) < 1e-12

# %% [markdown]
# One user can move the mean by 1/261 at most. To move it further, one has to find what many users have in common, and the
# segments above are where to look.
#
# [Notebook 09](09_compare_models.ipynb) asks the same of a difference: which of two models is better, and how sure is it?
