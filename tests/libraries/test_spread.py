"""What every library would say of the same frames, grouped where they agree."""

from __future__ import annotations

import itertools
import math
import re

import pandas as pd
import pytest

import recnb
from recnb.conventions.presets import of_metric
from recnb.errors import OptionError, RecnbError
from recnb.libraries import as_in
from tests.libraries.test_why import awkward
from tests.presets import cut_at
from tests.results.test_html import EVIL, Page

SAMPLE = recnb.datasets.load_sample()
EV = SAMPLE.models["popular"].rec.against(SAMPLE.test)


@pytest.mark.parametrize("metric", ["ndcg", "precision", "average_precision", "reciprocal_rank", "err"])
def test_each_number_is_what_the_library_would_return(metric: str):
    recs, truth = awkward(11, (1.0, 0.0, 2.0))
    clean = recs.drop_duplicates(["user", "item"])
    found = recnb.evaluate(clean, truth, order="score").spread(metric, 3)
    assert [(one.preset.library, one.preset.variant) for one in found.numbers] == [
        (one.library, one.variant) for one in of_metric(metric)
    ]
    for one in found.numbers:
        asked = one.preset.library, one.preset.variant, clean, truth, cut_at(one.preset.library, one.preset.variant, 3)
        if one.error and one.error != "NaN":
            assert math.isnan(one.value)
            with pytest.raises(RecnbError, match=re.escape(one.error.rsplit(" on ", 1)[-1])):
                as_in(*asked)
            continue
        wanted = as_in(*asked)
        assert one.value == pytest.approx(wanted, abs=1e-12, nan_ok=True), one.name


def test_groups_hold_those_who_agree():
    found = EV.spread("ndcg", 10)
    values = [group.value for group in found.groups]
    assert values == sorted(values)
    assert all(b - a > 1e-9 for a, b in itertools.pairwise(values))
    assert sum(len(group.numbers) for group in found.groups) + len(found.without) == len(found.numbers)
    assert [group.value for group in found.groups if group.ours] == [float(EV.ndcg(k=10))]
    home = {one.name: group.value for group in found.groups for one in group.numbers}
    assert home["rectools ndcg"] == pytest.approx(float(EV.under("rectools").ndcg(k=10)), abs=1e-12)
    assert home["ranx ndcg"] == float(EV.ndcg(k=10))
    assert f"{len(values)} different numbers from {len(found.numbers) - len(found.without) + 1}" in repr(found)


def test_differences_are_those_that_can_matter_here():
    found = {one.name: one.convention for one in EV.spread("ndcg", 10).numbers}
    assert found["cornac ndcg[list]"] == "binary gain"
    assert found["recpack ndcg"] == ""


def test_where_nothing_can_differ_all_agree():
    recs = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"], "score": [1.0, 2.0], "rank": [1, 1]})
    truth = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"]})
    found = recnb.evaluate(recs, truth).spread("precision", 1)
    assert len(found.groups) == 1
    assert "all " in repr(found)


def test_a_refusal_is_told():
    recs = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"], "score": [1.0, 2.0], "rank": [1, 1]})
    truth = pd.DataFrame({"user": ["a", "b", "c"], "item": ["x", "z", "x"]})
    found = recnb.evaluate(recs, truth).spread("ndcg", 1)
    errors = {one.name: one.error for one in found.without}
    assert "raises an error on users that are in one frame only" in errors["ranx ndcg[strict]"]
    assert "ranx ndcg[strict]: " in repr(found)
    assert "raises an error on users" in found._repr_html_()
    frame = found.to_frame()
    assert frame["value"].isna().sum() == len(errors)
    assert list(frame.columns)[:4] == ["library", "variant", "version", "value"]


def test_options_are_ours_alone():
    found = EV.spread("ndcg", 10, gain="exponential")
    assert found.ours == float(EV.ndcg(k=10, gain="exponential"))
    plain = EV.spread("ndcg", 10)
    assert found.to_frame()["value"].equals(plain.to_frame()["value"])
    assert EV.under("lenskit").spread("ndcg", 10).ours == pytest.approx(
        float(EV.under("lenskit").ndcg(k=10)), abs=1e-12
    )


def test_a_metric_that_no_library_has_is_refused():
    with pytest.raises(OptionError, match="recorded"):
        EV.spread("idcg", 10)


def test_plot_draws_a_dot_for_each_group():
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = EV.spread("recall", 10)
    ax = found.plot()
    assert len(ax.get_yticks()) == len(found.groups)
    assert found.plot(ax) is ax
    plt.close("all")


@pytest.mark.parametrize("evil", EVIL)
def test_text_of_the_users_is_text(evil: str):
    recs = pd.DataFrame({"user": [evil, evil, "b"], "item": [evil, "y", "x"], "rank": [1, 2, 1]})
    truth = pd.DataFrame({"user": [evil, "c"], "item": [evil, "x"]})
    for metric in ("ndcg", "reciprocal_rank"):
        page = Page(recnb.evaluate(recs, truth).spread(metric, 2)._repr_html_())
        assert page.tags <= {"div", "b", "table", "caption", "thead", "tbody", "tr", "th", "td", "bdi"}
        assert page.attributes <= {"class", "style", "role", "aria-label", "scope"}
        assert all(off for _, off in page.text)
