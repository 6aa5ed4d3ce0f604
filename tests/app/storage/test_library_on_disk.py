"""A restart shows the same as the library, whatever was done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from app.chat.clock import EARLIEST_S
from app.chat.conversation import Conversation, Message
from app.chat.library import Library
from app.storage.conversation_store import ConversationStore
from app.storage.database import open_database
from tests.support.fast_cases import examples

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["say", "say", "alternative", "choose", "delete", "delete", "undo", "erase"]),
        st.integers(0, 30),
    ),
    min_size=8,
    max_size=25,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConversationStore]:
    database = open_database(tmp_path_factory.mktemp("disk"))
    database.writer._connection.execute("PRAGMA synchronous = OFF")
    database.writer.prepare_search()
    yield database.writer
    database.writer.close()
    database.reader.close()
    database.presence.leave()


class Person:
    """Does to a library and to a store what the journal brings to the disk."""

    def __init__(self, store: ConversationStore) -> None:
        self.store = store
        self.chat = store.reserve_ids()
        self.next_id = self.chat + 1
        self.library = Library([], lambda _: [])
        self.library.put_conversation(Conversation(self.chat, "Title", 1.0, 1.0))
        self.save()

    def save(self, *messages: Message) -> None:
        conversation = self.library.conversation(self.chat)
        assert conversation is not None
        self.store.save(conversation, messages)

    def add(self, parent_id: int | None) -> None:
        message = Message(self.next_id, self.chat, "user", "words", float(self.next_id), parent_id=parent_id)
        self.next_id += 1
        self.library.put_message(message)
        self.library.show_leaf(self.chat, message.id)
        self.save(message)

    def do(self, operation: str, choice: int) -> None:
        known = [message for message in self.library.all_messages(self.chat) if not message.deleted]
        if operation == "say":
            self.add(self.library.end_of(self.chat))
        elif operation == "undo":
            for entry in self.library.trash()[:1]:
                self.library.bring_back(entry)
                self.store.set_messages_deleted(entry.ids, None)
                self.save()
        elif operation == "erase":
            for entry in self.library.trash()[choice % 2 :]:
                self.library.forget(entry)
                self.store.erase_messages(entry.ids)
                self.save()
        elif known:
            message = known[choice % len(known)]
            if operation == "alternative":
                self.add(message.parent_id)
            elif operation == "choose":
                self.library.show_branch(self.chat, message.id)
                self.save()
            else:
                self.next_id += 1
                entry = self.library.delete_message(self.chat, message.id, EARLIEST_S + self.next_id)
                self.save()
                self.store.set_messages_deleted(entry.ids, entry.deleted_at)


def shown(library: Library, chat: int) -> list[int]:
    return [message.id for message in library.messages(chat)]


@hypothesis_settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPERATIONS)
def test_a_restart_shows_the_same(store: ConversationStore, operations: list[tuple[str, int]]) -> None:
    person = Person(store)
    library, chat = person.library, person.chat
    for operation, choice in operations:
        person.do(operation, choice)
        path = library.messages(chat)
        assert not any(message.deleted for message in path)
        assert bool(path) == any(not message.deleted for message in library.all_messages(chat))
    again = Library(store.conversations(), store.messages)
    assert again.all_messages(chat) == library.all_messages(chat)
    assert again.conversation(chat) == library.conversation(chat)
    assert shown(again, chat) == shown(library, chat)
    before = shown(library, chat)
    again.add_deleted(entry for entry in store.deleted_messages() if entry.conversation_id == chat)
    assert [replace(entry, leaf_id=None) for entry in library.trash()] == again.trash()
    store.clear_up()  # what a start does: messages that were deleted long ago go for good
    cleared = Library(store.conversations(), store.messages)
    assert shown(cleared, chat) == before
    hits = {hit.message_id for hit in store.search("words", 1000).hits if hit.conversation_id == chat}
    assert hits == {message.id for message in cleared.all_messages(chat)}
