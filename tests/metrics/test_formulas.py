"""The formula as it is set; the line of numbers is written down in
tests/results/shown.
"""

from __future__ import annotations

import re
from typing import Literal

import pytest

from recnb import METRICS
from recnb.display.language import use_language
from recnb.metrics.measure import Measure
from recnb.metrics.metric import EVERY_METRIC
from tests.strategies import Options, every_choice

# The formula as it is set


def test_a_printed_formula() -> None:
    """With a product within a sum; nDCG is printed in the notebooks, and the page of
    metrics has the text of all.
    """
    assert Measure(METRICS["err"]).latex() == (
        r"\mathrm{ERR}@k = \sum_{i \in \mathrm{hits}, i \le k} "
        r"\frac{\textstyle\left(\prod_{j<i} \left(1 - \frac{2^{\mathrm{rel}_j} - "
        r"1}{2^{\mathrm{rel}_{\max}}}\right)\right) "
        r"\cdot \frac{2^{\mathrm{rel}_i} - 1}{2^{\mathrm{rel}_{\max}}}}{i}"
    )


BEYOND: dict[str, list[Options]] = {
    "novelty": [{"normalize": True}, {"divisor": "k"}],
    "diversity": [{"distance": "jaccard"}],
    "coverage": [{"normalize": False}],
}


@pytest.mark.thin
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", EVERY_METRIC)
def test_latex_is_mathematics(name: str, lang: Literal["en", "ko"]) -> None:
    """Whatever the options: brackets in pairs, and no name or operator of Python."""
    metric = EVERY_METRIC[name]
    python = {
        "rank",
        "relevance",
        "max_relevance",
        "nth",
        "reach",
        "n_relevant",
        "n_hits",
        "list_length",
        "out_of",
        "gain",
        "discount",
        "target",
    }
    for options in (
        every_choice(metric) if name in METRICS else [{}, *BEYOND.get(name, [])]
    ):
        for k in (None, 10):
            with use_language(lang):
                latex = Measure(metric, options, k).latex()
            for opening, closing in ("{}", "()", "[]", (r"\left(", r"\right)")):
                assert latex.count(opening) == latex.count(closing), latex
            assert "*" not in latex
            assert not re.search(r"[A-Za-z]_[A-Za-z]", latex), latex
            assert not python & set(re.findall(r"\\?\w+", latex.partition("=")[2])), (
                latex
            )
            symbol = metric.symbol.replace("-", "{-}").replace(" ", "~")
            assert latex.startswith(
                rf"\mathrm{{{symbol}}}@{'k' if k is None else k} = "
            )


def test_a_sum_under_a_sum_sign_has_brackets() -> None:
    """Σ 2^rel - 1 would be Σ 2^rel, less 1."""
    latex = Measure(METRICS["cg"], {"gain": "exponential"}).latex()
    assert latex.endswith(r"i \le k} \left(2^{\mathrm{rel}_i} - 1\right)")
