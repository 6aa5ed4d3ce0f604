"""Where the engine may keep what it has read of a chat, and that it goes when the chat goes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from app.bridge.workspace import Workspace
from tests.app.bridge.conftest import Desk
from tests.app.bridge.test_turns import Watching


def read(desk: Desk, workspace: Workspace, watching: Watching, text: str = "say 1") -> tuple[int, Path]:
    """Answer in a chat whose reading the engine then keeps."""
    chat = desk.answer(workspace, text)
    kept = watching.requests[-1].kept
    assert kept is not None
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
