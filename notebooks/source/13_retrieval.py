# %% [markdown]
# # Retrieval for a chatbot: whose number is it?
#
# **The question: a chatbot looks up five passages before it answers. Six libraries score what it found, most of them say
# nDCG, and their numbers differ. Whose number is it, and is the retriever any good?**
#
# A retriever for a language model is a ranking like any other: a list of passages for each question, and a truth that says
# which passages help. The questions and passages here are those of the help pages of an imaginary film service: 20
# questions, 48 passages, and five small retrievers. The bundled truth is complete, which real ones never are: every
# passage was held against every question.

# %%
from math import log2

import pandas as pd

import recnb

data = recnb.datasets.load_questions()
truth = data.truth
text_of = data.passages.set_index("doc")["text"]

question = "q09"
print(data.queries.set_index("query").loc[question, "text"])
for row in truth[truth["query"] == question].itertuples():
    print(f"{row.doc}, relevance {row.relevance}: {text_of[row.doc]}")

# %% [markdown]
# Relevance 2 answers the question, 1 helps. `words` counts the words that question and passage share, `bm25` weighs them,
# `trigrams` compares pieces of words, `expanded` knows other words for some of those asked (so does a language model), and
# `fused` merges the lists of the three before it. By recnb:

# %%
retrievers = data.retrievers
found = recnb.compare(retrievers, truth)
found.table(["ndcg", "precision", "recall", "reciprocal_rank"], k=5)

# %%
ndcg = found.table("ndcg", k=5).to_frame().iloc[:, 0]  # claim
assert ndcg.idxmax() == "expanded"

# %% [markdown]
# ## One list, and what it is worth
#
# A small list shows the differences best. Somebody cannot log in; six passages would help, two of them with relevance 2.
# A retriever returns three passages: the first is p15, which answers the question, the others are of no use.

# %%
one_truth = truth[truth["query"] == question]
one_list = pd.DataFrame({"query": question, "doc": ["p15", "p30", "p42"], "score": [0.9, 0.5, 0.4]})

calls = [
    ("mteb", "ndcg"),
    ("sentence-transformers", "ndcg"),
    ("sentence-transformers", "ndcg[rerank]"),
    ("mlflow", "ndcg"),
    ("llama-index", "ndcg"),
    ("haystack", "ndcg"),
    ("haystack", "ndcg_scores"),
]
values = [recnb.as_in(library, metric, one_list, one_truth, k=3) for library, metric in calls]
by_library = pd.Series(values, index=[" ".join(call) for call in calls], name="nDCG@3")
by_library.sort_values(ascending=False, kind="stable").to_frame().round(4)

# %% [markdown]
# Five numbers of one list. All of them divide what the list earns by what an ideal list earns; they differ in
# what a passage is worth and how long the ideal list is. By hand:

# %%
place = [1 / log2(1 + rank) for rank in range(1, 7)]
by_hand = {
    "only retrieved passages count: the list is perfect": place[0] / place[0],
    "grades; the ideal list is cut at 3": 2 * place[0] / (2 * place[0] + 2 * place[1] + place[2]),
    "a passage helps or not; the ideal list is cut at 3": place[0] / sum(place[:3]),
    "grades; the ideal list has all six": 2 * place[0] / (2 * (place[0] + place[1]) + sum(place[2:])),
    "a passage helps or not; the ideal list has all six": place[0] / sum(place),
}
pd.Series(by_hand, name="nDCG@3").to_frame().round(4)

# %%
hands, order = list(by_hand.values()), [1, 2, 0, 2, 4, 4, 3]  # claim
assert all(abs(value - hands[number]) < 1e-5 for value, number in zip(values, order, strict=True))
assert recnb.as_in("mlflow", "ndcg", one_list.head(1), one_truth, k=3) == 1

# %% [markdown]
# No list of three can reach 1 in the last two rows, because the ideal list goes on below it. And mlflow cuts the ideal list
# at the length of the list: without the two passages of no use it would say 1.0000, though five that help are missing.
#
# ## The same name, another metric
#
# Some names promise one thing and compute another. The list again:

# %%
names = [
    ("ragas", "context_precision", "average precision, out of the hits"),
    ("ragas", "id_precision", "precision: hits / places"),
    ("haystack", "recall_single_hit", "hit rate: any hit"),
    ("haystack", "recall_multi_hit", "recall: hits / relevant"),
    ("llama-index", "hit", "hit rate: any hit"),
    ("llama-index", "hit_granular", "recall: hits / relevant"),
    ("sentence-transformers", "accuracy", "hit rate: any hit"),
]
rows = []
for library, metric, computed in names:
    value = recnb.as_in(library, metric, one_list, one_truth, k=3)
    rows.append((library, metric, computed, round(value, 4)))
pd.DataFrame(rows, columns=["library", "called there", "what it computes", "what it gives"])

