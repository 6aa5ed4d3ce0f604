from __future__ import annotations

from app.chat.reply_trace import Origin, TracedToken
from app.ui.inspector.tokens import TokenFlow, shown_text


def token(text: str) -> TracedToken:
    return TracedToken(text, Origin.PLAIN, 1)


def flow(*texts: str, width: float = 100.0) -> TokenFlow:
    made = TokenFlow(width, 24, 20, lambda token: 10.0 * len(token.text.strip()))
    for text in texts:
        made.add(token(text))
    return made


def test_what_cannot_be_seen_gets_a_sign() -> None:
    assert [shown_text(token(text)) for text in (" word", "", "  ", "\n\n", "\t", "a\n", "\ufffd")] == [
        "word", "end", "␣", "↵↵", "⇥", "a↵", "⋯",
    ]  # fmt: skip


def test_tokens_wrap_and_words_stay_together() -> None:
    lines = [box.top() for box in flow("ab", " cd", " efg", "h", width=80.0).boxes]
    assert lines == [0, 0, 24, 24]
    lefts = [box.left() for box in flow("ab", " cd", "e").boxes]
    assert lefts[0] == 0
    assert lefts[1] - 22 > lefts[2] - (lefts[1] + 22)  # a space is wider than the seam within a word


def test_a_line_breaks_where_the_text_does() -> None:
    made = flow("a", "\n", "b")
    assert [box.top() for box in made.boxes] == [0, 0, 24]
    assert made.boxes[2].left() == 0
    assert made.height == 48


def test_a_word_that_fills_the_line_is_broken() -> None:
    made = flow("abcdefg", "hij", "klmnopqrstuvw")
    assert [box.top() for box in made.boxes] == [0, 24, 48]
    assert all(box.right() <= 100 for box in made.boxes)


def test_tokens_are_found_by_place_and_by_line() -> None:
    made = flow("ab", " cd", " efg", " h", width=80.0)
    assert made.at(made.boxes[1].center().x(), 10) == 1
    assert made.at(99, 10) is None
    assert made.in_line_beside(0, 1) == 2
    assert made.in_line_beside(3, -1) == 1
    assert made.in_line_beside(0, -1) is None
    assert flow().height == 0
