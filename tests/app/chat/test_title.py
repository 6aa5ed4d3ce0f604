from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.title import TITLE_CHARACTERS, UNTITLED, model_title, title_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("How do I stop a reply?", "How do I stop a reply?"),
        ("\n\n  first\tline \nsecond", "first line"),
        ("", UNTITLED),
        ("\0\u200b\n", UNTITLED),
        ("a" * 61, "a" * 59 + "…"),
        ("word " * 20, " ".join(["word"] * 12) + "…"),
        ("long " + "w" * 90, "long " + "w" * 54 + "…"),
        ("x" * 60, "x" * 60),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert title_of(text) == title


@given(st.text())
def test_a_title_is_one_short_line(text: str) -> None:
    title = title_of(text)
    assert 0 < len(title) <= TITLE_CHARACTERS
    assert title.isprintable()
    assert title == title.strip()


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Reading large CSV files", "Reading large CSV files"),
        ('"Reading large CSV files."', "Reading large CSV files"),
        ("**Title:** Large files\nand more", "Large files"),
        ("# Große Dateien #", "Große Dateien"),
        ("<think>\nHm.\n</think>\n\nTitle: Large files", "Large files"),
        ("<think>It never ends", ""),
        (" \n***\n", ""),
        ("word " * 30, ""),
        ("Sure! Here is a title for this chat", ""),
        ("I'm glad you enjoyed the story", ""),
        ("Hello there, how can I help", ""),
        ("How can I assist you today?", ""),
        ("The list is:", ""),
        ("It rains. Then it stops", ""),
        ("Sure-footed hiking boots", "Sure-footed hiking boots"),
        ("Island holidays", "Island holidays"),
    ],
)
def test_a_title_that_a_model_gave(said: str, title: str) -> None:
    assert model_title(said) == title
    assert len(title) <= TITLE_CHARACTERS
