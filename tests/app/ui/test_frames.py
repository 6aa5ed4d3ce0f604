"""Cost of a frame: parts that stay the same while a reply grows are neither placed nor painted again."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.chat.conversation import Message, MessageState
from app.chat.markdown_blocks import BlockKind
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.ui.transcript.block_widgets import gap_px
from app.ui.transcript.prose import ProseBlock
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.status_strip import StatusStrip
from tests.support.scripted_workspace import READY, ScriptedWorkspace, statistics


class Paints(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


def growing(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> tuple[int, ReplyView]:
    chat = workspace.turns.send(None, "Go")
    window.page.open(chat)
    workspace.stream(chat, "First paragraph.\n\nSecond")
    reply = window.page.transcript.views[-1]
    assert isinstance(reply, ReplyView)
    qtbot.waitUntil(lambda: len(reply.blocks.widgets) == 2)
    QApplication.processEvents()
    return chat, reply


def test_a_finished_block_is_not_painted_while_the_reply_grows(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat, reply = growing(qtbot, window, workspace)
    first, last = reply.blocks.widgets
    assert isinstance(first, ProseBlock)
    assert isinstance(last, ProseBlock)
    above, below = Paints(first.viewport()), Paints(last.viewport())
    before = reply.height()
    for word in ("one", "two", "three"):
        workspace.stream(chat, f" {word}" * 60)
        reply.blocks.refresh()
        QApplication.processEvents()
    assert reply.height() > before
    assert below.count
    assert not above.count


def test_the_ground_takes_the_colours_of_the_theme(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, theme: Theme
) -> None:
    growing(qtbot, window, workspace)
    theme.set_dark(True)
    QApplication.processEvents()
    picture = window.page.transcript.viewport().grab().toImage()
    assert picture.pixelColor(2, 2) == theme.color("bg")


def test_blocks_below_one_that_grows_move_down(qtbot: QtBot, theme: Theme) -> None:
    text = "<think>why\n\nso\n\nthen</think>\nOne\n\nTwo"
    reply = ReplyView(theme, Message(1, 1, "assistant", text, 0.0), READY)
    qtbot.addWidget(reply)
    reply.resize(600, reply.fit(600))
    tops = [widget.y() for widget in reply.blocks.widgets]
    thought = reply.blocks.widgets[0]
    thought.findChild(QToolButton).setChecked(True)  # type: ignore[union-attr]
    assert reply.fit(600) > reply.height()
    grown = thought.height() - tops[1] + gap_px(BlockKind.THINK, BlockKind.PARAGRAPH)
    assert grown > 0
    assert [widget.y() for widget in reply.blocks.widgets] == [tops[0], tops[1] + grown, tops[2] + grown]


def test_figures_alone_touch_only_the_strip(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat, reply = growing(qtbot, window, workspace)
    text = reply.strip.status.text
    told = []
    reply.blocks.height_changed.connect(lambda: told.append(1))
    workspace.change(chat, statistics=statistics(77))
    assert reply.strip.status.text != text
    assert not told
    assert reply.message.state is MessageState.STREAMING


def test_a_strip_is_measured_anew_in_another_size(qtbot: QtBot, theme: Theme) -> None:
    message = Message(1, 1, "assistant", "Yes", 0.0, MessageState.COMPLETE, statistics(40))
    reply = ReplyView(theme, message, READY)
    qtbot.addWidget(reply)
    strip = reply.strip
    assert isinstance(strip, StatusStrip)
    before = strip.natural_width()
    theme.set_scale(1.5)
    assert strip.natural_width() > 1.3 * before
