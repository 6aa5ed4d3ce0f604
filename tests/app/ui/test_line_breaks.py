"""A line that ends in a reply breaks there, in all that is prose."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextDocument

from app.chat.markdown_blocks import BlockKind
from app.ui.theme.theme import Theme
from app.ui.transcript.markdown_style import plain_text
from app.ui.transcript.reply_blocks import ReplyBlocks
from app.ui.transcript.selectable import SelectableText
from tests.support.markdown import split_blocks

# Markdown; what each block shows, "/" where a line breaks and "|" between paragraphs or items of one block
TABLE = {
    "poem": ("Roses are red,\nViolets are blue.", ["Roses are red,/Violets are blue."]),
    "two verses": ("a\nb\n\nc\nd", ["a/b", "c/d"]),
    "letter": ("Dear Ms. Miller,\n\nthank you.\n\nYours\nTom", ["Dear Ms. Miller,", "thank you.", "Yours/Tom"]),
    "address": ("Tom Miller\n12 High Street\nOxford OX1 4BH", ["Tom Miller/12 High Street/Oxford OX1 4BH"]),
    "hard break": ("a  \nb", ["a/b"]),
    "many spaces at the end": ("a     \nb", ["a/b"]),
    "backslash": ("a\\\nb", ["a/b"]),
    "escaped backslash": ("a\\\\\nb", ["a\\/b"]),
    "line ends of Windows": ("a\r\nb", ["a/b"]),
    "emphasis at the end": ('**"a"**\n*b*\nc', ['"a"/b/c']),
    "emphasis over lines": ("**a\nb** c", ["a/b c"]),
    "bold label": ("**Name:** Tom\n**Age:** 7", ["Name: Tom/Age: 7"]),
    "inline code": ("use `a`\nor `b`", ["use a/or b"]),
    "inline code over lines": ("`a\nb` c", ["a b c"]),
    "link": ("[a](http://x)\n[b](http://y)", ["a/b"]),
    "link over lines": ("[a\nb](http://x)", ["a/b"]),
    "definition of a link": ("[1]: http://x\n[a][1]\nb", ["a/b"]),
    "list": ("- a\n- b", ["a|b"]),
    "hard-wrapped item": ("- a\n  b\n- c", ["a/b|c"]),
    "item without its indent": ("- a\nb\n- c", ["a/b|c"]),
    "numbered": ("1. a\n   b\n2. c", ["a/b|c"]),
    "nested": ("- a\n  - b\n    c\n- d", ["a|b/c|d"]),
    "task": ("- [ ] a\n  b\n- [x] c", ["a/b|c"]),
    "list after text": ("a\n- b\n- c", ["a", "b|c"]),
    "quote": ("> a\n> b", ["a/b"]),
    "quote that goes on": ("> a\nb", ["a/b"]),
    "quoted code": ("> a\n> ```\n> x\n> y\n> ```\n> b\n> c", ["a|x|y|b/c"]),
    "quoted list": ("> - a\n> - b", ["a|b"]),
    "heading after text": ("a\nb\n# c\nd\ne", ["a/b", "c", "d/e"]),
    "underlined heading": ("Title\n=====\n\na\nb", ["Title", "a/b"]),
    "rule": ("a\nb\n\n---\n\nc", ["a/b", "c"]),
    "fence": ("a\nb\n```py\nx = 1\n\ny = 2\n```\nc\nd", ["a/b", "x = 1||y = 2", "c/d"]),
    "indented code": ("a\n\n    x\n    y", ["a", "x|y"]),
    "formula in text": ("with $a$\nand $b$", ["with $a$/and $b$"]),
    "formula of its own": ("a\n$$\nx\n$$\nb\nc", ["a", "b/c"]),
    "HTML": ("a<br>\n<b>b</b>\nc", ["a<br>/<b>b</b>/c"]),
    "emoji": ("😀 a\n👩‍👧 b\nc", ["😀 a/👩‍👧 b/c"]),
    "right to left": ("שלום\nעולם", ["שלום/עולם"]),
    "spaces of all widths": ("a\u2001b\u2003c\nd", ["a\u2003b\u2003c/d"]),
    "bars": ("a | b\nc | d", ["a | b/c | d"]),
    "dashes of speech": ("– a\n— b", ["– a/— b"]),
}


def shown(blocks: ReplyBlocks) -> list[str]:
    """The text of each block that has one, as the table writes it."""
    texts = [part for widget in blocks.widgets for part in widget.selectables() if isinstance(part, SelectableText)]
    return [part.document().toRawText().replace("\u2029", "|").replace("\u2028", "/") for part in texts]


@pytest.fixture
def blocks(qtbot: object, theme: Theme) -> ReplyBlocks:
    return ReplyBlocks(theme, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("markdown", "expected"), TABLE.values(), ids=TABLE.keys())
def test_a_line_that_ends_breaks(blocks: ReplyBlocks, markdown: str, expected: list[str]) -> None:
    blocks.set_text(markdown)
    blocks.set_complete(True)
    assert shown(blocks) == expected


@pytest.mark.parametrize("markdown", [markdown for markdown, _ in TABLE.values()], ids=TABLE.keys())
def test_lines_break_while_they_come(blocks: ReplyBlocks, markdown: str) -> None:
    for end in range(1, len(markdown) + 1):
        blocks.set_text(markdown[:end])
        if markdown[:end].endswith("\nb"):
            assert not any("a b" in text for text in shown(blocks)) or "`" in markdown
    blocks.set_complete(True)
    streamed = shown(blocks)
    whole = ReplyBlocks(blocks.theme, None)  # type: ignore[arg-type]
    whole.set_text(markdown)
    whole.set_complete(True)
    assert streamed == shown(whole)


def test_a_table_and_code_are_left_alone(blocks: ReplyBlocks) -> None:
    kinds = [block.kind for block in split_blocks("a\nb\n\n|a|b|\n|-|-|\n|c|d|\n\n```\nx\n```")]
    assert kinds == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.CODE]


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("Roses are **red**,\nViolets are *blue*.", "Roses are red,\nViolets are blue."),
        ("- a\n  b\n- c", "- a\n  b\n- c"),
        ("1. a\n   b\n10. c\n    d", "1. a\n   b\n2. c\n   d"),
        ("- a\n  - b\n    c", "- a\n  - b\n    c"),
        ("> a\n> b", "a\nb"),
        ("Yours\nTom\n\n```\nx\n\n  y\n```", "Yours\nTom\n\nx\n\n  y"),
    ],
)
def test_plain_text_keeps_the_lines(qtbot: object, markdown: str, plain: str) -> None:
    assert plain_text(markdown) == plain


def test_what_is_selected_keeps_the_lines(blocks: ReplyBlocks) -> None:
    blocks.set_text("Tom\n12 High Street\n\nb")
    part = blocks.widgets[0].selectables()[0]
    assert isinstance(part, SelectableText)
    part.select_all()
    assert part.selected_source() == "Tom\n12 High Street"
    assert part.createMimeDataFromSelection().text() == "Tom\n12 High Street"
    document = part.document()
    assert isinstance(document, QTextDocument)
    assert document.blockCount() == 1  # no paragraphs: their space would stand between the lines
