"""Which text a prompt goes on with, and which one gives way."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.kept_on_disk import ChatOnDisk
from engine.decoding.kept_sequences import KeptSequences
from engine.decoding.sequence import TokenSequence
from engine.messages import KeptChat


@dataclass(eq=False)
class Text:
    """A text of these tokens."""

    token_ids: list[int] = field(default_factory=list)
    cache_bytes: int = 1
    took: list[Text] = field(default_factory=list)  # texts that it has taken rows of

    def take_rows(self, other: Text, prompt: list[int]) -> None:
        self.took.append(other)


class Shelf:
    """Kept texts, and room for so many."""

    def __init__(self, room: int = 100) -> None:
        self.room = room
        self.kept = KeptSequences(
            lambda: cast(TokenSequence, Text()), lambda others, kept_bytes: others + kept_bytes < self.room
        )

    def read(self, *tokens: int) -> Text:
        """A reply to a prompt of these tokens, which is over at once; returns the text that it took."""
        text = cast(Text, self.kept.open(tokens))
        text.token_ids = list(tokens)
        self.kept.close(cast(TokenSequence, text))
        return text


@pytest.mark.parametrize(("length", "shared", "goes_on"), [
    (10, 10, True), (10, 5, True), (10, 4, False), (9, 5, True), (9, 4, False), (8, 3, False), (8, 2, False),
    (100, 50, True), (100, 49, False), (1, 1, True), (1, 0, False),
])  # fmt: skip
@pytest.mark.parametrize("more", [0, 1, 500])
def test_a_text_goes_on_with_a_prompt_that_shares_half_of_it(
    length: int, shared: int, goes_on: bool, more: int
) -> None:
    shelf = Shelf()
    text = shelf.read(*range(1, length + 1))
    prompt = [*range(1, shared + 1), *range(1000, 1000 + more)]
    assert (shelf.kept.open(prompt) is text) == goes_on


def test_kept_texts_count_what_they_hold_and_only_one_in_use_may_grow() -> None:
    """Memory of 8 holds one text of the whole context, 4, beside four that hold 1."""
    shelf = Shelf()
    shelf.kept = KeptSequences(
        lambda: cast(TokenSequence, Text()), lambda others, kept_bytes: 4 * (others + 1) + kept_bytes <= 8
    )
    for number in range(6):
        shelf.read(number, number, number)
    assert [cast(Text, one).token_ids[0] for one in shelf.kept._kept] == [1, 2, 3, 4, 5]
    shelf.kept.open((9,))
    assert len(shelf.kept._kept) == 4
    shelf.kept.open((8,))  # both may grow
    assert len(shelf.kept._kept) == 0


@given(
    st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=6), min_size=1, max_size=5),
    st.lists(st.integers(0, 1), max_size=8),
)
def test_the_text_that_shares_most_is_taken_and_the_others_stay(texts: list[list[int]], prompt: list[int]) -> None:
    shelf = Shelf()
    for text in texts:
        shelf.read(*text)
    before = [cast(Text, one) for one in shelf.kept._kept]
    shared = [_shared(one.token_ids, prompt) for one in before]
    most = max(shared)
    found = cast(Text, shelf.kept.open(prompt))
    if found in before:
        assert _shared(found.token_ids, prompt) == most
        assert 2 * most >= len(found.token_ids)
    else:
        assert 2 * most < len(before[shared.index(most)].token_ids)
    assert [one for one in before if one is not found] == shelf.kept._kept


def _shared(text: list[int], prompt: list[int]) -> int:
    """Tokens at the beginning of both."""
    count = 0
    while count < min(len(text), len(prompt)) and text[count] == prompt[count]:
        count += 1
    return count


def test_a_new_text_takes_rows_of_the_one_that_shares_most() -> None:
    shelf = Shelf()
    some, most = shelf.read(1, 2, 8, 8, 8), shelf.read(1, 2, 3, 9, 9, 9, 9)
    in_use = cast(Text, shelf.kept.open((1, 2, 3, 4)))
    assert in_use.took == [most]
    in_use.token_ids = [1, 2, 3, 4, 5]
    assert cast(Text, shelf.kept.open((1, 2, 3, 4))).took == [in_use]
    assert cast(Text, shelf.kept.open((7,))).took == some.took == []


def test_of_texts_that_share_too_little_the_one_used_longest_ago_gives_way() -> None:
    shelf = Shelf(room=3)
    first, second = shelf.read(1, 1), shelf.read(2, 2)
    third = shelf.read(3, 3)
    shelf.read(1, 1, 1)  # the first is the newest now
    assert shelf.kept._kept == [second, third, first]
    assert shelf.read(4, 4) is second
    assert shelf.kept._kept == [third, first, second]


def test_as_many_are_kept_as_there_may_be_at_most_and_as_memory_holds() -> None:
    shelf = Shelf()
    for token in range(20):
        shelf.read(token, token)
    assert [cast(Text, one).token_ids[0] for one in shelf.kept._kept] == list(range(12, 20))
    assert len(shelf.kept._kept) == 8
    last = shelf.kept.open([19, 19, 19])
    assert len(shelf.kept._kept) == 7
    shelf.room = 0  # meanwhile memory has become short
    shelf.kept.close(last)
    assert shelf.kept._kept == [last]


def test_no_more_are_kept_after_many_replies_at_once() -> None:
    shelf = Shelf()
    at_once = [shelf.kept.open([token]) for token in range(20)]
    for token, text in enumerate(at_once):
        cast(Text, text).token_ids = [token]
        shelf.kept.close(text)
    assert [cast(Text, one).token_ids for one in shelf.kept._kept] == [[token] for token in range(12, 20)]


def test_a_reply_that_begins_takes_the_room_of_old_texts() -> None:
    shelf = Shelf()
    for token in range(5):
        shelf.read(token, token)
    shelf.room = 2
    newest = shelf.kept.open([4, 4, 4])
    assert [cast(Text, one).token_ids[0] for one in shelf.kept._kept] == [3]
    shelf.room = 0
    assert shelf.kept.open([3, 3, 3]) is not newest
    assert shelf.kept._kept == []


def test_texts_in_use_take_room_from_those_that_are_kept() -> None:
    shelf = Shelf(room=3)
    for token in (1, 2, 3):
        shelf.read(token, token)
    open_ = [shelf.kept.open([token]) for token in (11, 12, 13)]
    assert len({id(one) for one in open_}) == 3
    assert (len(shelf.kept._in_use), shelf.kept._kept) == (3, [])
    assert shelf.kept.bytes == 3


def test_what_was_read_of_an_erased_chat_is_dropped(tmp_path: Path) -> None:
    shelf = Shelf()
    kept, chats = shelf.kept, {name: KeptChat(str(tmp_path / name), 1 << 20) for name in "ab"}
    for name, tokens in (("a", [1, 2, 3]), ("", [7, 8, 9]), ("b", [4, 5, 6])):
        chat = ChatOnDisk(chats[name], "", "") if name else None
        text = kept.open(tokens, chat)
        cast(Text, text).token_ids = tokens
        kept.close(text)
    kept.forget(chats["a"])
    assert [one.token_ids for one in kept._kept] == [[4, 5, 6]]
    in_use = kept.open([1, 2])
    kept.forget(None, everything=True)
    kept.close(in_use)
    assert not kept._kept
    assert kept.open([4, 5, 6]).token_ids == []
