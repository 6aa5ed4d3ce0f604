from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QImage, QPainter, QTextLayout
from pytestqt.qtbot import QtBot

from app.ui.theme.theme import Theme
from app.ui.transcript.markdown_style import paint_ornaments, plain_text
from app.ui.transcript.prose import ProseBlock


def prose(qtbot: QtBot, theme: Theme, markdown: str, width: int = 500) -> ProseBlock:
    block = ProseBlock(theme, markdown)
    qtbot.addWidget(block)
    block.resize(width, block.fit(width))
    return block


def painted(block: ProseBlock) -> QImage:
    """The ornaments alone."""
    image = QImage(block.size(), QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    paint_ornaments(painter, block.document(), block.theme, QRectF(image.rect()))
    painter.end()
    return image


def ink(image: QImage) -> QRectF:
    """Bounds of what is painted."""
    points = [(x, y) for x in range(image.width()) for y in range(image.height()) if image.pixel(x, y) >> 24]
    if not points:
        return QRectF()
    left, top = min(x for x, _ in points), min(y for _, y in points)
    return QRectF(left, top, max(x for x, _ in points) - left + 1, max(y for _, y in points) - top + 1)


def place_of(block: ProseBlock, position: int) -> float:
    """Left edge of a character of the first line, in px."""
    layout: QTextLayout = block.document().begin().layout()
    return float(layout.lineAt(0).cursorToX(position)[0])  # type: ignore[index]


def test_a_box_stands_around_inline_code_and_beside_its_neighbours(qtbot: QtBot, theme: Theme) -> None:
    block = prose(qtbot, theme, "see `code` here")
    box = ink(painted(block))

    assert block.toPlainText() == "see code here"
    assert place_of(block, 3) < box.left() < place_of(block, 4)
    assert place_of(block, 7) < box.right() <= place_of(block, 8) + 1
    assert box.height() < block.height()


def test_code_in_text_from_the_right_has_room_at_its_left(qtbot: QtBot, theme: Theme) -> None:
    block = prose(qtbot, theme, "انظر `code` هنا")
    box = ink(painted(block))
    line = block.document().begin().layout().lineAt(0)

    end_of_following_space = float(line.cursorToX(10)[0])  # type: ignore[index]
    assert end_of_following_space <= box.left()


def test_bold_text_has_no_box(qtbot: QtBot, theme: Theme) -> None:
    assert ink(painted(prose(qtbot, theme, "see **code** here"))).isEmpty()


def test_bullets_are_painted_and_numbers_left_to_qt(qtbot: QtBot, theme: Theme) -> None:
    bullets = ink(painted(prose(qtbot, theme, "- one\n- two")))

    assert 4 <= bullets.width() <= 7
    assert bullets.right() < theme.type.px(24)
    assert ink(painted(prose(qtbot, theme, "1. one\n2. two"))).isEmpty()


@pytest.mark.parametrize("width", [40, 90, 200])
def test_code_that_wraps_has_a_box_in_each_line(qtbot: QtBot, theme: Theme, width: int) -> None:
    block = prose(qtbot, theme, "`" + "word " * 12 + "end`", width)
    lines = block.document().begin().layout().lineCount()

    assert lines > 1
    assert ink(painted(block)).height() > (lines - 1) * theme.type.px(20)


def test_copying_knows_nothing_of_ornaments(qtbot: QtBot, theme: Theme) -> None:
    block = prose(qtbot, theme, "- use `a b` now\n- and")
    block.selectAll()
    block.copy()

    assert QGuiApplication.clipboard().text() == "use a b now\nand"


def test_tasks_have_boxes_and_the_done_ones_a_tick(qtbot: QtBot, theme: Theme) -> None:
    bullet, task, done = (painted(prose(qtbot, theme, f"- {mark}one")) for mark in ("", "[ ] ", "[x] "))

    assert ink(task).width() > 1.5 * ink(bullet).width()
    assert ink(task).left() >= 1
    assert ink(task).right() < theme.type.px(24)
    assert ink(done) == ink(task)
    assert done != task


def test_a_copied_task_says_whether_it_is_done() -> None:
    assert plain_text("- [ ] open\n- [x] done").strip() == "- [ ] open\n- [x] done"


@pytest.mark.parametrize(
    "markdown", ["9. nine\n10. ten", "998. one\n999. two\n1000. three", "- outer\n  99. a\n  100. b"]
)
def test_long_numbers_have_room_at_their_left(qtbot: QtBot, theme: Theme, markdown: str) -> None:
    block = prose(qtbot, theme, markdown)
    last = block.document().lastBlock()
    number = QFontMetricsF(last.layout().font()).horizontalAdvance(last.textList().itemText(last) + " ")
    assert last.layout().lineAt(0).x() >= number
