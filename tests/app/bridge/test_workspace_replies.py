"""A prompt's way to the engine and the reply's way back."""

from __future__ import annotations

import os
from threading import Event, get_ident
from time import monotonic, sleep

import pytest

from app.bridge import journal, replies
from app.bridge.engine_client import EngineClient
from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase
from app.storage.conversation_store import ConversationStore
from engine.errors import EmptyPrompt, StorageError
from engine.messages import EarlierReplies, ForgetReplies, Generate
from tests.app.bridge.conftest import Desk
from tests.support.fake_engine import CONTEXT


def test_a_reply_streams_and_is_kept(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "slow 8")
    prompt, reply = workspace.library.messages(chat)
    assert (prompt.role, prompt.content, prompt.state) == ("user", "slow 8", MessageState.COMPLETE)
    whole = "".join(f"w{number} " for number in range(8))
    assert reply.content == whole
    assert desk.recorder.texts[-1][1] == whole
    assert {message_id for message_id, _ in desk.recorder.texts} == {reply.id}
    assert (reply.statistics.tokens, reply.statistics.mode) == (8, "lookup")
    assert (reply.statistics.context_used, reply.statistics.context_limit) == (18, CONTEXT)
    assert desk.recorder.prefill == [1.0]
    workspace.close()

    again = desk.open()
    assert again.library.conversations()[0].title == "slow 8"
    assert again.library.messages(chat) == [prompt, reply]


@pytest.mark.parametrize("slow", ["sync", "checkpoint"])
def test_a_reply_is_written_on_while_the_disk_is_slow(desk: Desk, monkeypatch: pytest.MonkeyPatch, slow: str) -> None:
    for timer in ("_SYNC_MS", "_CHECKPOINT_MS"):
        monkeypatch.setattr(journal, timer, 20)
    begun, over = Event(), Event()

    def waiting(store: ConversationStore) -> None:
        begun.set()
        over.wait(30.0)

    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)  # its prompt is on the disk
    monkeypatch.setattr(ConversationStore, slow, waiting)
    desk.wait(begun.is_set)
    before = workspace._database.reader.messages(chat)[-1].content
    desk.wait(lambda: len(workspace._database.reader.messages(chat)[-1].content) > len(before) + 20)
    over.set()


def test_a_memory_card_is_synced_seldom_and_nothing_waits_for_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Syncs take 100 ms: the window's thread makes none, no reply waits for one, and there are few of them."""
    sync, threads = os.fsync, list[int]()

    def slow(file: int) -> None:
        threads.append(get_ident())
        sleep(0.1)
        sync(file)

    monkeypatch.setattr(os, "fsync", slow)
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 150")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    sent, begun = len(threads), monotonic()
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert get_ident() not in threads
    assert 2000 <= workspace._journal._sync.interval() <= 5000
    assert len(threads) - sent <= 3 + (monotonic() - begun) / 2  # 0.5 s apart they would be four times as many


