from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTextEdit, QToolButton
from pytestqt.qtbot import QtBot

from app.chat.conversation import MessageState, Stretches
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.ui.transcript.prose import ProseBlock
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.table import TableGrid
from app.ui.transcript.text_marks import in_utf16, rendered_stretches, stretches_of_blocks
from tests.support.scripted_workspace import ScriptedWorkspace

TEXT = """One **bold** word and `code`.

- first item
- second item

```
x = 1
```

The [end](http://a.b/c) of it."""


@pytest.mark.parametrize(
    ("markdown", "rendered", "stretches", "expected"),
    [
        ("plain text", "plain text", [(0, 5)], ["plain"]),
        ("a **bold** c", "a bold c", [(2, 8)], ["bold"]),
        ("a **bold** c", "a bold c", [(6, 12)], ["ld c"]),
        ("one\ntwo", "one two", [(2, 5)], ["e t"]),
        ("- one\n- two", "one\ntwo", [(0, 11)], ["one", "two"]),
        ("see [here](x.y/hh) now", "see here now", [(19, 22)], ["now"]),
        ("a &copy; b", "a © b", [(9, 10)], ["b"]),
        ("nothing", "nothing", [], []),
    ],
)
def test_rendered_text_is_found_again_behind_its_marks(
    markdown: str, rendered: str, stretches: list[tuple[int, int]], expected: list[str]
) -> None:
    found = rendered_stretches(markdown, rendered, stretches)
    assert [rendered[start:end] for start, end in found] == expected


def test_stretches_are_cut_at_the_blocks() -> None:
    content = "aaa\n\nbbb\n\naaa"
    assert stretches_of_blocks(content, ["aaa", "bbb", "aaa"], [(1, 7), (11, 13)]) == [
        [(1, 3)],
        [(0, 2)],
        [(1, 3)],
    ]
    assert stretches_of_blocks(content, ["aaa", "not there", "aaa"], [(0, 13)]) == [[(0, 3)], [], [(0, 3)]]


def _coloured(view: ReplyView) -> list[str]:
    return [
        selection.cursor.selectedText()
        for widget in view.blocks.widgets
        if isinstance(widget, ProseBlock)
        for selection in widget.extraSelections()
    ]


def test_stretches_are_counted_as_qt_does() -> None:
    assert in_utf16("plain", [(1, 3)]) == [(1, 3)]
    assert in_utf16("a😀b😀cé", [(0, 1), (1, 3), (4, 5)]) == [(0, 1), (1, 4), (6, 7)]


def _marked(view: ReplyView) -> list[str]:
    """Marked text in prose, code and thoughts, and then in tables."""
    found = [
        selection.cursor.selectedText() for edit in view.findChildren(QTextEdit) for selection in edit.extraSelections()
    ]
    for grid in view.findChildren(TableGrid):
        for cell in (cell for row in grid._rows for cell in row):
            block = cell.document.begin()
            iterator = block.begin()
            while not iterator.atEnd():
                if iterator.fragment().charFormat().background().color() == grid._theme.color("accs"):
                    found.append(iterator.fragment().text())
                iterator += 1
    return found


def test_code_tables_and_thoughts_are_marked_too(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, theme: Theme
) -> None:
    text = (
        "<think>\nfirst thought\n</think>\n\nProse 😀 here.\n\n```py\nx = 1\nyy = 22\n```\n\n"
        "| a | bb |\n|---|---|\n| c **dd** | c **dd** |\n"
    )
    chat = workspace.add_conversation("Chat", 0, "Question", text)
    places = [text.index(words) for words in ("thought\n<", "here", "= 1\nyy", "bb", "dd** |\n")]
    lengths = (7, 4, 6, 2, 2)
    workspace.change(chat, drafted=Stretches.of((at, at + n) for at, n in zip(places, lengths, strict=True)))
    window.page.open(chat)
    view = window.page.transcript.views[-1]
    assert isinstance(view, ReplyView)
    for button in view.findChildren(QToolButton):
        if button.accessibleName() == "Thoughts of the model":
            button.click()
    assert _marked(view) == []
    window.commands["mark-drafts"].trigger()
    expected = ["= 1\u2029yy", "bb", "dd", "here", "thought"]
    assert sorted(_marked(view)) == expected
    theme.set_dark(True)
    qtbot.waitUntil(lambda: sorted(_marked(view)) == expected)
    height = view.height()
    window.commands["mark-drafts"].trigger()
    assert _marked(view) == []
    assert view.height() == height


def _open(window: MainWindow, workspace: ScriptedWorkspace) -> tuple[int, ReplyView]:
    chat = workspace.add_conversation("Chat", 0, "Question", TEXT)
    bold, end = TEXT.index("**bold"), TEXT.index("of it")
    workspace.change(chat, drafted=Stretches.of([(bold, bold + 13), (end, end + 5)]))
    window.page.open(chat)
    view = window.page.transcript.views[-1]
    assert isinstance(view, ReplyView)
    return chat, view


def test_it_is_coloured_when_the_person_asks(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, theme: Theme
) -> None:
    chat, view = _open(window, workspace)
    assert _coloured(view) == []
    qtbot.keyClick(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert window.commands["mark-drafts"].isChecked()
    assert workspace.settings.drafted_shown
    assert _coloured(view) == ["bold word", "of it"]
    theme.set_scale(1.2)
    qtbot.waitUntil(lambda: _coloured(view) == ["bold word", "of it"])
    window.commands["mark-drafts"].trigger()
    assert _coloured(view) == []
    assert workspace.reply(chat).content == TEXT


def test_nothing_is_coloured_while_the_reply_is_written(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.commands["mark-drafts"].trigger()
    chat, view = _open(window, workspace)
    workspace.change(chat, state=MessageState.STREAMING)
    assert _coloured(view) == []
    workspace.change(chat, state=MessageState.COMPLETE)
    assert len(_coloured(view)) == 2
