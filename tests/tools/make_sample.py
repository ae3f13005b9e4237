"""The script that makes the sample data set: an imaginary library of short films.

`python -m tests.tools.make_sample` writes the CSV files again, the same bytes each time: all chance comes from one
`numpy.random.RandomState`, whose stream NumPy promises never to change; scores are rounded before they are ordered, and
ties go to the lower position, so that the last bits of a sum, which differ between builds of NumPy, decide nothing.

The three recommenders are real, if small, and see the train ratings only. The settings were picked so that two of them
come out close and both well ahead of the third, so these numbers say nothing about the methods in general.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

import recnb.datasets

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SEED = 7
N_USERS, N_ITEMS, N_DAYS = 300, 250, 180
SPLIT_DAY = 150  # ratings from this day on are the test set
LATE_USERS = 2  # joined after the split: in the test set only, so no model can serve them
LAPSED_SHARE = 0.08  # left before the split: recommendations, but nothing to test them on
TASTE_STRENGTH = 1.6  # how much choices follow taste (0: popularity alone)
TAIL_EXPONENT = 1.3  # of the Zipf-like popularity
LIST_LENGTH = 20
NEIGHBOURS, SHRINKAGE = 40, 5.0  # item-knn
FACTORS = 6
DIGITS = 4  # decimals kept in a written score

GENRES = ("animation", "comedy", "documentary", "drama", "music", "mystery", "nature", "romance")
GENRE_SHARES = (0.16, 0.18, 0.12, 0.22, 0.07, 0.09, 0.07, 0.09)
BRANCHES = ("harbour", "hill", "mill", "station")
BRANCH_SHARES = (0.4, 0.3, 0.2, 0.1)
# One text each rather than lists: easier to read, and to add a word to.
ADJECTIVES = (
    "Amber Borrowed Brave Bright Clever Crooked Curious Distant Early Empty Faithful Gentle Golden Hidden "
    "Hollow Kind Last Lonely Lucky Midnight Painted Paper Patient Quiet Restless Secret Silver Sleepy Small "
    "Stubborn Sunday Velvet Wandering Winter"
)
NOUNS = (
    "Accordion Baker Balloon Beekeeper Bicycle Bridge Clockmaker Compass Ferry Fox Garden Gardener Heron "
    "Kite Lantern Letter Lighthouse Map Neighbour Orchard Piano Postman Rowboat Sailor Sparrow Staircase "
    "Suitcase Swimmer Tailor Teapot Telescope Umbrella Violin Window"
)
PLACES = (
    "Alder Lane|Birch Hill|Cold Harbour|Elm Street|Far Island|Foxglove Farm|Market Square|Mill Pond|"
    "North Pier|Pebble Bay|Platform Nine|River Row|Salt Marsh|Snowfield Pass|the Attic|the Top Floor"
)


class World(NamedTuple):
    """Who there is, what there is, and every rating with its day."""

    users: pd.DataFrame
    items: pd.DataFrame
    ratings: Ints  # (N_USERS, N_ITEMS), 0 where there is no rating
    days: Ints


def make_titles(rng: np.random.RandomState, count: int) -> list[str]:
    """Titles, all different, put together from the word lists."""
    nouns = NOUNS.split()
    titles = [f"The {adjective} {noun}" for adjective in ADJECTIVES.split() for noun in nouns]
    titles += [f"The {noun} of {place}" for noun in nouns for place in PLACES.split("|")]
    return [titles[position] for position in rng.permutation(len(titles))[:count]]


def make_items(rng: np.random.RandomState) -> tuple[pd.DataFrame, Floats]:
    """The films, and a matrix (items, genres) of ones and zeros: one to three genres each."""
    has = np.zeros((N_ITEMS, len(GENRES)))
    for row in has:
        how_many = 1 + int(np.searchsorted([0.45, 0.9], rng.random_sample()))
        row[rng.choice(len(GENRES), size=how_many, replace=False, p=GENRE_SHARES)] = 1.0
    columns = {
        "item": [f"i{number:03d}" for number in range(1, N_ITEMS + 1)],
        "title": make_titles(rng, N_ITEMS),
        "genres": ["|".join(GENRES[genre] for genre in np.flatnonzero(row)) for row in has],
        "year": 2024 - np.minimum(rng.exponential(12.0, N_ITEMS), 70.0).astype(np.int64),
        "minutes": 3 + np.minimum(rng.gamma(2.5, 5.0, N_ITEMS), 42.0).astype(np.int64),
    }
    return pd.DataFrame(columns), has


def make_affinity(rng: np.random.RandomState, has: Floats) -> Floats:
    """How well each film suits each user, (users, items): taste over the genres, and hidden factors; standardised."""
    taste = rng.dirichlet(5.0 * np.array(GENRE_SHARES), size=N_USERS)
    taste /= np.linalg.norm(taste, axis=1, keepdims=True)
    shape = has / np.linalg.norm(has, axis=1, keepdims=True)
    hidden = rng.normal(size=(N_USERS, 4)) @ rng.normal(size=(4, N_ITEMS))
    affinity: Floats = taste @ shape.T + 0.1 * hidden
    return (affinity - affinity.mean()) / (affinity - affinity.mean()).std()


def make_choices(rng: np.random.RandomState, affinity: Floats, counts: Ints) -> list[Ints]:
    """The films that each user watched: popularity times taste, drawn without replacement."""
    popularity = 1.0 / (6.0 + np.arange(N_ITEMS)) ** TAIL_EXPONENT
    popularity = popularity[rng.permutation(N_ITEMS)]  # so that an item's number says nothing
    # The largest of log-weights plus Gumbel noise are a weighted draw without replacement.
    keys = np.log(popularity) + TASTE_STRENGTH * affinity + rng.gumbel(size=affinity.shape)
    order = np.argsort(-keys, axis=1, kind="stable")
    return [order[user, :count].astype(np.int64) for user, count in enumerate(counts)]


def make_stays(rng: np.random.RandomState, counts: Ints) -> tuple[Ints, Ints]:
    """The day each user joined and the day after the last one; whoever has few ratings came late."""
    latest = np.where(counts < 12, 130, 60)
    joined = (rng.random_sample(N_USERS) * latest).astype(np.int64)
    end = np.where(rng.random_sample(N_USERS) < LAPSED_SHARE, SPLIT_DAY, N_DAYS).astype(np.int64)
    late = rng.choice(np.flatnonzero(counts < 12), size=LATE_USERS, replace=False)
    joined[late] = SPLIT_DAY + 5
    end[late] = N_DAYS
    return joined, end


def make_world() -> World:
    """Users, films and ratings, from the seed."""
    rng = np.random.RandomState(SEED)
    items, has = make_items(rng)
    affinity = make_affinity(rng, has)
    counts = np.clip(np.round(rng.lognormal(2.75, 0.65, N_USERS)), 5, 80).astype(np.int64)
    joined, end = make_stays(rng, counts)
    liking = 3.2 + 0.45 * affinity + 0.35 * rng.normal(size=N_ITEMS) + 0.3 * rng.normal(size=(N_USERS, 1))
    stars = np.clip(np.round(liking + 0.95 * rng.normal(size=affinity.shape)), 1, 5).astype(np.int64)
    ratings, days = np.zeros_like(stars), np.zeros_like(stars)
    for user, chosen in enumerate(make_choices(rng, affinity, counts)):
        ratings[user, chosen] = stars[user, chosen]
        stay = end[user] - joined[user]
        days[user, chosen] = joined[user] + (rng.random_sample(len(chosen)) * stay).astype(np.int64)
        days[user, chosen[0]] = joined[user]  # people join to watch something
    columns = {
        "user": [f"u{number:03d}" for number in range(1, N_USERS + 1)],
        "segment": np.select([counts < 12, counts < 30], ["new", "regular"], "devoted"),
        "branch": [BRANCHES[pick] for pick in rng.choice(len(BRANCHES), size=N_USERS, p=BRANCH_SHARES)],
        "joined": joined,
    }
    return World(pd.DataFrame(columns), items, ratings, days)


def split_ratings(world: World) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train and test frames: the ratings before SPLIT_DAY, and those from it on."""
    at_user, at_item = np.nonzero(world.ratings)
    columns = {
        "user": world.users["user"].to_numpy()[at_user],
        "item": world.items["item"].to_numpy()[at_item],
        "rating": world.ratings[at_user, at_item],
        "day": world.days[at_user, at_item],
    }
    frame = pd.DataFrame(columns)
    is_train = frame["day"] < SPLIT_DAY
    train = frame[is_train].sort_values(["user", "day", "item"], ignore_index=True)
    test = frame[~is_train].sort_values(["user", "item"], ignore_index=True)
    return train, test[["user", "item", "rating"]]


