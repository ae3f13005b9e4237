"""One vocabulary: a metric has the same name wherever it is shown.

Ids are in frames, JSON and calls alone.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache

import matplotlib.pyplot as plt
import pytest

import recnb
from recnb.display.language import use_language
from tests import kernels
from tests.drawn import words_of
from tests.evaluated import EV, FOUND

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


def forms_of(table: recnb.Table) -> Iterator[tuple[str, str]]:
    yield "text", repr(table)
    yield "HTML", table._repr_html_()
    yield "Markdown", table.to_markdown()
    yield "LaTeX", table.to_latex()


@cache
def surfaces(lang: str) -> dict[str, str]:
    """What is shown of all seven metrics at k=5, by the surface."""
    shown = {}
    with use_language(lang):
        tables = {
            "table": EV.table(TYPED, k=5),
            "table with intervals": EV.table([*SHOWN], k=5, intervals=True),
            "measures": EV.measures([f"{name}@5" for name in TYPED]),
            "segments": EV.table([*SHOWN], k=5, by="segment"),
            "models": FOUND.table([*SHOWN], k=5),
            "differences": FOUND.differences([*SHOWN], k=5),
        }
        for name, table in tables.items():
            shown |= {f"{name}, {form}": text for form, text in forms_of(table)}
            if name in ("table", "table with intervals", "differences"):
                shown[f"{name}, plot"] = words_of(table.plot())
        scores = [getattr(EV, name)(k=5) for name in SHOWN]
        shown["scores, text"] = "\n".join(map(repr, scores))
        shown["scores, HTML"] = "\n".join(score._repr_html_() for score in scores)
        curves = [EV.curve(name, k=[1, 5]) for name in SHOWN]
        for forms in zip(*map(forms_of, curves), strict=True):
            shown[f"curves, {forms[0][0]}"] = "\n".join(text for _form, text in forms)
        for kind, drawn in (("scores", scores), ("curves", curves)):
            shown[f"{kind}, plot"] = "\n".join(words_of(one.plot()) for one in drawn)
        gates = [EV.at_least(name, 0.1, k=5) for name in SHOWN]
        shown["gates"] = "\n".join(map(repr, gates))
        for name, one in {"one": EV, "several": FOUND}.items():
            report = one.report(k=5, metrics=[*SHOWN])
            shown[f"report of {name}, Markdown"] = report.to_markdown()
            shown[f"report of {name}, HTML"] = report._repr_html_()
    plt.close("all")
    return shown


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_metric_is_shown_by_one_name_on_every_surface(lang: str) -> None:
    for surface, shown in surfaces(lang).items():
        words = html.unescape(shown).replace("\\_", "_")
        words = re.sub(r"(?s)<style.*?</style>|<code.*?</code>|``.*?``", "", words)
        for name, symbol in SHOWN.items():
            assert re.search(rf"(?<![\w-]){symbol}(?![\w])", words), (surface, symbol)
            as_id = rf"(?<![\w.\"'-]){name}"
            as_id += "@" if name in ("precision", "recall") else r"(?!\w)"
            found = re.findall(as_id, words)
            assert not found, (surface, found)


def test_ids_are_in_frames_and_json_alone() -> None:
    assert EV.table([*SHOWN], k=5).to_frame().index.tolist() == [*SHOWN]
    assert EV.ndcg(k=5).per_user.name == "ndcg@5"
    means = EV.report(k=5, metrics=[*SHOWN]).to_dict()["means"]
    assert {*SHOWN} <= {*means["metric"]}
