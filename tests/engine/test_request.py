"""Options of a request."""

from __future__ import annotations

from engine.messages import ChatMessage, Generate, LoadOptions
from engine.request import opening


def test_a_conversation_that_ends_with_a_reply_is_continued() -> None:
    asked = ChatMessage("user", "Count to three.")
    begun = ChatMessage("assistant", "One, two")
    assert opening(Generate("1", LoadOptions(), (asked, begun))) == "One, two"
    assert opening(Generate("1", LoadOptions(), (asked,))) == ""
    assert opening(Generate("1", LoadOptions(), raw_prompt="One")) == ""
