"""The page on how libraries differ is what the presets say."""

from __future__ import annotations

import pytest

from recnb.conventions import names
from recnb.conventions.presets import presets
from tests.tools.conventions_page import PAGE, page


def test_page_is_up_to_date_and_has_every_library_metric_and_defect() -> None:
    text = PAGE.read_text("utf-8")
    assert page(text) == text, "type: python -m tests.tools.conventions_page"
    wanted = [f"\n### {one} " for one in names()] + [f"`{variant}`" for _, variant in presets()]
    assert [one for one in (*wanted, *(one.note for one in presets().values())) if one not in text] == []
    with pytest.raises(ValueError, match="no place for values"):
        page("# nothing here")


def test_the_page_tells_pairs_of_libraries_apart_where_they_are_known_to_differ() -> None:
    of_four_users = PAGE.read_text("utf-8").partition("<!-- /values")[0]
    values = dict(line.strip("| ").split(" | ")[:2] for line in of_four_users.splitlines() if line.startswith("| "))
    assert (values["rectools"], values["lenskit"], values["ranx"]) == ("0.2826", "0.5400", "0.5680")
    assert (values["torchmetrics `[list]`"], values["evidently `[list]`"]) == ("0.6399", "0.9599")
