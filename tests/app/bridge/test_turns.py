"""Alternatives, branches, going on with a reply, and deleting single messages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from app.bridge.engine_client import EngineClient
from app.bridge.workspace import Workspace
from app.chat.conversation import ConversationOptions, MessageState
from app.chat.reply import can_continue, looped, notices_of
from app.storage.database import FILE_NAME
from engine.documents.reading import text_attachment
from engine.errors import EmptyPrompt, InvalidOption
from engine.messages import Cancel, ChatMessage, Command, Generate, Thinking
from tests.app.bridge.conftest import Desk
from tests.support.fake_engine import SERVE
from tests.support.scripted_workspace import ScriptedWorkspace


class Watching(EngineClient):
    """Keeps the requests that were sent, and what was on the disk at that time."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(SERVE)
        self.desk = desk
        self.requests: list[Generate] = []
        self.cancelled: list[str] = []
        self.stored: list[set[tuple[str, str]]] = []

    def send(self, command: Command) -> None:
        if isinstance(command, Generate):
            connection = sqlite3.connect(self.desk.folder / "data" / FILE_NAME)
            self.stored.append(set(connection.execute("SELECT role, content FROM messages")))
            connection.close()
            self.requests.append(command)
        if isinstance(command, Cancel):
            self.cancelled.append(command.request_id)
        super().send(command)


def contents(workspace: Workspace, chat: int) -> list[str]:
    return [message.content for message in workspace.library.messages(chat)]


