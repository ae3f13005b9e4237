# %% [markdown]
# # Precision and recall
#
# **The question: how much of what we showed was right, and how much of what is right did we show?**
#
# Two fractions answer it, with the same number on top: the *hits*, items that were both shown and liked.
# *Precision* (정밀도) divides the hits by what was shown, *recall* (재현율) by what is liked. Only the first k places of a
# list count; *k* is the *cut-off*.
#
# $$\text{Precision@}k = \frac{\text{hits in the first } k \text{ places}}{k}
# \qquad
# \text{Recall@}k = \frac{\text{hits in the first } k \text{ places}}{\text{number of liked items}}$$
#
# We follow an article, 「추천시스템 평가 지표 - 1 (Precision@K / Recall@K)」: its example by hand, with recnb, and as an exercise;
# then its loop that evaluates a whole model, and what it claims.

# %%
import recnb

# %% [markdown]
# ## One list, by hand
#
# Five items are shown, the user likes six, and three of these are among the five. (The article gives the counts; the names
# of the items are ours.) Go down the list and mark the hits:

# %%
shown = ["a", "x", "b", "y", "c"]
liked = ["a", "b", "c", "d", "e", "f"]
k = 5

hits = [item for item in shown[:k] if item in liked]

print("hits:", *hits)
print(f"precision@{k} = {len(hits)} hits / {k} places = {len(hits) / k}")
print(f"recall@{k} = {len(hits)} hits / {len(liked)} liked items = {len(hits) / len(liked)}")

# %% [markdown]
# ## The same with recnb
#
# A function for each metric takes the list, what is liked, and k. The article prints 0.6 and 0.5 as well.

# %% tags=["precision-recall-1"]
precision = recnb.precision(shown, liked, k=5)
recall = recnb.recall(shown, liked, k=5)

assert precision == 3 / 5
assert recall == 3 / 6
print(f"precision@5 {precision:.4f}")
print(f"recall@5    {recall:.4f}")

# %% [markdown]
# `explain` writes any score out: the formula, the numbers put in, the division, and a row for each place of the list. A
# row's *credit* is what the place adds above the line, and *running sum* adds the credits up from the top. Below the tables
# are the decisions behind the number; without further options it is divided by k. Where an output says *relevant item*, it
# means a liked one: whatever its relevance, 1 or 3, it counts as one here.

# %%
recnb.explain("precision", shown, liked, k=5)

# %%
recnb.explain("recall", shown, liked, k=5)

# %% [markdown]
# Both have a ceiling. Five places cannot hold six liked items, so this user's recall@5 stays below 1 however good the list
# is; and the precision@5 of a user who likes two items is at most 2/5. Where one number is wanted, `recnb.f1` is the harmonic mean of
# the two, which is high only if both are.
#
# ## Your turn
#
# Take paper, and work out the precision of this list. In a running notebook, type your answer into the box; elsewhere, into
# `check`, as in the cell below it. An answer may be a decimal or a fraction. A common mistake is recognised.
# The question says what k is; `recnb.quiz` draws one where none is given.

# %%
q = recnb.quiz("precision", seed=3)
q

# %%
q.check("3/5")

# %% [markdown]
# Another seed draws another list, and `recnb.quiz("recall", seed=1)` asks for recall.
#
# ## A list that ends early
#
# What if only three items were shown, and k is 5? Two places are empty. The article divides by the number of items
# that are there, `len(predictions[:k])`; recnb divides by k unless told otherwise, so that a model does not gain by
# showing fewer items. Both are in use, so both have a name.

# %%
short = ["a", "x", "b"]
by_k = recnb.precision(short, liked, k=5)
by_list = recnb.precision(short, liked, k=5, out_of="list")

assert by_k == 2 / 5
assert abs(by_list - 2 / 3) < 1e-12
for word in ("k", "list"):
    print(f"out_of={word!r}:", recnb.explain("precision", short, liked, k=5, out_of=word).numbers)

