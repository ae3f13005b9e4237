# %% [markdown]
# # Playground
#
# **The question: what moves which metric?**
#
# Precision, recall, average precision (AP) and nDCG are computed from the same list and depend on different things in it.
# ([02](02_precision_recall.ipynb), [03](03_hit_rate_rr_ap.ipynb) and [04](04_dcg_ndcg.ipynb) explain them; read those first.) Here you
# move one thing at a time and watch which of them changes. Six experiments, and after each of them one sentence that you
# should be able to say, and to defend.
#
# In a running notebook, drag the items, or focus one and press Alt with an arrow key; take the missed one into the list, or
# put one out; change how relevant an item is, where the list is cut (k), and how a grade becomes a gain. What the last step
# did is written out term by term. Where no kernel runs, the same place shows the list as it starts.
# `recnb.playground(..., lang="ko")` shows all of it in Korean.

# %%
import recnb

SHOWN = ["A", "B", "C", "D", "E", "F"]
RELEVANT = {"A": 2, "C": 3, "E": 1, "G": 2}

recnb.playground(SHOWN, RELEVANT, k=4)

# %% [markdown]
# The experiments below do with a line of code what you can do by hand above. Each begins with the list as it was: A (2), B,
# C (3), D, E (1), F, cut at k = 4, and G (2) was not recommended.


# %%
def fresh():
    return recnb.playground(SHOWN, RELEVANT, k=4)


def told(play):
    """What the last step did to each metric."""
    print(play.sentence())
    return play.table().round(4).set_axis(["before", "now", "change"], axis="columns")


# %% [markdown]
# ## 1. A hit moves up, within the first k
#
# C, the best item, passes B, a miss: from rank 3 to rank 2. The first four places hold the same items as before.

# %%
play = fresh()
play.move("C", 2)
told(play)

# %%
change = play.table().change  # claim
assert change["precision"] == change["recall"] == 0
assert change["average_precision"] > 0
assert change["ndcg"] > 0

# %% [markdown]
# > **Say:** *Precision and recall count the hits in the first k places; AP and nDCG also depend on their ranks.*
#
# ## 2. A hit crosses the line
#
# E stands at rank 5, just below the cut. One step up, and D is below instead.

# %%
play = fresh()
play.move("E", 4)
told(play)

# %%
change = play.table().change  # claim
assert (change > 0).all()
assert abs(change["precision"] - 1 / 4) < 1e-12
assert abs(change["recall"] - 1 / 4) < 1e-12

# %% [markdown]
# Precision gained one of k places and recall one of four relevant items; that both are a quarter is an accident of k = 4.
#
# It matters what the hit displaces. In the list A (2), B (1), C (3) every item is a hit. Cut at 2, C passes B, and the first two
# places hold two hits as before: only nDCG changes.

# %%
all_hits = recnb.playground(["A", "B", "C"], {"A": 2, "B": 1, "C": 3}, k=2)
all_hits.move("C", 2)
told(all_hits)

# %%
change = all_hits.table().change  # claim
assert (change[["precision", "recall", "average_precision"]] == 0).all()
assert change["ndcg"] > 0

# %% [markdown]
# > **Say:** *What the list holds below rank k does not count. A hit that displaces a miss across the line moves all four.*
#
# ## 3. Two hits of different grade change places
#
# A (2) and C (3) swap. Where there are hits stays as it was.

# %%
play = fresh()
play.change(order=["C", "B", "A", "D", "E", "F"])
told(play)

# %%
change = play.table().change  # claim
assert (change[["precision", "recall", "average_precision"]] == 0).all()
assert abs(change["ndcg"] - (1 - 1 / 2) * (3 - 2) / recnb.idcg([3, 2, 2, 1], k=4)) < 1e-12

# %% [markdown]
# > **Say:** *For AP an item is relevant or not; for nDCG it also matters how much.*
#
# ## 4. The list is cut elsewhere
#
# Nothing moves, only k does: here is every metric of the same list at each cut-off.

# %%
import pandas as pd

play = fresh()
rows = {}
for k in range(1, 7):
    play.change(k=k)
    rows[k] = play.table().now
by_k = pd.DataFrame(rows).T.rename_axis("k")
by_k.round(4)

# %%
assert by_k["recall"].is_monotonic_increasing
assert by_k["average_precision"].is_monotonic_increasing
assert not by_k["precision"].is_monotonic_decreasing
assert not by_k["ndcg"].is_monotonic_increasing
assert by_k.loc[3, "precision"] > by_k.loc[2, "precision"]

# %% [markdown]
# With a larger k recall never falls, nor does this AP, whose denominator is all relevant items. Precision goes down at each
# miss unless it is 0 already, and up at each hit unless it is 1 already. nDCG goes both ways as well: with a larger k the
# list may earn more, and the ideal list too.
#
# > **Say:** *A number without its k says nothing; and nDCG@10 is not "more" than nDCG@5.*
#
# ## 5. What a grade is worth
#
# A grade of 3 earns 3 with a linear gain and 2³ − 1 = 7 with an exponential one.

# %%
play = fresh()
play.change(gain="exponential")
told(play)

# %%
table = play.table()  # claim
linear, exponential = (recnb.ndcg(SHOWN, RELEVANT, k=4, gain=gain) for gain in ("linear", "exponential"))  # claim
assert table.before["ndcg"] == linear
assert table.now["ndcg"] == exponential
assert table.change["average_precision"] == 0

top = fresh()
top.move("C", 1)
rise = top.table().change["ndcg"]
top.reset()
top.change(gain="exponential")
top.move("C", 1)
steeper = top.table().change["ndcg"]
assert steeper > rise
print(f"C to the top: nDCG {rise:+.4f} with linear gain, {steeper:+.4f} with exponential gain")

# %% [markdown]
# > **Say:** *The exponential gain is for those who want the best item on top above all; two papers that chose differently
# > cannot be compared.*
#
# ## 6. The list stays, the truth changes
#
# G was never recommended. Suppose its user comes to love it: its grade goes from 2 to 5. No item of the list is touched.

# %%
play = fresh()
play.change(relevance={"G": 5})
told(play)

# %%
change = play.table().change  # claim
assert (change[["precision", "recall", "average_precision"]] == 0).all()
assert change["ndcg"] < 0

# %% [markdown]
# And if it turns out that nobody wanted G at all:

# %%
play = fresh()
play.change(relevance={"G": 0})
told(play)

# %%
change = play.table().change  # claim
assert change["precision"] == 0
assert (change[["recall", "average_precision", "ndcg"]] > 0).all()

# %% [markdown]
# > **Say:** *Recall, AP and nDCG measure a list against what it could have held: what was missed moves
# > them, not only what was shown.*
#
# ## Check yourself
#
# `recnb.quiz` draws a list, asks for a number, and recognises common mistakes. In a running notebook there is a box to
# answer in. Here is one, answered with a common mistake: rank i discounted by log2(i) instead of log2(i + 1).

# %%
q = recnb.quiz("dcg", seed=26)
q

# %%
q.check("3.8928")

# %% [markdown]
# Work it out; this cell shows the solution:

# %%
q.check(q.value)

# %%
assert q.check(q.value)
assert not q.check("3.8928")
assert q.grade(q.value) == 1

# %% [markdown]
# Other metrics and seeds draw other lists: `recnb.quiz("ndcg", seed=5)`.
#
# Next: [06](06_whose_number.ipynb), where two libraries disagree on the same lists. ([05](05_only_hits_count.ipynb), on why
# recnb is fast, is optional.)
