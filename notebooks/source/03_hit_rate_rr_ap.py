# %% [markdown]
# # Hit rate, reciprocal rank, average precision
#
# **The question: did users find something they like, and how far down did they have to look?**
#
# Precision does not see the order of a list. The three metrics of this notebook lead from no order to all of it:
# *hit rate* (적중률) asks whether anything was found, *reciprocal rank* (역순위) where the first find stands, *average
# precision* (평균 정밀도) where all of them stand.
#
# The tables are those of 「추천 서비스 정량적 평가지표 4가지」, an article on four metrics with four users (사용자) and four
# items.

# %%
import pandas as pd
from IPython.display import display
from worked import compare

import recnb

frame = pd.DataFrame(
    {
        "user": ["사용자1", "사용자2", "사용자3", "사용자4"],
        "liked": [["A", "B"], ["C"], ["A", "D"], ["B", "C", "D"]],
        "recommended": [["D", "A", "B", "C"], ["C", "D", "A", "B"], ["D", "B", "C", "A"], ["A", "C", "B", "D"]],
    }
)
frame

# %% [markdown]
# A row holds a user's whole list, best first, and what the user likes, most liked first. That is all `frame.rec` needs.
#
# To see where numbers come from, this function puts each user's fraction, written out by `explain`, beside the row.


# %%
def written_out(metric, k=None, **options):
    """The frame with the metric of each user: the fraction, and its value."""
    told = [frame.rec.explain(metric, user, k=k, **options) for user in frame["user"]]
    fractions, values = [one.numbers.split(" = ")[0] for one in told], [round(one.value, 4) for one in told]
    return frame.assign(fraction=fractions, value=values).set_index("user")


# %% [markdown]
# ## Three things called hit rate
#
# The article's hit rate counts the items that are both liked and recommended, and divides by the number *liked* or, more
# usually, by the number *recommended*. Those have other names: recall (재현율) and precision (정밀도). What the literature
# calls hit rate, HR@k, is the share of *users* with at least one hit. The same lists, cut at 2:
#
# <small>worked: claim-hit-rate</small>

# %% tags=["claim-hit-rate"]
k = 2
both = pd.Series([len(set(row.liked) & set(row.recommended[:k])) for row in frame.itertuples()])

assert (frame.rec.recall(k=k).per_user.to_numpy() == both / frame["liked"].map(len)).all()
assert (frame.rec.precision(k=k).per_user.to_numpy() == both / k).all()
assert (frame.rec.hit_rate(k=k).per_user.to_numpy() == (both > 0)).all()

three = frame.set_index("user")
three["both / liked"] = written_out("recall", k)["fraction"]
three["both / recommended"] = written_out("precision", k)["fraction"]
three["any hit"] = frame.rec.hit_rate(k=k).per_user.map({0: "no", 1: "yes"})
display(three)
means = {
    "recall@2: of what is liked, the share shown": frame.rec.recall(k=k),
    "precision@2: of what was shown, the share liked": frame.rec.precision(k=k),
    "HR@2: of the users, the share with a hit": frame.rec.hit_rate(k=k),
}
pd.Series(means, name="mean over users").astype(float).round(4).to_frame()

# %% [markdown]
# 0.58, 0.5 and 1 from the same lists. None of them is wrong; it is only wrong not to say which. In recnb each has its own
# name: `recall`, `precision`, `hit_rate`.
#
# HR@k is kind: one hit is enough. Cut at the first place, it shows that two of the four lists begin with a miss.

# %%
hr_at_1 = frame.rec.hit_rate(k=1)

assert hr_at_1 == 2 / 4
hr_at_1

# %% [markdown]
# ## Reciprocal rank, and whose rank
#
# One over the rank of an item: 1 at the top, 1/2 below it, 1/3 below that. But of *which* item? The article knows two
# answers. Where the liked items have an order, it looks for the favourite, the one listed first:
# `target="preferred"`.
#
# <small>worked: rr-ordered</small>