def item_knn(seen: Floats) -> Floats:
    """Scores (users, items) by cosine similarity to the user's films, nearest neighbours only."""
    together = seen.T @ seen
    size = np.sqrt(np.diag(together))
    # Shrinkage: a similarity that rests on two or three users is mostly luck.
    similarity = np.round(together / (np.outer(size, size) + SHRINKAGE), 9)
    np.fill_diagonal(similarity, 0.0)
    far = np.argsort(-similarity, axis=1, kind="stable")[:, NEIGHBOURS:]
    np.put_along_axis(similarity, far, 0.0, axis=1)
    # A little popularity orders what no neighbour reaches, which users with few ratings need.
    return np.asarray(seen @ similarity.T + 0.01 * popular(seen))


def factors(seen: Floats) -> Floats:
    """Scores (users, items) from the truncated singular value decomposition of who saw what."""
    left, strength, right = np.linalg.svd(seen, full_matrices=False)
    return np.asarray((left[:, :FACTORS] * strength[:FACTORS]) @ right[:FACTORS])


def popular(seen: Floats) -> Floats:
    """Scores (users, items): the share of users who saw the film, the same for everybody."""
    share = seen.mean(axis=0)
    order = np.argsort(-np.round(share, 9), kind="stable")
    share[order] = distinct(share[order])
    return np.tile(share, (len(seen), 1))


