"""What an error advises is run on the data that was refused: `advice.toml`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from recnb.errors import RecnbError
from tests.refused import names
from tests.rows import read_rows

#: Two lists of three; u finds b at rank 2, v at rank 1: the mean reciprocal rank is
#: 3/4.
DATA = """
recs = pd.DataFrame({"user": list("uuuvvv"), "item": list("abcbca"), "rank": [1, 2, 3, 1, 2, 3]})
truth = pd.DataFrame({"user": ["u", "v"], "item": ["b", "b"], "relevance": [1, 1]})
scored = recs.assign(score=4.0 - recs["rank"]).drop(columns="rank")
ev = recnb.evaluate(recs, truth)
more = {}
"""


class Model:
    """Scores under which user 0 gets item 1 second and user 1 gets it first."""

    def __init__(self, changed: Callable[[Any], Any] = lambda scores: scores) -> None:
        self.changed = changed

    def predict(self, user: int) -> Any:
        return self.changed(np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0]])[user])


ROWS = read_rows("refused/advice.toml")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ROWS)
def test_what_is_advised_works_and_gives_the_right_number(name: str) -> None:
    row = ROWS[name]
    fails = row.get("fails", "recnb.evaluate(recs, truth, **more).mrr()")
    # What is relevant, and what users had: nothing.
    matrices = sparse.csr_matrix([[0, 1, 0], [0, 1, 0]]), sparse.csr_matrix((2, 3))
    space = {**vars(names), "MODEL": Model, "MATRICES": matrices}
    exec(DATA, space)
    exec(row.get("data", ""), space)
    with pytest.raises(RecnbError) as raised:
        eval(fails, space)
    message, code = str(raised.value), row.get("follow", "more = dict({})")
    advised = re.search(row["advice"], message)
    assert advised, message
    for at, one in enumerate(advised.groups()):
        code = code.replace(f"{{{at}}}", one).replace("{}", one)
    exec(code, space)
    result = eval(row.get("then", fails), space)
    right = eval(row.get("right", "0.75"), space)
    assert result == pytest.approx(right, abs=1e-12), f"{message}\n{code}"
