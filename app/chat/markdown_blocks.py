"""Markdown that arrives in pieces, split into blocks, so that a finished block is never parsed again.

The splitter reads whole lines only. A block is *frozen* once a later line has shown where it ends; the text after
the frozen blocks is the tail, and `BlockSplitter.tail` says what it would be if the text ended there. However the
text is cut into pieces, the blocks are the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from enum import Enum

# Marks that close a formula, by those that open it.
FORMULA_ENDS = {"$$": "$$", "\\[": "\\]"}

_PART = re.compile(r"\\.?|[`|]|[^\\`|]+", re.DOTALL)

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r"^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_ITEM = re.compile(r"^( *)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_QUOTE = re.compile(r"^ {0,3}>")
_DELIMITER = re.compile(r"^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_FORMULA = re.compile(
    r"^( *)(\$\$(?!\$)|\\\[|\\begin\{((?:equation|align|alignat|gather|multline|eqnarray)\*?)\})(.*)$"
)
# A fence that surely opens a code, and what else may open something that hides where blocks begin.
_OPENER = re.compile(
    r"^ {0,3}(`{3,}(?=[^`\n]{0,200}\n)|~{3,}(?=[^\n]{0,200}\n))|^ *(?:```|~~~|\$\$|\\\[|\\begin\{)|<think>",
    re.MULTILINE,
)
_SURE = re.compile(r"\n\n(?=[^\s\-*+\d])|\n(?=#{1,6}[ \t])")  # a block begins after it, whatever stands before
_MARKS = "`~<$\\|-:#*_+>"  # with one of these, or a digit, a line begins that may begin a block
_THINK_OPEN = "<think>"
_THINK_CLOSE = "</think>"
# A block that is longer is parted, so that each part is laid out in a few ms. In characters, but for lines of code and
# cells of a table.
_LONGEST = 2_000
_LONGEST_CODE, _MOST_LINES = 8_000, 100  # also the longest formula, and thought or list without a place to part it
_ENOUGH_LINES = 60  # before a line that seems to begin something
_MOST_CELLS, _MOST_COLUMNS = 160, 100
_LONGEST_ROW = 400_000  # of a table, which shows the beginning of a long cell and copies all of it
_NEAR = 200  # so much earlier a long line is parted at a space


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
    PLAIN = "plain"  # no Markdown
    CALLS = "calls"  # calls of tools, which no Markdown says


_VERBATIM = (BlockKind.CODE, BlockKind.PLAIN)
# For each kind of open block two patterns: what may end it, and a place before that where it surely goes on. Without an
# open block (None) they are those of rules in a row.
_STAYS: dict[BlockKind | None, tuple[re.Pattern[str], re.Pattern[str]]] = {
    kind: (re.compile(ends), re.compile(goes_on))
    for kind, ends, goes_on in (
        (None, r"\n(?!([*_-])\1{2,}\n)", r"\n"),
        (BlockKind.PARAGRAPH, r"\n(?![^\W\d_])", r"\n"),
        (BlockKind.LIST, r"\n(?! *(?:[-*+]|\d{1,9}[.)])[ \t]+[^\s*-])", r"\n(?=[-*+\d])"),
        (BlockKind.QUOTE, r"\n(?!>)", r"\n"),
        (BlockKind.TABLE, r"\n(?!\|)", r"\n"),
        (BlockKind.CODE, r"\n[ \t]*(?:```|~~~)", r"\n"),
        (BlockKind.THINK, _THINK_CLOSE, r"\n(?=\n)"),
    )
}


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a reply, or a part of a long one."""

    kind: BlockKind
    text: str  # Markdown; for code, formulas and thoughts what lies between their marks
    # First word after a code fence; the mark that opened a formula, empty where that is part of it; place of calls
    language: str = ""
    closed: bool = True  # False for a fence, a formula or a thought whose end has not come
    joined: str | None = None  # text between it and the block before, if it is a further part of the same

    @property
    def source(self) -> str:
        """Markdown with its marks, as text to be copied."""
        if self.kind is BlockKind.CODE:
            return f"```{self.language}\n{self.text}\n```"
        if self.kind is BlockKind.FORMULA and self.language:
            return f"{self.language}\n{self.text}\n{FORMULA_ENDS[self.language]}"
        return self.text


