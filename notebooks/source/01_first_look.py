# %% [markdown]
# # A first look
#
# **How good are these recommendations?**
#
# Here are five cells from data to an answer. Run them one by one, or all at once.

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
# Join them, once:

# %%
ev = recs.rec.against(truth)
ev

# %% [markdown]
# Everything else is a question put to `ev`. The broadest one:

# %%
ev.report(k=[5, 10, 20])

# %% [markdown]
# **So how good are they?** Read it from the top. A list earns about a quarter of what the best possible list would have
# earned (nDCG@10). Two members in three find a film they went on to watch among their first ten (hit_rate@10); the third
# finds nothing, and stands as the grey bar at 0.
#
# A mean hides people. Here is one of them, and how the score of this one list is made, hit by hit:

# %%
ev.explain("ndcg", "u026", k=10)

# %% [markdown]
# ## Where to go from here
#
# * Your own data: replace `recs` and `truth`. Columns called something like `userId`, `movieId` or `rating` are found;
#   others are named, as in `recs.rec.against(truth, user="member", item="sku")`.
# * Is a film rated 1 star a success? By default every rating above 0 counts, more stars for more.
#   `recs.rec.against(truth, relevant_from=4)` counts only films that were liked.
# * One number: `ev.ndcg(k=10)`, which also knows `.per_user` and `.interval()`. All of them: `ev.table(k=[5, 10, 20])`.
# * The other two recommenders: `sample.models["factors"]` and `sample.models["popular"]`.
