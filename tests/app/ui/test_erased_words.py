"""A word that was erased is in no file of the program's folders, while the window is open."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import date
from pathlib import Path

import pytest

from app.chat.attachment import Unsent
from app.diagnostics import WINDOW, start_log, stop_log
from app.settings.settings_file import SettingsFile
from app.ui.chats.actions import ErasingQuestion, TrashDialog
from app.ui.main_window import MainWindow
from engine.messages import Attachment
from tests.support.scripted_workspace import ScriptedWorkspace, wait_until

WORD = "Quuxiphrast"


@pytest.fixture(autouse=True)
def log(workspace: ScriptedWorkspace) -> Iterator[None]:
    """The log of the program, where its files are looked through."""
    handler = start_log(Path(workspace._folder.name) / "logs", WINDOW)
    yield
    stop_log(handler)


def files_with(workspace: ScriptedWorkspace, word: str = WORD) -> list[str]:
    """Names of the files that have a word in any letters, or its beginning: an index keeps words in parts."""
    workspace.written()
    folder = Path(workspace._folder.name)
    looked = {}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # one that was unfinished
            looked[path] = path.read_bytes().lower() if path.is_file() else b""
    assert {"tenon.sqlite3", "window.log"} <= {path.name for path in looked}
    return sorted(path.name for path, content in looked.items() if word[:8].lower().encode() in content)


def chat_with_the_word(workspace: ScriptedWorkspace) -> int:
    """The word is in a title, a folder, a prompt, a file, a reply, a trace, options and what is not sent."""
    content = f"a file with {WORD} " * 500
    file = Attachment(f"{WORD}.txt", len(content), content)
    chat = workspace.turns.send(None, f"A question about {WORD}", [file])
    workspace.stream(chat, f"The answer has {WORD} " * 900)
    workspace.finish(chat)
    workspace.shelf.rename(chat, f"{WORD} in a title")
    workspace.shelf.move_to_folder(chat, f"{WORD} folder")
    workspace.settings.folded_groups = (f"folder/{WORD} folder",)
    workspace.unsent.keep(chat, Unsent(f"unsent {WORD} " * 300, (file,)))
    workspace.unsent.write()
    workspace._journal.save_trace(workspace.reply(chat).id, WORD.encode() * 9)
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    config = Path(workspace._folder.name) / "config"
    config.mkdir(exist_ok=True)  # the settings are written in a moment
    (config / f"settings.json.{killed.pid}-0.part").write_text(f"half of {WORD}")
    damaged = SettingsFile(config)
    damaged.path.write_text(f'{{"system_prompt": "{WORD}", ')
    damaged.read()
    workspace.settings.zoom = 1.2
    workspace.add_conversation("Another chat", 0, "stays", "here")
    workspace.written()
    return chat


def erase(window: MainWindow, in_backups: bool) -> None:
    """Erase what was deleted last."""
    window.commands["trash"].trigger()
    dialog = window.findChild(TrashDialog)
    dialog.erase_button.click()
    wait_until(lambda: dialog.findChild(ErasingQuestion) is not None)
    question = dialog.findChild(ErasingQuestion)
    question.in_copies.setChecked(in_backups)
    question.accept()


def test_a_chat_that_is_erased_is_gone_at_once(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = chat_with_the_word(workspace)
    wait_until(lambda: {"tenon.sqlite3-wal", "settings.json"} <= set(files_with(workspace)))
    workspace.shelf.delete(chat)
    erase(window, False)
    wait_until(lambda: files_with(workspace) == [])
    workspace.add_conversation("Later", 0, "more", "text")
    assert files_with(workspace) == []


@pytest.mark.parametrize("in_backups", [False, True])
def test_a_message_that_is_erased_from_the_trash_is_gone(
    window: MainWindow, workspace: ScriptedWorkspace, in_backups: bool
) -> None:
    chat = workspace.add_conversation("Chat", 0, "first", "reply", f"{WORD} again and again " * 400, "reply")
    workspace.written()
    workspace._writer.run(lambda: workspace.archive._store.back_up(date(2026, 1, 1)))
    message = workspace.library.messages(chat)[2]
    workspace.shelf.delete_message(chat, message.id)
    assert len(files_with(workspace)) > 1
    erase(window, in_backups)
    backup = "tenon-000001-2026-01-01.sqlite3"
    wait_until(lambda: files_with(workspace) == ([] if in_backups else [backup]))
    with closing(sqlite3.connect(workspace._data_folder / "backups" / backup)) as copy:  # it has the others
        contents = [row[0] for row in copy.execute("SELECT content FROM messages ORDER BY id")]
    assert contents[:2] == ["first", "reply"]
    assert len(contents) == (3 if in_backups else 4)


def test_erasing_a_chat_erases_its_deleted_messages(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "first", f"{WORD} again and again " * 400)
    workspace.written()
    workspace.shelf.delete_message(chat, workspace.library.messages(chat)[1].id)
    workspace.shelf.delete(chat)
    erase(window, False)
    wait_until(lambda: files_with(workspace) == [])


def test_a_reply_that_another_takes_the_place_of_is_gone(workspace: ScriptedWorkspace) -> None:
    chat = workspace.turns.send(None, "Question")
    workspace.stream(chat, f"half {WORD} ")
    workspace.fail(chat, "It failed.")
    workspace.turns.retry(chat)
    wait_until(lambda: files_with(workspace) == [])


def test_what_is_taken_out_of_a_draft_leaves_the_log(workspace: ScriptedWorkspace) -> None:
    workspace.unsent.keep(None, Unsent(f"{WORD} " * 5_000, ()))
    workspace.unsent.write()
    assert files_with(workspace)  # the log, or the database if the checkpoint of the start came only now
    workspace.unsent.keep(None, Unsent("other words", ()))
    workspace.unsent.write()
    workspace.written()
    workspace._journal._checkpoint.setInterval(1)
    workspace._journal._checkpoint.start()
    wait_until(lambda: files_with(workspace) == [])


def test_closing_the_window_erases_what_was_erased(workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, f"{WORD} again and again " * 400, "reply")
    workspace.written()
    workspace.shelf.delete_message(chat, workspace.library.messages(chat)[0].id)
    workspace.shelf.erase(workspace.library.trash()[0])
    workspace._folder.cleanup = lambda: None  # type: ignore[method-assign]
    workspace.close()
    folder = Path(workspace._folder.name)
    found = [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and WORD[:8].lower().encode() in path.read_bytes().lower()
    ]
    assert found == []


def test_everything_that_is_erased_is_gone(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat_with_the_word(workspace)
    workspace.settings.system_prompt = f"Speak of {WORD}."
    workspace._writer.run(lambda: workspace.archive._store.back_up(date(2026, 1, 1)))
    wait_until(lambda: any("unreadable" in name for name in files_with(workspace)))
    workspace.erase_everything()
    wait_until(lambda: files_with(workspace) == [])
    assert "Everything is erased." in window.toast.text


@pytest.mark.parametrize("in_backups", [False, True])
def test_the_backups_have_it_until_it_is_erased_there(
    window: MainWindow, workspace: ScriptedWorkspace, in_backups: bool
) -> None:
    chat = chat_with_the_word(workspace)
    for day in range(1, 4):
        workspace._writer.run(lambda day=day: workspace.archive._store.back_up(date(2026, 1, day)))
    workspace.written()
    damaged = workspace._data_folder / "tenon-corrupt-2026-01-01.sqlite3"
    damaged.write_bytes(f"half a database with {WORD}".encode())
    workspace.shelf.delete(chat)
    erase(window, in_backups)
    backups = [f"tenon-{day:06}-2026-01-{day:02}.sqlite3" for day in range(1, 4)]
    if not in_backups:
        wait_until(lambda: files_with(workspace) == sorted([damaged.name, *backups]))
        return
    wait_until(lambda: files_with(workspace) == [])
    wait_until(lambda: window.toast.text.startswith("It is erased in 3 backup"))
    kept = workspace._data_folder / "backups" / backups[0]
    with closing(sqlite3.connect(kept)) as copy:  # it is sound, and has the others
        assert copy.execute("SELECT title FROM conversations").fetchall() == [("Another chat",)]
    workspace.shelf.delete(next(iter(workspace.library.conversations())).id)
    workspace.written()
    workspace.archive.import_file(kept)
    workspace.written()
    assert WORD not in "".join(one.title for one in workspace.library.all_conversations())
