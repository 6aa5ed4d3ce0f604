"""Markdown that a model writes: split as it comes, shown, searched, copied, and made a line of a list."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

from PySide6.QtWidgets import QWidget

from app.chat.markdown_blocks import BlockSplitter
from app.chat.plain_line import excerpt, plain_line
from app.ui.transcript.markdown_style import plain_text
from app.ui.transcript.reply_blocks import ReplyBlocks
from tests.app.ui.test_transcript import ANSWER
from tests.fuzz.mutation import damaged_text
from tests.fuzz.shown import Shown
from tests.support.markdown import split_blocks

_MATHS = """<think>So \\(a^2\\).</think>

# Head

First $x_1$ and $$\\frac{1}{2}$$ then

\\[ a \\]

> quote
> - [x] a
"""
_PIECES = (
    "# ", "## ", "- ", "* ", "1. ", "999999999. ", "> ", "    ", "\t", "\n", "\n\n", "```", "```python\n",
    "~~~", "`", "|", "|a|b|\n|-|-|\n", "|-|", "---", "***", "*", "**", "_", "~~", "[", "](", ")", "![",
    "[a](http://b)", "<", ">", "<think>", "</think>", "$", "$$", "\\(", "\\)", "\\[", "\\]", "\\begin{align}",
    "\\end{align}", "\\", "&amp;", "&#0;", "&#xfffc;", "\ufffc", "\u200f", "\u202e", "\0", "\r", "\r\n",
    "\u2028", "👩‍👩‍👧", "ä", "世", "a" * 3000, "[" * 500, "> " * 200, "- " * 100, "* a\n " * 50, "x | " * 200,
    "http://a.b/c", "<a@b.c>", "\\begin{pmatrix}", "[ ] ", "[x] ", "===\n", "---\n",
)  # fmt: skip


class Target:
    """One reply after the other."""

    def __init__(self, folder: Path) -> None:
        self._shown = Shown()
        readme = Path(__file__).resolve().parents[3] / "README.md"
        self._sources = [ANSWER, _MATHS, ANSWER + "\n\n" + _MATHS, readme.read_text(encoding="utf-8")[:5000]]

    def run(self, random: Random) -> None:
        text = damaged_text(random, random.choice(self._sources), _PIECES)[:30_000]
        _check_splitting(random, text)
        plain_line(text)
        excerpt(text.replace("the", "\ufdd0the\ufdd1"), markdown=True)
        page = QWidget()
        blocks = ReplyBlocks(self._shown.theme, page)
        cut = random.randrange(len(text) + 1)
        for part in (text[:cut], text[cut:]):
            blocks.change_text(blocks.text + part)
            blocks.refresh()
            blocks.resize(500, blocks.fit(500))
        blocks.search(re.compile("a"))
        blocks.set_complete(True)
        blocks.resize(500, min(blocks.fit(500), 4000))
        if random.random() < 0.1:
            blocks.grab()
        plain_text(text)
        self._shown.settle(page)

    def close(self) -> None:
        pass


def _check_splitting(random: Random, text: str) -> None:
    """However a text is cut into pieces, its blocks are the same."""
    splitter, at = BlockSplitter(), 0
    while at < len(text):
        size = random.randrange(1, 400)
        splitter.feed(text[at : at + size])
        splitter.tail()
        at += size
    splitter.finish()
    assert splitter.frozen == split_blocks(text)
