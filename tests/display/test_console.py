"""Tables on a console of a hundred columns: wide ones are in parts, and none is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recnb.display.forms import CONSOLE, Name, Rows, estimate
from recnb.display.language import _, width
from recnb.display.plain import COLUMNS, WITHOUT_INTERVALS, console_table
from recnb.display.text import one_line
from tests.strategies import LETTERS

LONG = "a run of the model with a name that says all of its options, "


@pytest.mark.parametrize("n_names", [1, 2])
def test_a_wide_table_has_every_column_in_parts_that_begin_with_its_names(n_names):
    names = ["model", "other"][:n_names]
    titles = [f"metric {index}" for index in range(16)]
    rows = []
    for index in range(3):
        row = [Name(f"{LONG}v{index + at}", 60) for at in range(n_names)]
        rows.append([*row, *(estimate(value, 0.1, 0.2) for value in range(16))])
    lines = console_table(Rows([*names, *titles], rows, left=n_names)).splitlines()
    assert max(map(width, lines)) <= COLUMNS
    assert lines.pop() == _(WITHOUT_INTERVALS).replace("`", "")
    heads = lines[::4]
    assert len(heads) == 4  # as few as have room for all
    for head in heads:
        assert head.split()[:n_names] == names
    for title in titles:
        assert sum(f"{title}  " in f"{head}  " for head in heads) == 1
    for at in range(len(heads)):
        of_part = lines[4 * at + 1 : 4 * at + 4]
        assert [*map(str.split, of_part)]
        assert all(f"v{index}" in line for index, line in enumerate(of_part))


@given(st.text(LETTERS, min_size=50, max_size=200), st.integers(8, 60))
def test_long_names_are_told_apart_by_their_ends(name, longest):
    first, second = (f"{name}v{version}" for version in (1, 2))
    assert one_line(first, longest) != one_line(second, longest)
    assert CONSOLE.write(Name(first, longest)) != CONSOLE.write(Name(second, longest))
    if first.isprintable():
        assert len(one_line(first, longest)) == longest
