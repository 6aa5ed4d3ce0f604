"""Text as it comes: on the screen and on the disk it is at each moment what the engine has said so far."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.chat.conversation import Message, MessageState
from app.chat.library import Library
from app.storage.database import open_database
from engine.errors import StorageError
from engine.messages import ErrorReport
from tests.support.databases import close
from tests.support.fast_cases import examples
from tests.support.scripted_workspace import ScriptedWorkspace, wait_until

PIECES = [
    ["It", " is", " Paris", ", of", " course", "."],
    [" leading", "  two ", " ", " ", "three", "   ", "end "],
    ["\n", "\n\n# Head", "\n", "    code\n", "\tindented", "\n\n"],
    ["```", "python\n", "    def f():", "\n", "        return 1", "\n```"],
    ["\u00a0no break", "\u2003wide", "\u200b", "\ufeff", "é", "e\u0301", "\U0001f600", "\r\n", "\x0c"],
    ["a", "a", "a", "aa", "a ", " a", " a ", "a"],
]
TEXTS = st.lists(st.text(" \n\tab\u00a0é", min_size=1, max_size=4), min_size=1, max_size=12)


@pytest.fixture
def workspace(qtbot: QtBot) -> Iterator[ScriptedWorkspace]:
    made = ScriptedWorkspace()
    yield made
    made.close()


def shown(workspace: ScriptedWorkspace, pieces: list[str]) -> tuple[int, list[str]]:
    """Stream a reply; returns its chat, and the texts that the window was told to show."""
    texts: list[str] = []

    def note(reply: Message) -> None:
        texts.append(reply.content)

    workspace.replies.text_changed.connect(note)
    chat = workspace.turns.send(None, "Go")
    for piece in pieces:
        workspace.stream(chat, piece)
    workspace.replies.text_changed.disconnect(note)
    return chat, texts


@pytest.mark.parametrize("pieces", PIECES)
def test_each_piece_is_shown_behind_the_others_as_it_is(workspace: ScriptedWorkspace, pieces: list[str]) -> None:
    chat, texts = shown(workspace, pieces)
    assert texts == ["".join(pieces[: at + 1]) for at in range(len(pieces))]
    assert workspace.reply(chat).content == texts[-1]
    workspace.finish(chat)
    assert workspace.reply(chat).content == "".join(pieces)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS)
def test_any_pieces_are_shown_as_they_are(workspace: ScriptedWorkspace, pieces: list[str]) -> None:
    chat, texts = shown(workspace, pieces)
    assert texts == ["".join(pieces[: at + 1]) for at in range(len(pieces))]
    workspace.finish(chat)


@pytest.mark.parametrize("pieces", PIECES)
def test_what_the_disk_has_of_a_running_reply_is_its_beginning_and_soon_all_of_it(
    workspace: ScriptedWorkspace, pieces: list[str]
) -> None:
    chat = workspace.turns.send(None, "Go")
    said = ""
    for piece in pieces:
        workspace.stream(chat, piece)
        said += piece
        workspace.written()
        kept = workspace._database.reader.messages(chat)[-1].content
        assert said.startswith(kept)
    wait_until(lambda: workspace._database.reader.messages(chat)[-1].content == said)


@pytest.mark.parametrize("end", ["failed", "killed", "stopped", "refused"])
def test_however_a_reply_ends_its_text_is_what_was_said(
    workspace: ScriptedWorkspace, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = [" One", "  two", "\n", "three ", " "]
    if end == "refused":  # by the disk, once: the reply is saved as a whole then
        add_text, refused = workspace._database.writer.add_text, list[str]()

        def refusing(message_id: int, place: int, text: str) -> None:
            if not refused:
                refused.append(text)
                raise StorageError("The disk is full.")
            add_text(message_id, place, text)

        monkeypatch.setattr(workspace._database.writer, "add_text", refusing)
    chat, _ = shown(workspace, pieces)
    if end == "failed":
        workspace.fail(chat, "It failed.", ErrorReport("InternalError", "It failed."))
    elif end == "killed":
        workspace.engine.end("It was killed.")
    elif end == "stopped":
        workspace.replies.stop(chat)
    else:
        workspace.finish(chat)
    assert workspace.reply(chat).content == "".join(pieces)
    workspace.written()
    assert workspace._database.reader.messages(chat)[-1].content == "".join(pieces)


def test_what_a_kill_of_the_window_leaves_is_the_beginning_of_what_was_said(
    workspace: ScriptedWorkspace,
) -> None:
    """As the next start finds it: saved text, and what was added to it since."""
    pieces = ["\n a", "b ", " c", "\n\n", "  d", " "]
    chat, _ = shown(workspace, pieces)
    wait_until(lambda: workspace._database.reader.messages(chat)[-1].content == "".join(pieces))
    copy = Path(workspace._folder.name) / "copy"
    shutil.copytree(Path(workspace._folder.name) / "data", copy, ignore=shutil.ignore_patterns("*.lock", "backups"))
    database = open_database(copy)
    reply = Library(database.conversations, database.reader.messages).messages(chat)[-1]
    assert reply.content == "".join(pieces)
    assert reply.state is MessageState.INTERRUPTED
    assert reply.error == "Tenon ended before this reply was complete."
    close(database)
