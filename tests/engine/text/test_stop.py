from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.detokenizer import Detokenizer
from engine.text.reasoning import template_reasoning
from engine.text.stop import ReplyText
from engine.text.tokenizer import TURN_BEGINNINGS

END = 256


def decode(token_ids: Sequence[int]) -> str:
    """A tokenizer of single bytes: the worst case for characters that span tokens."""
    return bytes(token for token in token_ids if token < 256).decode("utf-8", errors="replace")


@given(st.text(max_size=60))
def test_streamed_pieces_are_whole_characters_and_make_up_the_text(text: str) -> None:
    detokenizer = Detokenizer(decode)
    pieces = [detokenizer.add(byte) for byte in text.encode()]
    pieces.append(detokenizer.finish())
    assert "".join(pieces) == text
    if "\ufffd" not in text:
        assert all("\ufffd" not in piece for piece in pieces)


@given(st.binary(max_size=60))
def test_bytes_that_are_no_text_do_not_hold_up_the_stream(data: bytes) -> None:
    detokenizer = Detokenizer(decode)
    streamed = "".join(detokenizer.add(byte) for byte in data) + detokenizer.finish()
    assert streamed.replace("\ufffd", "") == decode(data).replace("\ufffd", "")


@given(st.text("abc", max_size=30), st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=3))
def test_stop_strings_may_span_tokens(text: str, stop: list[str]) -> None:
    reply = ReplyText(decode, {END}, stop)
    shown = ""
    for token in [*text.encode(), END]:
        goes_on = reply.add(token)
        shown += reply.take_fresh()
        if not goes_on:
            break
    # The earliest end of a stop string decides; among those that end together, the earliest beginning.
    ends = [end for end in range(len(text) + 1) if any(text[:end].endswith(string) for string in stop)]
    if ends:
        upto = text[: ends[0]]
        expected = upto[: min(upto.find(string) for string in stop if string in upto)]
        assert (shown, reply.stop_reason) == (expected, "stop")
        assert len(reply.token_ids) == ends[0]
        assert reply.stop_text in stop
        assert upto[len(expected) :].startswith(reply.stop_text)
    else:
        assert (shown, reply.stop_reason) == (text, "end")
    assert reply.text == shown


def test_limit_is_exact_and_end_of_text_adds_no_text() -> None:
    reply = ReplyText(decode, {END}, limit=3)
    assert [reply.add(ord(letter)) for letter in "abc"] == [True, True, False]
    assert (reply.text, reply.stop_reason, reply.remaining) == ("abc", "length", 0)
    reply = ReplyText(decode, {END})
    assert not reply.add(END)
    assert (reply.text, reply.stop_reason, reply.token_ids) == ("", "end", [END])


@given(st.text("aé€𝄞", min_size=1, max_size=12), st.integers(1, 40))
def test_a_reply_that_is_cut_ends_before_a_torn_character(text: str, limit: int) -> None:
    data = text.encode()
    limit = min(limit, len(data))
    cut, cancelled = ReplyText(decode, {END}, ["aa"], limit=limit), ReplyText(decode, {END})
    assert all(cancelled.add(byte) for byte in data[:limit])
    cancelled.close(None)
    for byte in data[:limit]:
        if not cut.add(byte):
            break
    whole = data[:limit].decode("utf-8", errors="ignore")
    assert cancelled.text == whole
    assert cut.text == (whole if "aa" not in whole else whole[: whole.index("aa")])


def test_a_replacement_mark_of_the_model_s_own_stays_unless_it_is_cut() -> None:
    reply = ReplyText(decode, {END})
    for byte in "a\ufffd".encode():
        reply.add(byte)
    assert not reply.add(END)
    assert reply.text == "a\ufffd"


def test_a_cancelled_reply_gives_up_what_it_held_back() -> None:
    reply = ReplyText(decode, {END}, ["abcd"])
    for letter in "xab":
        reply.add(ord(letter))
    assert reply.take_fresh() == "x"
    assert reply.ends == [1, 1, 1]
    reply.close(None)
    assert (reply.take_fresh(), reply.text, reply.stop_reason) == ("ab", "xab", None)


