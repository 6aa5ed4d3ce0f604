"""Alternatives, branches, going on with a reply, and deleting single messages."""

from __future__ import annotations

import sqlite3

import pytest

from app.bridge.engine_client import EngineClient
from app.bridge.workspace import Workspace
from app.chat.conversation import MessageState
from app.chat.conversation_options import ConversationOptions
from app.chat.reply import looped, notices_of
from app.storage.database import FILE_NAME
from engine.documents.reading import text_attachment
from engine.errors import EmptyPrompt, InvalidOption
from engine.messages import Cancel, ChatMessage, Command, Generate, Thinking
from tests.app.bridge.conftest import Desk
from tests.support.fake_engine import SERVE


class Watching(EngineClient):
    """Keeps the requests that were sent, and what was on the disk at that time."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(SERVE, in_process=False)
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
    return [message.content for message in workspace.messages(chat)]


def test_a_regenerated_reply_stands_beside_the_first_and_the_arrows_step_between(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 1")
    desk.answer(workspace, "say 2", chat)
    prompt, first, *_ = workspace.messages(chat)
    with desk.qtbot.waitSignal(workspace.conversation_replaced):
        workspace.regenerate(chat, first.id)
    second = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert [message.id for message in workspace.messages(chat)] == [prompt.id, second.id]
    assert workspace.alternatives(chat, second.id) == [first.id, second.id]
    with desk.qtbot.waitSignal(workspace.conversation_replaced):
        workspace.choose_alternative(chat, first.id)
    assert contents(workspace, chat) == ["say 1", "w0 ", "say 2", "w0 w1 "]
    workspace.close()
    again = desk.open()
    assert contents(again, chat) == ["say 1", "w0 ", "say 2", "w0 w1 "]
    assert again.alternatives(chat, first.id) == [first.id, second.id]


def test_an_edited_message_branches_and_the_engine_hears_only_of_its_own_path(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    chat = desk.answer(workspace, "first\nsay 1")
    desk.answer(workspace, "second\necho", chat)
    edited = workspace.messages(chat)[2]
    workspace.edit_message(chat, edited.id, "other\necho")
    reply = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert reply.content == "user:first\nsay 1|assistant:w0 |user:other\necho|"
    assert ("user", "other\necho") in client.stored[-1]
    assert len(workspace.alternatives(chat, edited.id)) == 2
    workspace.edit_message(chat, workspace.messages(chat)[0].id, "say 2")
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert contents(workspace, chat) == ["say 2", "w0 w1 "]
    workspace.choose_alternative(chat, edited.id)
    assert contents(workspace, chat)[:3] == ["first\nsay 1", "w0 ", "second\necho"]
    with pytest.raises(EmptyPrompt):
        workspace.edit_message(chat, edited.id, " ")
    before = workspace.messages(chat)
    workspace.edit_message(chat, before[1].id, "a reply is not edited")
    workspace.regenerate(chat, before[0].id)
    assert workspace.messages(chat) == before


def test_a_reply_that_streams_goes_on_while_another_branch_is_shown(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 1")
    first = workspace.messages(chat)[1]
    workspace.edit_message(chat, workspace.messages(chat)[0].id, "slow 20")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    running = workspace.messages(chat)[1]
    workspace.choose_alternative(chat, first.parent_id or 0)
    assert contents(workspace, chat) == ["say 1", "w0 "]
    desk.wait(lambda: workspace.active_conversation() is None)
    workspace.choose_alternative(chat, running.id)
    assert contents(workspace, chat)[1] == "".join(f"w{number} " for number in range(20))


def test_a_stopped_reply_goes_on_where_it_was_cut(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    chat = workspace.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    assert not workspace.continue_reply(chat)
    workspace.stop(chat)
    stopped = workspace.messages(chat)[-1]
    assert workspace.can_continue(chat)
    assert workspace.continue_reply(chat)  # at once, while the engine still ends the first run
    reply = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    kept = stopped.content.rstrip(" ")
    assert reply.id == stopped.id
    assert reply.content == kept + "w0 w1 w2 "
    assert client.requests[-1].messages == (ChatMessage("user", "slow 500"), ChatMessage("assistant", kept))
    assert ("assistant", kept) in client.stored[-1]
    assert not workspace.can_continue(chat)
    workspace.close()
    assert desk.open().messages(chat)[-1].content == reply.content


def test_what_a_chat_says_of_thinking_reaches_the_engine(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    chat = desk.answer(workspace, "say 1")
    workspace.set_options(chat, ConversationOptions(thinking=Thinking(on=False)))
    desk.answer(workspace, "say 1", chat)
    assert [request.thinking for request in client.requests] == [Thinking(), Thinking(on=False)]
    assert all(request.fall_back for request in client.requests)


def test_a_reply_that_repeats_itself_is_stopped_and_let_go_on(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    chat = desk.answer(workspace, "loop 2")
    reply = workspace.messages(chat)[-1]
    assert looped(reply)
    assert notices_of(reply) == ("The reply was stopped, because it began to repeat itself.",)
    workspace.close()
    workspace = desk.open(Watching(desk))
    assert workspace.continue_reply(chat)
    reply = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert reply.content == "w0 w1w0 w1 w2 "
    assert (looped(reply), notices_of(reply)) == (False, ())
    assert isinstance(desk.client, Watching)
    assert [request.stop_loops for request in (*client.requests, *desk.client.requests)] == [True, False]
    workspace.settings.stop_loops = False
    desk.answer(workspace, "loop 2", chat)
    assert not looped(workspace.messages(chat)[-1])


def test_another_answer_never_has_the_seed_of_the_first(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    workspace.settings.seed = 7
    chat = desk.answer(workspace, "say 1")
    workspace.regenerate(chat, workspace.messages(chat)[-1].id)
    second = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert [request.sampling.seed for request in client.requests] == [7, None]
    assert second.notices == (
        "This answer has a new seed: with the fixed one, 7, it would be the first answer again.",
    )
    workspace.settings.temperature = 0.0
    workspace.regenerate(chat, second.id)
    third = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert third.notices == (
        "At temperature 0 every answer is the same: set a higher one for another answer.",
    )
    desk.answer(workspace, "say 2", chat)
    assert client.requests[-1].sampling.seed == 7


def test_a_reply_that_waits_to_go_on_can_be_stopped(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.stop(chat)
    workspace.continue_reply(chat)
    workspace.stop(chat)
    stopped = workspace.messages(chat)[-1]
    assert stopped.state is MessageState.STOPPED
    desk.answer(workspace, "say 1")
    assert workspace.messages(chat)[-1] == stopped
    assert not workspace.continue_reply(chat + 999)


def test_what_ran_is_kept_with_the_reply(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 4")
    reply = workspace.messages(chat)[-1]
    assert reply.details is not None
    assert (reply.details.mode, reply.details.model, reply.details.weights) == ("lookup", "smollm2", "fp32")
    assert reply.details.mode_reason == "for the test"
    assert (reply.details.stop_reason, reply.details.timings.predicted_n) == ("end", 4)
    workspace.close()
    assert desk.open().messages(chat)[-1] == reply


def test_a_deleted_message_comes_back_or_is_erased(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "secret\nsay 1")
    desk.answer(workspace, "say 2", chat)
    before = workspace.messages(chat)
    with desk.qtbot.waitSignal(workspace.conversation_replaced):
        assert workspace.delete_message(chat, before[0].id)
    assert workspace.messages(chat) == before[1:]
    with pytest.raises(EmptyPrompt, match="was deleted"):
        workspace.regenerate(chat, before[1].id)
    assert workspace.undo_delete_message() == chat
    assert workspace.undo_delete_message() is None
    assert workspace.messages(chat) == before
    assert not workspace.delete_message(chat, 999)
    workspace._turns.erase_timer.setInterval(10)
    workspace.delete_message(chat, before[0].id)
    connection = sqlite3.connect(desk.folder / "data" / FILE_NAME)
    query = "SELECT count(*) FROM messages"
    desk.wait(lambda: connection.execute(query).fetchone() == (3,))
    connection.close()
    assert workspace.undo_delete_message() is None
    workspace.rename(chat, "Plain")
    workspace.close()
    again = desk.open()
    assert contents(again, chat) == ["w0 ", "say 2", "w0 w1 "]
    again.close()
    assert b"secret" not in (desk.folder / "data" / FILE_NAME).read_bytes()


def test_deleting_the_reply_that_runs_stops_it(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.send(None, "slow 500")
    reply = desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.delete_message(chat, reply.id)
    assert [message.role for message in workspace.messages(chat)] == ["user"]
    workspace.retry(chat)
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.delete_message(chat, workspace.messages(chat)[0].id)
    assert workspace.messages(chat)[0].state is MessageState.STOPPED


def test_attached_files_are_read_by_the_model_and_kept(desk: Desk) -> None:
    workspace = desk.open()
    file = text_attachment("notes.txt", b"one\n```\ntwo")
    chat = workspace.send(None, "echo", [file])
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert contents(workspace, chat) == ["echo", "user:File: notes.txt\n````\none\n```\ntwo\n````\n\necho|"]
    workspace.edit_message(chat, workspace.messages(chat)[0].id, "again\necho")
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert workspace.messages(chat)[0].attachments == (file,)
    only_file = workspace.send(None, "", [file])
    assert workspace.conversations()[0].title == "notes.txt"
    with pytest.raises(InvalidOption, match="16 files"):
        workspace.send(None, "x", [file] * 17)
    desk.wait_for_state(workspace, only_file, MessageState.COMPLETE)
    workspace.close()
    assert desk.open().messages(chat)[0].attachments == (file,)
