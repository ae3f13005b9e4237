# %% [markdown]
# # DCG and NDCG
#
# **The question: how good is the order of a list, when some items are better than others and the top is seen most?**
#
# Every item has a *relevance* (관련도), a grade of how good it is. *Discounted cumulative gain* (DCG, 할인 누적 이득) adds the
# grades up and lets them count less the further down they stand. Divided by what the best order would earn, the *ideal
# DCG* (IDCG, 이상적 DCG), it is *normalized* (정규화): NDCG, 1 for a perfect order.
#
# Four articles work these out by hand: 「정보 처리, 랭킹 예측에서의 모델 평가를 어떻게 할까?」, 「추천 시스템 평가지표 5. DCG」,
# 「추천 서비스 정량적 평가지표 4가지」 and 「추천 Ranking 알고리즘 관련 metric :: NDCG」. We retrace every figure, find two
# misprints, and test four claims.

# %%
from math import e, log2

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import display
from worked import compare

import recnb

# %% [markdown]
# ## The discount
#
# At rank i a grade is divided by log2(1 + i): by 1 at the top, by 2 at rank 3, by 3 at rank 7. What is left of it falls
# fast at first, and then hardly at all.

# %%
ranks = range(1, 21)
left = [1 / log2(1 + rank) for rank in ranks]

fig, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
ax.vlines(ranks, 0, left, color="0.75", linewidth=1.5)
ax.plot(ranks, left, "o", color="#0b6e99", markersize=5)
for rank in (1, 2, 3, 7, 15):
    ax.annotate(f"{left[rank - 1]:.2f}", (rank, left[rank - 1]), xytext=(4, 5), textcoords="offset points")
ax.set(xlabel="rank i", ylabel="1 / log2(1 + i)", xticks=[1, 2, 3, 5, 7, 10, 15, 20], ylim=(0, 1.12))
ax.spines[["top", "right"]].set_visible(False)

assert left[0] == 1
assert left[2] == 1 / 2
assert left[6] == 1 / 3
print("rank: what is left", *(f"{rank}: {left[rank - 1]:.4f}" for rank in (1, 2, 3, 7, 10, 15, 20)), sep="   ")

# %% [markdown]
# ## Six documents
#
# Six documents were shown, with grades 3, 2, 3, 0, 1, 2 from the top down. CG is their plain sum; for DCG each grade is
# divided by its discount. This is the article's table, one row for each rank:
#
# <small>worked: ndcg-six-documents</small>

# %% tags=["ndcg-six-documents"]
grades = [3, 2, 3, 0, 1, 2]
terms = pd.DataFrame({"rel_i": grades}, index=pd.RangeIndex(1, 7, name="i"))
terms["log2(i+1)"] = [log2(i + 1) for i in terms.index]
terms["rel_i / log2(i+1)"] = terms["rel_i"] / terms["log2(i+1)"]
display(terms.round(3))

six = {"CG": recnb.cg(grades), "DCG": recnb.dcg(grades), "IDCG": recnb.idcg(grades), "NDCG": recnb.ndcg(grades)}

best = 3 / log2(2) + 3 / log2(3) + 2 / log2(4) + 2 / log2(5) + 1 / log2(6) + 0 / log2(7)
assert six["CG"] == 11
assert abs(six["DCG"] - terms["rel_i / log2(i+1)"].sum()) < 1e-12
assert abs(six["IDCG"] - best) < 1e-12
assert abs(six["NDCG"] - six["DCG"] / best) < 1e-12
compare({"CG": 11, "DCG": 6.861, "IDCG": 7.141, "NDCG": 0.961}, six, digits=3)

# %% [markdown]
# The same by `explain`: first the list, then the ideal one, which is the same grades from the best down.

# %%
recnb.explain("ndcg", grades, k=6)

# %% [markdown]
# DCG sees order and CG does not. Move the third document, a 3, below the fourth, a 0:

# %%
moved = [3, 2, 0, 3, 1, 2]

assert recnb.cg(moved) == recnb.cg(grades)
assert abs(recnb.dcg(grades) - recnb.dcg(moved) - 3 * (1 / log2(4) - 1 / log2(5))) < 1e-12
compare({"CG": 11, "DCG": 6.653}, {"CG": recnb.cg(moved), "DCG": recnb.dcg(moved)}, digits=3)

