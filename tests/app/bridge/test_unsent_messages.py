"""Text that is typed and not sent outlives the program, but no chat that is sent, deleted or erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.bridge import journal
from app.chat.attachment import Unsent
from app.storage.conversation_store import ConversationStore
from engine.errors import StorageError
from engine.messages import Attachment
from tests.app.bridge.conftest import Desk

FILE = Attachment("notes.txt", 5, "notes")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_UNSENT_RETRY_MS", 1)


def test_it_is_written_while_it_is_typed(desk: Desk) -> None:
    workspace = desk.open()
    for typed in ("h", "ha", "half a \ud83d"):
        workspace.unsent.keep(None, Unsent(typed))
    desk.wait(lambda: workspace._database.reader.unsent(None) == Unsent("half a \ufffd"))
    assert desk.open().unsent.of(None) == Unsent("half a \ufffd")


def test_files_are_written_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = desk.open()
    written: list[object] = []
    save = ConversationStore.save_unsent

    def noted(store: ConversationStore, chat: int | None, text: str, files: object) -> None:
        written.append(files)
        save(store, chat, text, files)  # type: ignore[arg-type]

    monkeypatch.setattr(ConversationStore, "save_unsent", noted)
    files = (FILE,)
    workspace.unsent.keep(None, Unsent("a", files))
    desk.wait(lambda: len(written) == 1)
    workspace.unsent.keep(None, Unsent("ab", files))
    desk.wait(lambda: len(written) == 2)
    assert written == [files, None]
    desk.wait(lambda: workspace._database.reader.unsent(None) == Unsent("ab", files))


def test_what_is_sent_is_off_the_disk_with_the_prompt(desk: Desk) -> None:
    workspace = desk.open()
    workspace.unsent.keep(None, Unsent("say 1"))
    workspace.unsent.write()
    desk.wait(lambda: workspace._database.reader.unsent(None) == Unsent("say 1"))
    workspace.unsent.keep(None, Unsent())
    chat = workspace.turns.send(None, "say 1")
    desk.wait(lambda: workspace._database.reader.unsent(None) == Unsent())
    assert [message.content for message in workspace._database.reader.messages(chat)][:1] == ["say 1"]


def test_a_disk_that_refuses_is_asked_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = desk.open()
    save, refused = ConversationStore.save_unsent, []

    def refusing(store: ConversationStore, chat: int | None, text: str, files: object) -> None:
        if not refused:
            refused.append(text)
            raise StorageError("The disk is full.")
        save(store, chat, text, files)  # type: ignore[arg-type]

    monkeypatch.setattr(ConversationStore, "save_unsent", refusing)
    workspace.unsent.keep(None, Unsent("precious", (FILE,)))
    desk.wait(lambda: workspace._database.reader.unsent(None) == Unsent("precious", (FILE,)))
    assert refused == ["precious"]
    assert [report.message for report in desk.recorder.troubles] == ["The disk is full."]


def test_erasing_everything_erases_it(desk: Desk) -> None:
    workspace = desk.open()
    workspace.unsent.keep(None, Unsent("a secret"))
    workspace.unsent.write()
    workspace.unsent.keep(None, Unsent("a secret that grows"))
    workspace.erase_everything()
    assert workspace.unsent.of(None) == Unsent()
    workspace.close()
    assert desk.open().unsent.of(None) == Unsent()


def test_exports_do_not_have_it(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 1")
    workspace.unsent.keep(chat, Unsent("a secret", (FILE,)))
    workspace.unsent.write()
    path = desk.folder / "all.json"
    with desk.qtbot.waitSignal(workspace.archive.export_finished):
        workspace.archive.export(path, None)
    assert "say 1" in path.read_text(encoding="utf-8")
    assert "secret" not in path.read_text(encoding="utf-8")


def test_what_cannot_be_read_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = desk.open()

    def damaged(_store: ConversationStore, _chat: int | None) -> Unsent:
        raise StorageError("The chats are damaged.")

    monkeypatch.setattr(workspace.unsent, "_read", damaged.__get__(workspace._database.reader))
    assert workspace.unsent.of(None) == Unsent()
    assert desk.recorder.notices == ["The chats are damaged."]


def test_a_folder_that_cannot_be_written_keeps_it_for_the_session(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    workspace = desk.open(folder=tmp_path / "file" / "tenon")
    workspace.unsent.keep(None, Unsent("typed"))
    workspace.unsent.write()
    assert workspace.unsent.of(None) == Unsent("typed")
