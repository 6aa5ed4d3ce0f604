from __future__ import annotations

from app.chat.conversation import Conversation, Message
from app.chat.library import Library

READ: list[int] = []


def _read(conversation_id: int) -> list[Message]:
    READ.append(conversation_id)
    return [Message(conversation_id * 10, conversation_id, "user", "stored", 0.0)]


def _library() -> Library:
    READ.clear()
    return Library([Conversation(1, "Bread and Butter", 0, 5), Conversation(2, "ÄPFEL", 0, 9)], _read)


def test_the_newest_comes_first_and_titles_are_searched_whatever_their_case() -> None:
    library = _library()
    assert [chat.id for chat in library.conversations()] == [2, 1]
    assert [chat.id for chat in library.conversations("  äpfel ")] == [2]
    assert [chat.id for chat in library.conversations("BUTTER")] == [1]
    assert library.conversations("no such") == []


def test_messages_are_read_once_and_new_conversations_are_not_read_at_all() -> None:
    library = _library()
    library.put_message(Message(11, 1, "assistant", "new", 0.0))
    assert [message.content for message in library.messages(1)] == ["stored", "new"]
    library.put_conversation(Conversation(3, "New", 0, 10))
    assert library.messages(3) == []
    assert library.messages(99) == []
    assert READ == [1]


def test_hidden_ones_come_back_last_first() -> None:
    library = _library()
    library.hide(1)
    library.hide(2)
    library.hide(2)
    library.hide(99)
    assert library.conversations() == []
    assert library.unhide_last() == 2
    assert library.forget_first() == 1
    assert library.forget_first() is None
    assert library.unhide_last() is None
    assert library.conversation(1) is None
