# %% [markdown]
# # When the frame is too large
#
# **The question: recommendations no longer fit into a DataFrame. What changes?**
#
# Where the rows are, and little else. The same options, the same conventions and the same numbers hold for a frame in
# memory, for files that are read piece by piece, and for the workers of an engine. One user's value needs that user's
# rows alone; so users are put into parts, each part is joined by itself, and the hits of all parts are put together.
# This notebook runs one evaluation in four places and lays the results side by side.
#
# It needs more than the others: `pip install -e ".[dask,spark]"` and a Java runtime for Spark.

# %%
import os
import sys
import tempfile
import time
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl

import recnb
import recnb.dask

dask.config.set(scheduler="sync")
METRICS, K = ["ndcg", "average_precision", "reciprocal_rank", "recall", "hit_rate"], [5, 10]

# %% [markdown]
# ## Data: a model that is right now and then
#
# Ten recommendations for each of 20,000 users, who each like six items. Scores have few digits, so that some are equal:
# ties are the first thing to go wrong when rows are moved around. Some users have no list, some no item that they like.

# %%
rng = np.random.default_rng(11)
N_USERS, N_ITEMS = 20_000, 3_000

liked = rng.integers(0, N_ITEMS, (N_USERS, 6))
shown = rng.integers(0, N_ITEMS, (N_USERS, 10))
known = rng.random((N_USERS, 10)) < 0.25
shown = np.where(known, liked[:, rng.integers(0, 6, 10)], shown)

users = np.char.add("u", np.arange(N_USERS).astype(str))
recs = pd.DataFrame(
    {
        "user": users.repeat(10),
        "item": shown.ravel(),
        "score": (rng.random((N_USERS, 10)) + 0.3 * known).round(1).ravel(),
    }
).drop_duplicates(["user", "item"])
truth = pd.DataFrame(
    {"user": users.repeat(6), "item": liked.ravel(), "rating": rng.integers(0, 6, N_USERS * 6)}
).drop_duplicates(["user", "item"])
recs = recs[recs["user"].str[-2:] != "07"]
truth = truth[truth["user"].str[-2:] != "13"].sample(frac=1, random_state=11)
print(f"{len(recs):,} recommended rows, {len(truth):,} judged ones")

# %% [markdown]
# ## In memory
#
# The number that all others have to meet.

# %%
here = recs.rec.against(truth)
here.table(METRICS, k=K).round(4)

# %% [markdown]
# ## In files
#
# Four files, as a nightly job might leave them. `pl.scan_parquet` reads nothing yet; `.rec.against` reads them whole, as
# long as neither table has more than 8 million rows. Of more, Polars puts the rows into parts of users in temporary
# files, and one part after the other is joined. What is in memory then is one part and the hits, however many files there
# are and whatever the order of their rows. The result is an ordinary Evaluation: `table`, `report`, `compare`, and every
# metric of accuracy.

# %%
folder = tempfile.TemporaryDirectory()
files = Path(folder.name)
for number, part in enumerate(np.array_split(recs["user"].unique(), 4)):
    recs[recs["user"].isin(part)].to_parquet(files / f"recs-{number}.parquet", index=False)
truth.to_parquet(files / "truth.parquet", index=False)

scanned = pl.scan_parquet(files / "recs-*.parquet").rec.against(pl.scan_parquet(files / "truth.parquet"))
scanned.table(METRICS, k=K).round(4)

# %% [markdown]
# DuckDB relations and pyarrow datasets are taken in the same way, and frames that come one after the other, from an API or
# a loop of one's own, are written to a folder and scanned.

# %% [markdown]
# ## With Dask
#
# `import recnb.dask` makes `.rec` known to Dask DataFrames. Users may be spread over partitions in any way: rows are
# shuffled by user, each partition is joined where it is, and its hits come back, once, when the evaluation
# is made. Every metric at every cut-off is computed from them.

# %%
dask_truth = dd.from_pandas(truth, npartitions=3, sort=False)
with_dask = dd.from_pandas(recs, npartitions=7, sort=False).rec.against(dask_truth)
assert np.allclose(with_dask.table(METRICS, k=K), here.table(METRICS, k=K), rtol=0, atol=1e-12)
with_dask

# %% [markdown]
# ## With Spark
#
# Spark DataFrames have no accessors, so a function makes the evaluation. Users go into hash buckets, each worker joins
# whole buckets with the same code as above, and the driver gets their hits. Here it is one machine with two threads;
# nothing in the call would be different on a cluster.

# %% tags=["nbval-ignore-output"]
from pyspark.sql import SparkSession

import recnb.spark

os.environ["PYSPARK_PYTHON"] = sys.executable  # Spark's workers are to have what this notebook has
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.log.level", "ERROR")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "8")
    .getOrCreate()
)

# %%
spark_recs = spark.read.parquet(*[str(file) for file in sorted(files.glob("recs-*.parquet"))])
spark_truth = spark.read.parquet(str(files / "truth.parquet"))

with_spark = recnb.spark.evaluate(spark_recs, spark_truth, ties="item_asc")
from_spark = with_spark.table(METRICS, k=K)
with_spark

# %% [markdown]
# Spark promises nothing about the order of rows, so ties that keep "the order they came in" are worth as much as that
# order. Above, equal scores are put in order by item, which every engine does alike. One line tells how much hangs on it:

# %%
by_item = recs.rec.against(truth, ties="item_asc")
assert abs(from_spark.loc["ndcg", 10] - by_item.ndcg(k=10)) < 1e-12
print(f"nDCG@10, ties as they came {float(here.ndcg(k=10)):.6f}, by item {float(by_item.ndcg(k=10)):.6f}")