# %% [markdown]
# ## A whole model
#
# In practice the data are two sparse matrices of users × items. *Train* holds what the model has seen, *test* what was
# held back to judge it. Our six users and eight items fit on a page: `seen` is in train, `TEST` is in test.
# User 4 has nothing in test.

# %%
import numpy as np
import pandas as pd
import scipy.sparse as sp

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
# Users without test items are left out: their recall would be 0/0.


# %%
def evaluate_by_hand(model, test, train, cutoffs):
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


by_hand = evaluate_by_hand(Popular(), test, train, cutoffs=[1, 3, 5])
by_hand.pivot(index="user", columns="k").round(4)

# %% [markdown]
# `recnb.evaluate_model` is that loop as one call. Its means are the same.

# %%
precision = recnb.evaluate_model(Popular(), test, train, k=[1, 3, 5], metrics=["precision"], out_of="list")
recall = recnb.evaluate_model(Popular(), test, train, k=[1, 3, 5], metrics=["recall"])

means = by_hand.groupby("k")[["precision", "recall"]].mean().T
ours = pd.concat([precision.to_frame(), recall.to_frame()])
assert np.abs(means.to_numpy() - ours.to_numpy()).max() < 1e-12
assert 4 not in set(by_hand["user"])
assert by_hand["user"].nunique() == 5
pd.concat({"by hand": means.round(4), "recnb": ours.round(4)}, axis=1)

# %% [markdown]
# Without options it gives the usual metrics at once, precision now divided by k. That lowers precision@5 a little:
# user 3 has seen four of the eight items, which leaves four to recommend. The rows have the names of recnb's functions; the
# metrics that are new here are the subject of the next notebooks.

# %%
everything = recnb.evaluate_model(Popular(), test, train, k=[1, 3, 5])

assert everything.loc["precision", 5] < precision.loc["precision", 5]
assert everything.loc["precision", 3] == precision.loc["precision", 3]
everything

# %% [markdown]
# ## To take along
#
# - Both have the hits on top. Precision divides by the places *shown*, recall by the items *liked*. Say at which k.
# - Where a list is shorter than k, say what precision is divided by.
# - Within the k places, neither depends on the order. That is the next notebook: [03](03_hit_rate_rr_ap.ipynb).
#
# The rest is for the curious: six statements of the article, put to the test.
#
# ## Claim: the loop ranks by `predictions.argsort()`
#
# **A bug for models whose higher score is better.** NumPy sorts from the lowest value up, so the list starts with the *worst*
# item. The article's loop is a port of `evaluate_ranking` from
# [caser_pytorch, evaluation.py](https://github.com/graytowne/caser_pytorch/blob/59089fadbee166b8bf880564a790637070e8cb71/evaluation.py),
# which negates the scores first, `predictions = -model.predict(user_id)`; the article lost the minus.

# %% tags=["claim-argsort"]
scores = np.array([0.2, 0.9, 0.5, 0.7])
names = np.array(["A", "B", "C", "D"])

assert names[scores.argsort()].tolist() == ["A", "C", "D", "B"]
assert names[(-scores).argsort()].tolist() == ["B", "D", "C", "A"]


class UpsideDown(Popular):
    """Evaluation by plain argsort: the lowest score first."""

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
# ## Claim: its function computes the precision of any list
#
# **Not of an empty list, and questionably of one that holds an item twice.** The function makes a set of the first k items to count the
# hits, and divides by how many places there are. If a model has nothing to recommend, that is a division by zero, and the
# evaluation of all users ends there. If the one liked item fills both places of a list, the hit counts once and the
# places count twice: 0.5.


# %% tags=["claim-empty-list", "claim-repeats"]
def precision_of_the_article(predictions, targets, k):
    """Hits, as a set, out of the places that are there."""
    first = predictions[:k]
    return len(set(first) & set(targets)) / len(first)


