"""The messages of a conversation as a tree, of which one path is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from app.chat.conversation import Message


class MessageTree:
    """Every message knows the one that it follows; several that follow the same one are alternatives.

    A deleted message stays in the tree until it is removed. Paths and alternatives are those of the tree without
    it, in which what followed it follows what it followed.

    Args:
        messages: In order of their ids.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages: dict[int, Message] = {}
        self._following: dict[int | None, list[int]] = {}
        for message in messages:
            self.put(message)

    def put(self, message: Message) -> None:
        """Add a message, or replace the one of its id; its parent never changes."""
        if message.id not in self._messages:
            self._following.setdefault(self._parent_id(message), []).append(message.id)
        self._messages[message.id] = message

    def get(self, message_id: int) -> Message | None:
        """One message, deleted or not; None when there is none of that id."""
        return self._messages.get(message_id)

    def all(self) -> list[Message]:
        """Every message, deleted ones too, in order of their ids."""
        return [self._messages[message_id] for message_id in sorted(self._messages)]

    def remove(self, message_id: int) -> None:
        """Take a message out for good; what followed it follows its parent."""
        message = self._messages.get(message_id)
        if message is None:
            return
        parent_id = self._parent_id(message)
        followers = self._following.pop(message_id, [])
        for follower in followers:
            self._messages[follower] = replace(self._messages[follower], parent_id=parent_id)
        siblings = self._following[parent_id]
        siblings[:] = sorted([*(other for other in siblings if other != message_id), *followers])
        del self._messages[message_id]

    def path_to(self, message_id: int | None) -> list[Message]:
        """The messages from the first one down to this one, without deleted ones."""
        path = [message for message in self._upward(message_id) if not message.deleted]
        return path[::-1]

    def alternatives(self, message_id: int) -> list[int]:
        """Ids of a message and of those that could stand in its place, oldest first; none for one that is gone."""
        message = self._messages.get(message_id)
        if message is None or message.deleted:
            return []
        shown = [above.id for above in self._upward(self._parent_id(message)) if not above.deleted]
        return self._shown_after(shown[0] if shown else None)

    def tip_below(self, message_id: int | None) -> int | None:
        """The end of the path on which the newest message follows each, from this one (None: the start) on."""
        tip = message_id
        while followers := self._shown_after(tip):
            tip = followers[-1]
        return tip

    def tip(self, leaf_id: int | None) -> int | None:
        """The end of the path to show: a leaf, or the nearest message above it that is not deleted.

        Without a leaf that is known it is the newest path's end; None when there are no messages.
        """
        for message in self._upward(leaf_id):
            if not message.deleted:
                return message.id
        return self.tip_below(None)

    def branch(self, message_id: int) -> list[int]:
        """A message and all that follows it, in any order of alternatives, deleted ones too."""
        found, at = [message_id], 0
        while at < len(found):
            found += self._following.get(found[at], [])
            at += 1
        return found

    def _upward(self, message_id: int | None) -> Iterator[Message]:
        message = None if message_id is None else self._messages.get(message_id)
        while message is not None:
            yield message
            parent_id = self._parent_id(message)
            message = None if parent_id is None else self._messages.get(parent_id)

    def _shown_after(self, message_id: int | None) -> list[int]:
        """Ids of what follows a message, deleted ones stepped over."""
        shown, waiting = [], list(self._following.get(message_id, []))
        while waiting:
            follower = waiting.pop()
            if self._messages[follower].deleted:
                waiting += self._following.get(follower, [])
            else:
                shown.append(follower)
        return sorted(shown)

    def _parent_id(self, message: Message) -> int | None:
        """The parent, if it is there. It must be older, or a damaged file could make a circle."""
        parent_id = message.parent_id
        known = parent_id is not None and parent_id < message.id and parent_id in self._messages
        return parent_id if known else None
