from __future__ import annotations

import pytest

from app.chat.search import phrase_pattern, places, search_terms, terms_pattern, visible_text


@pytest.mark.parametrize(
    ("typed", "text", "count"),
    [
        ("word", "Words and sWORD", 2),
        ("two  words", "two\nwords, two words", 2),
        ("a.b", "a.b axb", 1),
        ("ß", "Straße", 1),
        ("(x", "f(x)", 1),
        ("none", "nothing", 0),
    ],
)
def test_a_phrase_is_found_as_it_was_typed(typed: str, text: str, count: int) -> None:
    pattern = phrase_pattern(typed)

    assert pattern is not None
    assert len(places(pattern, text)) == count


@pytest.mark.parametrize("typed", ["", "  \n"])
def test_nothing_typed_is_no_search(typed: str) -> None:
    assert phrase_pattern(typed) is None


def test_words_of_a_search_are_found_where_words_begin() -> None:
    pattern = terms_pattern(search_terms('garden "north balcony"'))

    assert pattern is not None
    text = "Gardens, my garden on the north  balcony, northern"
    assert [text[start:end] for start, end in places(pattern, text)] == ["Garden", "garden", "north  balcony"]


def test_no_words_are_no_search() -> None:
    assert terms_pattern([]) is None


def test_the_visible_text_has_no_marks_addresses_or_thoughts() -> None:
    markdown = "<think>secret</think>\n# A **bold** [link](https://word.org)\n\n```python\nx_y = `1`\n```\n- item"
    text = visible_text(markdown)

    assert "secret" not in text
    assert "word" not in text
    assert "python" not in text
    assert "A bold link" in text
    assert "x_y" in text
    assert "item" in text


def test_very_many_places_end_somewhere() -> None:
    pattern = phrase_pattern("a")

    assert pattern is not None
    assert len(places(pattern, "a" * 5_000)) == 1_000