for predictions in ([], ["a", "a"]):
    try:
        print(predictions, precision_of_the_article(predictions, ["a"], k=2))
    except ZeroDivisionError:
        print(predictions, "division by zero")
    try:
        print("recnb:", f"{recnb.precision(predictions, ['a'], k=2):.1f}")
    except recnb.errors.RecnbError as refused:
        print("recnb:", refused)

assert precision_of_the_article(["a", "a"], ["a"], k=2) == 0.5
assert recnb.precision([], ["a"], k=2) == 0

# %% [markdown]
# Of k places that are empty recnb's precision is 0, since it divides by k. 0.5 for the other list is one of three conventions in use: others
# drop the repetition first (1.0, of one place), or count both. recnb refuses such a list; for a frame that has one,
# `duplicates=` says which convention to follow.
#
# ## Claim: the average of precision@k over users is not AP@k
#
# **True.** Average precision at k (AP@k, 평균 정밀도; [03](03_hit_rate_rr_ap.ipynb) works it out) averages the precision at
# several depths of *one* list. Three users like the same two items; each list shows both, at different places.

# %% tags=["claim-average-precision"]
lists = pd.DataFrame(
    {
        "user": ["Mina", "Jun", "Sora"],
        "relevant": [["a", "b"]] * 3,
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
# *Down* a column one depth is averaged over users: precision@4 is 0.5 for all three, whatever the order. *Along* a row, AP
# averages the precision at several depths of one list, those with a hit: for Sora ranks 3 and 4. Mina, whose list has its hits on top,
# has the highest.
#
# ## Claim: AP@k is the mean of precision over different k
#
# **False as worded.** Not every depth counts: only those where a hit stands, and the sum is divided by the number of liked
# items. A list of three with hits at ranks 1 and 3, for a user who likes two items:

# %% tags=["claim-ap-over-k"]
three_shown, two_liked = ["a", "x", "b"], ["a", "b"]
at_each = [float(recnb.precision(three_shown, two_liked, k=k)) for k in (1, 2, 3)]
at_hits = [at_each[0], at_each[2]]
ap = recnb.average_precision(three_shown, two_liked, k=3)

assert abs(ap - sum(at_hits) / len(two_liked)) < 1e-12
assert round(ap, 4) == 0.8333
assert round(sum(at_each) / 3, 4) == 0.7222
print("precision at 1, 2, 3:             ", *(f"{one:.4f}" for one in at_each))
print(f"mean over all three depths:        {sum(at_each) / 3:.4f}")
print(f"mean over the depths with a hit:   {ap:.4f}, which is AP@3")

# %% [markdown]
# ## Claim: recommender systems belong to unsupervised learning
#
# **Too sweeping.** In supervised learning the answers to be predicted, the *labels*, are given for training. A model trained
# on ratings or clicks is trained on labels. Here the stars that one user gave to four films teach a linear model how many
# this user would give to a fifth:

# %% tags=["claim-unsupervised"]
films = pd.DataFrame(
    {"comedy": [1.0, 1.0, 0.0, 0.5], "action": [0.0, 0.5, 1.0, 1.0], "stars (the label)": [4.0, 4.5, 1.0, 3.0]},
    index=["film 1", "film 2", "film 3", "film 4"],
)
features, labels = films[["comedy", "action"]].to_numpy(), films["stars (the label)"].to_numpy()
weights = np.linalg.lstsq(features, labels, rcond=None)[0]
predicted = np.array([0.8, 0.2]) @ weights

assert np.abs(weights - [4, 1]).max() < 1e-9
print(f"learned from the labels: stars = {weights[0]:.1f} × comedy + {weights[1]:.1f} × action")
print(f"film 5, comedy 0.8 and action 0.2: {predicted:.1f} stars")
films

# %% [markdown]
# Other recommenders do without labels, such as one that groups items by their descriptions. Precision and recall can be
# computed of either: they compare lists with what users liked.
