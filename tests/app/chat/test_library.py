from __future__ import annotations

from dataclasses import replace

from app.chat.conversation import Conversation, Message
from app.chat.library import Deleted, Library

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
    library.put_message(Message(11, 1, "assistant", "new", 0.0, parent_id=10))
    assert [message.content for message in library.messages(1)] == ["stored", "new"]
    library.put_conversation(Conversation(3, "New", 0, 10))
    assert library.messages(3) == []
    assert library.messages(99) == []
    assert READ == [1]


def test_what_the_disk_has_refused_is_read_again_and_what_came_since_is_kept() -> None:
    found: list[list[Message] | None] = [None, None, [Message(10, 1, "user", "stored", 0.0)]]
    library = Library([Conversation(1, "One", 0, 5, leaf_id=10)], lambda _: found.pop(0))
    assert library.messages(1) == []
    assert library.messages(1) == []  # not at each look: a disk that hangs would hang the window
    library.put_message(Message(11, 1, "user", "new", 1.0))
    library.read_again(1)
    assert [message.content for message in library.all_messages(1)] == ["new"]
    library.read_again(1)
    library.read_again(1)
    assert [message.content for message in library.all_messages(1)] == ["stored", "new"]
    assert not found


def test_what_is_in_the_trash_is_listed_nowhere_else_until_it_comes_back() -> None:
    library = _library()
    first, second = library.hide(1, 10.0), library.hide(2, 20.0)
    assert first is not None
    assert second is not None
    assert library.hide(2, 30.0) is None  # it is there already
    assert library.hide(99, 40.0) is None
    assert library.conversations() == []
    assert [(entry.conversation_id, entry.deleted_at) for entry in library.trash()] == [(2, 20.0), (1, 10.0)]
    assert library.bring_back(second)
    assert not library.bring_back(second)
    assert not library.forget(second)
    assert library.forget(first)
    assert [conversation.id for conversation in library.conversations()] == [2]
    assert library.conversation(1) is None


def _branched() -> Library:
    """2 is answered by 3 and 4; 3 is followed by 5 and 6, 4 by 7 and 8; the path through 3 is shown."""
    parents = {2: None, 3: 2, 4: 2, 5: 3, 6: 5, 7: 4, 8: 7}
    messages = [
        Message(number, 1, "user" if number in (2, 5, 7) else "assistant", str(number), 0.0, parent_id=parent)
        for number, parent in parents.items()
    ]
    return Library([Conversation(1, "One", 0, 5, leaf_id=6)], lambda _: messages)


def _deleted(library: Library, message_id: int) -> Deleted:
    return library.delete_message(1, message_id, float(message_id))


def _shown(library: Library) -> list[int]:
    return [message.id for message in library.messages(1)]


def test_one_path_is_shown_and_another_can_be_chosen() -> None:
    library = _branched()
    assert _shown(library) == [2, 3, 5, 6]
    assert library.alternatives(1, 3) == [3, 4]
    assert library.alternatives(1, 99) == []
    library.show_branch(1, 4)
    assert _shown(library) == [2, 4, 7, 8]
    library.put_conversation(replace(library.conversation(1), leaf_id=None))  # type: ignore[type-var]
    assert _shown(library) == [2, 4, 7, 8]
    assert [message.id for message in library.all_messages(1)] == [2, 3, 4, 5, 6, 7, 8]
    assert [message.id for message in library.path_to(1, 5)] == [2, 3, 5]


def test_a_message_without_alternatives_is_deleted_alone() -> None:
    library = _branched()
    fifth, sixth = _deleted(library, 5), _deleted(library, 6)
    assert (fifth.ids, sixth.ids) == ((5,), (6,))
    assert _shown(library) == [2, 3]
    assert library.end_of(1) == 6  # what is written now comes back in its place after undo
    library.put_message(Message(9, 1, "user", "9", 0.0, parent_id=6))
    library.show_leaf(1, 9)
    assert _shown(library) == [2, 3, 9]
    assert library.bring_back(sixth)
    assert _shown(library) == [2, 3, 6, 9]
    assert library.forget(fifth)
    assert _shown(library) == [2, 3, 6, 9]
    assert library.message(1, 5) is None
    assert not library.bring_back(fifth)


def test_a_deleted_alternative_takes_its_branch_along_and_the_next_one_shows() -> None:
    library = _branched()
    third = _deleted(library, 3)
    assert third.ids == (3, 5, 6)
    assert _shown(library) == [2, 4, 7, 8]
    assert library.alternatives(1, 4) == [4]
    assert library.delete_message(1, 3, 1.0) is None
    library.bring_back(third)
    assert _shown(library) == [2, 3, 5, 6]
    fourth = _deleted(library, 4)
    assert _shown(library) == [2, 3, 5, 6]
    library.forget(fourth)
    assert [message.id for message in library.all_messages(1)] == [2, 3, 5, 6]


def test_a_message_from_the_trash_is_shown_whichever_branch_is() -> None:
    library = _branched()
    fifth = _deleted(library, 5)
    library.show_branch(1, 4)
    assert _shown(library) == [2, 4, 7, 8]
    library.bring_back(fifth)
    assert _shown(library) == [2, 3, 5, 6]


def test_the_trash_has_messages_beside_chats_and_none_of_a_chat_that_is_there_itself() -> None:
    library = _branched()
    fifth = _deleted(library, 5)
    assert library.trash() == [fifth]
    assert fifth.title == "5"
    chat = library.hide(1, 10.0)
    assert chat is not None
    assert library.trash() == [chat]
    assert not library.bring_back(fifth)
    library.bring_back(chat)
    assert library.trash() == [fifth]
    library.hide(1, 10.0)
    library.forget(chat)
    assert library.trash() == []


def test_the_leaf_moves_up_when_it_is_dropped() -> None:
    library = _branched()
    library.forget(_deleted(library, 6))
    assert library.conversation(1).leaf_id == 5  # type: ignore[union-attr]
    assert _shown(library) == [2, 3, 5]
