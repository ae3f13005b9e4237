# %% [markdown]
# # Precision and recall
#
# **The question: how much of what we showed was right, and how much of what is right did we show?**
#
# Two fractions answer it, with the same number on top: the *hits*, items that were both shown and liked.
# *Precision* (정밀도) divides the hits by what was shown, *recall* (재현율) by what is liked.
#
# We follow an article, 「추천시스템 평가 지표 - 1 (Precision@K / Recall@K)」: first its example by hand, then its loop
# that evaluates a whole model, and two traps on the way.

# %%
import numpy as np
import pandas as pd
import scipy.sparse as sp
from worked import compare

import recnb

# %% [markdown]
# ## Five shown, six liked
#
# A list is cut at *k*: only the first k places count. Here k = 5, the user likes six items, and three of them are
# in the list. (The article gives these counts; the names of the items are ours.)
#
# <small>worked: precision-recall-1</small>

# %% tags=["precision-recall-1"]
shown = ["a", "x", "b", "y", "c"]
liked = ["a", "b", "c", "d", "e", "f"]

precision = recnb.precision(shown, liked, k=5)
recall = recnb.recall(shown, liked, k=5)

assert precision == 3 / 5
assert recall == 3 / 6
compare({"precision@5": 0.6, "recall@5": 0.5}, {"precision@5": precision, "recall@5": recall}, digits=4)

# %% [markdown]
# `explain` writes any score out: the formula, the numbers put in, and a row for each place of the list. A row's
# *credit* is what that place adds, and *running* is the score so far.

# %%
recnb.explain("precision", shown, liked, k=5)

# %%
recnb.explain("recall", shown, liked, k=5)

# %% [markdown]
# Look at the ceilings. Five places can never hold six liked items, so this user's recall@5 stays below 1 however good
# the list is; a user who likes two items can never have a precision@5 above 2/5.
#
# ## A list that ends early
#
# What if only three items were shown, and k is 5? Two places are empty. The article divides by the number of items
# that are there, `len(predictions[:k])`; recnb divides by k unless told otherwise, so that a model is not rewarded
# for giving up early. Both are in use, so both have a name.

# %%
short = ["a", "x", "b"]
by_k = recnb.precision(short, liked, k=5)
by_list = recnb.precision(short, liked, k=5, out_of="list")

assert by_k == 2 / 5
assert abs(by_list - 2 / 3) < 1e-12
pd.DataFrame(
    {
        "divided by": ["k", "the list's length"],
        "worked out": [recnb.explain("precision", short, liked, k=5, out_of=word).numbers for word in ("k", "list")],
    },
    index=["out_of='k' (recnb)", "out_of='list' (the article)"],
)

# %% [markdown]
# ## A whole model
#
# In practice the data are two sparse matrices of users × items. *Train* holds what the model has seen, *test* what was
# held back to judge it. Our six users and eight items fit on a page: `seen` is in train, `TEST` is in test.
# User 4 has nothing in test.

# %%
seen = {0: "ABC", 1: "ABD", 2: "AC", 3: "ABEF", 4: "BD", 5: "ACD"}
held_back = {0: "F", 1: "CE", 2: "DG", 3: "D", 4: "", 5: "BH"}
items = list("ABCDEFGH")


def matrix(likes):
    """Users × items, 1 where a user likes an item."""
    return sp.csr_matrix([[int(item in likes[user]) for item in items] for user in likes])


train, test = matrix(seen), matrix(held_back)
picture = np.where(train.toarray() > 0, "seen", np.where(test.toarray() > 0, "TEST", "·"))
pd.DataFrame(picture, index=pd.Index(seen, name="user"), columns=items)


# %% [markdown]
# The model is the simplest there is: the more users have seen an item, the higher its score. Anything with a
# `predict(user)` that gives a score for each item would do.


# %%
class Popular:
    """Scores an item by how many users have seen it."""

    def predict(self, user):
        return np.asarray(train.sum(axis=0)).ravel()


pd.DataFrame([Popular().predict(0)], index=["score"], columns=items)


# %% [markdown]
# This is the article's evaluation, written out: rank the items, take away those of train, cut at k, count the hits.
# Users without test items are left out; with nothing to find, recall would be 0/0.


# %%
def written_out(model, test, train, cutoffs):
    """Precision and recall of each user at each cut-off, one user at a time."""
    rows = []
    for user in range(test.shape[0]):
        liked = set(test[user].indices)
        if not liked:
            continue
        already = set(train[user].indices)
        best_first = np.argsort(-model.predict(user), kind="stable")
        ranking = [item for item in best_first if item not in already]
        for k in cutoffs:
            top = ranking[:k]
            hits = len(liked.intersection(top))
            rows.append({"user": user, "k": k, "precision": hits / len(top), "recall": hits / len(liked)})
    return pd.DataFrame(rows)


