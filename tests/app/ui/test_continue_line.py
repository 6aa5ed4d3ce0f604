"""A model that only continues texts: the window says so, and a chat can be one text without labels."""

from __future__ import annotations

from dataclasses import replace

from app.ui.main_window import MainWindow
from app.ui.transcript.reply import ReplyView
from engine.messages import Generate
from tests.support.scripted_workspace import ScriptedWorkspace


def load(workspace: ScriptedWorkspace, only_continues: bool) -> None:
    report = workspace.model.report
    assert report is not None
    workspace.load(replace(report, only_continues=only_continues))


def ask(workspace: ScriptedWorkspace, window: MainWindow, text: str, answer: str = "Yes.") -> Generate:
    """Send a message, have it answered, and return the request that it became."""
    window.page.ask(text)
    chat = window.page.current
    assert chat is not None
    workspace.stream(chat, answer)
    workspace.finish(chat)
    return workspace.engine.last(Generate)


def test_a_chat_without_labels_is_offered_where_the_model_only_continues_texts(
    workspace: ScriptedWorkspace, window: MainWindow
) -> None:
    line = window.page.continue_line
    assert not line.isVisible()
    load(workspace, only_continues=True)
    assert line.isVisible()
    assert line.said.text() == "This model only continues texts."
    assert ask(workspace, window, "Hello").raw_prompt is None
    chat = window.page.current
    line.button.click()
    assert window.page.current == chat
    assert line.said.text() == "The model goes on with your text."
    assert window.page.composer.prompt.placeholderText() == "Write what comes next"
    assert ask(workspace, window, "Well").raw_prompt == "HelloYes.\n\nWell"
    window.page.open(None)
    line.button.click()
    assert window.page.composer.prompt.placeholderText() == "Begin a text"
    first = ask(workspace, window, "Once upon a time", " there was a sea.")
    assert (first.raw_prompt, first.messages) == ("Once upon a time", ())
    chat = window.page.current
    assert ask(workspace, window, "The keeper").raw_prompt == ("Once upon a time there was a sea.\n\nThe keeper")
    load(workspace, only_continues=False)
    assert line.isVisible()  # the chat is one text all the same
    line.button.click()
    assert not line.isVisible()
    assert window.page.current == chat
    last = ask(workspace, window, "And now?")
    assert (last.raw_prompt, last.messages[-1].content) == (None, "And now?")


def test_a_blank_chat_changes_where_it_is(workspace: ScriptedWorkspace, window: MainWindow) -> None:
    line = window.page.continue_line
    load(workspace, only_continues=True)
    line.button.click()
    assert workspace.open_chat.options().continues
    line.button.click()
    assert workspace.open_chat.options().empty
    assert line.isVisible()


def test_a_continued_text_is_one_text_and_no_bubbles(workspace: ScriptedWorkspace, window: MainWindow) -> None:
    line, views = window.page.continue_line, window.page.transcript.message_views
    load(workspace, only_continues=True)
    line.button.click()
    for own, more in (("Once upon *a* time", " there was a sea."), ("The keeper", " slept.")):
        ask(workspace, window, own, more)
    first, told, second, last = views.all
    assert isinstance(told, ReplyView)
    assert isinstance(last, ReplyView)
    assert told.blocks.text == "Once upon *a* time there was a sea."
    assert last.blocks.text == "The keeper slept."
    assert (told.text, last.text) == (" there was a sea.", " slept.")  # what is copied
    assert not first._bubble.isVisible()
    assert first.buttons.isVisible()
    assert told.y() + told.height() == second.y()
    assert not told.buttons.isVisible()
    assert last.buttons.isVisible()
    first.edit()
    first.editor.cancelled.emit()
    assert not first._bubble.isVisible()
    line.button.click()
    first, told, second, last = views.all
    assert isinstance(told, ReplyView)
    assert first._bubble.isVisible()
    assert told.blocks.text == " there was a sea."
    assert told.buttons.isVisible()