# %% [markdown]
# ## A list and its judged items
#
# In a recommender grades do not come with the list; they belong to items, and the list may not hold all of them. Five
# items are judged here, and three are recommended. (An item that nobody judged counts 0.)
#
# <small>worked: dcg-1</small>

# %% tags=["dcg-1"]
judged = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}
shown = ["A", "B", "C"]
dcg = recnb.dcg(shown, judged)

assert abs(dcg - (0.1 / log2(2) + 0.5 / log2(3) + 0.7 / log2(4))) < 1e-12
compare({"DCG": 0.7654648767857287}, {"DCG": dcg}, digits=12)

# %%
recnb.explain("dcg", shown, judged)

# %% [markdown]
# The ideal DCG belongs to the judged items alone; no list is needed. Grades 3, 2, 2, 1 stand in the best order already:
#
# <small>worked: idcg-1</small>

# %% tags=["idcg-1"]
idcg = recnb.idcg([3, 2, 2, 1], k=4)

assert abs(idcg - (3 / log2(2) + 2 / log2(3) + 2 / log2(4) + 1 / log2(5))) < 1e-12
compare({"IDCG@4": 5.6925}, {"IDCG@4": idcg}, digits=4)

# %% [markdown]
# And the five items from above, best first: C, then B and D, then A and E.
#
# <small>worked: idcg-2</small>

# %% tags=["idcg-2"]
idcg = recnb.idcg(judged)

assert abs(idcg - (0.7 / log2(2) + 0.5 / log2(3) + 0.5 / log2(4) + 0.1 / log2(5) + 0.1 / log2(6))) < 1e-12
compare({"IDCG": 1.3472178133165222}, {"IDCG": idcg}, digits=12)

# %% [markdown]
# ## How far down does the ideal list reach?
#
# With DCG 0.7655 and IDCG 1.3472 one expects an NDCG of 0.5682. The article prints 0.6049:
#
# <small>worked: ndcg-1</small>

# %% tags=["ndcg-1"]
ndcg = recnb.ndcg(shown, judged)
ideal_of_three = recnb.idcg(judged, k=3)
ideal_of_five = recnb.idcg(judged)

assert abs(ndcg - dcg / ideal_of_three) < 1e-12
display(compare({"NDCG": 0.6048882832133625}, {"NDCG": ndcg}, digits=12))
pd.DataFrame(
    {"DCG": dcg, "IDCG": [ideal_of_three, ideal_of_five], "DCG / IDCG": [dcg / ideal_of_three, dcg / ideal_of_five]},
    index=["ideal cut at 3, as the list is", "ideal of all five judged items"],
).round(4)

# %% [markdown]
# No misprint: two conventions. A list of three cannot hold five items, so its ideal is cut at three as well, and a perfect
# list of three scores 1: so the article computes it, and so do recnb and most libraries. Against all five the best list
# of three would stay below 1.

# %%
recnb.explain("ndcg", shown, judged)

# %% [markdown]
# The ideal is cut for each list at its own length. In the mean over two cases, one is cut at three and one at five:
#
# <small>worked: mean-ndcg-1</small>

# %% tags=["mean-ndcg-1"]
lists = [["A", "B", "C"], ["D", "A", "C", "B", "E"]]
mean_ndcg = recnb.ndcg(lists, [judged, judged])

second = 0.5 / log2(2) + 0.1 / log2(3) + 0.7 / log2(4) + 0.5 / log2(5) + 0.1 / log2(6)
assert abs(mean_ndcg - (dcg / ideal_of_three + second / ideal_of_five) / 2) < 1e-12
compare({"mean NDCG": 0.7356022113638424}, {"mean NDCG": mean_ndcg}, digits=12)

# %%
mean_ndcg.per_user.round(4).to_frame()

# %% [markdown]
# ## Four users, and a misprint
#
# Now from ratings: a row for each user, with the rated items and the list. DCG, IDCG and NDCG of all four come from
# `df.rec`.
#
# <small>worked: ndcg-users</small>

# %% tags=["ndcg-users"]
users = pd.DataFrame(
    {
        "user": ["사용자1", "사용자2", "사용자3", "사용자4"],
        "relevant": [{"A": 5, "B": 3}, {"C": 5}, {"A": 2, "D": 1}, {"B": 5, "C": 4, "D": 3}],
        "recommended": [["D", "A", "B", "C"], ["C", "D", "A", "B"], ["D", "B", "C", "A"], ["A", "C", "B", "D"]],
    }
)
ev = users.rec.evaluation()
ours = pd.DataFrame({"DCG": ev.dcg().per_user, "IDCG": ev.idcg().per_user, "NDCG": ev.ndcg().per_user})

