"""Layout of wide tables."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from pytestqt.qtbot import QtBot

from app.ui.theme.theme import Theme
from app.ui.transcript.table import TableCell, TableGrid

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


def test_only_the_lines_in_sight_are_painted(grid: TableGrid, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell may be 30,000 px tall: to paint all of it for each part of it takes seconds."""
    painted: list[QRectF] = []
    paint = TableCell.paint

    def noted(cell: TableCell, painter: QPainter, theme: Theme, current: int | None, visible: QRectF) -> None:
        painted.append(visible)
        paint(cell, painter, theme, current, visible)

    monkeypatch.setattr(TableCell, "paint", noted)
    grid.set_markdown(table("a" * 9000, rows=1))
    grid.resize(grid.fit(500))
    grid.paintEvent(QPaintEvent(QRect(0, 1000, 500, 50)))
    assert {round(visible.height()) for visible in painted} == {50}
