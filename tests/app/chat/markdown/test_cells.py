from __future__ import annotations

import pytest

from app.chat.markdown_blocks import split_cells


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ["a", "b"]),
        ("a|b", ["a", "b"]),
        (r"| a \| b | `c | d` |", ["a | b", "`c | d`"]),
        (r"| \n |", [r"\n"]),
        ("||", [""]),
    ],
)
def test_cells(line: str, cells: list[str]) -> None:
    assert split_cells(line) == cells
