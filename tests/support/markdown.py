"""Markdown split at once, as a chat splits what arrives in pieces."""

from __future__ import annotations

from app.chat.markdown_blocks import Block, BlockSplitter


def split_blocks(text: str) -> list[Block]:
    """Return the blocks of a whole text."""
    splitter = BlockSplitter()
    splitter.feed(text)
    splitter.finish()
    return splitter.frozen