def test_a_regenerated_reply_stands_beside_the_first_and_the_arrows_step_between(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 1")
    desk.answer(workspace, "say 2", chat)
    prompt, first, *_ = workspace.library.messages(chat)
    with desk.qtbot.waitSignal(workspace.turns.conversation_replaced):
        workspace.turns.regenerate(chat, first.id)
    second = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert [message.id for message in workspace.library.messages(chat)] == [prompt.id, second.id]
    assert workspace.library.alternatives(chat, second.id) == [first.id, second.id]
    with desk.qtbot.waitSignal(workspace.turns.conversation_replaced):
        workspace.turns.choose(chat, first.id)
    assert contents(workspace, chat) == ["say 1", "w0 ", "say 2", "w0 w1 "]
    workspace.close()
    again = desk.open()
    assert contents(again, chat) == ["say 1", "w0 ", "say 2", "w0 w1 "]
    assert again.library.alternatives(chat, first.id) == [first.id, second.id]


def test_an_edited_message_branches_and_the_engine_hears_only_of_its_own_path(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    chat = desk.answer(workspace, "first\nsay 1")
    desk.answer(workspace, "second\necho", chat)
    edited = workspace.library.messages(chat)[2]
    workspace.turns.edit(chat, edited.id, "other\necho")
    reply = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert reply.content == "user:first\nsay 1|assistant:w0 |user:other\necho|"
    assert ("user", "other\necho") in client.stored[-1]
    assert len(workspace.library.alternatives(chat, edited.id)) == 2
    workspace.turns.edit(chat, workspace.library.messages(chat)[0].id, "say 2")
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert contents(workspace, chat) == ["say 2", "w0 w1 "]
    workspace.turns.choose(chat, edited.id)
    assert contents(workspace, chat)[:3] == ["first\nsay 1", "w0 ", "second\necho"]
    with pytest.raises(EmptyPrompt):
        workspace.turns.edit(chat, edited.id, " ")
    before = workspace.library.messages(chat)
    workspace.turns.regenerate(chat, before[0].id)
    assert workspace.library.messages(chat) == before


def test_a_reply_that_streams_goes_on_while_another_branch_is_shown(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 1")
    first = workspace.library.messages(chat)[1]
    workspace.turns.edit(chat, workspace.library.messages(chat)[0].id, "slow 20")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    running = workspace.library.messages(chat)[1]
    workspace.turns.choose(chat, first.parent_id or 0)
    assert contents(workspace, chat) == ["say 1", "w0 "]
    desk.wait(lambda: workspace.replies.active_conversation is None)
    workspace.turns.choose(chat, running.id)
    assert contents(workspace, chat)[1] == "".join(f"w{number} " for number in range(20))


def test_a_stopped_reply_goes_on_where_it_was_cut(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    chat = workspace.turns.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    assert not workspace.turns.continue_last(chat)
    workspace.replies.stop(chat)
    stopped = workspace.library.messages(chat)[-1]
    assert can_continue(workspace.library.messages(chat)[-1])
    assert workspace.turns.continue_last(chat)  # at once, while the engine still ends the first run
    reply = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    kept = stopped.content.rstrip(" ")
    assert reply.id == stopped.id
    assert reply.content == kept + "w0 w1 w2 "
    assert client.requests[-1].messages == (ChatMessage("user", "slow 500"), ChatMessage("assistant", kept))
    assert ("assistant", kept) in client.stored[-1]
    assert not can_continue(workspace.library.messages(chat)[-1])
    workspace.close()
    assert desk.open().library.messages(chat)[-1].content == reply.content


def test_what_a_chat_says_of_thinking_reaches_the_engine(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    chat = desk.answer(workspace, "say 1")
    workspace.shelf.set_options(chat, ConversationOptions(thinking=Thinking(on=False)))
    desk.answer(workspace, "say 1", chat)
    assert [request.thinking for request in client.requests] == [Thinking(), Thinking(on=False)]


def test_a_reply_that_repeats_itself_is_stopped_and_let_go_on(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    chat = desk.answer(workspace, "loop 2")
    reply = workspace.library.messages(chat)[-1]
    assert looped(reply)
    assert notices_of(reply) == ("The reply was stopped, because it began to repeat itself.",)
    workspace.close()
    workspace = desk.open(Watching(desk))
    assert workspace.turns.continue_last(chat)
    reply = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert reply.content == "w0 w1w0 w1 w2 "
    assert (looped(reply), notices_of(reply)) == (False, ())
    assert isinstance(desk.client, Watching)
    assert [request.stop_loops for request in (*client.requests, *desk.client.requests)] == [True, False]
    workspace.settings.stop_loops = False
    desk.answer(workspace, "loop 2", chat)
    assert not looped(workspace.library.messages(chat)[-1])


def test_another_answer_never_has_the_seed_of_the_first(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    workspace.settings.seed = 7
    chat = desk.answer(workspace, "say 1")
    workspace.turns.regenerate(chat, workspace.library.messages(chat)[-1].id)
    second = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert [request.sampling.seed for request in client.requests] == [7, None]
    assert second.notices == ("This answer has a new seed: with the fixed one, 7, it would be the first answer again.",)
    workspace.settings.temperature = 0.0
    workspace.turns.regenerate(chat, second.id)
    third = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert third.notices == ("At temperature 0 every answer is the same: set a higher one for another answer.",)
    desk.answer(workspace, "say 2", chat)
    assert client.requests[-1].sampling.seed == 7


def test_a_reply_that_waits_to_go_on_can_be_stopped(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.replies.stop(chat)
    workspace.turns.continue_last(chat)
    workspace.replies.stop(chat)
    stopped = workspace.library.messages(chat)[-1]
    assert stopped.state is MessageState.STOPPED
    desk.answer(workspace, "say 1")
    assert workspace.library.messages(chat)[-1] == stopped
    assert not workspace.turns.continue_last(chat + 999)


def test_what_ran_is_kept_with_the_reply(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 4")
    reply = workspace.library.messages(chat)[-1]
    assert (reply.details.mode, reply.details.model, reply.details.weights) == ("lookup", "smollm2", "fp32")
    assert reply.details.mode_reason == "for the test"
    assert (reply.details.stop_reason, reply.details.timings.predicted_n) == ("end", 4)
    workspace.close()
    assert desk.open().library.messages(chat)[-1] == reply


def test_a_deleted_message_comes_back_or_is_erased(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "secret\nsay 1")
    desk.answer(workspace, "say 2", chat)
    before = workspace.library.messages(chat)
    with desk.qtbot.waitSignal(workspace.turns.conversation_replaced):
        assert workspace.shelf.delete_message(chat, before[0].id)
    assert workspace.library.messages(chat) == before[1:]
    with pytest.raises(EmptyPrompt, match="was deleted"):
        workspace.turns.regenerate(chat, before[1].id)
    undone = workspace.shelf.undo_delete()
    assert undone.ids == (before[0].id,)
    assert workspace.shelf.undo_delete() is None
    assert workspace.library.messages(chat) == before
    assert not workspace.shelf.delete_message(chat, 999)
    workspace.shelf.rename(chat, "Plain")
    workspace.shelf.delete_message(chat, before[0].id)
    workspace.shelf.delete_message(chat, before[3].id)
    workspace.close()
    again = desk.open()
    assert contents(again, chat) == ["w0 ", "say 2"]
    assert again.shelf.undo_delete() is None  # that is for what was deleted in this session
    reply, prompt = again.library.trash()
    assert (prompt.title, reply.title) == ("secret", "w0 w1")
    assert again.shelf.bring_back(reply)
    again.shelf.erase(prompt)
    assert again.library.trash() == []
    again.close()
    assert contents(desk.open(), chat) == ["w0 ", "say 2", "w0 w1 "]
    assert b"secret" not in (desk.folder / "data" / FILE_NAME).read_bytes()


def test_deleting_the_reply_that_runs_stops_it(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 500")
    reply = desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.shelf.delete_message(chat, reply.id)
    assert [message.role for message in workspace.library.messages(chat)] == ["user"]
    workspace.turns.retry(chat)
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.shelf.delete_message(chat, workspace.library.messages(chat)[0].id)
    assert workspace.library.messages(chat)[0].state is MessageState.STOPPED


def test_attached_files_are_read_by_the_model_and_kept(desk: Desk) -> None:
    workspace = desk.open()
    file = text_attachment("notes.txt", b"one\n```\ntwo")
    chat = workspace.turns.send(None, "echo", [file])
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert contents(workspace, chat) == ["echo", "user:File: notes.txt\n````\none\n```\ntwo\n````\n\necho|"]
    workspace.turns.edit(chat, workspace.library.messages(chat)[0].id, "again\necho")
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert workspace.library.messages(chat)[0].attachments == (file,)
    only_file = workspace.turns.send(None, "", [file])
    assert workspace.library.conversations()[0].title == "notes.txt"
    with pytest.raises(InvalidOption, match="16 files"):
        workspace.turns.send(None, "x", [file] * 17)
    desk.wait_for_state(workspace, only_file, MessageState.COMPLETE)
    workspace.close()
    assert desk.open().library.messages(chat)[0].attachments == (file,)


@pytest.fixture
def scripted(qtbot: QtBot) -> Iterator[ScriptedWorkspace]:
    made = ScriptedWorkspace()
    yield made
    made.close()


RETRIED = [state for state in MessageState if not state.unfinished and state is not MessageState.COMPLETE]


@pytest.mark.parametrize("state", list(MessageState))
def test_a_reply_is_tried_again_where_it_ended_without_an_answer(
    scripted: ScriptedWorkspace, state: MessageState
) -> None:
    chat = scripted.add_conversation("A", 0.0, "One", "Two", "Three", "half")
    reply = scripted.reply(chat)
    scripted.library.put_message(replace(reply, state=state))
    scripted.turns.retry(chat)
    texts = ["One", "Two", "Three", "" if state in RETRIED else "half"]
    assert contents(scripted, chat) == texts
    assert (scripted.reply(chat).id != reply.id) == (state in RETRIED)


@pytest.mark.parametrize("state", RETRIED)
@pytest.mark.parametrize("before", [(), ("One", "Two")])
def test_a_reply_whose_prompt_was_deleted_is_not_tried_again(
    scripted: ScriptedWorkspace, state: MessageState, before: tuple[str, ...]
) -> None:
    chat = scripted.add_conversation("A", 0.0, *before, "Three", "half")
    reply, prompt = scripted.reply(chat), scripted.library.messages(chat)[-2]
    scripted.library.put_message(replace(reply, state=state))
    assert scripted.shelf.delete_message(chat, prompt.id)
    scripted.shelf.erase(scripted.library.trash()[0])
    left = contents(scripted, chat)
    assert left == [*before, "half"]
    scripted.turns.retry(chat)
    assert contents(scripted, chat) == left
    assert scripted.reply(chat).id == reply.id
    with pytest.raises(EmptyPrompt):
        scripted.turns.regenerate(chat, reply.id)


def test_a_prompt_without_a_reply_is_answered_and_an_empty_chat_is_not(scripted: ScriptedWorkspace) -> None:
    chat = scripted.add_conversation("A", 0.0, "One")
    scripted.turns.retry(chat)
    assert contents(scripted, chat) == ["One", ""]
    empty = scripted.add_conversation("B")
    scripted.turns.retry(empty)
    assert contents(scripted, empty) == []