def joined_text(parts: Iterable[tuple[str, str | None]]) -> str:
    """Join texts, each with what stands before it: None is an empty line."""
    words: list[str] = []
    for text, joined in parts:
        if words:
            words.append("\n\n" if joined is None else joined)
        words.append(text)
    return "".join(words)


def split_cells(line: str) -> list[str]:
    r"""Return the cells of one table row; ``\|`` and bars inside backticks do not part cells."""
    row = line.strip()
    row = row[1:] if row.startswith("|") else row
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    cells: list[str] = []
    parts: list[str] = []
    in_code = False
    for part in _PART.findall(row):
        if part == "|" and not in_code:
            cells.append("".join(parts).strip())
            parts = []
        else:
            in_code ^= part == "`"
            parts.append("|" if part == "\\|" else part)
    return [*cells, "".join(parts).strip()]


class BlockSplitter:
    """Feed it text, read `frozen` and `tail`."""

    def __init__(self) -> None:
        self.frozen: list[Block] = []
        self.calls: list[int] = []  # ascending places in the text where calls of tools stand; copies share them
        self._partial = ""
        self._at = 0  # where the line that is read begins in the text
        self._begin = 0  # where the open block does
        self._reset()

    @property
    def begin(self) -> int:
        """Place in the text where the next block begins, as far as that is read."""
        return self._at if self._kind is None else self._begin

    @property
    def joined(self) -> str | None:
        """Text between the next block and the one before, if it is a further part of the same."""
        return self._joined

    @property
    def in_code(self) -> bool:
        """True if the next block is a further part of a code that stands in the text as it is."""
        return self._kind is BlockKind.CODE and self._joined is not None and not self._indent

    @property
    def in_thought(self) -> bool:
        """True if the next block is a further part of a thought."""
        return self._kind is BlockKind.THINK and self._joined is not None

    def copy(self) -> BlockSplitter:
        """Return a splitter that goes on from the same place and has no blocks yet."""
        other = copy(self)
        other.frozen = []
        other._lines = list(self._lines)
        return other

    @property
    def fed(self) -> int:
        """Number of characters that it has read."""
        return self._at + len(self._partial)

    def calls_before(self, end: int) -> list[int]:
        """Return the places of calls from where it has read up to a place."""
        return self.calls[bisect_left(self.calls, self.fed) : bisect_left(self.calls, end)]

    def feed(self, text: str) -> None:
        """Take more text."""
        for place in self.calls_before(self.fed + len(text)):
            before, text = text[: place - self.fed], text[place - self.fed :]
            self._feed(before)
            self._part_at_calls()
        self._feed(text)

    def _feed(self, text: str) -> None:
        *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            end = self._at + len(line) + 1
            line = line.rstrip("\r")
            self._take(self._part(line) if len(line) > _LONGEST else line)
            self._at = end
        self._partial = self._part(self._partial)

    def skip(self, text: str, least: int, most: int) -> int:
        """Go on at a later place where a block, or a further part of one, begins, and split nothing before it.

        Args:
            text: All of the text, of which the beginning has been fed.
            least: The first place that will do.
            most: The last one.

        Returns:
            The place, or 0 where none is sure.
        """
        if stayed := self._stay(text, least, most):
            return stayed
        if self._kind in (BlockKind.CODE, BlockKind.FORMULA, BlockKind.THINK):
            return 0
        place = self._at
        while True:
            opener = _OPENER.search(text, place, most)
            sure = _SURE.search(text, max(place, least), opener.start() if opener else most)
            if sure or opener is None or not opener[1]:
                return self._begin_at(sure.end()) if sure else 0
            fence = re.compile(rf"^[^\S\n]*{opener[1]}{opener[1][0]}*[^\S\n]*\n", re.MULTILINE)
            closed = fence.search(text, opener.end(), most)
            if closed is None:
                return 0
            place = closed.end()
            if place >= least:
                return self._begin_at(place)

    def _stay(self, text: str, least: int, most: int) -> int:
        """Go on inside the open block, or between rules; return the place, or 0 if the block may end before it."""
        if self._kind not in _STAYS or not self._at:
            return 0
        ends, goes_on = _STAYS[self._kind]
        ended = ends.search(text, self._at - 1, most)
        found = goes_on.search(text, least, most if ended is None else ended.start())
        if found is None:
            return 0
        if self._kind is None:
            return self._begin_at(found.end())
        self._partial, self._at = "", found.end()
        self._go_on("\n\n" if self._kind is BlockKind.THINK else "\n")
        return self._at

    def _begin_at(self, place: int) -> int:
        self._reset()
        self._partial = ""
        self._at = place
        return place

    def finish(self) -> None:
        """Freeze the tail at the end of the text."""
        self._take_partial()
        self._close(closed=False)

    def _take_partial(self) -> None:
        place, line, self._partial = self.fed, self._partial.rstrip("\r"), ""
        if line:
            self._take(line)
        self._at = place

    def _part_at_calls(self) -> None:
        """End the block where calls stand; a thought goes on after them."""
        self._take_partial()
        if self._kind is BlockKind.THINK:
            self._go_on("\n\n")
        else:
            self._close(closed=False)
        self.frozen.append(Block(BlockKind.CALLS, "", str(self._at)))

    def tail(self) -> list[Block]:
        """Return the blocks after the frozen ones, if the text ended here.

        A last line that may yet become a mark (a fence, ``<think>``, the rule under a table's head) is left out, so
        that it does not flash up as text.
        """
        probe = self.copy()
        if self.calls_before(self.fed + 1):
            probe._part_at_calls()
        elif self._may_become_mark(self._partial.strip()):
            probe._partial = ""
        probe.finish()
        return probe.frozen

    def _may_become_mark(self, partial: str) -> bool:
        if self._kind is BlockKind.CODE:
            return not partial.strip(self._fence[0])
        if self._in_line:
            return False
        if self._kind is BlockKind.PARAGRAPH and "|" in self._lines[-1]:
            return not partial.strip("|-: ")
        if self._kind is BlockKind.FORMULA:
            return bool(partial) and self._fence.startswith(partial)
        if self._kind is BlockKind.THINK:
            return False
        if partial in ("$", "$$", "\\", "\\["):
            return True
        return _THINK_OPEN.startswith(partial) or (len(partial) < 3 and not partial.strip("`~"))

    def _reset(self) -> None:
        self._kind: BlockKind | None = None
        self._joined: str | None = None
        self._in_line = self._blank = False  # True if the next line is the rest of one that was parted; after a gap
        self._lines: list[str] = []
        self._fence = self._language = ""
        self._indent = self._size = self._columns = 0

    def _open(self, kind: BlockKind, line: str | None = None) -> None:
        self._kind, self._begin = kind, self._at
        if line is not None:
            self._append(line)

    def _append(self, line: str) -> None:
        if self._full(line):
            self._go_on("\n\n" if self._kind is BlockKind.THINK and not line.strip() else "\n")
        self._lines.append(line)
        self._size += len(line) + 1

    def _full(self, line: str) -> bool:
        if self._kind is BlockKind.CODE:
            begins = line[:1].strip() and not (self._lines and self._lines[-1].strip())
            most = _ENOUGH_LINES if begins else _MOST_LINES
            return self._size > _LONGEST_CODE or len(self._lines) >= most
        if self._kind is BlockKind.TABLE:
            return len(self._lines) > 2 and len(self._lines) * self._columns > _MOST_CELLS
        if self._kind in (BlockKind.PARAGRAPH, BlockKind.QUOTE, BlockKind.PLAIN):
            return self._size > _LONGEST
        ends = self._kind is BlockKind.THINK and not line.strip()
        return self._size > (_LONGEST if ends else _LONGEST_CODE) and self._kind is not BlockKind.FORMULA

    def _go_on(self, joined: str) -> None:
        """End the block and begin another one with the same marks."""
        kind, fence, indent, language, head = self._kind, self._fence, self._indent, self._language, self._lines[:2]
        columns = self._columns
        self._close()
        self._kind, self._fence, self._indent, self._language = kind, fence, indent, language
        self._joined, self._columns, self._begin = joined, columns, self._at
        if kind is BlockKind.TABLE:
            self._lines = head

    def _part(self, line: str) -> str:
        """Take the beginning of a very long line as a block that ends within it, and return the rest."""
        while len(line) > (longest := self._longest_line(line)):
            if self._kind is BlockKind.FORMULA:
                self._take_back_formula()
                continue
            space = -1 if self._kind is BlockKind.CODE else line.rfind(" ", longest - _NEAR, longest)
            end = space if space > 0 else longest
            mark = line.find("<", end - len(_THINK_CLOSE), end) if self._kind is BlockKind.THINK else -1
            space, end = (-1, mark) if mark > 0 else (space, end)
            if self._kind is None and _FORMULA.match(line):  # too long for one
                self._open(BlockKind.PARAGRAPH, line[:end])
            else:
                self._take(line[:end])
            self._at += end + (space > 0)
            if self._kind not in (*_VERBATIM, BlockKind.QUOTE, BlockKind.THINK):
                self._close()
                self._kind = BlockKind.PARAGRAPH
            self._go_on(" " if space > 0 else "")
            self._in_line = True
            line = line[end + (space > 0) :]
        return line

    def _longest_line(self, line: str) -> int:
        if self._kind in (BlockKind.CODE, BlockKind.FORMULA):
            return _LONGEST_CODE
        if self._kind is BlockKind.TABLE and "|" in line:
            return _LONGEST_ROW
        marked = not self._in_line and (line.lstrip().startswith(_THINK_OPEN) or _FORMULA.match(line))
        return _LONGEST_CODE if marked else _LONGEST

    def _close(self, closed: bool = True) -> None:
        kind = self._kind
        if kind is None:
            return
        whole = closed or kind not in (BlockKind.CODE, BlockKind.FORMULA, BlockKind.THINK)
        text = "\n".join(self._lines)
        if kind not in _VERBATIM:
            text = text.strip() if kind in (BlockKind.FORMULA, BlockKind.THINK) else text.strip("\n")
        if text or kind in _VERBATIM:
            self.frozen.append(Block(kind, text, self._language, whole, self._joined))
        self._reset()

    # --- lines ------------------------------------------------------------------------------------------------

    def _take(self, line: str) -> None:
        if self._in_line and self._kind is not BlockKind.THINK:
            self._in_line = False
            self._append(f"> {line}" if self._kind is BlockKind.QUOTE else line)
        elif self._kind is BlockKind.CODE:
            self._take_code(line)
        elif self._kind is BlockKind.THINK:
            self._take_thought(line)
        elif self._kind is BlockKind.FORMULA:
            self._take_formula(line)
        elif self._kind is None and line[:1].isalpha():  # no mark begins so
            self._open(BlockKind.PARAGRAPH, line)
        elif (self._kind is BlockKind.PARAGRAPH and line[:1].isalpha()) or (
            self._kind is BlockKind.TABLE and line[:1] == "|"
        ):
            self._append(line)
        elif not line.strip():
            self._take_blank()
        elif self._starts_block(line):
            pass
        elif self._kind is None:
            self._open(BlockKind.PARAGRAPH, line)
        elif self._kind is BlockKind.LIST:
            self._take_list_line(line)
        elif self._kind is BlockKind.TABLE and "|" not in line:
            self._close()
            self._open(BlockKind.PARAGRAPH, line)
        else:
            self._append(line)

    def _take_code(self, line: str) -> None:
        mark = line.strip()
        if len(mark) >= len(self._fence) and mark and not mark.strip(self._fence[0]):
            self._close()
            return
        cut = 0
        while cut < self._indent and line[cut : cut + 1] == " ":
            cut += 1
        self._append(line[cut:])

    def _take_formula(self, line: str) -> None:
        if not line.strip():
            self._blank = bool(self._lines)
            return
        if self._size + len(line) > _LONGEST_CODE:
            self._take_back_formula()
            self._take(line)
            return
        before, mark, after = line.partition(self._fence)
        if self._blank and (not mark or before.strip()):
            self._take_back_formula()
            self._take(line)
            return
        content = before if self._language else before + mark
        if content.strip():
            self._append(content)
        if mark:
            self._close()
            if after.strip(" .,;"):
                self._take(after.lstrip())

    def _take_back_formula(self) -> None:
        """Take a formula for text: none has an empty line in it or is that long."""
        self._kind = BlockKind.PARAGRAPH
        self._lines[:1] = [self._language + "".join(self._lines[:1])]
        self._language = ""
        self._close()

    def _take_thought(self, line: str) -> None:
        self._in_line = False
        before, mark, after = line.partition(_THINK_CLOSE)
        self._append(before)
        if mark:
            self._close()
            if after.strip():
                self._take(after.lstrip())

    def _take_blank(self) -> None:
        if self._kind is BlockKind.LIST:
            self._blank = True
            self._append("")
        else:
            self._close()

    def _take_list_line(self, line: str) -> None:
        if self._blank and not line.startswith("  "):
            self._close()
            self._open(BlockKind.PARAGRAPH, line)
            return
        self._blank = False
        self._append(line)

    def _starts_block(self, line: str) -> bool:
        """Return True if the line opens a block of its own, or turns the paragraph before it into a table."""
        in_list = self._kind is BlockKind.LIST
        mark = line.lstrip()[:1]
        if mark not in _MARKS and not mark.isdecimal():
            return False
        fence = _FENCE.match(line) if mark in "`~" else None
        if fence and (in_list or len(fence[1]) < 4) and not (fence[2][0] == "`" and "`" in fence[3]):
            self._close()
            self._open(BlockKind.CODE)
            self._fence, self._indent = fence[2], len(fence[1])
            words = fence[3].split()
            self._language = words[0] if words else ""
            return True
        if line.lstrip().startswith(_THINK_OPEN) and not in_list:
            self._close()
            self._open(BlockKind.THINK)
            self._take_thought(line.lstrip()[len(_THINK_OPEN) :])
            return True
        if (mark in "$\\" and self._starts_formula(line)) or self._turns_into_table(line):
            return True
        if mark == "#" and _HEADING.match(line):
            self._close()
            self._open(BlockKind.HEADING, line)
            self._close()
            return True
        if self._kind is not BlockKind.PARAGRAPH and mark in "*-_" and _RULE.match(line):
            self._close()
            self._open(BlockKind.RULE, line)
            self._close()
            return True
        return self._starts_item_or_quote(line)

    def _starts_formula(self, line: str) -> bool:
        """Return True if the line opens a formula; one that is closed in mid-line belongs to a paragraph."""
        formula = _FORMULA.match(line)
        if formula is None or (len(formula[1]) > 3 and self._kind is not BlockKind.LIST):
            return False
        if self._kind is BlockKind.QUOTE:
            return False
        end = FORMULA_ENDS.get(formula[2]) or f"\\end{{{formula[3]}}}"
        _, mark, after = formula[4].partition(end)
        if mark and after.strip(" .,;"):
            return False
        self._close()
        self._open(BlockKind.FORMULA)
        self._language = formula[2] if formula[2] in FORMULA_ENDS else ""
        self._fence = end
        rest = formula[4] if self._language else line.strip()
        if rest.strip():
            self._take_formula(rest)
        return True

    def _starts_item_or_quote(self, line: str) -> bool:
        item = _ITEM.match(line)
        if item and self._kind is not BlockKind.QUOTE:
            top = len(item[1]) < 2
            if self._kind is BlockKind.LIST:
                if top and self._size > _LONGEST:
                    self._go_on("\n")
                self._blank = False
                self._append(line)
                return True
            if len(item[1]) < 4 and (self._kind is not BlockKind.PARAGRAPH or not _late_number(line)):
                self._close()
                self._open(BlockKind.LIST, line)
                return True
        inside = self._kind is BlockKind.QUOTE or (self._kind is BlockKind.LIST and line.startswith(" "))
        if _QUOTE.match(line) and not inside:
            self._close()
            self._open(BlockKind.QUOTE, line)
            return True
        return False

    def _turns_into_table(self, line: str) -> bool:
        if self._kind is not BlockKind.PARAGRAPH or "|" not in self._lines[-1] or "-" not in line:
            return False
        header = self._lines[-1]
        columns = len(split_cells(header)) if _DELIMITER.match(line) else 0
        if not 0 < columns <= _MOST_COLUMNS or columns != len(split_cells(line)):
            return False
        self._lines.pop()
        self._close()
        self._open(BlockKind.TABLE, header)
        self._begin, self._columns = self._at - len(header) - 1, columns
        self._append(line)
        return True


class PlainSplitter(BlockSplitter):
    """Parts of a text without Markdown, as it was typed."""

    def _may_become_mark(self, partial: str) -> bool:
        return False

    def _longest_line(self, line: str) -> int:
        return _LONGEST

    def skip(self, text: str, least: int, most: int) -> int:
        """Go on at a line of the text, see `BlockSplitter.skip`."""
        place = text.find("\n", least, most) + 1
        if place:
            self._begin_at(place)
            self._open(BlockKind.PLAIN)
            self._joined = "\n"
        return place

    def _take(self, line: str) -> None:
        self._in_line = False
        if self._kind is None:
            self._open(BlockKind.PLAIN)
        self._append(line)


def _late_number(line: str) -> bool:
    """Return True if an ordered item does not start at 1: such a line cannot interrupt a paragraph (CommonMark 5.2)."""
    number = line.lstrip().split(".")[0].split(")")[0]
    return number.isdigit() and int(number) != 1
