"""Blocks of a Markdown text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

# Marks that close a formula, by those that open it.
FORMULA_ENDS = {"$$": "$$", "\\[": "\\]"}


class BlockKind(Enum):
    """Kinds of blocks."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    LIST = "list"
    QUOTE = "quote"
    RULE = "rule"
    TABLE = "table"
    CODE = "code"
    FORMULA = "formula"
    THINK = "think"


@dataclass(frozen=True)
class Block:
    """One block of a reply.

    Attributes:
        kind: Kind.
        text: Markdown; for code, formulas and thoughts what lies between their marks.
        language: First word after a code fence; the mark that opened a formula, empty where that is part of it.
        closed: False for a fence, a formula or a thought whose end has not come.
    """

    kind: BlockKind
    text: str
    language: str = ""
    closed: bool = True

    @property
    def source(self) -> str:
        """Markdown with its marks, as text to be copied."""
        if self.kind is BlockKind.CODE:
            return f"```{self.language}\n{self.text}\n```"
        if self.kind is BlockKind.FORMULA and self.language:
            return f"{self.language}\n{self.text}\n{FORMULA_ENDS[self.language]}"
        return self.text