@given(st.text("aé€𝄞", max_size=12), st.text("aé€𝄞", max_size=12))
def test_a_preview_is_whole_characters_of_what_would_come_and_changes_nothing(said: str, next_: str) -> None:
    reply = ReplyText(decode, {END}, ["aa"])
    taken = said.replace("aa", "a").encode()
    for byte in taken:
        reply.add(byte)
    shown, ids = reply.take_fresh(), list(reply.token_ids)
    preview = reply.preview([*next_.encode()])
    assert preview == reply.preview([*next_.encode()])
    assert (reply.text, reply.token_ids, reply.take_fresh()) == (shown, ids, "")
    going_on = all(reply.add(byte) for byte in next_.encode())
    assert reply.take_fresh() == preview
    assert going_on or reply.stop_reason == "stop"
    assert "\ufffd" not in preview


def test_a_preview_ends_where_the_reply_would() -> None:
    reply = ReplyText(decode, {END}, limit=4)
    reply.add(ord("a"))
    assert reply.preview([98, 99, 100, 101]) == "bcd"
    assert reply.preview([98, END, 100]) == "b"
    assert reply.preview([0xE2, 0x82]) == ""
    assert reply.stop_reason is None


def test_a_continued_reply_keeps_its_first_space() -> None:
    def words(token_ids: Sequence[int]) -> str:
        """A tokenizer that drops the space in front of a text's first word."""
        return "".join(f" {chr(token)}" for token in token_ids)[1:]

    fresh, continued = ReplyText(words, {END}), ReplyText(words, {END})
    continued.follow([ord("z")])
    for reply in (fresh, continued):
        for letter in "ab":
            reply.add(ord(letter))
        reply.close("end")
    assert (fresh.text, continued.text) == ("a b", " a b")
    assert continued.token_ids == [ord("a"), ord("b")]


def test_a_preview_leaves_the_reader_of_channels_where_it_was() -> None:
    reply = ReplyText(decode, {END}, ["Stop"], reader=template_reasoning("<|channel|><|message|>").reader(""))
    begun, rest = (
        "<|channel|>analysis<|message|>Hm",
        ".<|end|><|start|>assistant<|channel|>final<|message|>Yes. Stop",
    )
    for byte in begun.encode():
        reply.add(byte)
    assert reply.text == "<think>\nHm"
    assert reply.preview(rest.encode()) == ".\n</think>\n\nYes. "
    assert reply.text == "<think>\nHm"
    going = [reply.add(byte) for byte in rest.encode()]
    assert (reply.text, reply.stop_reason, going.count(False)) == (
        "<think>\nHm.\n</think>\n\nYes. ",
        "stop",
        1,
    )
    assert len(reply.ends) == len(reply.token_ids)


@pytest.mark.parametrize("size", [1, 2, 5, 50])
def test_a_labelled_turn_that_follows_ends_a_reply_and_nothing_of_it_is_shown(size: int) -> None:
    said = " Paris.\n\nIt is large.\n\nUser: And Rome?"
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    reply = ReplyText(lambda ids: "".join(pieces[one] for one in ids), (), ends=TURN_BEGINNINGS)
    shown = ""
    for at in range(len(pieces)):
        goes_on = reply.add(at)
        shown += reply.take_fresh()
        assert " Paris.\n\nIt is large.".startswith(shown)
        if not goes_on:
            break
    assert (reply.text, reply.stop_reason, reply.stop_text) == (" Paris.\n\nIt is large.", "end", "")


def test_words_that_only_begin_as_a_label_are_shown() -> None:
    reply = ReplyText(lambda ids: "".join("a\nUsers: 3"[one] for one in ids), (), ends=TURN_BEGINNINGS)
    for at in range(10):
        reply.add(at)
    reply.close("length")
    assert reply.text == "a\nUsers: 3"
