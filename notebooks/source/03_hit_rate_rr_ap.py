# %% [markdown]
# # Hit rate, reciprocal rank, average precision
#
# **The question: did users find something they like, and how far down did they have to look?**
#
# Precision does not depend on the order within the first k places. The three metrics of this notebook lead from the one that ignores order to the
# one that uses all of it:
#
# - *Hit rate* (적중률): is there any hit in the first k places? 1 if so, 0 if not.
# - *Reciprocal rank* (역순위): at which rank is the first hit? One over that rank, and 0 without a hit.
# - *Average precision* (평균 정밀도): at which ranks are all of them? At each hit, the precision down to it; the sum of
#   these, divided by the number of liked items.
#
# $$\text{RR} = \frac{1}{\text{rank of the first hit}}
# \qquad
# \text{AP} = \frac{1}{\text{number of liked items}} \sum_{\text{hits}} \frac{\text{hits down to this rank}}{\text{rank}}$$
#
# RR@k and AP@k look at the first k places alone. The denominator of AP@k is still the number of *all* liked items, also
# those below place k and those that are not in the list.
#
# Each has a value for every user. The means over users are HR, MRR (*mean* reciprocal rank) and MAP (*mean* average
# precision).
#
# The tables are those of 「추천 서비스 정량적 평가지표 4가지」, an article on four metrics with four users (사용자) and four
# items.

# %%
import pandas as pd

import recnb

frame = pd.DataFrame(
    {
        "user": ["사용자1", "사용자2", "사용자3", "사용자4"],
        "relevant": [["A", "B"], ["C"], ["A", "D"], ["B", "C", "D"]],
        "recommended": [["D", "A", "B", "C"], ["C", "D", "A", "B"], ["D", "B", "C", "A"], ["A", "C", "B", "D"]],
    }
)
frame

# %% [markdown]
# A row holds a user's whole list, best first, and what the user likes, most liked first.
#
# ## One list, by hand
#
# 사용자4 is shown A, C, B, D and likes B, C and D. Go down the list, count the hits, and divide the count by the rank:

# %%
shown, liked = ["A", "C", "B", "D"], ["B", "C", "D"]

rows, fractions, total = [], [], 0
for rank, item in enumerate(shown, 1):
    if item in liked:
        n_hits = len(fractions) + 1
        fractions.append(f"{n_hits}/{rank}")
        total += n_hits / rank
        rows.append((rank, item, "yes", n_hits, fractions[-1]))
    else:
        rows.append((rank, item, "no", len(fractions), ""))
ap = total / len(liked)

display(pd.DataFrame(rows, columns=["rank", "item", "liked?", "hits so far", "hits so far / rank"]).set_index("rank"))
print("hit rate:          1, there is a hit")
print("reciprocal rank:   1 / 2 = 0.5")
print(f"average precision: ({' + '.join(fractions)}) / {len(liked)} = {total:.4f} / {len(liked)} = {ap:.4f}")

# %% [markdown]
# The first hit is at rank 2: one hit in two places, 1/2. The second is at rank 3: 2/3. The third is at rank 4: 3/4. A liked
# item that is missing from the list adds nothing above the line and is still counted below it.
#
# ## The same with recnb
#
# A function for each metric takes a list and what is liked. `explain` shows the same rows and the division. Where an output
# says *relevant item*, it means a liked one: whatever its relevance, 1 or 3, it counts as one here.

# %%
assert recnb.hit_rate(shown, liked) == 1
assert recnb.reciprocal_rank(shown, liked) == 1 / 2
assert abs(recnb.average_precision(shown, liked) - (1 / 2 + 2 / 3 + 3 / 4) / 3) < 1e-12
recnb.explain("average_precision", shown, liked)

# %% [markdown]
# For many users, `frame.rec` takes the frame, and each metric is the mean over users; `.per_user` has the value of each.
# Hit rate is lenient: one hit is enough. Cut at the first place, it shows that two of the four lists begin with a miss.

# %%
hr_at_1 = frame.rec.hit_rate(k=1)

assert hr_at_1 == 2 / 4
hr_at_1

# %% [markdown]
# ## Your turn
#
# Work out the average precision of this list on paper, and type it into the box, or into `check`. An answer may be a
# fraction, as in `q.check("3/4")`. The answer below is a common mistake.