# %%
one = recnb.evaluate(one_list, one_truth)  # claim
metrics = ["average_precision", "precision", "hit_rate", "recall", "hit_rate", "recall", "hit_rate"]  # claim
options = [{"out_of": "hits"}] + [{}] * 6  # claim
computed = [getattr(one, metric)(k=3, **option) for metric, option in zip(metrics, options, strict=True)]  # claim
assert [row[3] for row in rows] == [round(float(value), 4) for value in computed]

# %% [markdown]
# "Context precision 1.0" sounds as if every passage in the context helped. One of three does, and five of six that help are
# missing: the number says only that no useless passage stands above a useful one. And the recall of haystack is the
# hit rate, unless one asks for `mode="multi_hit"`.
#
# ## Five retrievers, six libraries
#
# Now all 20 questions. Each row is a library's number, as its own call returns it.

# %%
numbers = {("recnb", "ndcg"): {name: float(found[name].ndcg(k=5)) for name in retrievers}}
for library, metric in [*calls[:2], *calls[3:6], ("ragas", "context_precision")]:
    numbers[library, metric] = {
        name: recnb.as_in(library, metric, recs, truth, k=5) for name, recs in retrievers.items()
    }
print(repr(numbers["llama-index", "ndcg"]["words"]))
side_by_side = pd.DataFrame(numbers).T[[*retrievers]]
side_by_side.round(4)

# %%
assert side_by_side.loc[("mteb", "ndcg")].rank()["words"] == 4  # claim
assert side_by_side.loc[("recnb", "ndcg")].rank()["words"] == 2
assert side_by_side.loc[("mlflow", "ndcg")].rank()["words"] == 4
assert side_by_side.loc[("sentence-transformers", "ndcg")].rank()["words"] == 2
assert side_by_side.loc[("haystack", "ndcg")].rank()["words"] == 2
assert (side_by_side.idxmax(axis=1) == "expanded").all()
assert side_by_side.shape == (7, 5)

# %% [markdown]
# `expanded` is first everywhere. Behind it the libraries disagree about the order as well: for mteb and mlflow the crude
# `words` is second, for haystack and sentence-transformers last but one, and LlamaIndex itself raises an error on it, as
# the line above the table says. Never put the
# number of one row beside that of another.
#
# ## One difference, taken apart
#
# Why is `words` so much better in mteb? `why` goes from our number to theirs, one decision at a time, and the changes add up.

# %%
why = found["words"].why("ndcg", k=5, other="mteb")
why

# %%
assert why.index.tolist() == ["", "ties", "averaged_users"]  # claim
assert abs(why["value"].iloc[-1] - side_by_side.loc[("mteb", "ndcg"), "words"]) < 1e-12
assert why["change"].iloc[2] > why["change"].iloc[1] > 0.05

# %% [markdown]
# Neither has to do with how good the retriever is. Counts of shared words are often equal, and mteb puts the **higher id
# first**; on these pages that happens to help. And for three questions `words` finds nothing at all: recnb counts them 0,
# mteb **leaves them out**. There, a retriever that answers the easy questions alone looks better.
#
# ## Ties: a scorer that knows nothing
#
# Data for rerankers often have the passages that help first and the others after them. Suppose that the scorer is broken and
# gives every passage the same score.

# %%
pairs = data.queries[["query"]].merge(data.passages[["doc"]], how="cross")
complete = pairs.merge(truth, how="left").fillna({"relevance": 0})
candidates = complete.sort_values(["query", "relevance"], ascending=[True, False], kind="stable")
constant = candidates[["query", "doc"]].assign(score=0.5)

ev = recnb.evaluate(constant, truth)
rows = {"recnb": float(ev.ndcg(k=5))}
for library, metric in [*calls[:6], ("ragas", "context_precision")]:
    rows[f"{library} {metric}"] = recnb.as_in(library, metric, constant, truth, k=5)
rows["recnb, ties='expected'"] = float(recnb.evaluate(constant, truth, ties="expected").ndcg(k=5))
pd.Series(rows, name="k = 5").to_frame().round(4)

# %%
assert ev.ndcg(k=5) == 1  # claim
assert rows["mlflow ndcg"] == rows["ragas context_precision"] == 1
assert max(rows["mteb ndcg"], rows["sentence-transformers ndcg"]) < 0.1
assert max(rows["llama-index ndcg"], rows["haystack ndcg"]) < 1

# %% [markdown]
# A perfect score, or hardly any. Libraries that keep the order of the rows credit the broken scorer with the work of whoever
# sorted the file; mteb and sentence-transformers' evaluator of retrieval order equal scores by id, and its evaluator of
# rerankers takes the mean over all orders. What is such a number worth?

# %%
ev.lint(k=5)

# %%
assert "anything from 0.0000 to 1.0000" in str(ev.lint(k=5))  # claim

# %% [markdown]
# Anything from 0.0000 to 1.0000. `ties="expected"`, in the last row of the table, is the mean over all orders as well, with
# grades, and depends on none: 0.0834 is what luck earns here.
#
# ## What nobody judged
#
# Nobody holds every passage against every question. Suppose that people judged, a year ago, the first three passages of
# `words` and of `bm25`, and nothing since. Passages outside this pool count as if they were of no use.

