from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.markdown_blocks import Block, BlockKind, BlockSplitter
from tests.support.markdown import split_blocks

PIECES = [
    "word ", "# Title", "## ", "\n", "\n\n",
    "- item", "  - nested", "1. one", "2) two", "> quote", "```", "```py", "~~~",
    "    code", "| a | b |", "|---|---|", "--:", "|", "---", "<think>", "</think>", "`", "\\|", "x = 1",
    "é😀", "\r\n", "***", "$$", "\\[", "\\]", "\\begin{align}", "\\end{align}", "$",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def kinds(text: str) -> list[BlockKind]:
    return [block.kind for block in split_blocks(text)]


@given(TEXTS | st.text(), st.lists(st.integers(0, 400), max_size=12))
def test_any_cutting_gives_the_same_blocks(text: str, cuts: list[int]) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    splitter = BlockSplitter()
    for start, end in pairwise(places):
        splitter.feed(text[start:end])
    splitter.finish()
    assert splitter.frozen == split_blocks(text)


@given(TEXTS | st.text(), st.lists(st.integers(0, 400), max_size=12), st.sets(st.integers(0, 400), max_size=4))
def test_calls_part_a_text_where_they_stand_however_it_is_cut(text: str, cuts: list[int], calls: set[int]) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    whole, pieces = BlockSplitter(), BlockSplitter()
    whole.calls = pieces.calls = sorted({min(call, len(text)) for call in calls})
    whole.feed(text)
    for start, end in pairwise(places):
        pieces.feed(text[start:end])
        pieces.tail()
    blocks = whole.frozen + whole.tail()
    assert pieces.frozen + pieces.tail() == blocks
    assert [int(block.language) for block in blocks if block.kind is BlockKind.CALLS] == whole.calls


def test_a_call_within_a_thought_parts_it_and_a_code_ends_before_one() -> None:
    splitter = BlockSplitter()
    text = "<think>\nLet me look.\n\nIt says 3.\n</think>\n\n- a\n\n- b\n```\ncode"
    splitter.calls = [text.index("\n\nIt"), text.index("\n\n- b"), len(text)]
    splitter.feed(text)
    assert [(one.kind.value, one.text, one.joined) for one in splitter.frozen + splitter.tail()] == [
        ("think", "Let me look.", None), ("calls", "", None), ("think", "It says 3.", "\n\n"), ("list", "- a", None),
        ("calls", "", None), ("list", "- b", None), ("code", "code", None), ("calls", "", None),
    ]  # fmt: skip


@given(TEXTS)
def test_frozen_blocks_never_change(text: str) -> None:
    whole = split_blocks(text)
    splitter = BlockSplitter()
    for character in text:
        splitter.feed(character)
        splitter.tail()
        assert splitter.frozen == whole[: len(splitter.frozen)]


@given(TEXTS)
def test_tail_of_a_text_that_ends_in_a_line_is_its_last_blocks(text: str) -> None:
    splitter = BlockSplitter()
    splitter.feed(text + "\n")
    assert splitter.frozen + splitter.tail() == split_blocks(text + "\n")


def test_every_kind() -> None:
    text = (
        "<think>\nhm\n</think>\n# Head\nText on\ntwo lines\n\n- a\n- b\n\n  more of b\n\n> said\n\n---\n"
        "| a | b |\n|---|--:|\n| 1 | 2 |\n\n```python\nx = 1\n```\nend"
    )
    assert kinds(text) == [
        BlockKind.THINK, BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE, BlockKind.RULE,
        BlockKind.TABLE, BlockKind.CODE, BlockKind.PARAGRAPH,
    ]  # fmt: skip


def test_code_keeps_blank_lines_marks_and_indentation() -> None:
    text = "```py\n\n  # not a head\n- not a list\n<think>\n\n```"
    assert split_blocks(text) == [Block(BlockKind.CODE, "\n  # not a head\n- not a list\n<think>\n", "py")]


def test_an_open_fence_says_so() -> None:
    assert split_blocks("```\na") == [Block(BlockKind.CODE, "a", closed=False)]


def test_a_longer_fence_holds_a_shorter_one() -> None:
    assert split_blocks("````md\n```\nx\n```\n````") == [Block(BlockKind.CODE, "```\nx\n```", "md")]


def test_a_fence_in_a_list_loses_the_items_indentation() -> None:
    blocks = split_blocks("1. first\n   ```sh\n   ls\n     -l\n   ```\n2. second")
    assert [block.kind for block in blocks] == [BlockKind.LIST, BlockKind.CODE, BlockKind.LIST]
    assert blocks[1].text == "ls\n  -l"
    assert blocks[2].text == "2. second"


@pytest.mark.parametrize("text", ["<think>on and on", "<think>\non and on\n"])
def test_an_open_thought_says_so(text: str) -> None:
    assert split_blocks(text) == [Block(BlockKind.THINK, "on and on", closed=False)]


def test_text_follows_a_thought_on_its_line() -> None:
    assert split_blocks("<think>a</think> Hello") == [
        Block(BlockKind.THINK, "a"),
        Block(BlockKind.PARAGRAPH, "Hello"),
    ]


def test_an_empty_thought_is_no_block() -> None:
    assert split_blocks("<think>\n\n</think>\n\nHello") == [Block(BlockKind.PARAGRAPH, "Hello")]


def test_a_table_takes_the_line_above_its_rule_and_leaves_the_rest() -> None:
    blocks = split_blocks("Look:\n| a |\n|---|\n| 1 |\nafter")
    assert [block.kind for block in blocks] == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]
    assert blocks[1].text == "| a |\n|---|\n| 1 |"