display(users.set_index("user"))
sums = {name: [ev.explain(name.lower(), user).numbers for user in ev.users] for name in ("DCG", "IDCG")}
display(pd.DataFrame(sums, index=ev.users).assign(NDCG=ours["NDCG"].round(4)))

by_hand = (5 / log2(1 + 2) + 3 / log2(1 + 3)) / (5 / log2(1 + 1) + 3 / log2(1 + 2))
assert abs(ours.loc["사용자1", "NDCG"] - by_hand) < 1e-12
assert abs(ev.ndcg() - ours["NDCG"].sum() / 4) < 1e-12

printed = pd.DataFrame(
    {
        "DCG": [4.6546, 5.0, 1.8614, 6.3157],
        "IDCG": [6.8928, 5.0, 2.6309, 9.0237],
        "NDCG": [0.6953, 1.0, 0.7075, 0.6999],
    },
    index=users["user"],
)
misprint = "4.6546 / 6.8928 = 0.6753"
compare(
    {**{f"{name} {user}": printed.loc[user, name] for name in printed for user in printed.index}, "mean NDCG": 0.7707},
    {**{f"{name} {user}": ours.loc[user, name] for name in ours for user in printed.index}, "mean NDCG": ev.ndcg()},
    digits=4,
    note={"NDCG 사용자1": misprint},
)

# %% [markdown]
# For 사용자1 a 9 stands where a 7 belongs: the DCG and IDCG beside it give 0.6753. Is it our error or the article's? Its own
# mean decides, for that was printed too:

# %%
with_printed = printed["NDCG"].mean()
with_ours = printed["NDCG"].replace(0.6953, 0.6753).mean()

assert round(with_ours, 4) == 0.7707 != round(with_printed, 4)
print(f"mean with 0.6953: {with_printed:.4f}")
print(f"mean with 0.6753: {with_ours:.4f}, and the article prints 0.7707")

# %%
ev.explain("ndcg", "사용자1")

# %% [markdown]
# ## Three grades, and another misprint
#
# Grades 3, 2, 1 are in the best order, so DCG and IDCG are equal and NDCG is 1. The article agrees on that, but prints
# 4.5 for both sums: it puts the second term at 1.0, as if a 2 at rank 2 were divided by log2(4).
#
# <small>worked: dcg-three</small>

# %% tags=["dcg-three"]
three = {"DCG": recnb.dcg([3, 2, 1]), "IDCG": recnb.idcg([3, 2, 1]), "NDCG": recnb.ndcg([3, 2, 1])}

assert abs(three["DCG"] - (3 / log2(2) + 2 / log2(3) + 1 / log2(4))) < 1e-12
assert 3 / log2(2) + 2 / log2(4) + 1 / log2(4) == 4.5
parts = {"printed": [3.0, 1.0, 0.5], "is": [3 / log2(2), 2 / log2(3), 1 / log2(4)]}
display(pd.DataFrame(parts, index=["3 / log2(2)", "2 / log2(3)", "1 / log2(4)"]).round(4))
why = "2 / log2(3) is 1.2619, not 1.0"
compare({"DCG": 4.5, "IDCG": 4.5, "NDCG": 1.0}, three, digits=4, note={"DCG": why, "IDCG": why})

# %% [markdown]
# DCG and IDCG are one and the same sum here, so an error in it cannot show in their ratio. A right NDCG does not prove the
# figures under it.
#
# ## Claim: with grades of 0 and 1 both kinds of gain agree
#
# Some count 2^rel − 1 instead of rel, so that a 3 is worth 7 and a 1 still 1: `gain="exponential"`. One article says that
# this makes no difference if relevance is only 0 or 1. **True**: 2^0 − 1 = 0 and 2^1 − 1 = 1.
#
# <small>worked: claim-binary-forms</small>

# %% tags=["claim-binary-forms"]
binary = [1, 0, 1, 1, 0]
graded = [3, 2, 3, 0, 1, 2]
forms = pd.DataFrame(
    {gain: [recnb.dcg(binary, gain=gain), recnb.dcg(graded, gain=gain)] for gain in ("linear", "exponential")},
    index=[f"DCG of {binary}", f"DCG of {graded}"],
)

