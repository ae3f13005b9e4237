# %% [markdown]
# # A first look
#
# **How good are these recommendations?**
#
# Here are five cells from data to an answer. Run them one by one, or all at once. You need not know the metrics yet: where a word is
# used before it is explained, a link leads to the notebook that explains it.

# %%
import recnb

sample = recnb.datasets.load_sample()
sample

# %% [markdown]
# A small library of short films, made up for trying things out. Three recommenders each made lists of 20 films for its
# members. Take one of the three, and what the members came to watch and rate afterwards:

# %%
recs = sample.models["item-knn"]
truth = sample.test
print(recs.head(3), truth.head(3), sep="\n\n")

# %% [markdown]
# *Recommended* on top, *what really happened* below. That is all it takes: two frames that name users and items.
# Join them, once. An item that was recommended and then watched is a *hit*, and the result, an *evaluation*, holds the hits
# of the members who have a relevant item in the truth, 261 of 300:

# %%
ev = recs.rec.against(truth)
ev

# %% [markdown]
# Everything else is a question put to `ev`. The broadest one is a report, here with lists cut after 5, 10 and 20 films
# (k, the *cut-off*):

# %%
ev.report(k=[5, 10, 20])

# %% [markdown]
# **So how good are they?** Read it from the top. Cut after ten films, a list earns on average about a quarter of what the best
# possible list would have earned: nDCG@10, the subject of [04](04_dcg_ndcg.ipynb). About two members in three find a film
# that they went on to watch among their first ten: HR@10, the hit rate. The others score 0; in the tab *Curve and
# distribution* they are the grey bar. Precision and recall are explained in [02](02_precision_recall.ipynb), HR, RR and AP in
# [03](03_hit_rate_rr_ap.ipynb), and the range beside a mean, its *interval*, in [09](09_compare_models.ipynb).
#
# A mean hides people. Here is one of them, and how the score of this one list is made, hit by hit: what each earned,
# added up, divided by what the ideal list would have earned. [04](04_dcg_ndcg.ipynb) works such a table out by hand.

# %%
ev.explain("ndcg", "u026", k=10)

# %% [markdown]
# ## Where to go from here
#
# * Your own data: replace `recs` and `truth`. Columns called something like `userId`, `movieId` or `rating` are found;
#   others are named, as in `recs.rec.against(truth, user="member", item="sku")`.
# * To learn what the metrics mean: [02](02_precision_recall.ipynb), [03](03_hit_rate_rr_ap.ipynb), [04](04_dcg_ndcg.ipynb),
#   then [07](07_playground.ipynb).
# * Is a film rated 1 star a success? By default every rating above 0 counts; in graded metrics, such as nDCG, more stars
#   earn more. `recs.rec.against(truth, relevant_from=4)` counts only films rated 4 or more.
# * One number: `ev.ndcg(k=10)`, with `.per_user` and `.interval()`. All of them: `ev.table(k=[5, 10, 20])`.
# * The other two recommenders: `sample.models["factors"]` and `sample.models["popular"]`.
