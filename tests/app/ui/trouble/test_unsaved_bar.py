"""What cannot be saved is said until it is saved, and closing asks."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QMessageBox

from app.bridge import journal
from app.chat.attachment import Unsent
from app.storage.conversation_store import ConversationStore
from app.storage.transaction import storage_error
from app.ui.main_window import MainWindow
from engine.errors import StorageError
from tests.support.scripted_workspace import ScriptedWorkspace, refusal, wait_until

FULL = StorageError("The disk is full.")


def refuse(monkeypatch: pytest.MonkeyPatch, *names: str) -> pytest.MonkeyPatch:
    monkeypatch.setattr(journal, "_RETRY_MS", 20)
    for name in names:
        monkeypatch.setattr(ConversationStore, name, refusal(FULL))
    return monkeypatch


@pytest.mark.parametrize("name", ["save", "save_unsent", "set_deleted", "sync"])
def test_it_stays_through_lesser_news_and_goes_when_all_is_saved(
    window: MainWindow, workspace: ScriptedWorkspace, name: str
) -> None:
    bar, toast = window.trouble.unsaved, window.toast
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    workspace.written()
    workspace._journal._retry.setInterval(20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConversationStore, name, refusal(FULL))
        if name == "set_deleted":
            workspace.shelf.delete(chat)
        elif name == "save_unsent":
            workspace.unsent.keep(None, Unsent("typed"))
        else:
            workspace.shelf.rename(chat, "Another title")
            workspace._journal._sync_now()
        wait_until(lambda: bar.isVisible())
        assert bar.text == "The disk is full."
        workspace.archive.problem.emit("There is no room for today's backup.")
        toast.dismiss()
        workspace.settings_unsaved.emit("The settings cannot be saved.")
        other = workspace.turns.send(None, "Something else that may be saved")
        workspace.written()
        window.places.go("models")
        assert bar.isVisible()
        assert workspace.unsaved == "The disk is full."
    workspace.unsent._timer.start(1)
    wait_until(lambda: not bar.isVisible())
    assert workspace.unsaved == ""
    assert other


def test_closing_asks_where_something_is_not_saved(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace._journal._retry.setInterval(20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConversationStore, "save", refusal(FULL))
        workspace.turns.send(None, "In memory only")
        wait_until(lambda: bool(workspace.unsaved))
        assert not window.close()
        assert window.isVisible()
        question = window.findChild(QMessageBox)
        assert question.informativeText() == "The disk is full."
        stay = question.defaultButton()
        stay.click()
        assert window.isVisible()
        assert not window.close()
        question = next(box for box in window.findChildren(QMessageBox) if box.isVisible())
        lose: QAbstractButton = next(button for button in question.buttons() if button is not question.defaultButton())
        lose.click()
        assert not window.isVisible()


def test_closing_asks_nothing_once_all_is_saved_or_the_system_wants_it(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConversationStore, "save", refusal(FULL))
        workspace.turns.send(None, "In memory only")
        wait_until(lambda: bool(workspace.unsaved))
        window.close_anyway()
    assert not window.isVisible()


def test_a_failed_reply_says_kept_only_when_it_is(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace._journal._retry.setInterval(20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConversationStore, "save", refusal(FULL))
        chat = workspace.turns.send(None, "Question")
        window.page.open(chat)
        wait_until(lambda: bool(workspace.unsaved))
        workspace.fail(chat, "It failed.")
        view = window.page.transcript.message_views.reply(workspace.reply(chat).id)
        assert view.error._kept.isHidden()
    wait_until(lambda: not workspace.unsaved)
    assert view.error._kept.isVisibleTo(view)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "is full"),
        (errno.EDQUOT, "is full"),
        (errno.EACCES, "cannot write to"),
        (errno.EROFS, "cannot write to"),
        (errno.ENOENT, "is not there any more"),
        (errno.EIO, "check the disk"),
        (errno.EMFILE, "check the disk"),
    ],
)
def test_errors_of_the_disk_are_named_for_what_they_are(tmp_path: Path, number: int, words: str) -> None:
    assert words in storage_error(OSError(number, "reason"), tmp_path).message


def test_a_folder_that_was_moved_is_named_and_saved_into_when_it_is_back(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    workspace._journal._retry.setInterval(20)
    workspace.written()
    folder = workspace._data_folder
    shutil.move(folder, folder.with_name("moved"))
    workspace.turns.send(None, "Where to?")
    wait_until(lambda: window.trouble.unsaved.isVisible())
    assert "is not there any more" in window.trouble.unsaved.text
    shutil.move(folder.with_name("moved"), folder)
    wait_until(lambda: not window.trouble.unsaved.isVisible())


def test_an_export_has_what_is_not_saved(window: MainWindow, workspace: ScriptedWorkspace, tmp_path: Path) -> None:
    workspace.add_conversation("Saved", 0, "stored", "b")
    workspace.written()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConversationStore, "save", refusal(FULL))
        chat = workspace.turns.send(None, "In memory only")
        wait_until(lambda: bool(workspace.unsaved))
        workspace.archive.export(tmp_path / "all.json", None)
        workspace.archive.export(tmp_path / "one.md", chat)
        wait_until(lambda: (tmp_path / "one.md").exists())
    whole, one = (tmp_path / "all.json").read_text(), (tmp_path / "one.md").read_text()
    assert "In memory only" in whole
    assert "stored" in whole
    assert "In memory only" in one
    assert "stored" not in one
