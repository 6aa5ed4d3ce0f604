"""Sequences that are kept between replies: the texts that later requests may go on with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from pathlib import Path
from weakref import WeakKeyDictionary, WeakSet

from engine.decoding.kept_on_disk import ChatOnDisk
from engine.decoding.sequence import TokenSequence
from engine.messages import KeptChat
from engine.model.kv_cache import shared_tokens
from engine.text.pictures import whole_runs

_MOST = 8


class KeptSequences:
    """Sequences of one model, in use and kept, as many as memory admits.

    Args:
        new: Makes an empty sequence.
        has_room: Returns True if memory holds so many sequences and one more, each grown to the whole context,
            beside kept ones of so many bytes.
    """

    def __init__(self, new: Callable[[], TokenSequence], has_room: Callable[[int, int], bool]) -> None:
        self._new = new
        self._has_room = has_room
        self._kept = [new()]  # the one that was used last is at the end
        self._in_use: list[TokenSequence] = []
        self._on_disk: WeakKeyDictionary[TokenSequence, ChatOnDisk] = WeakKeyDictionary()
        self._erased: WeakSet[TokenSequence] = WeakSet()  # in use, and not kept afterwards
        self._trouble: str | None = ""  # why the disk refused a text; None once it was said

    @property
    def bytes(self) -> int:
        """Bytes that the caches of all sequences take now."""
        return sum(sequence.cache_bytes for sequence in (*self._kept, *self._in_use))

    def open(self, prompt: Sequence[int] = (), chat: ChatOnDisk | None = None) -> TokenSequence:
        """Return the sequence that serves a prompt with the least loss.

        That is the kept one that shares most with the prompt, if it shares at least half of its text and belongs to no
        other chat. Otherwise its text may be wanted again, so the prompt gets a new sequence, or the least recently
        used one if there is no room for that. In either case it gets a copy of the rows that it shares with any other.

        Args:
            prompt: Token ids.
            chat: Files of the chat that it belongs to, which have this text from now on; None for no files.
        """

        def shared(text: TokenSequence) -> int:
            return whole_runs(prompt, shared_tokens(text.token_ids, prompt))

        best = max((kept for kept in self._kept if self._may_give(kept, chat)), key=shared, default=None)
        if best is None or 2 * shared(best) < len(best.token_ids):
            best = None if not self._kept or self._has_room_for_another() else self._kept[0]
        if best is None:
            best = self._new()
        else:
            self._kept.remove(best)
        nearest = max((*self._kept, *self._in_use, best), key=shared)  # before some are dropped
        self._in_use.append(best)
        before = self._on_disk.pop(best, None)
        if chat is not None:
            chat.in_memory = before is not None and before.folder == chat.folder and before.in_memory
            for other, known in list(self._on_disk.items()):
                if known.folder == chat.folder:
                    del self._on_disk[other]
            self._on_disk[best] = chat
        while self._kept and not self._has_room_beside_kept(len(self._in_use) - 1):
            del self._kept[0]
        if shared(nearest) > shared(best):
            best.take_rows(nearest, prompt)
            if chat is not None:
                chat.in_memory = False  # the disk may have later states of the text that these rows are from
        return best

    def bring_in(self, chat: ChatOnDisk) -> Iterator[None]:
        """Read a chat from the disk ahead of its next message, unless it is in memory; yield after each file.

        If a text that is not written yet would have to make room for it, nothing is read.
        """
        in_memory = any(known.folder == chat.folder and known.in_memory for known in self._on_disk.values())
        if in_memory or (self.unwritten and not self._has_room_for_another()):
            return
        any_text, *_ = (*self._kept, *self._in_use) or (self._new(),)
        text = chat.tokens(any_text.cache)
        if text:
            prompt = [*text, text[-1]]
            sequence = self.open(prompt, chat)
            try:
                yield from chat.read(sequence, prompt)
            finally:
                self.close(sequence)
                chat.written = True

    def _may_give(self, sequence: TokenSequence, chat: ChatOnDisk | None) -> bool:
        """Return True if a sequence may be given to a chat: it belongs to no other one."""
        known = self._on_disk.get(sequence)
        return known is None or chat is None or known.folder == chat.folder

    def _has_room_for_another(self) -> bool:
        return len(self._kept) < _MOST and self._has_room_beside_kept(len(self._in_use))

    def _has_room_beside_kept(self, others: int) -> bool:
        return self._has_room(others, sum(sequence.cache_bytes for sequence in self._kept))

    def leave_drafts(self, stays: Sequence[bool]) -> None:
        """Drop the states of drafts that the model no longer has; call it while no reply runs.

        Args:
            stays: For each of the model's drafts, True if it stays.
        """
        for sequence in self._kept:
            sequence.drafts = tuple(compress(sequence.drafts, stays))

    def close(self, sequence: TokenSequence) -> None:
        """Keep a sequence whose reply has ended; drop the oldest ones if there are too many or memory is short."""
        if (chat := self._on_disk.get(sequence)) is not None and chat.in_memory:
            chat.written = False
        self._in_use.remove(sequence)
        if sequence in self._erased:
            return
        self._kept.append(sequence)
        while len(self._kept) > _MOST or (len(self._kept) > 1 and not self._has_room(0, 0)):
            del self._kept[0]

    def forget(self, place: KeptChat | None, everything: bool = False) -> None:
        """Drop the texts of a chat, and those that belong to no chat, which may be older ones of it.

        Args:
            place: The chat's place on the disk; None if it has none.
            everything: True to drop the texts of all chats, and those in use when their replies end.
        """
        folder = None if place is None else Path(place.folder)

        for text in list(self._kept):
            known = self._on_disk.get(text)
            if everything or known is None or known.folder == folder:
                self._kept.remove(text)
                self._on_disk.pop(text, None)
        if everything:
            self._erased.update(self._in_use)

    def _unwritten(self) -> Iterator[tuple[TokenSequence, ChatOnDisk]]:
        for sequence in self._kept:
            chat = self._on_disk.get(sequence)
            if chat is not None and not chat.written:
                yield sequence, chat

    @property
    def unwritten(self) -> bool:
        """True if texts of chats are not on the disk as they are."""
        return any(self._unwritten())

    def write(self, check: Callable[[], None]) -> None:
        """Write texts of chats to the disk.

        Args:
            check: Called often; raises to stop, and the next call goes on.
        """
        for sequence, chat in list(self._unwritten()):
            said = chat.write(sequence, check)
            if self._trouble is not None:
                self._trouble = said or self._trouble

    def trouble(self) -> str:
        """Return a sentence for the user, once, if the disk has refused a text; else an empty text."""
        if not self._trouble:
            return ""
        said, self._trouble = self._trouble, None
        return said