# %%
first_three = [retrievers[name].groupby("query").head(3) for name in ("words", "bm25")]
pool = pd.concat(first_three)[["query", "doc"]].drop_duplicates()
judged = pool.merge(truth, how="left").fillna({"relevance": 0})

rows = {}
for name, recs in retrievers.items():
    pooled = recnb.evaluate(recs, judged)
    only_judged = recnb.evaluate(recs, judged, judged_only=True)
    rows[name] = [found[name].ndcg(k=5), pooled.ndcg(k=5), pooled.measure("Judged@5"), only_judged.ndcg(k=5)]
COLUMNS = ["nDCG@5, all judged", "nDCG@5, pool", "judged@5, pool", "nDCG@5, pool, judged only"]
by_pool = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS).astype(float)
print(f"{len(judged)} pairs judged, {(judged['relevance'] > 0).sum()} of {len(truth)} relevant ones among them")
by_pool.round(4)

# %%
assert by_pool.iloc[:, 0].idxmax() == "expanded"  # claim
assert by_pool.iloc[:, 1].idxmax() == "fused"
assert by_pool.iloc[:, 2].round(2).tolist() == [0.87, 0.74, 0.5, 0.71, 0.63]
lead = by_pool.loc["expanded"] - by_pool.loc["bm25"]  # claim
assert lead.round(2).tolist()[:2] == [0.26, 0.05]
assert (judged["relevance"] > 0).sum() == 22
assert judged[judged["relevance"] > 0]["query"].nunique() == 14
assert by_pool.iloc[:, 3].idxmax() == "fused"

# %% [markdown]
# All numbers are higher: what was not found is not missed, and six questions that have no known answer are left out. Worse,
# the order is wrong. `expanded`, ahead of `bm25` by 0.26, is now ahead by 0.05 and behind `fused`: it finds passages that
# share no word with the question, which is its purpose, and the pool cannot know them. `judged@5` is the warning, here
# 0.87 of one and 0.50 of another. It does not say who suffers: with 0.71, `expanded` is close to the 0.74 of `bm25`.
# `judged_only=True` skips what nobody judged, which is kinder to new retrievers, but brings no answer back that the pool has not.
# Judge the top five of every retriever that you compare.
#
# ## How many questions?
#
# All judged, `expanded` leads `fused` by 0.19, on 20 questions. And `bm25` leads `words` by 0.02. Which of these may be believed?

# %%
rows = {}
for model, baseline in (("expanded", "fused"), ("fused", "bm25"), ("bm25", "words")):
    pair = recnb.compare({baseline: retrievers[baseline], model: retrievers[model]}, truth, baseline=baseline)
    difference = pair.differences("ndcg", k=5).to_frame().reset_index().iloc[0]
    spread = (found[model].ndcg(k=5).per_user - found[baseline].ndcg(k=5).per_user).std()
    needed = recnb.users_needed(difference["difference"], sd=spread)
    rows[f"{model} − {baseline}"] = [*difference[["difference", "low", "high", "detectable"]], needed]
COLUMNS = ["difference", "low", "high", "detectable with 20", "questions needed"]
questions = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
questions.round(4)

# %%
assert questions.iloc[0, 1] > 0 > questions.iloc[2, 1]  # claim
assert questions.iloc[1, 1] > 0
assert questions.iloc[0, 0] < questions.iloc[0, 3]
assert 900 < questions.iloc[2, 4] < 1000

# %% [markdown]
# `expanded` is better than `fused`: the interval is above 0. It was luck as well, because with twenty questions only a difference
# of 0.20 or more is found in four of five such trials. The interval of `bm25` − `words` has room for either being better, and
# a lead of that size needs nearly a thousand questions. **The number of questions grows with the inverse square of the
# difference**: half the difference needs four times as many.
#
# ## What to report
#
# A number, its interval, how much was judged, and the line below:

# %%
recnb.evaluate(retrievers["expanded"], complete).measures(["nDCG@5", "R@5", "RR@5", "Judged@5"])

# %% [markdown]
# - **The metric in words, with its convention.** recnb prints it below every table: gain, ideal list, ties, and who is averaged.
# - **The library's number, if others have it:** `recnb.as_in("mteb", "ndcg", recs, truth, k=5)`; with `ev.why` to say what
#   separates it from yours.
# - **k as the chatbot has it.** If five passages go into the prompt, nDCG@10 is about something else. Recall at that k says whether
#   the answer can be in the context at all.
# - **Questions without a list, without an answer, and how many there are.** They are where libraries differ most.
# - **Ties.** If scores are equal, `ties="expected"`; a perfect score of a new scorer is first of all suspicious.
# - **How much was judged:** `judged@5` of each retriever, and where the pool came from.
# - **An interval, and the number of questions.** Twenty are enough to find what is broken, and not to tell good from better.
#
# [Notebook 06](06_whose_number.ipynb) has the same for libraries of recommendation, [12](12_what_nobody_saw.ipynb) more on what nobody
# saw, [09](09_compare_models.ipynb) on comparisons.