def test_a_reply_begins_although_the_disk_does_not_answer(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    over, answered = Event(), list[bool]()
    monkeypatch.setattr(ConversationStore, "sync", lambda store: answered.append(over.wait(30.0)))
    workspace = desk.open()
    chat = desk.answer(workspace, "say 3")
    assert not answered
    assert len(workspace._database.reader.messages(chat)) == 2
    over.set()


def test_a_reply_goes_on_to_the_disk_after_a_refusal(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "_RETRY_MS", 50)
    add_text, refused = ConversationStore.add_text, list[str]()

    def refusing(store: ConversationStore, message_id: int, place: int, text: str) -> None:
        if len(refused) < 2 and place:
            refused.append(text)
            raise StorageError("The disk is full.")
        add_text(store, message_id, place, text)

    monkeypatch.setattr(ConversationStore, "add_text", refusing)
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    desk.wait(lambda: len(refused) == 2)
    at_least = len(workspace.library.messages(chat)[-1].content) + 1
    desk.wait(lambda: len(workspace._database.reader.messages(chat)[-1].content) > at_least)
    stored, shown = workspace._database.reader.messages(chat)[-1], workspace.library.messages(chat)[-1]
    assert shown.content.startswith(stored.content)


def test_stopping_keeps_the_text_and_shows_at_once(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.replies.stop(chat)
    assert workspace.library.messages(chat)[-1].state is MessageState.STOPPED
    assert workspace.replies.active_conversation is None
    desk.answer(workspace, "echo", chat)
    stopped = workspace.library.messages(chat)[1]
    assert stopped.state is MessageState.STOPPED
    assert stopped.content.startswith("w0 ")
    assert f"assistant:{stopped.content}|" in workspace.library.messages(chat)[-1].content


def test_stopping_works_while_the_prompt_is_read(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "read")
    desk.wait(lambda: len(desk.recorder.prefill) > 2)
    assert workspace.library.messages(chat)[-1].state is MessageState.WAITING
    workspace.replies.stop(chat)
    desk.answer(workspace, "say 1", chat)
    assert workspace.library.messages(chat)[1].content == ""


def test_stopping_works_while_the_model_loads(desk: Desk) -> None:
    workspace = desk.open(start=False)
    workspace.settings.model = "long"
    workspace.start()
    chat = workspace.turns.send(None, "say 1")
    desk.wait_for_phase(workspace, EnginePhase.LOADING)
    process_id = desk.client.process_id
    workspace.replies.stop(chat)
    desk.wait_for_phase(workspace, EnginePhase.IDLE)
    workspace.choose_model("other")
    desk.answer(workspace, "say 1", chat)
    assert desk.client.process_id == process_id


def test_one_reply_at_a_time(desk: Desk) -> None:
    workspace = desk.open()
    first = workspace.turns.send(None, "slow 20")
    second = workspace.turns.send(None, "say 1")
    third = workspace.turns.send(None, "say 1")
    assert [workspace.library.messages(chat)[-1].state for chat in (first, second, third)] == [
        MessageState.WAITING,
        MessageState.QUEUED,
        MessageState.QUEUED,
    ]
    assert workspace.replies.active_conversation == first
    workspace.replies.stop(second)
    assert workspace.library.messages(second)[-1].state is MessageState.STOPPED
    desk.wait_for_state(workspace, third, MessageState.COMPLETE)
    assert workspace.library.messages(first)[-1].state is MessageState.COMPLETE
    assert workspace.library.messages(second)[-1].content == ""


def test_two_messages_in_one_conversation_are_answered_in_turn(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 5")
    workspace.turns.send(chat, "echo")
    reply = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert reply.content == "user:slow 5|assistant:w0 w1 w2 w3 w4 |user:echo|"


def test_a_failed_reply_keeps_its_text_and_can_be_tried_again(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "fail")
    failed = desk.wait_for_state(workspace, chat, MessageState.FAILED)
    assert (failed.content, failed.error) == ("one two ", "Tenon made a mistake.")
    with desk.qtbot.waitSignal(workspace.turns.conversation_replaced):
        workspace.turns.retry(chat)
    assert [message.role for message in workspace.library.messages(chat)] == ["user", "assistant"]
    again = desk.wait_for_state(workspace, chat, MessageState.FAILED)
    assert again.id != failed.id
    workspace.close()
    assert desk.open().library.messages(chat)[-1] == again


def test_notices_go_with_the_reply(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "trim")
    assert workspace.library.messages(chat)[-1].notices == (
        "The oldest 4 messages were left out, because the chat is longer than the model's context.",
        "A notice.",
    )


def test_a_blank_prompt_is_refused(desk: Desk) -> None:
    workspace = desk.open()
    with pytest.raises(EmptyPrompt):
        workspace.turns.send(None, " \n ")
    assert workspace.library.conversations() == []


def test_half_a_character_does_no_harm(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "\ud83d broken\necho")
    assert workspace.library.messages(chat)[0].content == "\ufffd broken\necho"
    assert desk.recorder.notices == []


def test_guesses_are_shown_and_kept_nowhere(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "guess")
    assert desk.recorder.guesses == ["w0 w1 and a wrong guess"]
    assert workspace.library.messages(chat)[-1].content == "w0 w1 sample-and-match"
    workspace.close()
    assert "wrong" not in desk.open().library.messages(chat)[-1].content


def test_guesses_are_not_asked_for_where_they_are_not_wanted(desk: Desk) -> None:
    workspace = desk.open()
    workspace.settings.unconfirmed_shown = False
    workspace.settings.verify = "typical"
    chat = desk.answer(workspace, "guess")
    assert desk.recorder.guesses == []
    assert workspace.library.messages(chat)[-1].content == "w0 w1 typical"


def test_text_of_the_last_moment_is_saved_at_close(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "_SAVE_MS", 60_000)
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 500")
    desk.wait(lambda: len(desk.recorder.texts) > 3)
    shown = workspace.library.messages(chat)[-1].content
    assert len(workspace._database.reader.messages(chat)[-1].content) < len(shown)
    workspace.close()
    assert desk.open().library.messages(chat)[-1].content.startswith(shown)


def test_replies_of_a_chat_are_guessed_from_until_it_is_deleted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []
    ask, send = EngineClient.ask, EngineClient.send
    monkeypatch.setattr(EngineClient, "ask", lambda self, command: (sent.append(command), ask(self, command))[1])
    monkeypatch.setattr(EngineClient, "send", lambda self, command: (sent.append(command), send(self, command))[1])
    workspace = desk.open()

    def asked() -> list[EarlierReplies | None]:
        found = [one.earlier for one in sent if isinstance(one, Generate)]
        sent.clear()
        return found

    def forgotten() -> list[EarlierReplies]:
        return [one.earlier for one in sent if isinstance(one, ForgetReplies)]

    chat = desk.answer(workspace, "echo")
    place = EarlierReplies("chats", str(chat))
    assert place in asked()
    last = workspace.library.messages(chat)[-1]
    workspace.shelf.delete_message(chat, last.id)
    assert forgotten() == [place]
    workspace.shelf.delete(chat)
    assert forgotten() == [place, place]
    assert not any(one.erased for one in sent if isinstance(one, ForgetReplies))
    sent.clear()
    deleted = workspace.library._trash[chat]
    folder = str(workspace._kept(chat, "").folder)  # type: ignore[union-attr]
    workspace.shelf.erase(deleted)
    erased = next(one for one in sent if isinstance(one, ForgetReplies))
    assert (erased.earlier, erased.erased, erased.kept and erased.kept.folder) == (place, True, folder)
    sent.clear()
    workspace.settings.guess_from_replies = False
    workspace.settings_applied()
    assert {one.pool for one in forgotten()} == {"chats", "programs"}
    sent.clear()
    desk.answer(workspace, "echo")
    assert set(asked()) == {None}