# %% [markdown]
# ## The same to twelve digits
#
# Every table, ties put in order by item, and how far it is from the one in memory. Sums of parts are added in another
# order, so the sixteenth digit may differ; no digit that anyone prints does.

# %%
asked = {"ties": "item_asc"}
shuffled = dd.from_pandas(recs.sample(frac=1, random_state=1), npartitions=7, sort=False)
lazy = pl.scan_parquet(files / "recs-*.parquet").rec.against(pl.scan_parquet(files / "truth.parquet"), **asked)
everywhere = {
    "pandas": by_item.table(METRICS, k=K),
    "Polars, lazy": lazy.table(METRICS, k=K),
    "Dask": shuffled.rec.against(dask_truth, **asked).table(METRICS, k=K),
    "Spark": from_spark,
}
side_by_side = pd.DataFrame({name: table[10] for name, table in everywhere.items()})
memory = everywhere["pandas"]
furthest = max(float(np.abs(table.to_numpy() - memory.to_numpy()).max()) for table in everywhere.values())

assert furthest < 1e-12
assert all(table.attrs["basis"] == memory.attrs["basis"] for table in everywhere.values())
print(f"no two differ by more than 1e-12: {furthest < 1e-12}")
side_by_side.map("{:.12f}".format)

# %% [markdown]
# ## What comes back
#
# The first number brings back the hits and a few counts of each user, once. Every other metric, cut-off and interval is
# computed from them here:

# %%
together, added = here.ndcg(k=10).interval(), with_dask.ndcg(k=10).interval()
print(f"together {together.low:.4f} to {together.high:.4f}; added up {added.low:.4f} to {added.high:.4f}")

# %% [markdown]
# A comparison with its tests needs the values of users side by side. They come from the same hits; the lists stay where
# they are:

# %%
half = dd.from_pandas(recs[recs["item"] % 2 == 0], npartitions=5, sort=False)
whole = dd.from_pandas(recs, npartitions=5, sort=False)
found = recnb.compare({"all": whole, "half": half}, dask_truth)
found.differences(["ndcg"], k=10)[["model", "baseline", "difference", "low", "high", "verdict"]].round(4)

# %% [markdown]
# ## What it costs
#
# Seconds for the table above on this machine, the second call of each, and how many rows that is in a second. They are
# not compared when this notebook is tested: yours will differ. For 200,000 rows an engine is mostly overhead; see what
# becomes of it below.


# %% tags=["nbval-ignore-output"]
def seconds(call):
    call()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def of_files():
    return pl.scan_parquet(files / "recs-*.parquet").rec.against(pl.scan_parquet(files / "truth.parquet"))


took = {
    "pandas": seconds(lambda: recs.rec.against(truth).table(METRICS, k=K)),
    "Polars, lazy, with reading": seconds(lambda: of_files().table(METRICS, k=K)),
    "Dask, one thread": seconds(lambda: whole.rec.against(dask_truth).table(METRICS, k=K)),
    "Spark, two threads": seconds(lambda: recnb.spark.evaluate(spark_recs, spark_truth).table(METRICS, k=K)),
}
cost = pd.DataFrame({"seconds": took})
cost["rows a second"] = (len(recs) / cost["seconds"]).round(-3).astype(int)
cost.round(2)

# %% [markdown]
# ## When to move
#
# | you have | use | because |
# |---|---|---|
# | up to some ten million rows | a frame in memory | nothing is quicker, and everything answers: `why`, coverage, every check of the lint |
# | more rows than memory, on one machine | `pl.scan_parquet`, DuckDB, a pyarrow dataset | memory holds hits and users, the truth if it is a frame, and one part of the rows |
# | rows that live on a cluster | Dask, Spark | each part holds its own users and no more; their hits come back |
#
# An engine is for what one machine does not hold. On the same cores it is slower: it moves each row once, so that all rows
# of a user meet, and that costs several times what the evaluation does.
#
# ## What a billion recommendations would take
#
# What was measured, on two cores, with the bench of this repository and with Spark on ten million rows, and what follows
# if cost grows with the rows, which the bench looks at up to a hundred million. The column for 32 cores supposes that an
# engine is sixteen times as fast on sixteen times the cores; that was not measured.

# %%
MEASURED = {  # rows a second on two cores
    "streamed from files": 3.1e6,
    "Dask, threads": 1.0e6,
    "Spark, local": 1.0e6,
}
BILLION = 1e9
pd.DataFrame(
    {
        name: {
            "minutes, 2 cores": BILLION / rate / 60,
            "minutes, 32 cores": BILLION / rate / 60 / 16 if "streamed" not in name else float("nan"),
        }
        for name, rate in MEASURED.items()
    }
).T.round(1)

# %% [markdown]
# A hundred million users with lists of ten, or ten million with lists of a hundred: to the recommendations it is the same
# billion, to memory it is not. What stays here is the truth and one row a user, at some 130 bytes for each relevant item
# while it streams:

# %%
BYTES = 130  # at the peak, for each relevant item
for n_users, relevant in ((10_000_000, 5), (100_000_000, 5)):
    print(f"{n_users:>11,} users, {relevant} relevant items each: {n_users * relevant * BYTES / 1e9:.1f} GB")

# %% [markdown]
# So a billion recommendations to ten million users are a few minutes on one machine with some 7 GB to spare, and no
# engine is needed. To a hundred million users it is the truth that does not fit: half a billion relevant items. Then an engine
# is, with parts that do fit: with 2,000 parts each holds 50,000 users, some tens of MB, and 32 cores, if they
# scale, are done in a minute or two. The hits and counts come back, some 170 bytes a user: 17 GB.
#
# [12](12_what_nobody_saw.ipynb) is on what nobody saw; [the list of all](README.md) says which question each one answers.

# %%
spark.stop()
folder.cleanup()
