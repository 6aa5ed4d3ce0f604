from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.transcript.formula_block import FormulaBlock
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.selectable import Selectable
from app.ui.transcript.table import TableBlock
from tests.support.scripted_workspace import ScriptedWorkspace

ANSWER = """First **bold** paragraph.

```py
code = 1
```

| a | b |
|---|---|
| 1 | 2 |

$$x^2$$

Last *words* here."""


@pytest.fixture
def parts(window: MainWindow, workspace: ScriptedWorkspace) -> list[Selectable]:
    window.resize(1000, 900)
    window.page.open(workspace.add_conversation("Chat", 0, "My question", ANSWER))
    return [part for view in window.page.transcript.views for part in view.blocks.selectables()]


def inside(part: Selectable) -> QWidget:
    return part.viewport() if isinstance(part, QTextEdit) else part


def place_of(part: Selectable, words: str, end: bool = False) -> QPoint:
    """Beginning, or end, of some words in a block's text."""
    assert isinstance(part, QTextEdit)
    cursor = part.document().find(words)
    cursor.setPosition(cursor.selectionEnd() if end else cursor.selectionStart())
    return part.cursorRect(cursor).center()


def drag(start: Selectable, at: QPoint, end: Selectable, to: QPoint) -> None:
    """Press in one block, move to a place in another, release."""
    QTest.mousePress(inside(start), Qt.MouseButton.LeftButton, pos=at)
    goal = inside(start).mapFromGlobal(inside(end).mapToGlobal(to))
    # A real pointer's events come with the button held; QTest's moves do not say so.
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(goal),
        QPointF(inside(start).mapToGlobal(goal)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(inside(start), event)
    QTest.mouseRelease(inside(start), Qt.MouseButton.LeftButton, pos=goal)


def copied(part: Selectable) -> str:
    QTest.keyClick(part, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    return QGuiApplication.clipboard().text()


def test_a_drag_down_selects_from_block_to_block(parts: list[Selectable]) -> None:
    _, first, _code, table, formula, last = parts

    drag(first, place_of(first, "bold"), last, place_of(last, "words", end=True))

    assert copied(first) == (
        "bold paragraph.\n\n```py\ncode = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n$$\nx^2\n$$\n\nLast words"
    )
    assert isinstance(table, TableBlock)
    assert table.selected
    assert isinstance(formula, FormulaBlock)
    assert formula.selected


def test_a_drag_up_reaches_into_the_message_before(parts: list[Selectable]) -> None:
    own, _first, code, *_ = parts

    drag(code, place_of(code, "code", end=True), own, place_of(own, "question"))

    assert copied(code) == "question\n\nFirst **bold** paragraph.\n\ncode"


def test_going_back_selects_less(parts: list[Selectable]) -> None:
    _, first, code, table, *_ = parts
    drag(first, place_of(first, "bold"), table, QPoint(20, 20))
    assert isinstance(table, TableBlock)
    assert table.selected

    drag(first, place_of(first, "bold"), code, place_of(code, "= 1"))

    assert not table.selected
    assert copied(first) == "bold paragraph.\n\ncode "


def test_a_press_elsewhere_ends_the_selection(parts: list[Selectable]) -> None:
    _, first, code, table, _, last = parts
    drag(first, place_of(first, "bold"), last, place_of(last, "words"))

    QTest.mouseClick(inside(code), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))

    assert [part.selected_source() for part in parts] == [""] * 6
    assert isinstance(table, TableBlock)
    assert not table.selected


def test_shift_and_a_press_reach_further(parts: list[Selectable]) -> None:
    _, first, code, *_ = parts
    QTest.mouseClick(inside(first), Qt.MouseButton.LeftButton, pos=place_of(first, "paragraph"))

    shift = Qt.KeyboardModifier.ShiftModifier
    QTest.mouseClick(inside(code), Qt.MouseButton.LeftButton, shift, place_of(code, "code", end=True))

    assert copied(code) == "paragraph.\n\ncode"


@pytest.mark.parametrize("at", [1, 3, 4])
def test_all_of_a_message_is_selected_and_copied_as_markdown(parts: list[Selectable], at: int) -> None:
    QTest.mouseClick(inside(parts[at]), Qt.MouseButton.LeftButton, pos=QPoint(8, 8))

    QTest.keyClick(parts[at], Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)

    assert copied(parts[at]) == ANSWER
    assert parts[0].selected_source() == ""


def test_part_of_one_block_is_copied_as_plain_text(parts: list[Selectable]) -> None:
    first = parts[1]

    drag(first, place_of(first, "First"), first, place_of(first, "bold", end=True))

    assert copied(first) == "First bold"


def test_a_drag_from_a_table_selects_it(parts: list[Selectable]) -> None:
    *_, table, _formula, last = parts

    drag(table, QPoint(20, 20), last, place_of(last, "words"))

    assert copied(table).startswith("| a | b |")
    assert copied(table).endswith("Last ")


def test_the_view_scrolls_while_the_pointer_is_below_it(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "Q", "A line.\n\n" * 80))
    transcript = window.page.transcript
    transcript.verticalScrollBar().setValue(0)
    view = transcript.views[-1]
    assert isinstance(view, ReplyView)
    qtbot.waitUntil(lambda: view.blocks.selectables() != [])
    first = view.blocks.selectables()[0]
    selection = transcript.selection
    QTest.mousePress(inside(first), Qt.MouseButton.LeftButton, pos=QPoint(2, 2))

    selection._follow(transcript.mapToGlobal(QPoint(10, transcript.height() + 60)))
    assert selection._scroller.isActive()
    selection._follow(transcript.mapToGlobal(QPoint(10, 20)))
    assert not selection._scroller.isActive()
    QTest.mouseRelease(inside(first), Qt.MouseButton.LeftButton)


def test_widgets_are_kept_while_something_is_selected_in_several(parts: list[Selectable], window: MainWindow) -> None:
    assert not window.page.transcript.selection.active

    drag(parts[1], QPoint(2, 5), parts[2], QPoint(5, 5))

    assert window.page.transcript.selection.active