def distinct(scores: Floats) -> Floats:
    """Descending scores as rounded numbers with no two alike: a tie goes one last digit lower."""
    steps = np.round(scores * 10**DIGITS).astype(np.int64)
    for place in range(1, len(steps)):
        steps[place] = min(steps[place], steps[place - 1] - 1)
    return np.asarray(steps / 10.0**DIGITS)


def recommend(world: World, seen: Floats, scores: Floats) -> pd.DataFrame:
    """The LIST_LENGTH best unseen films (user, item, score) of each user with a past, best first."""
    user_ids, item_ids = world.users["user"].to_numpy(), world.items["item"].to_numpy()
    parts = []
    for user in np.flatnonzero(seen.any(axis=1)):
        row = np.where(seen[user] > 0, -np.inf, np.round(scores[user], DIGITS))
        best = np.argsort(-row, kind="stable")[:LIST_LENGTH]
        columns = {"user": user_ids[user], "item": item_ids[best], "score": distinct(scores[user, best])}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def make_frames() -> dict[str, pd.DataFrame]:
    """Every frame of the sample, by the name of its file."""
    world = make_world()
    seen = ((world.ratings > 0) & (world.days < SPLIT_DAY)).astype(np.float64)
    train, test = split_ratings(world)
    frames = {"train": train, "test": test, "items": world.items, "users": world.users}
    for name, model in (("item-knn", item_knn), ("factors", factors), ("popular", popular)):
        frames[f"recommendations-{name}"] = recommend(world, seen, model(seen))
    return frames


def write(folder: str | Path | None = None) -> list[Path]:
    """Write the files of the sample into a folder (default: the one in the package), and return their paths."""
    target = Path(recnb.datasets.__file__).parent / "sample" if folder is None else Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, frame in make_frames().items():
        path = target / f"{name}.csv"
        text = frame.to_csv(index=False, lineterminator="\n", float_format=f"%.{DIGITS}f")
        path.write_bytes(text.encode("utf-8"))  # as bytes: the same line ends on every system
        paths.append(path)
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the CSV files of the sample data set.")
    parser.add_argument("folder", nargs="?", help="where to (default: the folder inside the package)")
    for written in write(parser.parse_args().folder):
        print(f"{written}  {written.stat().st_size:,} bytes")
