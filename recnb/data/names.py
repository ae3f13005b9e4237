"""What tables and columns are called, and which roles each table has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import TypeAlias

#: What errors call the tables.
RECS, TRUTH, BOTH = "recommendations", "truth", "the frame"
#: The roles that are ids.
IDS = ("user", "item")
#: The roles that are numbers, of lists and of the truth.
NUMBERS = ("rank", "score", "relevance")
#: Usual names of columns by role, in lower case and without _, - and blanks.
NAMES = {
    "user": "user userid uid customer customerid member memberid query queryid qid "
    "session sessionid visitor visitorid",
    "item": "item itemid iid movie movieid doc docid docno document documentid corpusid "
    "product productid article articleid track trackid sku asin",
    "rank": "rank position",
    "score": "score prediction predictedscore predicted pred predictions ypred yscore "
    "yhat est estimate ctr",
    "relevance": "relevance rel rating label grade ytrue labels target rui truer actual "
    "click clicked stars",
    "model": "model modelname algorithm",
    "recommended": "recommended recommendations",
    "relevant": "relevant groundtruth",
}
#: The role of each of these names.
_ROLE = {name: role for role, names in NAMES.items() for name in names.split()}
#: What columns of the titles of items are called, plain names first: `name`, then
#: `product_name`.
TITLES = [
    prefix + title
    for prefix, title in product(
        ("", *NAMES["item"].split()), ("title", "name", "label")
    )
]
#: The last word of a column that says when something happened, as of "timestamp",
#: "rated_at", "rated-at", "eventTime" and "order date".
TIMES = ("when", "date", "time", "datetime", "timestamp", "datetimestamp", "ts", "at")
#: How words begin that make it the time of an item or of a user.
TIMELESS = ("release", "birth")
#: The table whose column a keyword names by a role; others of a split may have it too.
ONLY_IN = {
    "rank": RECS,
    "score": RECS,
    "recommended": RECS,
    "split": RECS,
    "relevance": TRUTH,
    "relevant": TRUTH,
}
#: The role of a column whose cells are lists, by table.
LIST_ROLES = {RECS: "recommended", TRUTH: "relevant"}

#: Columns by role, as keywords name them: of each role one, or one for each table.
Named: TypeAlias = Mapping[str, Sequence[str]]
#: The column that plays each role, by role.
Labels: TypeAlias = Mapping[str, str]
#: The roles that a table may have, in the order of results -> whether it must.
Roles: TypeAlias = Mapping[str, bool]

ROLES: dict[str, Roles] = {
    RECS: {"user": True, "item": True, "rank": False, "score": False},
    TRUTH: {"user": True, "item": True, "relevance": False, "propensity": False},
    "train": {"user": True, "item": True},
    "items": {"item": True},
    "users": {"user": True},
}
#: One frame with both sides needs a rank or a score as well.
ROLES[BOTH] = {**ROLES[RECS], **ROLES[TRUTH], "relevance": True}


def plain_name(column: object) -> str:
    """Return a column's name in lower case and without _, - and blanks."""
    return str(column).lower().replace("_", "").replace("-", "").replace(" ", "")


@lru_cache(maxsize=4096)  # ids are asked about as well
def role_of(column: object) -> str | None:
    """Return the role that a column's name suggests."""
    return _ROLE.get(plain_name(column))


def title_column(columns: Iterable[str]) -> str | None:
    """Return the column of titles among those of items, None if there is none.

    The plainest name wins, and of equal ones the first.
    """
    titles = [column for column in columns if plain_name(column) in TITLES]
    return min(titles, key=lambda name: TITLES.index(plain_name(name)), default=None)


def says_when(column: object) -> bool:
    """Return whether a column says when, by the words of its name."""
    spaced = re.sub("([a-z])([A-Z])", r"\1 \2", str(column))
    words = re.sub("[_-]", " ", spaced).lower().split()
    if any(word.startswith(TIMELESS) for word in words):
        return False
    return bool(words) and words[-1] in TIMES
