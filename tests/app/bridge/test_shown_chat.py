"""The chat that the last run did not survive."""

from __future__ import annotations

from tests.app.bridge.conftest import Desk


def test_a_chat_that_was_being_shown_when_the_window_ended_is_known_at_the_next_start(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 1")
    workspace.open_chat.show(chat)
    mark = next(desk.folder.rglob("chat-being-shown"))
    kept = mark.read_bytes()
    desk.wait(lambda: not mark.exists())  # it was shown
    workspace.open_chat.show(chat)
    workspace.close()
    assert not mark.exists()  # closed as it should be

    mark.write_bytes(kept)  # ended while it was shown
    workspace = desk.open()
    assert workspace.shown_chat.brought_down == chat
    assert any("was not opened by itself" in sentence for sentence in desk.recorder.notices)
    workspace.open_chat.show(None)
    assert not mark.exists()
    workspace.close()

    mark.write_bytes(b"\xff no number")
    workspace = desk.open()
    assert workspace.shown_chat.brought_down is None
    workspace.settings.last_chat = chat
    workspace.doubt_last_chat()
    assert workspace.shown_chat.brought_down == chat