# %% tags=["rr-ordered"]
ordered = frame.rec.reciprocal_rank(target="preferred")
mean_by_hand = (1 / 2 + 1 / 1 + 1 / 4 + 1 / 3) / 4

assert ordered.per_user.tolist() == [1 / 2, 1 / 1, 1 / 4, 1 / 3]
assert abs(ordered - mean_by_hand) < 1e-12
display(written_out("reciprocal_rank", target="preferred"))
compare(
    {"사용자1": 0.5, "사용자2": 1.0, "사용자3": 0.25, "사용자4": 0.3333, "MRR": 0.5208},
    {**ordered.per_user, "MRR": ordered},
    digits=4,
)

# %% [markdown]
# Where they have none, any liked item will do, and the first one in the list counts. This is the reciprocal rank of the
# literature and recnb's default; its mean over users is MRR, the *mean reciprocal rank*.
#
# <small>worked: rr-unordered</small>

# %% tags=["rr-unordered"]
unordered = frame.rec.reciprocal_rank()

assert unordered.per_user.tolist() == [1 / 2, 1 / 1, 1 / 1, 1 / 2]
assert unordered == (1 / 2 + 1 / 1 + 1 / 1 + 1 / 2) / 4
display(written_out("reciprocal_rank"))
compare(
    {"사용자1": 0.5, "사용자2": 1.0, "사용자3": 1.0, "사용자4": 0.5, "MRR": 0.75},
    {**unordered.per_user, "MRR": unordered},
    digits=4,
)

# %% [markdown]
# 사용자3 makes the difference: D is liked and stands on top, but the favourite is A, and A comes last.

# %%
frame.rec.explain("reciprocal_rank", "사용자3", target="preferred")

# %% [markdown]
# ## Average precision: every hit counts
#
# Reciprocal rank stops at the first find. Average precision goes on: at the place of each liked item it takes the
# precision so far, hits up to there over rank, and averages these over all liked items. Here is the list of 사용자4, who
# likes B, C and D. (A single list needs no frame.)

# %%
recnb.explain("average_precision", ["A", "C", "B", "D"], ["B", "C", "D"])

# %% [markdown]
# The first hit stands at rank 2: one hit in two places, 1/2. The second at rank 3: 2/3. The third at rank 4: 3/4. A liked
# item that is missing from the list would add 0 and still be counted below the line. The mean over users is MAP, *mean
# average precision*.
#
# The article adds the same terms in the order in which the items are liked, so its sum for 사용자4 reads
# (2/3 + 1/2 + 3/4) / 3; recnb goes down the list.
#
# <small>worked: ap-map</small>

# %% tags=["ap-map"]
average_precision = frame.rec.average_precision()
by_hand = [(1 / 2 + 2 / 3) / 2, (1 / 1) / 1, (2 / 4 + 1 / 1) / 2, (2 / 3 + 1 / 2 + 3 / 4) / 3]

assert (average_precision.per_user - by_hand).abs().max() < 1e-12
assert abs(average_precision - sum(by_hand) / 4) < 1e-12
display(written_out("average_precision"))
compare(
    {"사용자1": 0.5833, "사용자2": 1.0, "사용자3": 0.75, "사용자4": 0.6389, "MAP": 0.7431},
    {**average_precision.per_user, "MAP": average_precision},
    digits=4,
)

# %% [markdown]
# ## Side by side
#
# One table, from blind to order to all of it. Read along the rows: the deeper the cut, the more is found.

# %%
table = frame.rec.table(["hit_rate", "reciprocal_rank", "average_precision"], k=[1, 2, 3, 4])

assert table.loc["average_precision", 4] == average_precision
assert table.loc["reciprocal_rank", 4] == unordered
table

# %% [markdown]
# - *Did they find anything?* Hit rate. Say whether it is a share of users or of items.
# - *How soon?* Reciprocal rank. Say whether it is the first liked item or the favourite.
# - *How well are all of them placed?* Average precision. It still takes every liked item for equally good; grades of
#   liking are the next notebook.
