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
from matplotlib.axes import Axes

import recnb
from recnb.display.language import use_language
from tests import kernels
from tests.sample import SAMPLE

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


def words_of(ax: Axes) -> str:
    """All words of a figure."""
    texts = [*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label, ax.title]
    texts.append(ax.yaxis.label)
    legend = ax.get_legend()
    if legend is not None:
        texts += legend.get_texts()
    return "\n".join(text.get_text() for text in texts)


def forms_of(table: recnb.Table) -> Iterator[tuple[str, str]]:
    yield "text", repr(table)
    yield "HTML", table._repr_html_()
    yield "Markdown", table.to_markdown()
    yield "LaTeX", table.to_latex()


@cache
def surfaces(lang: str) -> dict[str, str]:
    """What is shown of all seven metrics at k=5, by the surface."""
    ev = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test)
    found = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular")
    shown = {}
    with use_language(lang):
        tables = {
            "table": ev.table(TYPED, k=5),
            "table with intervals": ev.table([*SHOWN], k=5, intervals=True),
            "measures": ev.measures([f"{name}@5" for name in TYPED]),
            "segments": ev.table([*SHOWN], k=5, by=by_activity()),
            "models": found.table([*SHOWN], k=5),
            "differences": found.differences([*SHOWN], k=5),
        }
        for name, table in tables.items():
            shown |= {f"{name}, {form}": text for form, text in forms_of(table)}
            if name in ("table", "table with intervals", "differences"):
                shown[f"{name}, plot"] = words_of(table.plot())
        scores = [getattr(ev, name)(k=5) for name in SHOWN]
        shown["scores, text"] = "\n".join(map(repr, scores))
        shown["scores, HTML"] = "\n".join(score._repr_html_() for score in scores)
        curves = [ev.curve(name, k=[1, 5]) for name in SHOWN]
        for forms in zip(*map(forms_of, curves), strict=True):
            shown[f"curves, {forms[0][0]}"] = "\n".join(text for _form, text in forms)
        for kind, drawn in (("scores", scores), ("curves", curves)):
            shown[f"{kind}, plot"] = "\n".join(words_of(one.plot()) for one in drawn)
        gates = [ev.at_least(name, 0.1, k=5) for name in SHOWN]
        shown["gates"] = "\n".join(map(repr, gates))
        for name, one in {"one": ev, "several": found}.items():
            report = one.report(k=5)
            shown[f"report of {name}, Markdown"] = report.to_markdown()
            shown[f"report of {name}, HTML"] = report._repr_html_()
    plt.close("all")
    return shown


def by_activity() -> object:
    counts = SAMPLE.test.groupby("user").size()
    return (
        (counts > counts.median()).map({True: "many", False: "few"}).rename("activity")
    )


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
    ev = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test)
    assert ev.table([*SHOWN], k=5).to_frame().index.tolist() == [*SHOWN]
    assert ev.ndcg(k=5).per_user.name == "ndcg@5"
    means = ev.report(k=5).to_dict()["means"]
    assert {*means["metric"]} == {*SHOWN}
