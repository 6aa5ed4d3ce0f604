"""The messages of a conversation as a tree, of which one path is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import heapify, heappop, heappush

from app.chat.conversation import Message


class MessageTree:
    """Every message knows the one that it follows; several that follow the same one are alternatives.

    A deleted message stays in the tree until it is removed. Paths and alternatives are those of the tree without
    it, in which what followed it follows what it followed.

    Args:
        messages: In any order. One whose parent is not there, or that follows itself in the end, is a first one.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages = {message.id: message for message in messages}
        self._parents: dict[int, int | None] = {}
        self._following: dict[int | None, list[int]] = {}
        for message in self._messages.values():
            self._hang(message)

    def put(self, message: Message) -> None:
        """Add a message, or replace the one of its id; its parent never changes."""
        self._messages[message.id] = message
        if message.id not in self._parents:
            self._hang(message)

    def get(self, message_id: int) -> Message | None:
        """One message, deleted or not; None when there is none of that id."""
        return self._messages.get(message_id)

    def all(self) -> list[Message]:
        """Every message, deleted ones too: by age, but each after the one that it follows."""
        waiting = [self._age(message_id) for message_id in self._following.get(None, [])]
        heapify(waiting)
        ordered: list[Message] = []
        while waiting:
            message_id = heappop(waiting)[1]
            ordered.append(self._messages[message_id])
            for follower in self._following.get(message_id, []):
                heappush(waiting, self._age(follower))
        return ordered

    def remove(self, message_id: int) -> None:
        """Take a message out for good; what followed it follows its parent."""
        if message_id not in self._messages:
            return
        parent_id = self._parents.pop(message_id)
        followers = self._following.pop(message_id, [])
        for follower in followers:
            self._messages[follower] = replace(self._messages[follower], parent_id=parent_id)
            self._parents[follower] = parent_id
        siblings = self._following[parent_id]
        siblings[:] = [*(other for other in siblings if other != message_id), *followers]
        del self._messages[message_id]

    def path_to(self, message_id: int | None) -> list[Message]:
        """Return the messages from the first one down to this one, without deleted ones."""
        path = [message for message in self._upward(message_id) if not message.deleted]
        return path[::-1]

    def alternatives(self, message_id: int) -> list[int]:
        """Ids of a message and of those that could stand in its place, oldest first; none for one that is gone."""
        message = self._messages.get(message_id)
        if message is None or message.deleted:
            return []
        shown = [above.id for above in self._upward(self._parents[message_id]) if not above.deleted]
        return self._shown_after(shown[0] if shown else None)

    def tip_below(self, message_id: int | None) -> int | None:
        """Return the end of the path that takes the newest message each time, from this one (None: the start) on."""
        tip = message_id
        while followers := self._shown_after(tip):
            tip = followers[-1]
        return tip

    def tip(self, leaf_id: int | None) -> int | None:
        """Return the end of the path to show: a leaf, or the nearest message above it that is not deleted.

        Without a leaf that is known it is the newest path's end; None when there are no messages.
        """
        for message in self._upward(leaf_id):
            if not message.deleted:
                return message.id
        return self.tip_below(None)

    def branch(self, message_id: int) -> list[int]:
        """Return a message and all that follows it, in any order of alternatives, deleted ones too."""
        found, at = [message_id], 0
        while at < len(found):
            found += self._following.get(found[at], [])
            at += 1
        return found

    def _upward(self, message_id: int | None) -> Iterator[Message]:
        message = None if message_id is None else self._messages.get(message_id)
        while message is not None:
            yield message
            parent_id = self._parents[message.id]
            message = None if parent_id is None else self._messages[parent_id]

    def _shown_after(self, message_id: int | None) -> list[int]:
        """Ids of what follows a message by age, deleted ones stepped over."""
        shown, waiting = [], list(self._following.get(message_id, []))
        while waiting:
            follower = waiting.pop()
            if self._messages[follower].deleted:
                waiting += self._following.get(follower, [])
            else:
                shown.append(follower)
        return sorted(shown, key=self._age)

    def _hang(self, message: Message) -> None:
        """Note what a message follows. A damaged file could make a circle, which is cut here."""
        known = message.parent_id in self._messages and message.parent_id != message.id
        parent_id = message.parent_id if known else None
        above = parent_id if message.id in self._following else None  # what nothing follows closes no circle
        while above is not None and above != message.id:
            above = self._parents.get(above)
        self._parents[message.id] = parent_id = None if above is not None else parent_id
        self._following.setdefault(parent_id, []).append(message.id)

    def _age(self, message_id: int) -> tuple[float, int]:
        """Sorts messages: ids alone do not, where two windows write or a file was imported."""
        return self._messages[message_id].created_at, message_id
