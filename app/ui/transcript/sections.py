"""The sections of a text, their contents, and estimates of their heights.

A text is split into sections once, piece by piece. A section far from the view keeps no blocks, but only its beginning,
the state of the splitter there, and the size that its height is estimated from. Near the view it is split again.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice, pairwise, takewhile
from operator import attrgetter
from sys import maxsize
from typing import TYPE_CHECKING

from app.chat.markdown_blocks import Block, BlockKind, BlockSplitter, PlainSplitter

if TYPE_CHECKING:
    from app.ui.transcript.block_widgets import BlockWidget

SECTION, _MOST_BLOCKS = 8_000, 500  # characters and blocks of a section
_FED_EACH = 1_000  # characters that are split at once
FENCE = re.compile(r"^ *(?:```|~~~).*\n", re.MULTILINE)
_GAP_PX, _HALF_LINE = 10, 50  # of an estimate; half a line in characters
_CALLS_PX = 100  # of an estimate, for one card


# The size that a height is estimated from: px of what is not running text, at the usual font size; lines of running
# text; and characters beyond half a line in each of these, which may need more lines.
Size = tuple[int, int, int]


@dataclass(slots=True, eq=False)
class Piece:
    """A block near the view: a widget, or a height before that is made."""

    section: Section
    block: Block
    widget: BlockWidget | None = None
    found: int = -1  # places that a search found while it is no widget; -1 where they are not counted
    thought: int = -1  # number of the thought that it is a part of
    width: int = -1  # that the height is of; -1 where it is to be found again
    height: int = 0
    top: int = maxsize  # until it is placed

    def forget_height(self) -> None:
        """Let it be laid out again."""
        self.width = self.section.width = -1


@dataclass(slots=True, eq=False)
class Section:
    """A part of the text: pieces near the view, a height elsewhere."""

    splitter: BlockSplitter  # what has been read before it
    fed: int = 0  # characters that the splitter has read
    thoughts: int = 0  # number of thoughts that begin before it
    pieces: list[Piece] = field(default_factory=list)
    last: BlockKind | None = None  # kind of its last block that is shown
    code: bool = False  # True if a code begins or ends in it
    size: Size = (0, 0, 0)
    thought: int = -1  # number of the thought that all of it is a part of
    found: int = -1  # places that a search found; -1 where they are not counted
    width: int = -1  # that the height and the places of its pieces are of; -1 where they are to be found again
    height: int = 0
    top: int = maxsize  # until it is placed

    @property
    def begin(self) -> int:
        """Place in the text where its first block begins."""
        return self.splitter.begin


class SplitText:
    """A text that grows, and its sections up to where `read` and `read_on` have split it.

    Args:
        plain: True if the text is not Markdown.
        sealed: Called with each section that has ended, its blocks, and True if some of its text was skipped.
    """

    def __init__(self, plain: bool, sealed: Callable[[Section, list[Block], bool], None]) -> None:
        self._unread = PlainSplitter() if plain else BlockSplitter()
        self._sealed = sealed
        self.text = ""  # all that has come
        self.sections: list[Section] = []  # the last one is still written
        self.restart()

    def restart(self) -> None:
        """Split from the beginning again."""
        self.splitter = self._unread.copy()
        self.fed = 0  # characters of the text that are split
        self.sections[:] = [Section(self._unread, top=0)]

    def set_calls(self, places: list[int]) -> bool:
        """Take the places of calls of tools; return False where they are others in what is split already."""
        known = self._unread.calls
        same = known[: bisect_left(known, self.fed)] == places[: bisect_left(places, self.fed)]
        known[:] = places
        return same

    @property
    def whole(self) -> bool:
        """True if all of the text is split."""
        return self.fed == len(self.text)

    def read_on(self) -> None:
        """Split some more of the text, or skip a section of it."""
        if self.fed > self.sections[-1].fed or not self._skip():
            self.read(_FED_EACH)

    def read(self, most: int) -> None:
        """Split some more of the text, in characters."""
        end = min(len(self.text), self.fed + most)
        while self.fed < end:
            step = self.text[self.fed : min(end, self.fed + _FED_EACH)]
            self.splitter.feed(step)
            self.fed += len(step)
            blocks = self.splitter.frozen
            if blocks and (self.fed - self.sections[-1].fed >= SECTION or len(blocks) >= _MOST_BLOCKS):
                self._seal(blocks)

    def _skip(self) -> bool:
        """End the last section at a place where a block surely begins, without splitting the text before it."""
        lines = self.text.count("\n", self.fed, self.fed + SECTION)
        length = SECTION * _MOST_BLOCKS // max(lines, _MOST_BLOCKS)
        if self.splitter.calls_before(self.fed + 2 * length):
            return False
        end = self.splitter.skip(self.text, self.fed + length, self.fed + 2 * length)
        if end:
            self.fed = end
            self._seal(self.splitter.frozen, skipped=True)
        return end > 0

    def _seal(self, blocks: list[Block], skipped: bool = False) -> None:
        """End the last section with these blocks and the text that was skipped, and begin another one."""
        last = self.sections[-1]
        text = self.text[last.begin : self.splitter.begin]
        gaps = text.count("\n\n")
        lines = text.count("\n") - gaps
        last.size = (_GAP_PX * gaps, lines, max(0, len(text) - _HALF_LINE * lines))
        last.code = FENCE.search(text) is not None
        last.thought = last.thoughts if last.splitter.in_thought and self.splitter.in_thought else -1
        last.last, last.width = BlockKind.PARAGRAPH, -1
        self.splitter.frozen = []
        thoughts = last.thoughts + sum(block.kind is BlockKind.THINK and block.joined is None for block in blocks)
        self.sections.append(Section(self.splitter.copy(), self.fed, thoughts))
        self._sealed(last, blocks, skipped)

    def range_of(self, section: Section) -> tuple[int, int]:
        """Return where a section begins and ends in the text."""
        after = self._after(section)
        return section.begin, len(self.text) if after is None else after.begin

    def _after(self, section: Section) -> Section | None:
        at = bisect_right(self.sections, section.fed, key=attrgetter("fed"))
        return self.sections[at] if at < len(self.sections) else None

    def markdown(self, section: Section) -> str:
        """Return a section's Markdown without the separator before the next one."""
        start, end = self.range_of(section)
        text, after = self.text[start:end], self._after(section)
        joined = None if after is None else after.splitter.joined
        return text.rstrip("\n") if joined is None else text.removesuffix(joined)

    def _pieces_of(self, section: Section) -> list[Piece]:
        """Return a section's pieces, or temporary ones if it has none."""
        if section.pieces or section is self.sections[-1]:
            return section.pieces
        return [Piece(section, block, top=section.top) for block in self.blocks_of(section)]

    def blocks_of(self, section: Section) -> list[Block]:
        """Split a section again and return its blocks."""
        splitter = section.splitter.copy()
        after = self._after(section) or self.sections[-1]
        for start in range(section.fed, after.fed, _FED_EACH):
            splitter.feed(self.text[start : min(start + _FED_EACH, after.fed)])
        if after.begin == after.fed:
            splitter.finish()
        return splitter.frozen

    @property
    def has_code(self) -> bool:
        """True if a block is code."""
        return any(section.code for section in self.sections) or any(map(_is_code, self.sections[-1].pieces))

    def code_above(self, bottom: int) -> str | None:
        """Return the last code that begins above a place in px, else the first one, or None if there is no code."""
        coded = [at for at, section in enumerate(self.sections) if section.code]
        if any(map(_is_code, self.sections[-1].pieces)):
            coded.append(len(self.sections) - 1)
        above = bisect_left(coded, bottom, key=lambda at: self.sections[at].top)
        for number in range(max(above, 1) - 1, -1, -1):
            at = coded[number]
            pieces = self._pieces_of(self.sections[at])
            begun = [place for place, piece in enumerate(pieces) if _is_code(piece)]
            begun = [place for place in begun if pieces[place].top < bottom] or (begun[:1] if not number else [])
            if begun:
                return self._code_from(at, pieces, begun[-1])
        return None

    def _code_from(self, at: int, pieces: list[Piece], place: int) -> str:
        """Return the whole code that begins with a piece of a section and may go on in later sections."""
        words = [pieces[place].block.text]
        rest = pieces[place + 1 :]
        while True:
            further = list(takewhile(lambda piece: _is_code(piece, begins=False), rest))
            words += [f"{piece.block.joined}{piece.block.text}" for piece in further]
            if len(further) < len(rest):
                return "".join(words)
            at, rest = at + 1, []
            for section, after in pairwise(islice(self.sections, at, None)):
                if section.code or not section.splitter.in_code or not after.splitter.in_code:
                    break
                words += [section.splitter.joined or "", self.markdown(section)]  # all of it
                at += 1
            if at < len(self.sections):
                rest = self._pieces_of(self.sections[at])
            if not rest:
                return "".join(words)


def _is_code(piece: Piece, begins: bool = True) -> bool:
    return piece.block.kind is BlockKind.CODE and (piece.block.joined is None) == begins


def size_of(block: Block) -> Size:
    """Return the size that the height of a block is estimated from."""
    lines = block.text.count("\n") + 1
    if block.kind is BlockKind.CODE:
        return (20 * lines + (56 if block.joined is None else 24), 0, 0)
    if block.kind is BlockKind.TABLE:
        return (31 * lines, 0, 0)
    if block.kind is BlockKind.RULE:
        return (9, 0, 0)
    if block.kind is BlockKind.THINK and block.joined is None:
        return (30, 0, 0)
    if block.kind is BlockKind.CALLS:
        return (_CALLS_PX, 0, 0)
    return (0, lines, max(0, len(block.text) - _HALF_LINE * lines))
