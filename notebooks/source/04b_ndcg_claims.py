# %% [markdown]
# # More on nDCG
#
# **The question: which of the things that are said of nDCG are true?**
#
# This is the appendix of [04](04_dcg_ndcg.ipynb), for the curious: which metric is for what, nDCG in eight lines of Python, what chance
# scores, and four articles that work nDCG out by hand, 「정보 처리, 랭킹 예측에서의 모델 평가를 어떻게 할까?」, 「추천 시스템 평가지표 5. DCG」,
# 「추천 서비스 정량적 평가지표 4가지」 and 「추천 Ranking 알고리즘 관련 metric :: NDCG」. We retrace every figure, find two misprints, and put
# eighteen statements to the test.
#
# ## Which metric answers which question
#
# | question | metric | depends on the order | depends on grades | notebook |
# |---|---|---|---|---|
# | How much of what was shown is liked? | precision | no | no | [02](02_precision_recall.ipynb) |
# | How much of what is liked was shown? | recall | no | no | [02](02_precision_recall.ipynb) |
# | Did the user find anything? | hit rate | no | no | [03](03_hit_rate_rr_ap.ipynb) |
# | How soon is the first hit? | reciprocal rank; its mean is MRR | of the first hit | no | [03](03_hit_rate_rr_ap.ipynb) |
# | How well are all hits placed? | average precision; its mean is MAP | yes | no | [03](03_hit_rate_rr_ap.ipynb) |
# | How much gain do the first k places hold? | CG | no | yes | [04](04_dcg_ndcg.ipynb) |
# | The same, the top counting most? | DCG | yes | yes | [04](04_dcg_ndcg.ipynb) |
# | How near is that to the best possible list? | nDCG | yes | yes | [04](04_dcg_ndcg.ipynb) |
# | Are lists varied, new, different for different users? | diversity, novelty, personalization, … | – | – | [10](10_beyond_accuracy.ipynb) |
#
# Why only the first k? A page has room for ten, say, and hardly anybody looks at place 500. A list without an end would hold
# everything.
#
# ## The discount, drawn
#
# The share that is left of a gain falls fast at first, and slowly further down.

# %%
from math import e, log2

import matplotlib.pyplot as plt
import pandas as pd

import recnb

pd.set_option("display.max_colwidth", None, "display.width", 200)  # a reason is a sentence

grades = [3, 2, 3, 0, 1, 2]  # the six documents of 04
judged, shown = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}, ["A", "B", "C"]  # the judged items, and the list

ranks = range(1, 11)
discount = pd.DataFrame({"log2(i + 1)": [log2(rank + 1) for rank in ranks]}, index=pd.Index(ranks, name="rank i"))
left = discount["what is left: 1 / log2(i + 1)"] = 1 / discount["log2(i + 1)"]

fig, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
ax.vlines(ranks, 0, left, color="0.75", linewidth=1.5)
ax.plot(ranks, left, "o", color="#0b6e99", markersize=5)
for rank in (1, 2, 3, 7):
    ax.annotate(f"{left[rank]:.2f}", (rank, left[rank]), xytext=(4, 5), textcoords="offset points")
ax.set(xlabel="i", ylabel="1 / log2(i + 1)", xticks=list(ranks), ylim=(0, 1.12))
ax.spines[["top", "right"]].set_visible(False)

assert (left[1], left[3], left[7]) == (1, 1 / 2, 1 / 3)
discount.round(5)


# %% [markdown]
# ## Eight lines of Python
#
# This is all of it, to copy and to change. recnb adds checks of the input, options, many users at once and speed.