assert forms.loc[f"DCG of {binary}", "linear"] == forms.loc[f"DCG of {binary}", "exponential"]
by_hand = sum((2**rel - 1) / log2(1 + i) for i, rel in enumerate(graded, 1))
assert abs(forms.loc[f"DCG of {graded}", "exponential"] - by_hand) < 1e-12
forms.round(4)

# %% [markdown]
# ## Claim: the base of the logarithm matters only for exponential gain
#
# The same article: another base leaves linear NDCG as it is, but changes the exponential one. **First half true, second
# half false.** Another base multiplies *every* discount by one constant. The gain has nothing to do with it, and the
# constant cancels in DCG / IDCG.
#
# <small>worked: claim-log-base</small>

# %% tags=["claim-log-base"]
bases = {"base 2": 2, "base e": e, "base 10": 10}
by_base = pd.DataFrame(
    {
        name: {
            "DCG, linear": recnb.dcg(graded, log_base=base),
            "DCG, exponential": recnb.dcg(graded, gain="exponential", log_base=base),
            "NDCG, linear": recnb.ndcg(graded, log_base=base),
            "NDCG, exponential": recnb.ndcg(graded, gain="exponential", log_base=base),
        }
        for name, base in bases.items()
    }
)

ratio = by_base.div(by_base["base 2"], axis=0)
assert (abs(ratio["base e"] - [log2(e), log2(e), 1, 1]) < 1e-12).all()
assert (abs(ratio["base 10"] - [log2(10), log2(10), 1, 1]) < 1e-12).all()
assert round(by_base.loc["NDCG, exponential", "base 2"], 6) == 0.948811
by_base.round(6)

# %% [markdown]
# DCG does change with the base, so a DCG without its base says little.
#
# ## Claim: DCG lies between 0 and 1
#
# A summary gives *DCG & NDCG* the range 0 to 1. **True of NDCG, false of DCG**, by the article's own table:
#
# <small>worked: claim-dcg-range</small>

# %% tags=["claim-dcg-range"]
ranges = pd.DataFrame({"DCG": ev.dcg().per_user, "NDCG": ev.ndcg().per_user})

assert ranges["NDCG"].between(0, 1).all()
assert not ranges["DCG"].between(0, 1).any()
assert round(ranges.loc["사용자4", "DCG"], 4) == 6.3157
ranges.agg(["min", "max"]).round(4)

# %% [markdown]
# ## Claim: IDCG is never below DCG, and DCG never negative
#
# **True, if no grade is negative and both are cut at the same depth.** Take away either condition and it breaks. First the
# depth: a good list of five, against ideals that end further and further up.
#
# <small>worked: claim-idcg-bound</small>

# %% tags=["claim-idcg-bound"]
five = ["C", "B", "D", "A", "E"]
whole = recnb.dcg(five, judged)
bound = pd.DataFrame({"DCG": whole, "IDCG": {f"ideal cut at {k}": recnb.idcg(judged, k=k) for k in (5, 3, 1)}})
bound["DCG / IDCG"] = bound["DCG"] / bound["IDCG"]
display(bound.round(4))

for k in (1, 2, 3, 4, 5):
    assert 0 <= recnb.dcg(shown, judged, k=k) <= recnb.idcg(judged, k=k)
    assert 0 <= recnb.ndcg(five[::-1], judged, k=k) <= 1
assert whole > recnb.idcg(judged, k=3)
assert whole <= recnb.idcg(judged)

# A grade below 0, by hand: one disliked item, shown at the top or not at all.
shown_dcg, not_shown_dcg, ideal_dcg = -1 / log2(2), 0 / log2(2), -1 / log2(2)
assert shown_dcg < 0
assert ideal_dcg < not_shown_dcg
print(f"one item of grade -1: DCG is {shown_dcg:g} if it is shown, and {not_shown_dcg:g} if not; IDCG is {ideal_dcg:g}")

try:
    recnb.ndcg(["A", "B"], {"A": -1, "B": 2})
except recnb.errors.RecnbError as refused:
    print("recnb:", refused)
else:
    raise AssertionError("a negative grade went through")

# %% [markdown]
# recnb cuts both lists at the same depth and refuses negative grades, so its NDCG is always between 0 and 1.
#
# ## To take along
#
# - Say the gain (linear or exponential) and where the ideal is cut; two NDCGs that differ in these are not comparable.
# - The base of the logarithm matters for DCG alone.
# - When a printed number looks wrong, divide: the figures beside it usually tell.
