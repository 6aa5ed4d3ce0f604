"""Titles that the model gives."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest

from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase
from tests.app.bridge.conftest import Desk
from tests.app.bridge.test_turns import Watching


def title(desk: Desk, chat: int) -> str:
    conversation = desk._open[-1].library.conversation(chat)
    return conversation.title


def test_a_chat_is_named_after_its_first_reply(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    workspace.settings.titles_by_model = "always"
    chat = desk.answer(workspace, "A question\nsay 1")
    desk.wait(lambda: title(desk, chat) == "w0 w1 w2")
    request = client.requests[-1]
    assert request.max_tokens is not None
    assert (request.sampling.temperature, request.options) == (0.0, client.requests[0].options)
    assert len(workspace.library.messages(chat)) == 2
    desk.answer(workspace, "say 1", chat)
    QTest.qWait(50)
    assert len(client.requests) == 3  # the second reply names nothing


@pytest.mark.parametrize("choice", ["other-models", "never"])
def test_the_guide_is_not_asked_unless_that_is_wanted(desk: Desk, choice: str) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    workspace.settings.titles_by_model = choice
    chat = desk.answer(workspace, "A question\nsay 1")
    QTest.qWait(50)
    assert (title(desk, chat), len(client.requests)) == ("A question", 1)


def test_another_model_is_asked_by_itself(desk: Desk) -> None:
    workspace = desk.open()
    (desk.folder / "other").mkdir()
    workspace.choose_model(str(desk.folder / "other"))
    desk.wait_for_phase(workspace, EnginePhase.READY)
    chat = desk.answer(workspace, "A question\nsay 1")
    desk.wait(lambda: title(desk, chat) == "w0 w1 w2")


def test_the_next_message_comes_before_a_title(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.bridge.chats._WISH", "slow 500")
    client = Watching(desk)
    workspace = desk.open(client)
    workspace.settings.titles_by_model = "always"
    chat = workspace.turns.send(None, "A question\nsay 1")
    desk.wait(lambda: len(client.requests) == 2)  # the title is asked for
    workspace.turns.send(chat, "say 1")
    assert client.cancelled[-1] == client.requests[1].request_id
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    QTest.qWait(50)
    assert (title(desk, chat), len(client.requests)) == ("A question", 3)


def test_a_title_of_the_person_s_own_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.bridge.chats._WISH", "slow 5")
    client = Watching(desk)
    workspace = desk.open(client)
    workspace.settings.titles_by_model = "always"
    chat = workspace.turns.send(None, "A question\nsay 1")
    desk.wait(lambda: len(client.requests) == 2)
    workspace.shelf.rename(chat, "Mine")
    QTest.qWait(300)
    assert title(desk, chat) == "Mine"