# %%
q = recnb.quiz("average_precision", seed=8, k=4)
q

# %%
q.check("0.8056")

# %% [markdown]
# `recnb.quiz("reciprocal_rank", seed=1)` and `recnb.quiz("hit_rate", seed=1)` ask for the other two, at the k that
# the question says.
#
# ## Reciprocal rank, and whose rank
#
# The rank of *which* item? The article has two answers. Where the liked items have an order, it looks for the favourite,
# the one listed first: `target="preferred"`. (*Printed* is what the article prints.)

# %% tags=["rr-ordered"]
ordered = frame.rec.reciprocal_rank(target="preferred")
favourites = [liked[0] for liked in frame["relevant"]]
ranks = [shown.index(item) + 1 for shown, item in zip(frame["recommended"], favourites, strict=True)]

assert ordered.per_user.tolist() == [1 / rank for rank in ranks] == [1 / 2, 1 / 1, 1 / 4, 1 / 3]
assert abs(ordered - (1 / 2 + 1 / 1 + 1 / 4 + 1 / 3) / 4) < 1e-12
display(frame.assign(favourite=favourites, rank=ranks, RR=[f"1/{rank}" for rank in ranks]).set_index("user"))
printed = {"사용자1": 0.5, "사용자2": 1.0, "사용자3": 0.25, "사용자4": 0.3333, "MRR": 0.5208}
pd.DataFrame({"printed": printed, "recnb": {**ordered.per_user, "MRR": ordered}}).astype(float).round(4)

# %% [markdown]
# Where they have none, any liked item will do, and the first one in the list counts. This is the reciprocal rank of the
# literature and recnb's default.

# %% tags=["rr-unordered"]
unordered = frame.rec.reciprocal_rank()
ranks = [
    next(rank for rank, item in enumerate(shown, 1) if item in liked)
    for shown, liked in zip(frame["recommended"], frame["relevant"], strict=True)
]

assert unordered.per_user.tolist() == [1 / rank for rank in ranks] == [1 / 2, 1 / 1, 1 / 1, 1 / 2]
assert unordered == (1 / 2 + 1 / 1 + 1 / 1 + 1 / 2) / 4
display(frame.assign(rank=ranks, RR=[f"1/{rank}" for rank in ranks]).set_index("user"))
printed = {"사용자1": 0.5, "사용자2": 1.0, "사용자3": 1.0, "사용자4": 0.5, "MRR": 0.75}
pd.DataFrame({"printed": printed, "recnb": {**unordered.per_user, "MRR": unordered}}).astype(float).round(4)

# %% [markdown]
# 사용자3 and 사용자4 make the difference. For 사용자3, D is liked and at the top, but the favourite is A, and A comes last. In the formula,
# *preferred* is 1 for the favourite and 0 for any other item, so that the sum is 1 / 4.

# %%
frame.rec.explain("reciprocal_rank", "사용자3", target="preferred")

# %% [markdown]
# ## Average precision of all four
#
# The article adds the terms in the order in which the items are liked, so its sum for 사용자4 reads
# (2/3 + 1/2 + 3/4) / 3; recnb goes down the list. The sum is the same.

# %% tags=["ap-map"]
average_precision = frame.rec.average_precision()
by_hand = [(1 / 2 + 2 / 3) / 2, (1 / 1) / 1, (2 / 4 + 1 / 1) / 2, (2 / 3 + 1 / 2 + 3 / 4) / 3]

assert (average_precision.per_user - by_hand).abs().max() < 1e-12
assert abs(average_precision - sum(by_hand) / 4) < 1e-12
sums = [frame.rec.explain("average_precision", user).numbers for user in frame["user"]]
display(frame.assign(AP=sums).set_index("user"))
printed = {"사용자1": 0.5833, "사용자2": 1.0, "사용자3": 0.75, "사용자4": 0.6389, "MAP": 0.7431}
pd.DataFrame({"printed": printed, "recnb": {**average_precision.per_user, "MAP": average_precision}}).astype(
    float
).round(4)

# %% [markdown]
# ## Side by side
#
# The three metrics at each cut-off, from the one that ignores order to the one that uses all of it. Along a row none of them
# falls: a deeper cut finds as much or more.

