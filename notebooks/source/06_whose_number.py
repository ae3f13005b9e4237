# %% [markdown]
# # Whose number is it?
#
# **The question: two libraries score the same lists, both say nDCG@5, and the numbers differ. Which is right?**
#
# Mostly both. Each library decides for itself who is averaged, what is divided by what, where equal scores stand. We
# call such a set of decisions a *convention* (규약). This notebook shows what the conventions of 23 libraries make of one
# small data set, goes from one number to another step by step, and finds the conventions that give a printed number.

# %%
from math import log2

import pandas as pd
from IPython.display import display

import recnb

# %% [markdown]
# ## Four users
#
# They show what real data show and textbook examples hide: u1's list misses a relevant item, u2's list is shorter than
# k = 5, u3 was shown nothing, and nothing is known to be relevant to u4.

# %%
shown = {"u1": "abcde", "u2": "bx", "u4": "abcde"}
likes = {"u1": "acz", "u2": "b", "u3": "ab"}
recs = pd.DataFrame(
    [(user, item, rank, 10.0 - rank) for user, items in shown.items() for rank, item in enumerate(items, 1)],
    columns=["user", "item", "rank", "score"],
)
truth = pd.DataFrame([(user, item) for user, items in likes.items() for item in items], columns=["user", "item"])

ev = recs.rec.against(truth)
ev.ndcg(k=5)

# %% [markdown]
# recnb says in words how it arrived at 0.5680. `as_in` says what a library's convention makes of the same frames; here are all
# libraries that have an nDCG at a cut-off, with their variants. (`[list]` and `[full]` say what a library is given, where the caller has to choose: only what was
# recommended, or also the relevant items that were missed.)


# %%
def ndcg_by_library(recs, truth, k):
    values = {"recnb": float(recs.rec.against(truth).ndcg(k=k))}
    for library in recnb.conventions.names():
        for metric in recnb.conventions.metrics(library):
            if metric.startswith("ndcg"):
                try:
                    values[f"{library} {metric}"] = recnb.as_in(library, metric, recs, truth, k=k)
                except recnb.errors.OptionError:  # it takes no cut-off
                    continue
    return pd.Series(values, name=f"nDCG@{k}").sort_values(kind="stable")


numbers = ndcg_by_library(recs, truth, k=5)
numbers.to_frame().round(4)

# %% [markdown]
# Twelve numbers of the same lists: from 0.28, RecTools, to 0.96, evidently, and 0.98 where
# evidently is also given the missed items. Here are seven by hand. The list of u1 earns 1/log2(2) + 1/log2(4) = 1.5, that of
# u2 earns 1.

# %%
three, five = (sum(1 / log2(1 + rank) for rank in range(1, n + 1)) for n in (3, 5))
two = 1 / log2(2) + 1 / log2(3)
by_hand = {
    "rectools ndcg": (1.5 / five + 1 / five + 0) / 3,  # the ideal list has k items, however few are relevant
    "lenskit ndcg": ((1 + 1 / log2(3)) / (1 + 1 + 1 / log2(3)) + 1 + 0)
    / 3,  # no discount at rank 2; u4 counts, u3 does not
    "ranx ndcg": (1.5 / three + 1 + 0) / 3,  # the users of the truth: u3 counts 0
    "torchmetrics ndcg[list]": (1.5 / two + 1 + 0) / 3,  # z and u3 are out of sight; u4 counts 0
    "pytrec_eval-terrier ndcg": (1.5 / three + 1) / 2,  # only users in both frames
    "lightgbm ndcg": (1.5 / three + 1 + 1 + 1) / 4,  # u3's missed items become its list, and u4 counts 1
    "evidently ndcg[list]": (1.5 / two + 1) / 2,  # z and u3 are out of sight; u4 is left out
}
groups = numbers.to_dict()

assert all(abs(groups[name] - value) < 1e-6 for name, value in by_hand.items())
assert numbers.round(9).nunique() == 12
assert round(numbers.min(), 4) == 0.2826
assert round(numbers.max(), 4) == 0.9767
assert groups["recnb"] == ev.ndcg(k=5)
print(*(f"{value:.4f}  {name}" for name, value in by_hand.items()), sep="\n")

# %% [markdown]
# ## One library's number
#
# `as_in` returns the number by the convention of one library. Where the library itself raises an error, the number says so
# when it is shown: ranx with its strict setting raises one where users are in one frame only. `under` makes an evaluation
# of it, with everything that an evaluation can do.

# %%
calls = [
    ("rectools", "ndcg"),
    ("rectools", "ndcg_achievable"),
    ("lenskit", "ndcg"),
    ("recommenders", "ndcg"),
    ("recommenders", "precision"),
]
returned = {f"{library} {metric}": recnb.as_in(library, metric, recs, truth, k=5) for library, metric in calls}