def test_a_bar_alone_makes_no_table() -> None:
    assert kinds("a | b\nc | d") == [BlockKind.PARAGRAPH]


@pytest.mark.parametrize("mark", ["`", "``", "```", "~", "<", "<thi"])
def test_a_mark_to_be_does_not_flash_up(mark: str) -> None:
    splitter = BlockSplitter()
    splitter.feed("Text.\n\n" + mark)
    assert [block for block in splitter.tail() if block.kind is BlockKind.PARAGRAPH] == []


def test_a_tables_rule_does_not_flash_up() -> None:
    splitter = BlockSplitter()
    splitter.feed("| a | b |\n|--")
    assert splitter.tail() == [Block(BlockKind.PARAGRAPH, "| a | b |")]


def test_a_long_list_is_frozen_in_parts() -> None:
    blocks = split_blocks("\n".join(f"{n}. item of some length" for n in range(1, 600)))
    assert {block.kind for block in blocks} == {BlockKind.LIST}
    assert len(blocks) > 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$$\nx\n$$", Block(BlockKind.FORMULA, "x", "$$")),
        ("$$x$$.", Block(BlockKind.FORMULA, "x", "$$")),
        ("\\[ x\n- y \\]", Block(BlockKind.FORMULA, "x\n- y", "\\[")),
        ("$$\n\nx\n\n$$", Block(BlockKind.FORMULA, "x", "$$")),
        (
            "\\begin{align}\nx &= 1\n\\end{align}",
            Block(BlockKind.FORMULA, "\\begin{align}\nx &= 1\n\\end{align}"),
        ),
        ("\\[\nx", Block(BlockKind.FORMULA, "x", "\\[", closed=False)),
        ("$$x$$ is in a line", Block(BlockKind.PARAGRAPH, "$$x$$ is in a line")),
        ("$$$ is much", Block(BlockKind.PARAGRAPH, "$$$ is much")),
    ],
)
def test_a_formula_on_its_own_lines_is_a_block(text: str, expected: Block) -> None:
    assert split_blocks(text) == [expected]


def test_marks_that_no_formula_follows_become_text_again() -> None:
    assert split_blocks("$$ is money\n\nmore") == [
        Block(BlockKind.PARAGRAPH, "$$ is money"),
        Block(BlockKind.PARAGRAPH, "more"),
    ]


def test_a_formula_ends_a_list_and_the_list_goes_on() -> None:
    assert kinds("1. one\n   $$x$$\n2. two") == [BlockKind.LIST, BlockKind.FORMULA, BlockKind.LIST]
