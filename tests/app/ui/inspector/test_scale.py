from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ui.inspector.charts import round_scale, scale_word


@pytest.mark.parametrize(
    ("largest", "marks"),
    [
        (17.0, [0, 6, 12, 18]),
        (18.0, [0, 6, 12, 18]),
        (0.0, [0, 1, 2, 3]),
        (410.0, [0, 150, 300, 450]),
        (0.3, [0, 0.1, 0.2, 0.3]),
    ],
)
def test_scales_are_easily_read(largest: float, marks: list[float]) -> None:
    assert round_scale(largest, 3) == pytest.approx(marks)


@given(st.floats(1e-6, 1e9), st.integers(2, 3))
def test_a_scale_holds_its_values_without_much_to_spare(largest: float, steps: int) -> None:
    marks = round_scale(largest, steps)
    assert len(marks) == steps + 1
    assert largest * (1 - 1e-6) <= marks[-1] <= 1.7 * largest


def test_marks_have_no_more_digits_than_they_need() -> None:
    assert [scale_word(value) for value in (0.0, 18.0, 0.1 + 0.2, 1500.0)] == ["0", "18", "0.3", "1,500"]
