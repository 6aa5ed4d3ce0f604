from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.painting import isolated, painted, place, runs_right_to_left
from app.ui.pane import PaneEdge
from app.ui.theme.theme import Theme
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.table import TableBlock, TableGrid
from tests.support.scripted_workspace import ScriptedWorkspace, statistics

HEBREW = "שלום, איך אפשר לקרוא קובץ גדול במחשב נייד?"
ARABIC = "نعم. احفظ المجاميع وعدد الصفوف بعد كل جزء."


@pytest.fixture
def right_to_left(qtbot: QtBot) -> Iterator[None]:
    QApplication.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    QApplication.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.fixture
def mirrored(right_to_left: None, window: MainWindow) -> MainWindow:
    window.resize(1280, 820)
    return window


def box(widget: QWidget, window: QWidget) -> QRect:
    """Place of a widget in its window."""
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def overlaps(host: QWidget) -> list[tuple[str, str]]:
    """Pairs of shown children that cover one another."""
    shown = [
        child
        for child in host.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if child.isVisible() and not isinstance(child, PaneEdge)  # it lies over what it moves
    ]
    return [
        (first.accessibleName() or str(first), second.accessibleName() or str(second))
        for first, second in combinations(shown, 2)
        if first.geometry().adjusted(1, 1, -1, -1).intersects(second.geometry())
    ]


def test_sidebar_page_and_inspector_change_sides(mirrored: MainWindow, qtbot: QtBot) -> None:
    sidebar, page = mirrored.sidebar, mirrored.page
    qtbot.waitUntil(lambda: box(sidebar, mirrored).right() == mirrored.width() - 1)
    assert box(page, mirrored).right() < box(sidebar, mirrored).left()
    mirrored.inspector.show()
    panel = mirrored.inspector.panel
    assert panel is not None
    qtbot.waitUntil(lambda: box(panel, mirrored).left() == 0)
    assert box(panel, mirrored).right() < box(page, mirrored).left()
    assert box(panel.edge, mirrored).right() == box(panel, mirrored).right()
    width = panel.width()
    qtbot.keyClick(panel.edge, Qt.Key.Key_Right)
    assert panel.width() > width


@pytest.mark.parametrize("width", [1280, 600, 380])
def test_the_header_mirrors_without_overlap(mirrored: MainWindow, qtbot: QtBot, width: int) -> None:
    mirrored.resize(width, 700)
    header = mirrored.page.header
    header.set_title("A title that is longer than the room for it, whatever the window")
    qtbot.wait(10)
    assert header.sidebar_button.x() > header.title.x() > header.menu_button.x()
    assert overlaps(header) == []


def test_the_composer_and_the_places_mirror(mirrored: MainWindow) -> None:
    composer = mirrored.page.composer
    attach, send = box(composer.attach_button, mirrored), box(composer.send_button, mirrored)
    assert attach.left() > box(composer.draft_button, mirrored).left() > send.left()
    row = next(iter(mirrored.sidebar.nav.rows.values()))
    assert row.geometry().left() >= 0
    assert overlaps(mirrored.sidebar) == []


def test_messages_change_sides(mirrored: MainWindow, workspace: ScriptedWorkspace, qtbot: QtBot) -> None:
    chat = workspace.add_conversation("Chat", 0, "A question", "An answer")
    workspace.change(chat, statistics=statistics(120))
    mirrored.page.open(chat)
    qtbot.wait(20)
    question, answer = mirrored.page.transcript.views
    assert isinstance(question, OwnMessage)
    assert isinstance(answer, ReplyView)
    bubble = question.findChild(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert bubble.x() == 0
    assert answer.buttons.geometry().right() >= answer.width() - 1
    assert not answer.strip.geometry().intersects(answer.buttons.geometry())


def test_a_message_aligns_by_its_own_direction(window: MainWindow, workspace: ScriptedWorkspace, qtbot: QtBot) -> None:
    window.resize(1280, 820)
    window.page.open(workspace.add_conversation("Chat", 0, HEBREW, f"{ARABIC}\n\nA line in English."))
    qtbot.wait(20)
    for view in window.page.transcript.views:
        text = view.findChild(QTextEdit)
        block = text.document().firstBlock()
        assert block.textDirection() is Qt.LayoutDirection.RightToLeft
        start = QTextCursor(block)
        assert text.cursorRect(start).center().x() > text.viewport().width() / 2
    last = window.page.transcript.views[-1].findChildren(QTextEdit)[-1]
    assert last.toPlainText() == "A line in English."
    assert last.cursorRect(QTextCursor(last.document())).center().x() < last.viewport().width() / 2


def test_places_and_paint(qtbot: QtBot, right_to_left: None) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(100, 20)
    child = QWidget(host)
    place(child, 10, 2, 30, 5)
    assert child.geometry() == QRect(60, 2, 30, 5)
    place(child, 10, 2, 30, 5, room=200)
    assert child.geometry() == QRect(160, 2, 30, 5)
    assert painted(host, 10, 2, 30, 5).left() == 60
    host.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    place(child, 10, 2, 30, 5)
    assert child.geometry() == QRect(10, 2, 30, 5)
    assert painted(host, 10, 2, 30, 5).left() == 10


@pytest.mark.parametrize("way", ["left", "right"])
def test_a_table_runs_as_its_head_does(qtbot: QtBot, theme: Theme, way: str) -> None:
    heads = ("Method", "Time") if way == "left" else ("الطريقة", "الزمن")
    grid = TableGrid(theme, f"| {heads[0]} | {heads[1]} |\n|---|---:|\n| pandas | 94 s |")
    qtbot.addWidget(grid)
    size = grid.fit(600)
    grid.resize(size)
    grid.search(re.compile(heads[0]))
    first = grid.choose_found(0)
    assert (first.left() == 0) is (way == "left")
    assert (first.right() == size.width() - 1) is (way == "right")
    picture = grid.grab().toImage()
    ground = picture.pixelColor(1, 12)
    ink = [
        x for x in range(1, 599) if any(picture.pixelColor(x, y) != ground for y in range(8, size.height() // 2 - 2))
    ]
    # The head of the first column and that of the second, which is aligned to the right: both ends are taken.
    assert (min(ink) <= 13) is (way == "left")
    assert max(ink) >= 585


def test_a_wide_table_of_that_direction_begins_at_the_right(qtbot: QtBot, theme: Theme) -> None:
    cells = " | ".join(["الطريقة" * 3] * 9)
    table = TableBlock(theme, f"| {cells} |\n{'|---' * 9}|\n| {cells} |")
    qtbot.addWidget(table)
    table.resize(300, table.fit(300))
    table.show()
    grid = table.findChild(TableGrid)
    assert grid.mapTo(table, QPoint(grid.width(), 0)).x() <= 300 < grid.width()


@pytest.mark.parametrize(
    ("text", "so"),
    [
        ("| الطريقة | Zeit |", True),
        ("| 1 | שלום |", True),
        ("| CSV ملف |", False),
        ("| 12 | |", False),
        ("", False),
    ],
)
def test_a_text_runs_as_its_first_letter_does(text: str, so: bool) -> None:
    assert runs_right_to_left(text) is so


def test_only_a_text_of_the_other_direction_is_isolated() -> None:
    left, right = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
    assert isolated("Why?", left) == "Why?"
    assert isolated("Why?", right) == "\u2068Why?\u2069"
    assert isolated("78 %", right) == "\u206878 %\u2069"
    assert isolated("לָמָּה?", left) == "\u2068לָמָּה?\u2069"
    assert isolated("לָמָּה?", right) == "לָמָּה?"
