"""The line where another model goes on."""

from __future__ import annotations

from dataclasses import replace

from app.ui.main_window import MainWindow
from app.ui.transcript.reply import ReplyView
from tests.support.scripted_workspace import ScriptedWorkspace


def lines(window: MainWindow) -> list[str]:
    """Texts of the lines above the replies; empty for none."""
    replies = [view for view in window.page.transcript.views if isinstance(view, ReplyView)]
    shown = [view.model_change for view in replies]
    return ["" if line is None or line.isHidden() else line.words for line in shown]


def test_a_line_stands_where_the_model_changed(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    workspace.change(chat, model="smollm2")
    for model in ("smollm2", "/models/Qwen", "/models/Qwen", "smollm2"):
        workspace.turns.send(chat, "more")
        workspace.stream(chat, "text")
        workspace.change(chat, model=model)
        workspace.finish(chat)
    window.page.open(chat)
    qwen, guide = "From here on: Qwen", "From here on: SmolLM2 135M"
    assert lines(window) == ["", "", qwen, "", guide]
    view = window.page.transcript.views[5]
    assert isinstance(view, ReplyView)
    assert view.blocks.y() == view.model_change.height()


def test_a_reply_of_a_chat_before_models_were_kept_has_no_line(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b", "c", "d")
    workspace.change(chat, model="smollm2")
    window.page.open(chat)
    assert lines(window) == ["", ""]


def test_another_version_of_another_model_brings_its_line_and_takes_it_away(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b", "c", "d")
    last = workspace.library.messages(chat)[3].id
    for message in workspace.library.messages(chat):
        workspace.library.put_message(replace(message, model="smollm2" if message.role == "assistant" else ""))
    window.page.open(chat)
    workspace.turns.regenerate(chat, last)
    workspace.stream(chat, "other")
    workspace.change(chat, model="/models/Qwen")
    workspace.finish(chat)
    window.page.open(None)
    window.page.open(chat)
    assert lines(window) == ["", "From here on: Qwen"]
    workspace.turns.choose(chat, last)
    assert lines(window) == ["", ""]
