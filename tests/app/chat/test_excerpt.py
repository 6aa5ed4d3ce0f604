from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.chat.plain_line import MATCH_END, MATCH_START, excerpt

NEEDLE = f"{MATCH_START}needle{MATCH_END}"
CODE, THOUGHT = "a * b\n\n" * 30, "hm hm.\n\n" * 30
PIECES = [
    "word ", "# Title\n", "## ", "\n", "\n\n", "- item ", "1. one ", "> quote", "```\n", "```py\n",
    "~~~\n", "| a | b |\n", "|---|---|\n", "---\n", "<think>", "</think>", "`", "\\", "**", "*", "_", "~~", "$",
    "$$\n", "[", "](", ")", "&amp;", "long " * 80, "x" * 300, "é😀", "\r\n",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def marked(markdown: str) -> tuple[str, list[str]]:
    line, marks = excerpt(markdown, markdown=True)
    return line, [line[start:end] for start, end in marks]


@pytest.mark.parametrize(
    ("markdown", "line"),
    [
        (f"All of **it: {NEEDLE}**, `and` more", "All of it: needle, and more"),
        (f"{'word ' * 30}{NEEDLE}{' word' * 60}", f"…{'word ' * 8}needle{' word' * 22}…"),
        (f"**{'word ' * 30}{NEEDLE}** end", f"…{'word ' * 8}needle end"),
        (f"```py\n{CODE}{NEEDLE} * c * d\n```", f"…{'a * b ' * 6}needle * c * d"),
        (f"~~~~\n```\n{CODE}{NEEDLE} *c* d", f"…{'a * b ' * 6}needle *c* d"),
        (f"<think>\n{THOUGHT}{NEEDLE}\n</think>\n*yes*", f"…{'hm hm. ' * 5}needle yes"),
        (f"{'x' * 300}{NEEDLE}{'x' * 300}", f"…{'x' * 40}needle{'x' * 114}…"),
    ],
)
def test_a_line_around_the_match(markdown: str, line: str) -> None:
    assert marked(markdown) == (line, ["needle"])


def test_the_place_with_most_different_words_is_taken() -> None:
    one, two = f"{MATCH_START}one{MATCH_END}", f"{MATCH_START}two{MATCH_END}"
    line, words = marked(f"{one} {one} {'word ' * 100}\n\n{'word ' * 100}*{two}* and {one}.")
    assert words == ["two", "one"]
    assert line.endswith(" two and one.")


def test_a_persons_own_text_is_shown_as_typed() -> None:
    assert excerpt(f"**{NEEDLE}**\n  `x`", markdown=False) == ("**needle** `x`", ((2, 8),))


def test_where_a_match_is_left_out_the_line_has_no_mark() -> None:
    assert marked(f"```py {NEEDLE}\ncode\n```") == ("code", [])


@pytest.mark.parametrize("text", ["", MATCH_START, MATCH_END, f"{MATCH_END}a{MATCH_START}", f"a {MATCH_START * 3}b"])
def test_marks_that_stand_alone_mark_nothing(text: str) -> None:
    line, words = marked(text)
    assert words == []
    assert MATCH_START not in line
    assert MATCH_END not in line


@given(TEXTS, TEXTS)
def test_a_match_is_shown_whatever_is_around_it(before: str, after: str) -> None:
    # The word behind the marks of a fence is its language, which is left out.
    opened = before.rpartition("\n")[2]
    assume("```" not in opened and "~~~" not in opened)
    line, words = marked(f"{before} {NEEDLE} {after}")
    assert "needle" in words
    assert "\n" not in line
    assert len(line) <= 162


@given(
    st.text(alphabet=st.sampled_from("ab *_`$|#>\n\\[]()" + MATCH_START + MATCH_END), max_size=200),
    st.booleans(),
)
def test_anything_makes_a_line_whose_marks_lie_in_it(text: str, markdown: bool) -> None:
    line, marks = excerpt(text, markdown)
    ends = [place for span in marks for place in span]
    assert ends == sorted(ends)
    assert all(start < end for start, end in marks)
    assert not ends or (ends[0] >= 0 and ends[-1] <= len(line))
    assert not {MATCH_START, MATCH_END, "\n"} & set(line)