# %%
def dcg_of(gains):
    """Each gain divided by log2(rank + 1), added up."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg_of(shown, relevance, k):
    """DCG of the first k items shown, divided by that of the k best items."""
    gains = [relevance.get(item, 0) for item in shown[:k]]
    ideal = sorted(relevance.values(), reverse=True)[:k]
    return dcg_of(gains) / dcg_of(ideal) if any(ideal) else 0.0


assert abs(ndcg_of(shown, judged, k=3) - recnb.ndcg(shown, judged, k=3)) < 1e-12
assert abs(ndcg_of(["C", "A", "D"], judged, k=2) - recnb.ndcg(["C", "A", "D"], judged, k=2)) < 1e-12
print(f"{ndcg_of(shown, judged, k=3):.4f}")

# %% [markdown]
# ## What does chance score?
#
# A number says little without another to compare it with. The plainest one is the score of a list in random order. There each
# place holds on average the mean grade of all items, so that
#
# $$\text{mean DCG@}k = \text{mean grade} \cdot \sum_{i=1}^{k} \frac{1}{\log_2(i + 1)}$$
#
# and the mean nDCG is that, divided by IDCG, which is the same in every order. The six documents have 720 orders, and from
# the five judged items 60 lists of three can be made: few enough to try them all.

# %%
from itertools import permutations


def chance_of(grades, k):
    """The mean nDCG@k of lists in random order of items with these grades."""
    best = sorted(grades, reverse=True)[:k]
    return sum(grades) / len(grades) * dcg_of([1] * k) / dcg_of(best)


def mean_of_all_orders(relevance, k):
    """The mean nDCG@k of every list of k items."""
    orders = [list(order) for order in permutations(relevance, k)]
    return recnb.ndcg(orders, [relevance] * len(orders), k=k)


documents = dict(zip("abcdef", grades, strict=True))
chance = pd.DataFrame(
    {
        "this list": [recnb.ndcg(grades), recnb.ndcg(shown, judged, k=3)],
        "random, by the formula": [chance_of(grades, k=6), chance_of(list(judged.values()), k=3)],
        "random, all orders tried": [mean_of_all_orders(documents, k=6), mean_of_all_orders(judged, k=3)],
    },
    index=["six documents", "A, B, C out of five items"],
).astype(float)

assert (chance["random, by the formula"] - chance["random, all orders tried"]).abs().max() < 1e-9
assert chance.loc["six documents", "this list"] > chance.loc["six documents", "random, by the formula"]
assert chance.loc["A, B, C out of five items", "this list"] < chance.loc["A, B, C out of five items"].iloc[1]
chance.round(4)

# %% [markdown]
# 0.9608 is good, but it is not to be compared with 0: shuffled at random, the six documents score 0.8484 on average. And the list
# A, B, C, with its 0.6049, is *worse* than three of the five items drawn blindly, 0.6399. What chance scores depends on the grades, on k and
# on how many items there are; so it differs from user to user (see the claim on users who like more items, below).
#
# ## What the articles print
#
# The figures of the lesson beside those of the articles. (In these tables *printed* is what an article prints, *recnb* what recnb
# computes.)


# %% tags=["ndcg-six-documents", "dcg-1", "ndcg-1"]
def compare(printed, computed, digits, misprints=()):
    """Show figures as the article prints them, beside those of recnb, and whether they agree; if not, why."""
    return pd.DataFrame(
        {
            "printed": [str(figure) for figure in printed.values()],
            "recnb": [f"{float(computed[name]):.{min(digits + 2, 12)}f}" for name in printed],
            "agrees": [f"MISPRINT: {misprints[name]}" if name in misprints else "yes" for name in printed],
        },
        index=list(printed),
    )


dcg, ideal_of_three = recnb.dcg(shown, judged), recnb.idcg(judged, k=3)
six = {"CG": recnb.cg(grades), "DCG": recnb.dcg(grades), "IDCG": recnb.idcg(grades), "nDCG": recnb.ndcg(grades)}
three_shown = {"DCG": dcg, "nDCG": recnb.ndcg(shown, judged, k=3)}

assert abs(dcg - (0.1 / log2(2) + 0.5 / log2(3) + 0.7 / log2(4))) < 1e-12
assert abs(ideal_of_three - (0.7 / log2(2) + 0.5 / log2(3) + 0.5 / log2(4))) < 1e-12
display(compare({"CG": 11, "DCG": 6.861, "IDCG": 7.141, "nDCG": 0.961}, six, digits=3))
compare({"DCG": 0.7654648767857287, "nDCG": 0.6048882832133625}, three_shown, digits=12)

# %% [markdown]
# ## The ideal DCG by itself
#
# It belongs to the judged items alone; no list is needed. Grades 3, 2, 2, 1 are in the best order already:

# %% tags=["idcg-1"]
idcg = recnb.idcg([3, 2, 2, 1], k=4)

assert abs(idcg - (3 / log2(2) + 2 / log2(3) + 2 / log2(4) + 1 / log2(5))) < 1e-12
compare({"IDCG@4": 5.6925}, {"IDCG@4": idcg}, digits=4)

# %% [markdown]
# And the five judged items from above, best first: C, then B and D, then A and E.

# %% tags=["idcg-2"]
ideal_of_five = recnb.idcg(judged)

assert abs(ideal_of_five - (0.7 / log2(2) + 0.5 / log2(3) + 0.5 / log2(4) + 0.1 / log2(5) + 0.1 / log2(6))) < 1e-12
compare({"IDCG": 1.3472178133165222}, {"IDCG": ideal_of_five}, digits=12)

# %% [markdown]
# With DCG 0.7655 and this IDCG one expects an nDCG of 0.7655 / 1.3472 = 0.5682, where the article prints 0.6049. That is no
# misprint: its nDCG cuts the ideal list at the length of the list, three, and its IDCG takes all five. recnb cuts nothing
# without k, so `recnb.ndcg(shown, judged)` is 0.5682, by the article's own IDCG; its 0.6049 is nDCG at k = 3. In the mean over
# two lists, one ideal is cut at three and the other at five, which is `ideal="min(k, list)"`:

# %% tags=["mean-ndcg-1"]
lists = [["A", "B", "C"], ["D", "A", "C", "B", "E"]]
mean_ndcg = recnb.ndcg(lists, [judged, judged], ideal="min(k, list)")

second = 0.5 / log2(2) + 0.1 / log2(3) + 0.7 / log2(4) + 0.5 / log2(5) + 0.1 / log2(6)
assert abs(mean_ndcg - (dcg / ideal_of_three + second / ideal_of_five) / 2) < 1e-12
assert abs(recnb.ndcg(shown, judged) - dcg / ideal_of_five) < 1e-12
print(f"nDCG without k: {recnb.ndcg(shown, judged):.4f}")
print(f"({dcg:.4f} / {ideal_of_three:.4f} + {second:.4f} / {ideal_of_five:.4f}) / 2 = {mean_ndcg:.4f}")
compare({"mean nDCG": 0.7356022113638424}, {"mean nDCG": mean_ndcg}, digits=12)

# %% [markdown]
# ## Four users, and a misprint to find
#
# An article prints these figures of four users (사용자), and 0.7707 for the mean of their nDCG. **One of the figures is a misprint.
# Which one? What belongs there, and how do you know that it is the article's error and not yours?** Take a calculator, and
# decide before you read on.
#
# | | 사용자1 | 사용자2 | 사용자3 | 사용자4 |
# |---|---|---|---|---|
# | DCG | 4.6546 | 5.0 | 1.8614 | 6.3157 |
# | IDCG | 6.8928 | 5.0 | 2.6309 | 9.0237 |
# | nDCG | 0.6953 | 1.0 | 0.7075 | 0.6999 |
#
# The figures come from ratings: a row for each user, with the rated items and the list. DCG, IDCG and nDCG of all four come
# from `df.rec`.

# %% tags=["ndcg-users"]
users = pd.DataFrame(
    {
        "user": ["사용자1", "사용자2", "사용자3", "사용자4"],
        "relevant": [{"A": 5, "B": 3}, {"C": 5}, {"A": 2, "D": 1}, {"B": 5, "C": 4, "D": 3}],
        "recommended": [["D", "A", "B", "C"], ["C", "D", "A", "B"], ["D", "B", "C", "A"], ["A", "C", "B", "D"]],
    }
)
ev = users.rec.evaluation()
ours = pd.DataFrame({"DCG": ev.dcg().per_user, "IDCG": ev.idcg().per_user, "nDCG": ev.ndcg().per_user})

display(users.set_index("user"))
worked_out = {name: [ev.explain(name.lower(), user).numbers for user in ev.users] for name in ("DCG", "IDCG")}
worked_out["nDCG"] = [f"{row.DCG:.4f} / {row.IDCG:.4f} = {row.nDCG:.4f}" for row in ours.itertuples()]
display(pd.DataFrame(worked_out, index=ev.users))

by_hand = (5 / log2(1 + 2) + 3 / log2(1 + 3)) / (5 / log2(1 + 1) + 3 / log2(1 + 2))
assert abs(ours.loc["사용자1", "nDCG"] - by_hand) < 1e-12
assert abs(ev.ndcg() - ours["nDCG"].sum() / 4) < 1e-12

printed = pd.DataFrame(
    {
        "DCG": [4.6546, 5.0, 1.8614, 6.3157],
        "IDCG": [6.8928, 5.0, 2.6309, 9.0237],
        "nDCG": [0.6953, 1.0, 0.7075, 0.6999],
    },
    index=users["user"],
)
misprint = "4.6546 / 6.8928 = 0.6753"
compare(
    {**{f"{name} {user}": printed.loc[user, name] for name in printed for user in printed.index}, "mean nDCG": 0.7707},
    {**{f"{name} {user}": ours.loc[user, name] for name in ours for user in printed.index}, "mean nDCG": ev.ndcg()},
    digits=4,
    misprints={"nDCG 사용자1": misprint},
)

# %% [markdown]
# For 사용자1 a 9 stands where a 7 belongs: the DCG and IDCG beside it give 0.6753. When a printed number looks wrong, divide
# the figures beside it. Is it our error or the article's? Its own mean decides, for that was printed too:

# %%
with_printed = printed["nDCG"].mean()
with_ours = printed["nDCG"].replace(0.6953, 0.6753).mean()

assert round(with_ours, 4) == 0.7707 != round(with_printed, 4)
print(f"mean with 0.6953: {with_printed:.4f}")
print(f"mean with 0.6753: {with_ours:.4f}, and the article prints 0.7707")

# %%
ev.explain("ndcg", "사용자1")

# %% [markdown]
# ## Three grades, and another misprint
#
# Grades 3, 2, 1 are in the best order, so DCG and IDCG are equal and nDCG is 1. The article agrees on that, but prints
# 4.5 for both sums: it puts the second term at 1.0, as if a 2 at rank 2 were divided by log2(4).

# %% tags=["dcg-three"]
three = {"DCG": recnb.dcg([3, 2, 1]), "IDCG": recnb.idcg([3, 2, 1]), "nDCG": recnb.ndcg([3, 2, 1])}

assert abs(three["DCG"] - (3 / log2(2) + 2 / log2(3) + 1 / log2(4))) < 1e-12
assert 3 / log2(2) + 2 / log2(4) + 1 / log2(4) == 4.5
parts = {"printed": [3.0, 1.0, 0.5], "is": [3 / log2(2), 2 / log2(3), 1 / log2(4)]}
display(pd.DataFrame(parts, index=["3 / log2(2)", "2 / log2(3)", "1 / log2(4)"]).round(4))
why = "2 / log2(3) is 1.2619, not 1.0"
compare({"DCG": 4.5, "IDCG": 4.5, "nDCG": 1.0}, three, digits=4, misprints={"DCG": why, "IDCG": why})

# %% [markdown]
# DCG and IDCG are one and the same sum here, so an error in it cannot show in their ratio. A right nDCG does not prove the
# figures under it.
#
# ## Claim: moving a 3 below a 0 lowers DCG
#
# **True.** In the list of six documents, the third document (grade 3) and the fourth (grade 0) change places. CG stays as it was.
# The article prints no figure for this; the table is ours.

# %% tags=["claim-swap"]
moved = [3, 2, 0, 3, 1, 2]
swap = pd.DataFrame(
    {"CG": [recnb.cg(grades), recnb.cg(moved)], "DCG": [recnb.dcg(grades), recnb.dcg(moved)]},
    index=[f"before: {grades}", f"after: {moved}"],
)

assert recnb.cg(moved) == recnb.cg(grades)
assert abs(recnb.dcg(grades) - recnb.dcg(moved) - 3 * (1 / log2(4) - 1 / log2(5))) < 1e-12
swap.astype(float).round(4)

# %% [markdown]
# ## Claim: a cut-off deeper than the list is lowered to the list's length, in the ideal as well
#
# **A convention of its own, which favours a short list.** Given k = 5, the article's function still cuts the ideal at three, the
# length of the list, and returns 0.6049. recnb's ideal reaches down to k, so at k = 5 it gives 0.5682: a list that leaves two of five
# places empty earns less. So it does without k. None of the conventions that recnb has recorded of libraries gives 0.6049 at k = 5; as an option
# it is `ideal="min(k, list)"`.

# %% tags=["claim-short-list"]
cut = {
    "recnb": [recnb.ndcg(shown, judged, k=k) for k in (None, 3, 5)],
    'ideal="min(k, list)"': [recnb.ndcg(shown, judged, k=k, ideal="min(k, list)") for k in (None, 3, 5)],
}

assert all(abs(value - dcg / ideal_of_three) < 1e-12 for value in [*cut['ideal="min(k, list)"'], cut["recnb"][1]])
assert all(abs(value - dcg / ideal_of_five) < 1e-12 for value in cut["recnb"][::2])
pd.DataFrame(cut, index=["k not given", "k = 3", "k = 5"]).T.astype(float).round(4)

# %% [markdown]
# ## Claim: where nothing is relevant, nDCG is 0
#
# **A convention; others leave such a user out, or count 1.** The ideal list earns 0, and 0 / 0 is undefined; the article's function
# says `return 0.0`. Two lists, one perfect and one of a user who likes nothing: the mean is 0.5 if the second counts 0, and 1 if it is
# left out. recnb's functions for lists count it 0, as the article does; from a frame such a user is left out, unless options say
# otherwise. The line of each number says which: two lists; a frame; a frame with such users counted 0.

# %% tags=["claim-nothing-relevant"]
two = pd.DataFrame({"user": ["one", "two"], "recommended": [["A"], ["B"]], "relevant": [{"A": 1}, {}]})
counted_0 = recnb.ndcg([["A"], ["B"]], [{"A": 1}, {}])
left_out = two.rec.ndcg()
told = two.rec.evaluation(averaged_users="recs", no_relevant="zero").ndcg()

assert (counted_0, left_out, told) == (0.5, 1.0, 0.5)
display(counted_0, left_out, told)

# %% [markdown]
# ## Claim: DCG cannot be compared between users, queries and scales, nDCG can
#
# **Of scales: true of a factor with linear gain, false of a shift. Of users and queries: see the next claim.** The article's
# example is that DCGs lie between 0 and 10 on one service and between 100 and 200 on another. If all grades are ten times as
# high, DCG is ten times as large and nDCG stays: the division takes a factor away. It cannot take away what is
# added: on a scale that begins at 100, even the worst item earns 100, and the worst order of the same three items has a far
# higher nDCG. With exponential gain, 2^rel − 1 instead of rel (`gain="exponential"`), a factor changes it as well:

# %% tags=["claim-comparable"]
worst = [0, 5, 10]
tenfold = [10 * grade for grade in worst]
shifted = [100 + grade for grade in tenfold]
scales = pd.DataFrame(
    {
        "DCG": [recnb.dcg(row) for row in (worst, tenfold, shifted)],
        "nDCG": [recnb.ndcg(row) for row in (worst, tenfold, shifted)],
        "nDCG, exponential": [recnb.ndcg(row, gain="exponential") for row in (worst, tenfold, shifted)],
    },
    index=[f"grades {worst}", f"× 10: {tenfold}", f"× 10 + 100: {shifted}"],
).astype(float)

assert abs(scales["DCG"].iloc[1] - 10 * scales["DCG"].iloc[0]) < 1e-9
assert scales["nDCG"].round(4).tolist() == [0.6199, 0.6199, 0.8549]
assert abs(scales["nDCG, exponential"].diff().iloc[1]) > 0.005
assert {recnb.ndcg(row[::-1]) for row in (worst, tenfold, shifted)} == {1}
scales.round(4)

# %% [markdown]
# So let relevance begin at 0, where nothing is gained, before an nDCG is computed: take 100 from every grade of the second scale.
#
# ## Claim: DCG is higher for a user who likes more items, and normalising takes that away
#
# **The first half is true, the second of perfect lists alone.** Who likes more items has the higher DCG, with a perfect list and with a
# random one (beyond ten, more likes do not fit into a perfect list of ten). After the division a perfect list is worth 1 for every
# user. A random one is not: who likes more items finds more by chance. Ten of 100 items, for users who like 1, 5, 20 and 50 of
# them; *random* is the formula of chance from above, and *as drawn* the mean of 2,000 lists:

# %% tags=["claim-more-likes"]
from random import Random

dice, catalogue = Random(1), range(100)


def drawn_list():
    """Ten items of the catalogue, drawn at random."""
    return sorted(catalogue, key=lambda item: dice.random())[:10]


rows = {}
for n_liked in (1, 5, 20, 50):
    liked = dict.fromkeys(range(n_liked), 1)
    drawn = [drawn_list() for _ in range(2000)]
    rows[n_liked] = {
        "DCG@10, perfect": recnb.idcg(liked, k=10),
        "DCG@10, random by the formula": n_liked / 100 * dcg_of([1] * 10),
        "nDCG@10, perfect": recnb.ndcg(list(liked), liked, k=10),
        "nDCG@10, random by the formula": chance_of([1] * n_liked + [0] * (100 - n_liked), k=10),
        "nDCG@10, random as drawn": recnb.ndcg(drawn, [liked] * 2000, k=10),
    }
likes = pd.DataFrame(rows).T.astype(float).rename_axis("likes")

by_formula, as_drawn = likes["nDCG@10, random by the formula"], likes["nDCG@10, random as drawn"]  # claim
assert (likes["nDCG@10, perfect"] == 1).all()
assert by_formula.round(4).tolist() == [0.0454, 0.077, 0.2, 0.5]
assert (by_formula - as_drawn).abs().max() < 0.01
assert likes["DCG@10, perfect"].is_monotonic_increasing
assert likes["DCG@10, random by the formula"].is_monotonic_increasing
assert (likes["DCG@10, random by the formula"] / likes["DCG@10, perfect"] - by_formula).abs().max() < 1e-12
likes.round(4)

# %% [markdown]
# Dividing takes away how much there is to gain, and not how easily it is gained: a blind list has 0.05 for one user and 0.5 for
# another. So a higher mean nDCG of users who like more does not say that they are served better. Compare each group with
# what chance scores for it, or two models on the same users. [08](08_explore_users.ipynb) meets such a group.
#
# ## Claim: a like counts 1, a dislike or no answer 0
#
# **A convention.** It is what one does when there are only likes and dislikes, and it treats an item that the user dislikes and one
# that the user never saw as the same. Here A is liked and B disliked; nothing is known of C:

# %% tags=["claim-likes"]
opinions = {"A": 1, "B": 0}
disliked, unseen = recnb.dcg(["B", "A"], opinions), recnb.dcg(["C", "A"], opinions)

assert disliked == unseen
print(f"a disliked item on top: DCG = {disliked:.4f}")
print(f"an unknown item on top: DCG = {unseen:.4f}")

# %% [markdown]
# ## Claim: where relevance feedback is partial, nDCG is hard to compute
#
# **True, and easy to overlook,** because a number comes out all the same. Items of grade 3, 2 and 1 are relevant, and the list
# shows the first alone. If only that one was ever judged, the ideal list does not hold the other two:

# %% tags=["claim-partial-feedback"]
all_judged = recnb.ndcg(["A"], {"A": 3, "B": 2, "C": 1}, k=3)
one_judged = recnb.ndcg(["A"], {"A": 3}, k=3)

assert abs(all_judged - 3 / (3 / log2(2) + 2 / log2(3) + 1 / log2(4))) < 1e-12
assert one_judged == 1
print(f"all three judged:     3 / 4.7619 = {all_judged:.4f}")
print(f"only the first judged: 3 / 3 = {one_judged:.1f}")

# %% [markdown]
# ## Claim: a high nDCG means that the list is very useful to the user
#
# **False.** It is relative to what was possible. Two items of grade 0.1 score 1 if there is nothing better, as do grades
# 3, 2, 1 in this order. DCG tells the two lists apart.

# %% tags=["claim-useful"]
poor, rich = [0.1, 0.1], [3, 2, 1]
useful = pd.DataFrame(
    {"DCG": [recnb.dcg(poor), recnb.dcg(rich)], "nDCG": [recnb.ndcg(poor), recnb.ndcg(rich)]},
    index=[f"grades {poor}", f"grades {rich}"],
).astype(float)

assert useful["nDCG"].tolist() == [1, 1]
useful.round(4)

# %% [markdown]
# ## Claim: nDCG 1 means that the list is perfectly sorted
#
# **True of the grades in the first k places, not of the list.** Items of the same grade may stand in any order, and what
# stands below place k is not looked at. The first two are at k = 3. At k = 1 the best item alone is enough:

# %% tags=["claim-perfect-order"]
sorted_lists = {
    "C, B, D": recnb.ndcg(["C", "B", "D"], judged, k=3),
    "C, D, B: equal grades change places": recnb.ndcg(["C", "D", "B"], judged, k=3),
    "C, B, E, A, D at k = 2: the rest is upside down": recnb.ndcg(["C", "B", "E", "A", "D"], judged, k=2),
    "C at k = 1: the best item alone": recnb.ndcg(["C"], judged, k=1),
}

assert set(sorted_lists.values()) == {1}
assert recnb.ndcg(["B"], judged, k=1) < 1
pd.Series(sorted_lists, name="nDCG").astype(float).to_frame()

# %% [markdown]
# ## Three loose wordings
#
# - "DCG takes the rank as the denominator." **Loosely worded:** by that article's own formula it is log2(rank + 1): 1, 1.585, 2, …
#   and not 1, 2, 3. (Dividing by the rank is `discount="rank"`.)
# - "The penalty of standing further down is proportional to the logarithm." **Loosely worded:** the gain is *divided* by the
#   logarithm, so what is left falls as one over it.
# - "A higher position matters less", and in another line of the same article, a lower one. **Contradicts itself:** the discount
#   grows with the rank number, so the further down, the less an item counts.

# %% tags=["claim-rank-denominator", "claim-log-penalty", "claim-position-words"]
one_hit = {rank: [0] * (rank - 1) + [1] for rank in range(1, 7)}
wordings = pd.DataFrame(
    {
        "log2(i + 1)": [log2(rank + 1) for rank in one_hit],
        "DCG of one hit there": [recnb.dcg(row) for row in one_hit.values()],
        "divided by the rank instead": [recnb.dcg(row, discount="rank") for row in one_hit.values()],
    },
    index=pd.Index(one_hit, name="rank i"),
).astype(float)

assert (wordings["DCG of one hit there"] * wordings["log2(i + 1)"] - 1).abs().max() < 1e-12
assert wordings["DCG of one hit there"].is_monotonic_decreasing
assert (wordings["divided by the rank instead"] * wordings.index - 1).abs().max() < 1e-12
wordings.round(4)

# %% [markdown]
# ## Claim: with grades of 0 and 1 both kinds of gain agree
#
# With exponential gain a 3 is worth 2³ − 1 = 7 and a 1 still 1. One article says that this makes no difference if relevance is
# only 0 or 1. **True**: 2^0 − 1 = 0 and 2^1 − 1 = 1.

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
# ## Claim: exponential gain is what major search engines and Kaggle use
#
# **Of some it is documented; it is no standard.** What a company computes cannot be tested here, but what libraries compute can.
# These are the forms of nDCG, among all whose numbers recnb has recorded, that give the four users the nDCG@4 of
# exponential gain (a form that differs in something else as well is not among them):

# %% tags=["claim-exponential-use"]
numbers = {}
for library in recnb.conventions.names():
    for metric in recnb.conventions.metrics(library):
        if metric.startswith("ndcg"):
            try:
                numbers[f"{library} {metric}"] = recnb.as_in(library, metric, users, k=4)
            except recnb.errors.RecnbError:
                continue
forms_of_libraries = pd.Series(numbers)
exponential = forms_of_libraries[(forms_of_libraries - ev.ndcg(k=4, gain="exponential")).abs() < 1e-6]

assert {"lightgbm ndcg", "xgboost ndcg"} <= set(exponential.index)
assert not {"scikit-learn ndcg[list]", "pytrec_eval-terrier ndcg"} & set(exponential.index)
assert len(exponential) < len(forms_of_libraries) / 4
print(f"{len(exponential)} of {len(forms_of_libraries)}:", *exponential.index, sep="\n")

# %% [markdown]
# LightGBM and XGBoost, which learn to rank search results, do so by default. trec_eval, which the research on search compares
# with, and scikit-learn have linear gain, and most libraries of recommenders 0 and 1, where both are the same. So
# neither is to be assumed: a number needs its gain beside it.
#
# ## Claim: the base of the logarithm matters only for exponential gain
#
# The same article: another base leaves linear nDCG as it is, but changes the exponential one. **First half true, second
# half false.** With log(1 + rank), another base multiplies *every* discount by one constant, whatever the gain, and the
# constant cancels in DCG / IDCG. (With max(1, log(rank)), another discount in use, it does not: last row.)

# %% tags=["claim-log-base"]
bases = {"base 2": 2, "base e": e, "base 10": 10}
by_base = pd.DataFrame(
    {
        name: {
            "DCG, linear": recnb.dcg(graded, log_base=base),
            "DCG, exponential": recnb.dcg(graded, gain="exponential", log_base=base),
            "nDCG, linear": recnb.ndcg(graded, log_base=base),
            "nDCG, exponential": recnb.ndcg(graded, gain="exponential", log_base=base),
            "nDCG, divided by max(1, log(i))": recnb.ndcg(graded, discount="clipped_log", log_base=base),
        }
        for name, base in bases.items()
    }
)

ratio = by_base.div(by_base["base 2"], axis=0).iloc[:4]
assert (abs(ratio["base e"] - [log2(e), log2(e), 1, 1]) < 1e-12).all()
assert (abs(ratio["base 10"] - [log2(10), log2(10), 1, 1]) < 1e-12).all()
assert round(by_base.loc["nDCG, exponential", "base 2"], 6) == 0.948811
assert by_base.iloc[4].round(4).tolist() == [0.9315, 0.9579, 1.0]
by_base.round(6)

# %% [markdown]
# DCG does change with the base, so a DCG without its base says little.
#
# ## Claim: that the discount is a logarithm has been justified by a proof
#
# **Too strong: what was proved holds of other slow discounts as well.** [Wang et al. (2013)](https://arxiv.org/abs/1304.6480) look at
# lists that grow without end, at whole ones first. With the logarithm the nDCG of *every* order, also of a random one, goes to 1; and of two
# substantially different ways to rank, it still says nearly always that the same one is better. That depends on how
# fast the discount grows, and dividing by the rank is the border: the logarithm lies on the good side, as other slow discounts do. That
# it fits how people look at lists, or is best at k = 10, nobody has proved. Here is the first half, by the formula of chance:
# random lists in which half of the items are relevant.


# %% tags=["claim-log-proved"]
def chance_of_half(n_items, divisor):
    """The mean nDCG of random lists of all items, half of which are relevant."""
    credits = [1 / divisor(rank) for rank in range(1, n_items + 1)]
    return sum(credits) / 2 / sum(credits[: n_items // 2])


limits = pd.DataFrame(
    {
        "divided by log2(rank + 1)": {n: chance_of_half(n, lambda rank: log2(rank + 1)) for n in (10, 1000, 100_000)},
        "divided by the rank": {n: chance_of_half(n, float) for n in (10, 1000, 100_000)},
    }
).rename_axis("places in the list")

assert abs(limits.iloc[0, 0] - chance_of([1] * 5 + [0] * 5, k=10)) < 1e-12
assert limits["divided by log2(rank + 1)"].is_monotonic_increasing
assert limits.iloc[2, 0] > 0.9 > 0.6 > limits.iloc[2, 1]
limits.round(4)

# %% [markdown]
# In a list of 100,000 places a random order comes near 1. This is one more reason to cut at k.
#
# ## Claim: DCG lies between 0 and 1
#
# A summary gives *DCG & nDCG* the range 0 to 1. **True of nDCG, on the conditions of the next claim; false of DCG**, by the
# article's own table:

# %% tags=["claim-dcg-range"]
ranges = pd.DataFrame({"DCG": ev.dcg().per_user, "nDCG": ev.ndcg().per_user})

assert ranges["nDCG"].between(0, 1).all()
assert not ranges["DCG"].between(0, 1).any()
assert round(ranges.loc["사용자4", "DCG"], 4) == 6.3157
ranges.agg(["min", "max"]).round(4)

# %% [markdown]
# ## Claim: IDCG is never below DCG, and DCG never negative
#
# **True, if no grade is negative, the ideal list does not end further up than the list, and no item stands in the list twice.** Without
# one of these conditions it may be false. First the depth: a good list of five, against ideals that end further and further up.

# %% tags=["claim-idcg-bound"]
five = ["C", "B", "D", "A", "E"]
whole = recnb.dcg(five, judged)
bound = pd.DataFrame({"DCG": whole, "IDCG": {f"ideal cut at {k}": recnb.idcg(judged, k=k) for k in (5, 3, 1)}})
bound["DCG / IDCG"] = bound["DCG"] / bound["IDCG"]
display(bound.round(4))

for k in (1, 2, 3, 4, 5):  # claim
    assert 0 <= recnb.dcg(shown, judged, k=k) <= recnb.idcg(judged, k=k) <= recnb.idcg(judged)
    assert 0 <= recnb.ndcg(five[::-1], judged, k=k) <= 1
assert whole > recnb.idcg(judged, k=3)
assert whole <= recnb.idcg(judged)

# A grade below 0, by hand: one disliked item, shown at the top or not at all.
shown_dcg, not_shown_dcg, ideal_dcg = -1 / log2(2), 0 / log2(2), -1 / log2(2)
assert shown_dcg < 0
assert ideal_dcg < not_shown_dcg
print(f"one item of grade -1: DCG is {shown_dcg:g} if it is shown, and {not_shown_dcg:g} if not; IDCG is {ideal_dcg:g}")

# An item that stands in the list twice, by hand: C, the best of the five, at ranks 1 and 2.
twice_dcg = 0.7 / log2(2) + 0.7 / log2(3)
assert twice_dcg > recnb.idcg(judged, k=2)
print(f"C at ranks 1 and 2: DCG is {twice_dcg:.4f}; IDCG@2 is {recnb.idcg(judged, k=2):.4f}")

for given, truth in ((["A", "B"], {"A": -1, "B": 2}), (["C", "C"], judged)):
    try:
        recnb.ndcg(given, truth)
    except recnb.errors.RecnbError as refused:
        print("recnb:", refused)

# %% [markdown]
# recnb refuses negative grades and lists with an item twice and, unless an option says otherwise, cuts both lists at the same depth; so its
# nDCG is between 0 and 1.
#
# Next: [07](07_playground.ipynb), where you move the items yourself.
