"""The page on how libraries differ is what the presets say."""

from __future__ import annotations

import pytest

from recnb.conventions import names
from recnb.conventions.presets import presets
from tests.tools.conventions_page import DATA, FORMULA, PAGE, data_row, formula_row, page, sides, value_row


def test_page_is_up_to_date() -> None:
    text = PAGE.read_text("utf-8")
    assert page(text) == text, "type: python -m tests.tools.conventions_page"


def test_every_library_and_variant_is_on_the_page() -> None:
    text = PAGE.read_text("utf-8")
    assert [one for one in names() if f"\n### {one} " not in text] == []
    assert [variant for _, variant in presets() if f"`{variant}`" not in text] == []


def test_every_note_on_a_defect_is_on_the_page() -> None:
    text = PAGE.read_text("utf-8")
    assert [one.note for one in presets().values() if one.note not in text] == []


def test_a_place_that_is_missing_is_said() -> None:
    with pytest.raises(ValueError, match="no place for values"):
        page("# nothing here")


@pytest.mark.parametrize(
    ("one", "other", "column"),
    [
        ("rectools", "ranx", "nDCG ideal"),
        ("lenskit", "implicit", "nDCG discount"),
        ("pytrec_eval-terrier", "ir-measures", "user without a list"),
        ("lightgbm", "scikit-learn `[full]`", "nDCG gain"),
        ("replay-rec `[dict]`", "replay-rec `[pandas]` `[polars]`", "equal scores"),
    ],
)
def test_pairs_of_libraries_differ_where_they_are_known_to(one: str, other: str, column: str) -> None:
    rows = [[*formula_row(sides()[name]), *data_row(sides()[name])] for name in (one, other)]
    differ = [name for name, a, b in zip([*FORMULA, *DATA], *rows, strict=True) if a != b]
    assert column in differ


def test_the_four_users_are_those_that_are_known() -> None:
    values = {name: value_row(own)[0] for name, own in sides().items()}
    assert (values["rectools"], values["lenskit"], values["ranx"]) == ("0.2826", "0.5400", "0.5680")
    assert (values["torchmetrics `[list]`"], values["evidently `[list]`"]) == ("0.6399", "0.9599")
