from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QTextCursor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.chat.conversation import Stretches
from app.ui.chat_page.find import FindBar
from app.ui.main_window import MainWindow
from app.ui.transcript.block_widgets import SearchedWidget
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.prose import ProseBlock, ThoughtBlock
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.table import TableBlock
from tests.support.scripted_workspace import ScriptedWorkspace

ANSWER = """<think>A pear in thought.</think>

A **pe**ar and a [pear](https://pear.org).

| Fruit | Price |
|---|---|
| pear | 2 |

```python
pear = "pear"
```
"""


def open_find(window: MainWindow, typed: str = "") -> FindBar:
    bar = window.find_in_chat.bar
    window.commands["find"].trigger()
    bar.field.selectAll()
    QTest.keyClicks(bar.field, typed)
    return bar


def current_place(window: MainWindow) -> tuple[int, int] | None:
    return window.find_in_chat.finder._at


def test_every_place_is_marked_and_counted(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "Which pear?", ANSWER))

    bar = open_find(window, "pear")

    assert QKeySequence("Ctrl+F") in window.commands["find"].shortcuts()
    assert bar.isVisible()
    assert bar.field.hasFocus()
    own, reply = window.page.transcript.views
    assert isinstance(own, OwnMessage)
    assert isinstance(reply, ReplyView)
    found = {type(widget): widget.found for widget in reply.blocks.widgets if isinstance(widget, SearchedWidget)}
    assert found == {ThoughtBlock: 0, ProseBlock: 2, TableBlock: 1, CodeBlock: 2}
    assert bar.said.text() == "1 of 6"
    assert current_place(window) == (own.message.id, 0)


def test_enter_goes_on_and_round_and_shift_enter_back(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "Which pear?", ANSWER))
    bar = open_find(window, "pear")

    said = []
    for _ in range(6):
        QTest.keyClick(bar.field, Qt.Key.Key_Return)
        said.append(bar.said.text())
    assert said == ["2 of 6", "3 of 6", "4 of 6", "5 of 6", "6 of 6", "1 of 6"]
    QTest.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.said.text() == "6 of 6"
    window.commands["find-previous"].trigger()
    assert bar.said.text() == "5 of 6"
    window.commands["find-next"].trigger()
    assert bar.said.text() == "6 of 6"


def test_nothing_found_is_said_and_escape_takes_the_marks_away(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "Which pear?", ANSWER))
    bar = open_find(window, "plum")
    assert bar.said.text() == "Nothing found"
    assert not window.commands["find-next"].isEnabled()
    bar = open_find(window, "pear")
    assert window.page.transcript.views[0].blocks.found == 1

    QTest.keyClick(bar.field, Qt.Key.Key_Escape)

    assert not bar.isVisible()
    assert window.page.transcript.views[0].blocks.found == 0
    assert window.page.composer.prompt.hasFocus()


def test_messages_that_are_no_widgets_are_found_and_shown(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    turns = [f"text {number} " * 30 for number in range(400)]
    turns[3] += " needle"
    turns[201] += " **nee**dle and needle"
    chat = workspace.add_conversation("Long", 0, *turns)
    window.page.open(chat)
    ids = [message.id for message in workspace.library.messages(chat)]

    bar = open_find(window, "needle")

    assert bar.said.text().endswith("of 3")
    assert current_place(window) == (ids[3], 0)
    view = window.page.transcript.view_of(ids[3])
    top = window.page.transcript.verticalScrollBar().value()
    assert top <= view.y() + view.height() <= top + window.page.transcript.height() + view.height()
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    assert current_place(window) == (ids[201], 0)
    assert bar.said.text() == "2 of 3"
    assert len(window.page.transcript.views) < 100


def test_a_reply_that_is_written_is_searched_too(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.turns.send(None, "Which pear?")
    window.page.open(chat)
    bar = open_find(window, "pear")
    assert bar.said.text() == "1 of 1"

    workspace.stream(chat, "A pear.\n\nAnother pear.\n\n```\npear\n```\n")
    workspace.finish(chat)

    qtbot.waitUntil(lambda: bar.said.text() == "1 of 4")


def test_what_is_selected_is_looked_for(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "Q", "Some pear here, and a pear"))
    reply = window.page.transcript.views[1]
    assert isinstance(reply, ReplyView)
    prose = reply.blocks.widgets[0]
    assert isinstance(prose, ProseBlock)
    cursor = prose.textCursor()
    cursor.setPosition(5)
    cursor.setPosition(9, QTextCursor.MoveMode.KeepAnchor)
    prose.setTextCursor(cursor)
    prose.setFocus()

    window.commands["find"].trigger()

    assert window.find_in_chat.bar.field.text() == "pear"
    assert window.find_in_chat.bar.said.text() == "1 of 2"


def test_the_bar_stays_for_another_chat(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    first = workspace.add_conversation("One", 0, "pear", "no")
    second = workspace.add_conversation("Two", 0, "pear", "pear pear")
    window.page.open(first)
    bar = open_find(window, "pear")
    assert bar.said.text() == "1 of 1"

    window.page.open(second)

    assert bar.said.text() == "1 of 3"


def test_words_of_a_search_in_all_chats_are_marked_in_the_message_that_is_opened(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Trees", 0, "Which tree?", "A pear tree, or a plum tree.")
    other = workspace.add_conversation("Other", 0, "Q", "A")
    window.page.open(other)
    message = workspace.library.messages(chat)[1]
    workspace.written()
    (hit,) = workspace.search("pear plum").hits
    window.sidebar.search.setText("pear plum")

    window.sidebar.list.hit_chosen.emit(hit)

    view = window.page.transcript.view_of(message.id)
    assert view.blocks.found == 2
    assert current_place(window) == (message.id, 0)
    assert not window.find_in_chat.bar.isVisible()
    window.sidebar.search.clear()
    assert view.blocks.found == 0


def test_marks_of_drafts_and_of_a_search_stand_beside_each_other(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Chat", 0, "Q", "One pear")
    workspace.change(chat, drafted=Stretches.of([(0, 3)]))
    workspace.settings.drafted_shown = True
    window.page.open(chat)
    window.page.transcript.message_views.set_drafted_shown(True)

    open_find(window, "pear")

    reply = window.page.transcript.views[1]
    assert isinstance(reply, ReplyView)
    prose = reply.blocks.widgets[0]
    assert isinstance(prose, ProseBlock)
    assert [selection.cursor.selectedText() for selection in prose.extraSelections()] == ["One", "pear"]