assert abs(returned["rectools ndcg"] - by_hand["rectools ndcg"]) < 1e-12
assert abs(returned["recommenders precision"] - (2 / 5 + 1 / 5) / 2) < 1e-12
print(*(f"{value:.4f}  {name}" for name, value in returned.items()), sep="\n")
print("ranx ndcg[strict]:", repr(recnb.as_in("ranx", "ndcg[strict]", recs, truth, k=5)))
ev.under("rectools").table(["ndcg", "precision", "recall"], k=5)

# %% [markdown]
# ## From ours to theirs
#
# `why` starts at our number and switches one decision at a time, in the order in which a number is made: ranking,
# relevance, users, metric. It ends exactly at the other number, and the changes add up. To RecTools there is one switch that
# matters here: **its ideal list always has k items**, so that u2, with one relevant item, cannot reach 1.

# %%
why = ev.why("ndcg", k=5, other="rectools")

assert abs(why["value"].iloc[-1] - by_hand["rectools ndcg"]) < 1e-12
assert why.index.tolist() == ["", "ideal"]
why

# %% [markdown]
# To LensKit there are three, and the first two cancel:
#
# 1. **Who is averaged**: users with a list. u3, who has none and counted 0, is gone.
# 2. **A user of whom nothing is known** counts 0: that is u4, so there are three users again.
# 3. **The discount** is max(1, log2(rank)), so that rank 2 is not discounted, and rank 3 less than usual; the ideal list
#    gains more by that than u1's.

# %%
why = ev.why("ndcg", k=5, other="lenskit")

value, change = why.value, why.change
assert abs(value.iloc[0] + change.sum() - value.iloc[-1]) < 1e-12
assert abs(value.iloc[-1] - by_hand["lenskit ndcg"]) < 1e-12
assert abs(change.iloc[1] + change.iloc[2]) < 1e-12
why

# %% [markdown]
# Agreement on one metric says little of the next. recommenders gives our nDCG to the last digit, and half as much again
# for precision: its nDCG counts u3 as 0, its precision leaves u3 out.

# %%
assert len(ev.why("ndcg", k=5, other="recommenders")) == 1
why = ev.why("precision", k=5, other="recommenders")

assert abs(why["value"].iloc[0] - 0.2) < 1e-12
assert abs(why["value"].iloc[-1] - 0.3) < 1e-12
why

# %% [markdown]
# ## Ties
#
# Four items with the same score, given in the order b, d, a, c, and only c is relevant. Where does it stand? Kept as given it
# is 4th; by item id, last first, it is 2nd; and averaged over all orders it earns the mean. Where a library leaves it to a
# sort that is not stable, its number may differ from one machine to another, and recnb has none for it.

# %%
tied = pd.DataFrame({"user": "u", "item": list("bdac"), "score": 1.0})
wanted = pd.DataFrame({"user": ["u"], "item": ["c"]})
said = ndcg_by_library(tied, wanted, k=4).to_dict()
places = {
    "recnb": ("as given: 4th", 1 / log2(1 + 4)),
    "ranx ndcg": ("as given: 4th", 1 / log2(1 + 4)),
    "replay-rec ndcg[dict]": ("as given: 4th", 1 / log2(1 + 4)),
    "replay-rec ndcg[pandas]": ("by item id, last first: 2nd", 1 / log2(1 + 2)),
    "pytrec_eval-terrier ndcg": ("by item id, last first: 2nd", 1 / log2(1 + 2)),
    "scikit-learn ndcg[list]": ("mean of all orders", sum(1 / log2(1 + rank) for rank in (1, 2, 3, 4)) / 4),
}

assert all(abs(said[name] - value) < 1e-12 for name, (_, value) in places.items())
expected = tied.rec.against(wanted, ties="expected").ndcg(k=4)
assert abs(expected - said["scikit-learn ndcg[list]"]) < 1e-12
pd.DataFrame(
    [(name, words, round(said[name], 4)) for name, (words, _) in places.items()], columns=["who", "c stands", "nDCG@4"]
)

# %% [markdown]
# One library even answers twice: RePlay gives 0.6309 for a data frame and 0.4307 for the same data as a dict. If many scores
# are equal, ask for `ties="expected"`, which depends on no order.
#
# ## Two ideals
#
# 「추천 시스템 평가지표 5. DCG」 recommends three of five judged items, prints an IDCG of 1.3472, and an nDCG of 0.6049; but
# 0.7655 / 1.3472 is 0.5682. Which convention gives which?

