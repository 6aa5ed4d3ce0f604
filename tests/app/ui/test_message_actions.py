"""The buttons under messages: versions, editing, copying, deleting, going on."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chat.conversation import MessageState, ReplyDetails
from app.ui.main_window import MainWindow
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.markdown_style import plain_text
from app.ui.transcript.message_actions import Action, RowButton
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.transcript import MessageView
from engine.messages import Generate
from tests.support.scripted_workspace import ScriptedWorkspace, wait_until

MARKDOWN = """<think>hm</think>
# Head

Two **bold** words, a [link](https://example.org) and `code`,
on two lines.

- one
  1. deep
- two

| a | b |
|---|--:|
| `1` | **2** |

```python
def f():
    pass
```

---

> said"""
PLAIN = """Head

Two bold words, a link and code,
on two lines.

- one
  1. deep
- two

a\tb
1\t2

def f():
    pass

said"""


def open_chat(window: MainWindow, workspace: ScriptedWorkspace, *turns: str) -> int:
    chat = workspace.add_conversation("Chat", 0, *turns)
    window.page.open(chat)
    return chat


def texts(window: MainWindow) -> list[str]:
    return [view.text for view in window.page.transcript.views]


def view_at(window: MainWindow, at: int) -> MessageView:
    return window.page.transcript.views[at]


def press(window: MainWindow, at: int, action: Action) -> None:
    view_at(window, at).buttons.button(action).click()


def entry(view: MessageView, action: Action) -> None:
    """Choose an entry of the menu at the end of the row."""
    next(one for one in view.buttons.menu().actions() if one.data() is action).trigger()


def shown(view: MessageView) -> list[str]:
    row = [b for b in view.findChildren(RowButton) if not b.isHidden()]
    return [b.accessibleName() for b in sorted(row, key=lambda b: b.x())]


def test_another_answer_stands_beside_the_first(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = open_chat(window, workspace, "Why?", "Because.")
    assert shown(view_at(window, 1)) == ["Copy reply", "Answer again", "More for this reply"]
    kept = view_at(window, 0)
    press(window, 1, Action.REGENERATE)
    workspace.stream(chat, "For a reason.")
    workspace.finish(chat)
    assert texts(window) == ["Why?", "For a reason."]
    assert view_at(window, 0) is kept
    names = shown(view_at(window, 1))
    assert names == ["Copy reply", "Answer again", "Previous version", "Next version", "More for this reply"]
    count = view_at(window, 1).buttons
    assert not count.button(Action.NEXT).isEnabled()
    press(window, 1, Action.PREVIOUS)
    assert texts(window) == ["Why?", "Because."]
    assert not view_at(window, 1).buttons.button(Action.PREVIOUS).isEnabled()
    press(window, 1, Action.NEXT)
    assert texts(window) == ["Why?", "For a reason."]


def test_versions_can_be_stepped_through_while_one_is_written(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = open_chat(window, workspace, "Why?", "Because.")
    press(window, 1, Action.REGENERATE)
    workspace.stream(chat, "For")
    assert shown(view_at(window, 1)) == ["Previous version", "Next version"]
    assert window.page.composer.send_button.stops
    press(window, 1, Action.PREVIOUS)
    assert texts(window) == ["Why?", "Because."]
    assert not window.page.composer.send_button.stops


def test_an_arrow_stays_under_the_pointer(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    long = "\n\n".join(f"Paragraph {number}." for number in range(40))
    above = [f"Turn {number}" for number in range(16)]
    chat = open_chat(window, workspace, *above, "Why?", "Because.", "And?", long)
    view = window.page.transcript

    def all_built() -> bool:
        view.verticalScrollBar().setValue(0)
        return view.unbuilt == 0

    qtbot.waitUntil(all_built)
    at = len(above) + 1
    press(window, at, Action.REGENERATE)
    workspace.stream(chat, long)
    workspace.finish(chat)
    assert view.follows
    step = view_at(window, at).buttons.button(Action.PREVIOUS)
    before = step.mapTo(window, QPoint(0, 0))
    press(window, at, Action.PREVIOUS)
    assert texts(window)[at:] == ["Because.", "And?", long]
    step = view_at(window, at).buttons.button(Action.NEXT)
    assert step.mapTo(window, QPoint(0, 0)).y() == before.y()
    assert not view.follows
    press(window, at, Action.NEXT)
    step = view_at(window, at).buttons.button(Action.PREVIOUS)
    assert step.mapTo(window, QPoint(0, 0)) == before


def test_the_keyboard_steps_through_versions(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = open_chat(window, workspace, "Why?", "Because.")
    for text in ("two", "three"):
        press(window, 1, Action.REGENERATE)
        workspace.stream(chat, text)
        workspace.finish(chat)
    button = view_at(window, 1).buttons.button(Action.REGENERATE)
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Tab)
    assert window.ring.isVisible()
    for wanted in ("two", "Because."):
        focused = QApplication.focusWidget()
        assert isinstance(focused, RowButton)
        assert focused.accessibleName() == "Previous version"
        qtbot.keyClick(focused, Qt.Key.Key_Space)
        assert texts(window) == ["Why?", wanted]
        assert window.ring.isVisible()
    focused = QApplication.focusWidget()
    assert focused.accessibleName() == "Next version"  # the first version has nothing before it


def test_an_edited_message_branches(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    open_chat(window, workspace, "Why?", "Because.", "And?", "So.")
    view = view_at(window, 2)
    assert isinstance(view, OwnMessage)
    press(window, 2, Action.EDIT)
    assert view.editor.prompt.hasFocus()
    assert view.editor.prompt.toPlainText() == "And?"
    view.editor.prompt.setPlainText("And then?")
    qtbot.keyClick(view.editor.prompt, Qt.Key.Key_Return)
    assert workspace.prompts[-1] == "And then?"
    assert texts(window) == ["Why?", "Because.", "And then?", ""]
    assert window.page.composer.prompt.hasFocus()
    assert window.page.transcript.follows
    press(window, 2, Action.PREVIOUS)
    assert texts(window) == ["Why?", "Because.", "And?", "So."]


def test_an_edited_reply_is_a_version_that_the_model_reads(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = open_chat(window, workspace, "Why?", "Because.")
    entry(view_at(window, 1), Action.EDIT)
    view = view_at(window, 1)
    assert isinstance(view, ReplyView)
    assert (view.editor.prompt.toPlainText(), view.blocks.isVisible()) == ("Because.", False)
    view.editor.prompt.setPlainText("Nobody *knows*.")
    qtbot.keyClick(view.editor.prompt, Qt.Key.Key_Return)
    assert texts(window) == ["Why?", "Nobody *knows*."]
    assert workspace.prompts == ["Why?"]  # nothing is asked of the model
    workspace.turns.send(chat, "And?")
    wait_until(lambda: any(isinstance(command, Generate) for command in workspace.engine.sent))
    asked = workspace.engine.last(Generate)
    assert [turn.content for turn in asked.messages] == ["Why?", "Nobody *knows*.", "And?"]
    press(window, 1, Action.PREVIOUS)
    assert texts(window) == ["Why?", "Because."]


def test_the_edit_of_a_reply_can_be_given_up(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    open_chat(window, workspace, "Why?", "Because.")
    view = view_at(window, 1)
    assert isinstance(view, ReplyView)
    height = view.height()
    entry(view, Action.EDIT)
    view.editor.prompt.setPlainText("Something else")
    qtbot.keyClick(view.editor.prompt, Qt.Key.Key_Escape)
    assert (view.editor, view.text, view.height(), view.blocks.isVisible()) == (None, "Because.", height, True)


@pytest.mark.parametrize("at", [0, 1])
def test_a_chat_branches_into_a_new_one(window: MainWindow, workspace: ScriptedWorkspace, at: int) -> None:
    chat = open_chat(window, workspace, "Why?", "Because.", "And?", "So.")
    entry(view_at(window, at), Action.BRANCH)
    said = ["Why?", "Because."][: at + 1]
    new = window.page.current
    assert new is not None
    assert new != chat
    assert texts(window) == said
    assert window.page.chat.title == "Branch: Chat"
    assert [one.content for one in workspace.library.messages(chat)] == ["Why?", "Because.", "And?", "So."]
    workspace.written()
    stored = workspace._read_messages(new)
    assert [one.content for one in stored] == said
    assert workspace.library.messages(new)[0].id != workspace.library.messages(chat)[0].id


@pytest.mark.parametrize("way", ["escape", "unchanged"])
def test_an_edit_can_be_given_up(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, way: str) -> None:
    open_chat(window, workspace, "Why?", "Because.")
    view = view_at(window, 0)
    assert isinstance(view, OwnMessage)
    height = view.height()
    press(window, 0, Action.EDIT)
    assert view.height() > height
    if way == "escape":
        view.editor.prompt.setPlainText("Something else")
        qtbot.keyClick(view.editor.prompt, Qt.Key.Key_Escape)
    else:
        qtbot.keyClick(view.editor.prompt, Qt.Key.Key_Return)
    assert view.editor is None
    assert (view.text, view.height()) == ("Why?", height)
    assert view.buttons.button(Action.EDIT).hasFocus()
    assert workspace.prompts == ["Why?"]


def test_an_edit_that_is_refused_stays_open(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    open_chat(window, workspace, "Why?", "Because.")
    view = view_at(window, 0)
    assert isinstance(view, OwnMessage)
    press(window, 0, Action.EDIT)
    view.editor.prompt.setPlainText("")
    view.editor.submitted.emit("")
    assert window.toast.text == "Write a message first."
    assert view.editor is not None


def test_copies(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    open_chat(window, workspace, "*Why* so?", MARKDOWN)
    press(window, 1, Action.COPY)
    assert QGuiApplication.clipboard().text() == MARKDOWN
    entry(view_at(window, 1), Action.COPY_PLAIN)
    assert QGuiApplication.clipboard().text() == PLAIN
    press(window, 0, Action.COPY)
    assert QGuiApplication.clipboard().text() == "*Why* so?"


@pytest.mark.parametrize("text", ["", "plain", "a < b & c", "1. x\n2. y", "```\nno end"])
def test_text_without_marks_stays_as_it_is(text: str) -> None:
    assert plain_text(text) == text.removeprefix("```\n")


def test_a_deleted_message_comes_back(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    open_chat(window, workspace, "Why?", "Because.", "And?", "So.")
    press(window, 2, Action.DELETE)
    assert texts(window) == ["Why?", "Because.", "So."]
    assert window.toast.text == "The message is in the trash for 30 days."
    window.toast.action_button.click()
    assert texts(window) == ["Why?", "Because.", "And?", "So."]
    entry(view_at(window, 3), Action.DELETE)
    assert texts(window) == ["Why?", "Because.", "And?"]
    window.toast.action_button.click()
    assert texts(window) == ["Why?", "Because.", "And?", "So."]


def test_undo_brings_back_what_its_notice_tells_of(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    other = workspace.add_conversation("Other", 60, "a", "b")
    chat = open_chat(window, workspace, "Why?", "Because.")
    window.shelf.delete(other)
    press(window, 0, Action.DELETE)
    window.toast.action_button.click()
    assert texts(window) == ["Why?", "Because."]
    assert [one.id for one in workspace.library.conversations()] == [chat]
    press(window, 0, Action.DELETE)
    window.shelf.delete(chat)
    window.toast.action_button.click()
    assert (window.page.current, texts(window)) == (chat, ["Because."])


def test_the_last_message_deleted_leaves_a_blank_page(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    open_chat(window, workspace, "Why?")
    press(window, 0, Action.DELETE)
    assert window.page.empty_state.isVisible()
    window.toast.action_button.click()
    assert texts(window) == ["Why?"]
    assert window.page.transcript.isVisible()


def test_a_stopped_reply_goes_on(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = open_chat(window, workspace, "Why?")
    workspace.turns.send(chat, "And?")
    workspace.stream(chat, "Half")
    assert "Continue" not in shown(view_at(window, 2))
    workspace.replies.stop(chat)
    assert "Continue" in shown(view_at(window, 2))
    press(window, 2, Action.CONTINUE)
    assert workspace.goes_on(chat)
    workspace.stream(chat, " done.")
    workspace.finish(chat)
    view = view_at(window, 2)
    assert isinstance(view, ReplyView)
    assert view.text == "Half done."
    assert "Continue" not in shown(view)


def test_a_reply_stopped_in_a_loop_says_so_and_goes_on(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = open_chat(window, workspace, "Why?")
    workspace.turns.send(chat, "And?")
    workspace.stream(chat, "And on and on")
    details = ReplyDetails("plain", "", "guide", None, "bf16", stop_reason="loop")
    workspace.change(chat, state=MessageState.COMPLETE, details=details)
    view = view_at(window, 2)
    assert view.notice_texts == ["The reply was stopped, because it began to repeat itself."]
    assert "Continue" in shown(view)
    press(window, 2, Action.CONTINUE)
    assert workspace.goes_on(chat)
    again = view_at(window, 2)
    assert again.notice_texts == []


def test_a_reply_stopped_before_its_first_word_is_tried_again(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = open_chat(window, workspace, "Why?")
    workspace.turns.send(chat, "And?")
    workspace.replies.stop(chat)
    assert shown(view_at(window, 2)) == ["Try again", "More for this reply"]
    press(window, 2, Action.RETRY)
    assert workspace.tried_again(chat)
    assert workspace.reply(chat).state is MessageState.WAITING


def test_buttons_of_ones_own_message_are_seen_under_the_pointer_and_by_the_keyboard(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    open_chat(window, workspace, "Why?", "Because.")
    view = view_at(window, 0)
    button = view.buttons.button(Action.EDIT)

    def inked() -> bool:
        image = button.grab().toImage()
        return len({image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}) > 1

    assert not inked()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    assert inked()
    window.page.composer.prompt.setFocus()
    assert not inked()
    view.buttons.set_seen(True)
    assert inked()
