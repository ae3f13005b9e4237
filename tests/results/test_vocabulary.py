"""One vocabulary: a metric has the same name wherever it is shown.

Ids are in frames, JSON and calls alone.
"""

from __future__ import annotations

import html
import re

import pytest

from recnb.display.language import use_language
from tests import evaluated, kernels
from tests.drawn import every_form
from tests.evaluated import EV

#: What is shown of each metric, by its id.
SHOWN = {
    "ndcg": "nDCG",
    "average_precision": "AP",
    "reciprocal_rank": "RR",
    "hit_rate": "HR",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
}
#: The same as somebody may type them.
TYPED = ["NDCG", "MAP", "mrr", "HR", "P", "recall", "F1"]
#: Where no font has Korean letters, the labels of plots are English.
pytestmark = pytest.mark.filterwarnings(kernels.FONTS)
LANGUAGES = ("en", "ko")


#: What shows all seven metrics at k=5.
CALLS = [
    "[EV.table(TYPED, k=5)]",
    "[EV.table([*SHOWN], k=5, intervals=True)]",
    "[EV.measures([f'{name}@5' for name in TYPED])]",
    "[EV.table([*SHOWN], k=5, by='segment')]",
    "[FOUND.table([*SHOWN], k=5)]",
    "[FOUND.differences([*SHOWN], k=5)]",
    "[EV.table(TYPED, k=5).plot()]",
    "[EV.table([*SHOWN], k=5, intervals=True).plot()]",
    "[FOUND.differences([*SHOWN], k=5).plot()]",
    "[getattr(EV, name)(k=5) for name in SHOWN]",
    "[getattr(EV, name)(k=5).plot() for name in SHOWN]",
    "[EV.curve(name, k=[1, 5]) for name in SHOWN]",
    "[EV.curve(name, k=[1, 5]).plot() for name in SHOWN]",
    "[EV.at_least(name, 0.1, k=5) for name in SHOWN]",
    "[EV.report(k=5, metrics=[*SHOWN])]",
    "[FOUND.report(k=5, metrics=[*SHOWN])]",
]


NAMES = vars(evaluated) | globals()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("call", CALLS)
def test_a_metric_is_shown_by_one_name_on_every_surface(call: str, lang: str) -> None:
    with use_language(lang):
        forms = [every_form(result) for result in eval(call, NAMES)]
    for form in forms[0]:
        words = "\n".join(shown[form] for shown in forms).replace("\\_", "_")
        words = html.unescape(re.sub(r"(?s)``.*?``", "", words))
        for name, symbol in SHOWN.items():
            assert re.search(rf"(?<![\w-]){symbol}(?![\w])", words), (form, symbol)
            as_id = rf"(?<![\w.\"'-]){name}"
            as_id += "@" if name in ("precision", "recall") else r"(?!\w)"
            assert re.findall(as_id, words) == [], form


def test_ids_are_in_frames_and_json_alone() -> None:
    assert EV.table([*SHOWN], k=5).to_frame().index.tolist() == [*SHOWN]
    assert EV.ndcg(k=5).per_user.name == "ndcg@5"
    means = EV.report(k=5, metrics=[*SHOWN]).to_dict()["means"]
    assert {*SHOWN} <= {*means["metric"]}
