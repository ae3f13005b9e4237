"""What every library would say of the same frames, and which of them print a given number."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

import recnb
from recnb.conventions.presets import of_metric
from recnb.errors import OptionError, RecnbError
from recnb.libraries import as_in
from recnb.libraries.spread import printed_number
from tests.libraries.test_why import awkward
from tests.presets import cut_at

SAMPLE = recnb.datasets.load_sample()
EV = SAMPLE.models["popular"].rec.against(SAMPLE.test)


@pytest.mark.parametrize("metric", ["ndcg", "precision", "average_precision", "reciprocal_rank", "err"])
def test_each_number_is_what_the_library_would_return(metric: str) -> None:
    clean, truth = awkward("tied")
    found = recnb.evaluate(clean, truth, order="score").spread(metric, 3)
    assert {*found.index} == {"recnb", *(one.label for one in of_metric(metric))}
    for one in of_metric(metric):
        value, asked = found.loc[one.label, "value"], (one.library, one.variant, clean, truth)
        try:
            wanted = as_in(*asked, cut_at(one.library, one.variant, 3))
        except RecnbError as error:
            assert math.isnan(value)
            assert found.loc[one.label, "otherwise"] == str(error).removeprefix(f"{one.label} ")  # noqa: PT017
        else:
            assert value == pytest.approx(wanted, abs=1e-12, nan_ok=True), one.label


def test_a_table_by_value_with_what_differs_and_matters() -> None:
    found = EV.spread("ndcg", 10)
    assert found["value"].dropna().is_monotonic_increasing
    assert found.loc["recnb", "value"] == EV.ndcg(k=10)
    assert found.loc[["recbole ndcg", "ranx ndcg"], "otherwise"].tolist() == ["binary gain", ""]
    assert (found["difference"] - (found["value"] - float(EV.ndcg(k=10)))).abs().max() < 1e-12
    assert "24 different numbers from 41" in repr(found)
    exponential = EV.spread("ndcg", 10, gain="exponential")
    assert exponential.loc["recnb", "value"] == EV.ndcg(k=10, gain="exponential")
    others = [one.label for one in of_metric("ndcg")]
    assert exponential.loc[others, "value"].equals(found.loc[others, "value"])
    with pytest.raises(OptionError, match="recorded"):
        EV.spread("idcg", 10)


def test_a_number_that_a_library_returns_is_found_to_be_its_own() -> None:
    values = EV.spread("average_precision", 10)["value"].dropna()
    for printed in sorted({f"{value:.4f}" for value in values})[::3]:
        found = EV.identify("average_precision", printed, 10)
        made = {name for name, value in values.items() if f"{value:.4f}" == printed}
        assert made <= {*found.index[found["fit"] == "rounds to it"]}
    under = EV.under("rectools")
    assert under.identify("ndcg", f"{under.ndcg(k=10):.6f}", 10).index[0] == "as rectools"


def test_how_a_number_fits() -> None:
    value, before = float(EV.ndcg(k=10)), len(EV._data.prepared.source._known)
    assert EV.identify("ndcg", f"{value:.4f}", 10).index[0] == "recnb"
    digits = next(d for d in range(3, 9) if f"{value:.{d}f}" != f"{int(value * 10**d) / 10**d:.{d}f}")
    cut = EV.identify("ndcg", f"{int(value * 10**digits) / 10**digits:.{digits}f}", 10)
    assert cut.loc["recnb", "fit"] == "only if cut off, not rounded"
    none = EV.identify("ndcg", "0.9063", 10)
    assert [*none["fit"]] == ["one of the nearest"] * 5
    assert none["difference"].abs().is_monotonic_increasing
    assert "none of" in repr(none)
    assert len(EV._data.prepared.source._known) == before  # nothing that was tried is kept


#: A number as it is given, and what was printed: the number and its decimals.
PRINTED: list[tuple[Any, Any]] = [
    (0.368, (0.368, 3)), ("0.3680", (0.368, 4)), (" 0.3680 ", (0.368, 4)), ("36.8%", (0.368, 3)), ("36.80%", (0.368, 4)), (2, (2.0, 1)), ("-12", (-12, 0)),
]  # fmt: skip


def test_how_a_number_is_written_says_how_many_digits_it_has() -> None:
    assert [printed_number(value) for value, _printed in PRINTED] == [printed for _value, printed in PRINTED]
    for value in ("a lot", None, float("nan"), "inf", True, [0.5], {"u": 0.5}, pd.Series({"u": 0.5})):
        with pytest.raises(OptionError, match="is no printed number"):
            EV.identify("ndcg", value, 10)