by_hand = written_out(Popular(), test, train, cutoffs=[1, 3, 5])
by_hand.pivot(index="user", columns="k").round(4)

# %% [markdown]
# `recnb.evaluate_model` is that loop as one call. It must give the same means, to the last digit that a computer keeps.

# %%
precision = recnb.evaluate_model(Popular(), test, train, k=[1, 3, 5], metrics=["precision"], out_of="list")
recall = recnb.evaluate_model(Popular(), test, train, k=[1, 3, 5], metrics=["recall"])

means = by_hand.groupby("k")[["precision", "recall"]].mean().T
ours = pd.concat([precision.to_frame(), recall.to_frame()])
assert np.abs(means.to_numpy() - ours.to_numpy()).max() < 1e-12
assert 4 not in set(by_hand["user"])
assert by_hand["user"].nunique() == 5
pd.concat({"written out": means.round(4), "recnb": ours.round(4)}, axis=1)

# %% [markdown]
# Without options it gives the usual metrics at once, precision now divided by k. That lowers precision@5 a little:
# user 3 has seen four of the eight items, which leaves four to recommend.

# %%
everything = recnb.evaluate_model(Popular(), test, train, k=[1, 3, 5])

assert everything.loc["precision", 5] < precision.loc["precision", 5]
assert everything.loc["precision", 3] == precision.loc["precision", 3]
everything

# %% [markdown]
# ## First trap: `argsort` sorts upwards
#
# The article ranks with `predictions.argsort()`. NumPy sorts from the lowest value up, so if a higher score means a
# better item, that list starts with the *worst* one.
#
# <small>worked: claim-argsort</small>

# %% tags=["claim-argsort"]
scores = np.array([0.2, 0.9, 0.5, 0.7])
names = np.array(["A", "B", "C", "D"])

assert names[scores.argsort()].tolist() == ["A", "C", "D", "B"]
assert names[(-scores).argsort()].tolist() == ["B", "D", "C", "A"]


class UpsideDown(Popular):
    """What evaluating by plain argsort amounts to: the lowest score first."""

    def predict(self, user):
        return -super().predict(user)


right = recnb.evaluate_model(Popular(), test, train, k=3, metrics=["precision", "recall"])
wrong = recnb.evaluate_model(UpsideDown(), test, train, k=3, metrics=["precision", "recall"])

assert wrong.loc["recall", 3] < right.loc["recall", 3]
print("scores              ", dict(zip(names.tolist(), scores.tolist(), strict=True)))
print("scores.argsort()    ", *names[scores.argsort()])
print("(-scores).argsort() ", *names[(-scores).argsort()])
pd.DataFrame({"highest score first": right[3], "argsort, lowest first": wrong[3]}).rename_axis("at k = 3").round(4)

# %% [markdown]
# Nothing fails and no warning appears; the model merely looks worse than it is. `evaluate_model` ranks from the highest
# score. If your model's *lower* numbers are better, as with distances, give it `-distance`.
#
# ## Second trap: mean precision is not average precision
#
# Average precision at k (AP@k, 평균 정밀도) sounds like the average of precision@k over users. It is not. Three users
# like the same two items; each list shows both, at different places.
#
# <small>worked: claim-average-precision</small>

# %% tags=["claim-average-precision"]
lists = pd.DataFrame(
    {
        "user": ["Mina", "Jun", "Sora"],
        "liked": [["a", "b"]] * 3,
        "recommended": [["a", "b", "x", "y"], ["x", "a", "y", "b"], ["x", "y", "a", "b"]],
    }
)
at_depth = pd.DataFrame({f"P@{k}": lists.rec.precision(k=k).per_user for k in (1, 2, 3, 4)})
at_depth["AP@4"] = lists.rec.average_precision(k=4).per_user
at_depth.loc["mean over users"] = at_depth.mean()

assert (at_depth["P@4"] == 0.5).all()
assert abs(at_depth.loc["Sora", "AP@4"] - (1 / 3 + 2 / 4) / 2) < 1e-12
assert abs(lists.rec.average_precision(k=4) - (1 + 1 / 2 + (1 / 3 + 2 / 4) / 2) / 3) < 1e-12
at_depth.round(4)

# %% [markdown]
# *Down* a column we average one depth over users: precision@4 is 0.5 for all three, and blind to the order. *Along* a
# row, AP averages over depths of one list, those where a hit stands: for Sora ranks 3 and 4. It knows that Mina had
# the better list.

# %%
lists.rec.explain("average_precision", "Sora", k=4)

# %% [markdown]
# ## To take along
#
# - Same hits on top, different counts below: *shown* for precision, *liked* for recall. Say at which k.
# - When a list is shorter than k, say what precision is divided by.
# - Rank from the highest score. And precision does not see order within the k places: that is the next notebook.
