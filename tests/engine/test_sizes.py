from __future__ import annotations

import pytest

from engine.sentences import readable


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (2_500_000, "2.5 MB"),
        (12_345_678_901, "12.3 GB"),
        (7.5e8, "750 MB"),
    ],
)
def test_a_size_has_three_figures_and_the_largest_unit_that_fits(size_bytes: float, words: str) -> None:
    assert readable(size_bytes) == words
