"""Markdown as plain text, for places that do not read Markdown: no marks, no thoughts, lists with their bullets."""

from __future__ import annotations

from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextList, QTextListFormat

from app.chat.markdown_blocks import Block, BlockKind, BlockSplitter, split_cells
from app.ui.inert_text import InertDocument
from app.ui.transcript.formula_text import set_markdown, with_formulas
from app.ui.transcript.markdown_style import NO_HTML_MARKDOWN

_TASKS = {QTextBlockFormat.MarkerType.Unchecked: " [ ]", QTextBlockFormat.MarkerType.Checked: " [x]"}
_BULLETS = (
    QTextListFormat.Style.ListDisc,
    QTextListFormat.Style.ListCircle,
    QTextListFormat.Style.ListSquare,
)


def plain_text(markdown: str) -> str:
    """Plain text of a reply: code as it is, tables as tab-separated lines."""
    splitter = BlockSplitter()
    splitter.feed(markdown)
    splitter.finish()
    parts = [_block_text(block) for block in splitter.frozen]
    return "\n\n".join(part for part in parts if part)


def _block_text(block: Block) -> str:
    if block.kind in (BlockKind.THINK, BlockKind.RULE):
        return ""
    if block.kind is BlockKind.CODE:
        return block.text.rstrip("\n")
    if block.kind is BlockKind.FORMULA:
        return block.source
    if block.kind is BlockKind.TABLE:
        head, _, *body = block.text.split("\n")
        return "\n".join("\t".join(prose_text(cell) for cell in split_cells(row)) for row in (head, *body))
    return prose_text(block.text, between="\n" if block.kind is BlockKind.LIST else "\n\n")


def prose_text(markdown: str, between: str = "\n") -> str:
    """Plain text of a block of prose or a cell, with so much between its paragraphs or items."""
    document = InertDocument()
    formulas = set_markdown(document, markdown, NO_HTML_MARKDOWN)
    lines = []
    block = document.begin()
    while block.isValid():
        lines.append(_line(block))
        block = block.next()
    return with_formulas(between.join(lines), formulas)


def _line(block: QTextBlock) -> str:
    text = block.text().replace("\u2028", "\n")
    items: QTextList | None = block.textList()
    if items is None:
        return text
    shape = items.format()
    mark = "-" if shape.style() in _BULLETS else items.itemText(block)
    mark += _TASKS.get(block.blockFormat().marker(), "")
    return f"{'  ' * (shape.indent() - 1)}{mark} {text}"
