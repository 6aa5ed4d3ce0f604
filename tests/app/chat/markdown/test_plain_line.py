from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.plain_line import plain_line

PIECES = [
    "word ", "# Title", "## ", "\n", "\n\n", "- item", "1. one", "> quote", "> ", "```\n", "~~~\n", "| a | b |\n",
    "|---|---|\n", "---\n", "<think>", "</think>", "`", "``", "\\", "**", "*", "_", "__", "~~", "$", "$$", "\\(",
    "[", "](", ")", "![", "<http://x.y>", "&amp;", "é😀", "\r\n", "\ufdd0", "\ufdd1", "\x00",
]  # fmt: skip


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("a **bold** *slanted* __bold__ _slanted_ ~~struck~~ ***both***", "a bold slanted bold slanted struck both"),
        ("**bold *both* bold**, *a **b***", "bold both bold, a b"),
        ("2 * 3 * 4, a*b, snake_case_name, f(*args, **kwargs)", None),
        ("`*code* _here_` and ``a `tick` ``", "*code* _here_ and a `tick`"),
        (r"\*not slanted\* and \_this\_ and C:\dir", "*not slanted* and _this_ and C:\\dir"),
        ("unclosed **bold and `code", "unclosed **bold and `code"),
        ("[**words**](https://example.org/a_b_c \"title\") and ![a picture](x.png)", "words and a picture"),
        ("[![badge](b.svg)](https://example.org) <https://example.org/*a*>", "badge https://example.org/*a*"),
        ("see [1] and [2][3], f[i](x)", "see [1] and [2][3], fi"),
        ("$x^2$ costs $5 and $6, \\(a_1 * b_1\\)", "x^2 costs $5 and $6, a_1 * b_1"),
        ("A &amp; B &lt;b&gt; &nothing; &#65;", "A & B <b> &nothing; A"),
        ("# Head #\nText\n===\nmore\n\n---\n\nend", "Head Text more end"),
        ("- one\n  - *two*\n- [ ] three\n\n1. four\n2) five\n   on", "• one • two • [ ] three 1. four 2) five on"),
        ("> said **so**\n> > deep\n> - item", "said so deep • item"),
        ("| a | **b** |\n|---|--:|\n| 1 | `2` |\n\nend", "a · b; 1 · 2 end"),
        ("```python\nx = a * b  # **no**\n\ny = `z`\n```\nend", "x = a * b # **no** y = `z` end"),
        ("$$\nE = mc^2\n$$", "E = mc^2"),
        ("<think>\n*Short.*\n</think>\n\nYes.", "Short. Yes."),
        ("", ""),
    ],
)  # fmt: skip
def test_only_the_words_are_left(markdown: str, words: str | None) -> None:
    assert plain_line(markdown) == (markdown if words is None else words)


def test_what_is_marked_by_noncharacters_is_looked_through_and_kept() -> None:
    assert (
        plain_line("**\ufdd0bold\ufdd1** snake_\ufdd0case\ufdd1_name") == "\ufdd0bold\ufdd1 snake_\ufdd0case\ufdd1_name"
    )
    assert plain_line("[words](https://\ufdd0example\ufdd1.org)") == "words (https://\ufdd0example\ufdd1.org)"
    assert plain_line("```\ufdd0python\ufdd1\nx\n```") == "\ufdd0python\ufdd1 x"


@pytest.mark.parametrize(
    "deep", [">", "> <think>", "- ", "[", "![", "*", "**a ", "_a* ", "`", "``a`", "$$", "\\(", "<", "&"]
)
def test_deep_nesting_is_read_in_time(deep: str) -> None:
    assert isinstance(plain_line(deep * 4_000 + "word"), str)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text())
def test_anything_is_one_line_without_a_word_more(markdown: str) -> None:
    line = plain_line(markdown)
    assert line == " ".join(line.split())
    assert line.count("\ufdd0") <= markdown.count("\ufdd0")
    if "&" not in markdown:
        assert len(line) <= 3 * len(markdown) + 3