# %%
table = frame.rec.table(["hit_rate", "reciprocal_rank", "average_precision"], k=[1, 2, 3, 4])

assert table.loc["average_precision", 4] == average_precision
assert table.loc["reciprocal_rank", 4] == unordered
table

# %% [markdown]
# ## To take along
#
# - *Did they find anything?* Hit rate. Say whether it is a share of users or of items.
# - *How soon?* Reciprocal rank. Say whether it is the first liked item or the favourite.
# - *How well are all of them placed?* Average precision. It takes every liked item for equally good; grades of
#   liking are the next notebook: [04](04_dcg_ndcg.ipynb).
#
# The rest is for the curious: three statements of the article, put to the test.
#
# ## Claim: hit rate is a share of items
#
# **A naming matter.** The article's hit rate counts the items that are both liked and recommended, and divides by the number
# *liked* or, more usually, by the number *recommended*. Those have other names: recall (재현율) and precision (정밀도). What
# the literature calls hit rate, HR@k, is the share of *users* with at least one hit. The same lists, cut at 2:

# %% tags=["claim-hit-rate"]
k = 2
both = pd.Series([len(set(row.relevant) & set(row.recommended[:k])) for row in frame.itertuples()])

assert (frame.rec.recall(k=k).per_user.to_numpy() == both / frame["relevant"].map(len)).all()
assert (frame.rec.precision(k=k).per_user.to_numpy() == both / k).all()
assert (frame.rec.hit_rate(k=k).per_user.to_numpy() == (both > 0)).all()

three = frame.set_index("user")
three["both / liked"] = [f"{n}/{len(liked)}" for n, liked in zip(both, frame["relevant"], strict=True)]
three["both / recommended"] = [f"{n}/{k}" for n in both]
three["any hit"] = ["yes" if n else "no" for n in both]
display(three)
means = {
    "recall@2: of what is liked, the share shown": frame.rec.recall(k=k),
    "precision@2: of what was shown, the share liked": frame.rec.precision(k=k),
    "HR@2: of the users, the share with a hit": frame.rec.hit_rate(k=k),
}
pd.Series(means, name="mean over users").astype(float).round(4).to_frame()

# %% [markdown]
# 0.58, 0.5 and 1 from the same lists. None of them is wrong, but a figure called hit rate is of little use unless it is clear
# which of them it is. In recnb each has its own name: `recall`, `precision`, `hit_rate`.
#
# ## Claim: hit rate is the share of the liked items that are recommended
#
# **At odds with the article's own text.** So says its summary table, and that is recall. The text gives both forms, and says that
# dividing by the number recommended, which is precision, is the more usual one. Of the same list, cut at 2, they differ for 사용자2 and 사용자4:

# %% tags=["claim-hit-rate-twice"]
two_forms = pd.DataFrame(
    {
        "as in the table: both / liked": frame.rec.recall(k=2).per_user,
        "as in the text: both / recommended": frame.rec.precision(k=2).per_user,
    }
)

assert two_forms.loc["사용자2"].tolist() == [1, 1 / 2]
assert (two_forms.nunique(axis="columns") > 1).tolist() == [False, True, False, True]
two_forms.round(4)

# %% [markdown]
# ## Claim: without a limit on the length of the list, hit rate would look like a perfect 100 %
#
# **True of recall, and of the hit rate of the literature; false of precision.** A list that shows everything holds all that is
# liked, so recall is 1, and so is the share of users with a hit, as long as each of them likes something. Out of what was shown, that is
# little. Twenty items, two of them liked:

# %% tags=["claim-unlimited-list"]
everything, both_liked = list(range(1, 21)), [7, 15]
directions = {
    "liked and shown / liked (recall)": recnb.recall(everything, both_liked),
    "liked and shown / shown (precision)": recnb.precision(everything, both_liked),
    "any hit (hit rate)": recnb.hit_rate(everything, both_liked),
}

assert list(directions.values()) == [2 / 2, 2 / 20, 1]
pd.Series(directions, name="20 shown, 2 liked").astype(float).to_frame()

# %% [markdown]
# This is why lists are cut at k: not to be rewarded for showing more, and because users look at the first places only.
