"""What tables and columns are called, and which roles each table has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from recnb.errors import is_several

#: What errors call the tables.
RECS, TRUTH, BOTH = "recommendations", "truth", "the frame"
#: The roles that are ids.
IDS = ("user", "item")
#: Usual names of columns by role, in lower case and without _, - and blanks.
USUAL = {
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
NAMES: dict[str, tuple[str, ...]] = {
    role: tuple(names.split()) for role, names in USUAL.items()
}
ROLE_OF = {name: role for role, names in NAMES.items() for name in names}
#: What columns of the titles of items are called, plain names first: `name`, then
#: `product_name`.
TITLES = [
    item + title
    for item, title in product(("", *NAMES["item"]), ("title", "name", "label"))
]
#: The one table that may hold the column of a role; those of other roles may be in any.
HOLDER = {
    "rank": RECS,
    "score": RECS,
    "recommended": RECS,
    "split": RECS,
    "relevance": TRUTH,
    "relevant": TRUTH,
    "propensity": TRUTH,
}
#: The role of a column of lists, in the place of a row an item.
OF_LISTS = {RECS: "recommended", TRUTH: "relevant"}

#: Columns by role, as keywords name them: of each role one, or one for each table.
Named: TypeAlias = Mapping[str, Sequence[str]]
#: The column that plays each role, by role.
Labels: TypeAlias = Mapping[str, str]


class RolesWanted(NamedTuple):
    """The roles that a table has: needed, possible, and some of which it needs one."""

    needed: Sequence[str]
    possible: Sequence[str] = ()
    one_of: Sequence[str] = ()


WANTED = {
    RECS: RolesWanted(IDS, ("rank", "score")),
    TRUTH: RolesWanted(IDS, ("relevance", "propensity")),
    BOTH: RolesWanted((*IDS, "relevance"), ("propensity",), one_of=("rank", "score")),
    "train": RolesWanted(IDS),
    "items": RolesWanted(("item",)),
    "users": RolesWanted(("user",)),
}


def plain_name(column: object) -> str:
    """Return a column's name in lower case and without _, - and blanks."""
    return str(column).lower().replace("_", "").replace("-", "").replace(" ", "")


@cache
def role_of(column: object) -> str | None:
    """Return the role that a column's name suggests."""
    return ROLE_OF.get(plain_name(column))


def title_column(columns: Iterable[str]) -> str | None:
    """Return the column of titles among those of items, None if there is none.

    The plainest name wins, and of equal ones the first.
    """
    titles = [column for column in columns if plain_name(column) in TITLES]
    return min(titles, key=lambda name: TITLES.index(plain_name(name)), default=None)


def as_named(given: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Return the columns that keywords name, by role.

    What is no name is left out: `parse_options` refuses it.
    """
    named: dict[str, Sequence[str]] = {}
    for role, names in given.items():
        if isinstance(names, str):
            named[role] = [names]
        elif is_several(names):
            named[role] = [*names]
    return named
