"""Readings of chats: the folders in which the engine keeps them, and their end with the chat."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.bridge.workspace import Workspace
from engine.messages import CheckLoaded, Command
from tests.app.bridge.conftest import Desk
from tests.app.bridge.test_turns import Watching


def read(desk: Desk, workspace: Workspace, watching: Watching, text: str = "say 1") -> tuple[int, Path]:
    """Answer in a chat whose reading the engine then keeps."""
    chat = desk.answer(workspace, text)
    kept = watching.requests[-1].kept
    assert kept.most_bytes == workspace.settings.readings_bytes
    (Path(kept.folder) / "0.rows").write_bytes(b"what was read")
    return chat, Path(kept.folder)


def delete_message(workspace: Workspace, chat: int) -> None:
    assert workspace.shelf.delete_message(chat, workspace.library.messages(chat)[0].id)


@pytest.mark.parametrize(
    "delete",
    [
        lambda workspace, chat: workspace.shelf.delete(chat),
        lambda workspace, chat: workspace.erase_everything(),
        delete_message,
    ],
    ids=["trash", "everything", "a message"],
)
def test_a_reading_goes_with_the_chat(desk: Desk, delete: Callable[[Workspace, int], None]) -> None:
    watching = Watching(desk)
    workspace = desk.open(watching)
    chat, folder = read(desk, workspace, watching)
    if os.name == "posix":
        assert not stat.S_IMODE((desk.folder / "data").stat().st_mode) & 0o077
    delete(workspace, chat)
    desk.wait(lambda: not folder.exists())
    assert not list(folder.parent.iterdir())


def test_a_start_deletes_what_was_read_of_chats_that_are_gone(desk: Desk) -> None:
    watching = Watching(desk)
    workspace = desk.open(watching)
    chat, folder = read(desk, workspace, watching)
    workspace.close()
    (folder.parent / "9999").mkdir()
    desk.open()
    assert [path.name for path in folder.parent.iterdir()] == [str(chat)]


def test_nothing_is_kept_where_the_settings_say_so(desk: Desk) -> None:
    watching = Watching(desk)
    workspace = desk.open(watching)
    _, folder = read(desk, workspace, watching)
    workspace.settings.readings_bytes = 0
    workspace.settings_applied()
    desk.wait(lambda: not folder.exists())
    desk.answer(workspace, "say 1")
    assert watching.requests[-1].kept is None
    assert not folder.parent.exists() or not list(folder.parent.iterdir())


class Asking(Watching):
    """Keeps the requests to read shown chats into memory."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.brought_in: list[CheckLoaded] = []

    def send(self, command: Command) -> None:
        if isinstance(command, CheckLoaded) and command.kept is not None:
            self.brought_in.append(command)
        super().send(command)

    @property
    def chats(self) -> list[str]:
        return [Path(command.kept.folder).name for command in self.brought_in if command.kept is not None]


def test_a_chat_that_is_looked_at_is_brought_in_and_none_on_the_way(desk: Desk, qtbot: QtBot) -> None:
    client = Asking(desk)
    workspace = desk.open(client)
    first, second, third = (desk.answer(workspace, "say 1") for _ in range(3))
    assert not client.chats
    workspace.open_chat.show(first)
    workspace.open_chat.show(second)
    workspace.open_chat.show(third)
    desk.wait(lambda: bool(client.chats))
    qtbot.wait(50)
    assert client.chats == [str(third)]
    assert client.brought_in[0].options == client.requests[-1].options
    # A message comes before that, and nothing is brought in while a reply is on its way.
    workspace.open_chat.show(first)
    workspace.turns.send(first, "slow 100")
    workspace.open_chat.show(second)
    qtbot.wait(500)
    assert client.chats == [str(third)]
    workspace.replies.stop_all()


def test_a_chat_waits_for_the_model(desk: Desk) -> None:
    workspace = desk.open(Asking(desk))
    chat = desk.answer(workspace, "say 1")
    workspace.close()
    again = desk.open(client := Asking(desk), start=False)
    again.open_chat.show(chat)
    again.open_chat._looked_at.setInterval(0)
    again.open_chat._bring_in()
    assert not client.chats  # nothing is loaded by looking
    again.start()
    desk.wait(lambda: client.chats == [str(chat)])


def test_what_open_chats_take_is_told_and_erased(desk: Desk, qtbot: QtBot) -> None:
    watching = Watching(desk)
    workspace = desk.open(watching)
    _, folder = read(desk, workspace, watching)
    with qtbot.waitSignal(workspace.settings_desk.readings_measured) as told:
        workspace.settings_desk.measure_readings()
    assert told.args == [len(b"what was read")]
    with qtbot.waitSignal(workspace.settings_desk.readings_measured) as told:
        workspace.settings_desk.measure_readings(erase=True)
    assert told.args == [0]
    assert not folder.exists()