# %%
judged = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}
three_shown = pd.DataFrame({"user": "u", "item": ["A", "B", "C"], "rank": [1, 2, 3], "score": [3.0, 2.0, 1.0]})
five_judged = pd.DataFrame({"user": "u", "item": list(judged), "relevance": list(judged.values())})
article = three_shown.rec.against(five_judged)

at_three, at_five = article.identify("ndcg", "0.6049", k=3), article.identify("ndcg", "0.5682", k=5)
ideal = article.identify("idcg", "1.3472", k=5)
for found in (at_three, at_five, ideal):
    assert found.index[0] == "recnb"
    assert found["value"].round(9).nunique() == 1
display(at_three, at_five, ideal)

# %% [markdown]
# With the ideal list cut at three, as the list is, nDCG is 0.6049; with an ideal list of all five it is 0.5682, and the printed
# IDCG of 1.3472 is that of all five. The article's function cuts the ideal list at the length of the list whatever k is, so at
# k = 5 it still gives 0.6049. No library recorded here does that; recnb's option `ideal="min(k, list)"` does
# ([04b](04b_ndcg_claims.ipynb) weighs the two). The count is of conventions that have a number for these frames; the line below
# says of the libraries among them where they raise an error or follow no recorded rule.

# %%
assert "one of the nearest" in {*article.identify("ndcg", "0.6049", k=5)["fit"]}
at_five_cut = article.ndcg(k=5, ideal="min(k, list)")

assert abs(at_five_cut - at_three["value"].iloc[0]) < 1e-12
at_five_cut

# %% [markdown]
# ## A misprint
#
# 「추천 서비스 정량적 평가지표 4가지」 prints a value for each of four users (사용자). Beside ours:

# %%
users = pd.DataFrame(
    {
        "user": ["사용자1", "사용자2", "사용자3", "사용자4"],
        "relevant": [{"A": 5, "B": 3}, {"C": 5}, {"A": 2, "D": 1}, {"B": 5, "C": 4, "D": 3}],
        "recommended": [["D", "A", "B", "C"], ["C", "D", "A", "B"], ["D", "B", "C", "A"], ["A", "C", "B", "D"]],
    }
)
printed = pd.Series([0.6953, 1.0, 0.7075, 0.6999], index=users["user"])
beside = pd.DataFrame({"printed": printed, "ours": users.rec.ndcg().per_user.round(4)})

assert beside.index[beside["printed"] != beside["ours"]].tolist() == ["사용자1"]
assert beside.loc["사용자1", "ours"] == 0.6753
beside

# %% [markdown]
# Three values are ours. That of 사용자1 is 0.6953, and ours 0.6753: a 9 in the place of a 7 is the likeliest reason.
#
# ## Why is my nDCG not the paper's?
#
# Suppose that a paper evaluates item-knn on the bundled sample and prints nDCG@10 = 0.2717, without saying how. We get:

# %%
sample = recnb.datasets.load_sample()
knn = sample.models["item-knn"]
ours = knn.rec.against(sample.test)
paper = f"{recnb.as_in('recommenders', 'ndcg', knn, sample.test, k=10):.4f}"  # nobody tells us this line

assert paper == "0.2717"
assert f"{ours.ndcg(k=10):.4f}" == "0.2589"
found = ours.identify("ndcg", paper, k=10)
assert "recommenders ndcg" in found.index
assert len(found) > 1
found

# %% [markdown]
# Several libraries fit, and there is no telling them apart: on these data they give one and the same number. But what they
# share is the answer, and `why` to any of them shows it: **binary gain**. The ratings are taken as yes or no.

# %%
why = ours.why("ndcg", k=10, other="recommenders")

assert why.index.tolist() == ["", "gain"]
assert f"{why['value'].iloc[-1]:.4f}" == paper
why

# %% [markdown]
# Four printed digits narrow it to one number, which several conventions give. Two would not: different numbers print
# as 0.27. And a number may fit nothing; then the nearest are shown, and one looks for another cause: other data, another k,
# a misprint.

# %%
vague, none = ours.identify("ndcg", "0.27", k=10), ours.identify("ndcg", "0.2999", k=10)

assert vague["value"].round(9).nunique() > 1
assert {*none["fit"]} == {"one of the nearest"}
display(vague, none)

# %% [markdown]
# ## To take along
#
# - Report the convention with the number. recnb prints it below every score and table.
# - Print four digits: they tell apart what two do not.
# - Before you compare with another library, look at [how it differs](../recnb/conventions/README.md), or ask `ev.why`.
# - Libraries part over short lists, users without a list and equal scores. Without these they still part over grades, the
#   ideal list and the divisor of AP.
#
# So far a number was one for all users. [Notebook 08](08_explore_users.ipynb) goes from the mean to one user.
