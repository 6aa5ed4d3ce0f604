"""How wide tables are laid out."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.ui.theme.theme import Theme
from app.ui.transcript.table_grid import TableGrid

SENTENCE = "a cell with a sentence of some length that goes on for quite a while before it ends"


def table(*cells: str, rows: int = 2) -> str:
    line = f"| {' | '.join(cells)} |"
    return "\n".join([line, "|---" * len(cells) + "|", *[line] * rows])


@pytest.fixture
def grid(qtbot: QtBot, theme: Theme) -> TableGrid:
    grid = TableGrid(theme, table("a", "b"))
    qtbot.addWidget(grid)
    return grid


@pytest.mark.parametrize(
    ("cells", "width"),
    [
        ((SENTENCE, SENTENCE, "12"), 346),
        ((SENTENCE,) * 6, 742),
        (("key", "9f86d081884c7d65" * 20), 346),
        (("key", "`9f86d081884c7d65" + "9f86d081884c7d65" * 20 + "`"), 742),
        (("9f86d081884c7d65" * 20, "9f86d081884c7d65" * 20), 346),
    ],
)
def test_long_cells_are_wrapped_within_the_width(grid: TableGrid, cells: tuple[str, ...], width: int) -> None:
    grid.set_markdown(table(*cells))
    assert grid.fit(width).width() <= width


def test_many_columns_are_scrolled_and_can_be_read(grid: TableGrid) -> None:
    grid.set_markdown(table(*(SENTENCE,) * 12))
    wide = grid.fit(742)
    assert wide.width() > 742
    grid.set_markdown(table(*(SENTENCE,) * 6))
    assert wide.height() <= grid.fit(742).height()  # no column is narrower than those of a table that fits


def test_a_word_is_not_broken_where_the_table_has_room(grid: TableGrid) -> None:
    grid.set_markdown(table("Donaudampfschifffahrt", SENTENCE * 4))
    grid.fit(600)
    head = grid._rows[0][0].document
    assert head.firstBlock().layout().lineCount() == 1
