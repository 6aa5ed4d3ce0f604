from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ui.transcript.table import column_widths

COLUMNS = st.lists(st.tuples(st.floats(25, 4_000), st.floats(0.05, 1.0)), min_size=1, max_size=20)


@given(COLUMNS, st.floats(100, 2_000))
def test_columns_fill_the_width_or_have_their_least_and_more(columns: list[tuple[float, float]], width: float) -> None:
    natural = [whole for whole, _ in columns]
    least = [whole * share for whole, share in columns]
    widths = column_widths(natural, least, width, 220)
    assert all(got >= low - 1e-6 for got, low in zip(widths, least, strict=True))
    if sum(least) <= width:
        assert sum(widths) == pytest.approx(width)
    else:
        assert sum(widths) > width


def test_spare_room_goes_to_all_and_a_shortage_is_taken_from_the_widest() -> None:
    assert column_widths([50, 100], [50, 96], 250, 220) == [100, 150]
    assert column_widths([50, 300, 900], [50, 96, 96], 550, 220) == pytest.approx([50, 250, 250])
    assert column_widths([50, 110, 900], [50, 96, 96], 550, 220) == pytest.approx([50, 110, 390])


def test_a_table_that_is_scrolled_has_columns_to_read_in() -> None:
    assert column_widths([50, 900, 900, 150], [50, 96, 300, 96], 400, 220) == [50, 220, 300, 150]
