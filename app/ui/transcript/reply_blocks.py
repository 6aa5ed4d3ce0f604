"""The blocks of one message while it streams in and after: widgets near the view, heights elsewhere."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile
from operator import attrgetter
from time import perf_counter

from PySide6.QtCore import QEvent, QRect, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.chat.conversation import Stretches, ToolStep
from app.chat.markdown_blocks import Block, BlockKind
from app.chat.search import places, visible_text
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.block_widgets import (
    BlockWidget,
    RuleBlock,
    SearchedWidget,
    UnconfirmedText,
    gap_px,
    make_block_widget,
    show_in_place,
)
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.prose import ProseBlock, ThoughtBlock
from app.ui.transcript.sections import FENCE, SECTION, Piece, Section, Size, SplitText, size_of
from app.ui.transcript.selectable import Selectable
from app.ui.transcript.text_marks import Stretch, clipped, stretches_of_blocks
from app.ui.transcript.tool_card import CallsBlock

_REFRESH_MS = 33
_EMPTY = Block(BlockKind.PARAGRAPH, "")
# Work is counted in characters; a widget costs as much as so many of them, some 2 ms, and a block to parse.
_WIDGET, _PARSED = 250, 2
_CELL = 12  # a character in a table
_WORK = 2_500  # in one turn of the event loop
_AT_ONCE = 12_000  # work of a short text, which is all widgets before it is seen, so that its height is right
_FED = 8_000  # characters that are split at once; more come in pieces
_READ_BEFORE = 2_000  # characters of a code that its highlighter reads before a further part of it
_SLICE_MS = 8.0
_KEPT = 2.0  # heights of the view from it, within which widgets are kept
_LETTER_PX = 7.4  # of an estimate
_TALLEST_PX = 4_000_000  # Qt's widgets end at 16 million; heights of what is far from the view share these


class ReplyBlocks(QWidget):
    """Finished blocks are parsed once; only the tail is parsed again.

    That happens at most every 33 ms, and less often when one pass takes long, so that the window stays free for
    the user. Nothing else on the way of a text holds it back. A long text is parsed in pieces, and only what is near
    the view (`see`) is made of widgets, a few at a time; the rest is sections with estimated heights.

    Args:
        plain: True if the text is no Markdown.
    """

    height_changed = Signal()
    link_activated = Signal(QUrl)
    tool_answered = Signal(int, str)  # number of the step in its reply, `Answer`

    def __init__(self, theme: Theme, parent: QWidget, plain: bool = False) -> None:
        super().__init__(parent)
        self.theme = theme
        theme.changing.connect(self._drop_widgets)
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)  # growing leaves what is painted as it is
        self.split = SplitText(plain, self._end_section)
        self.sections = self.split.sections  # the last one is still written
        self._near: list[Section] = []  # those that have pieces
        self._final = 0  # number of pieces of the last section that no more text changes
        self._unfolded: set[int] = set()  # numbers of thoughts
        self._steps: dict[int, list[tuple[int, ToolStep]]] = {}  # by their places in the text, with their numbers
        self.unfolding = False  # True while the height changes because the user shows or hides something
        self._complete = False
        self._caret: bool | None = None
        self._caret_in: ProseBlock | CodeBlock | None = None
        self._fitted: tuple[int, int] | None = None
        self._width = -1
        self._seen: tuple[int, int] | None = None  # from where to where it is in view, in px
        self._spent = 0  # work of this turn of the event loop
        self._refreshed_at = 0.0
        self._cost_ms = 0.0
        self._drafted: list[Stretch] = []
        self._pattern: re.Pattern[str] | None = None
        self._counted = 0  # sections in which the places that a search finds are counted
        self._chosen: Piece | None = None  # the piece of the current place of the search
        self._unconfirmed: UnconfirmedText | None = None
        self._guess = ""
        self._guessed_at = 0  # length of the text that the guess goes on from
        self._least_height = 0  # while guesses come and go, so that what is below stays where it is
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.refresh)
        self._feeder = QTimer(self, interval=0)
        self._feeder.timeout.connect(self._feed)
        self._builder = QTimer(self, singleShot=True, interval=0)
        self._builder.timeout.connect(self._build_more)

    @property
    def text(self) -> str:
        """The Markdown so far."""
        return self.split.text

    @property
    def widgets(self) -> list[BlockWidget]:
        """The blocks that are widgets now, in their order."""
        return [piece.widget for piece in self._pieces() if piece.widget is not None]

    @property
    def settled(self) -> bool:
        """True if all of the text is parsed and what is near the view is made of widgets."""
        return self.split.whole and not self._builder.isActive()

    def change_text(self, text: str) -> None:
        """Take the longer text, and show it at once unless the last change was shown just before."""
        self._take_text(text)
        self._refresh_soon()

    def set_text(self, text: str) -> None:
        """Show a whole text now; a long one comes piece by piece."""
        self._take_text(text)
        self.refresh()

    def set_steps(self, steps: Sequence[ToolStep], before: int, most: int) -> None:
        """Take the calls of tools; `set_text` shows them.

        Args:
            steps: Calls in their order.
            before: Characters of the text before those that their places count.
            most: The last place in the text.
        """
        self._steps = {}
        for number, step in enumerate(steps):
            self._steps.setdefault(min(before + step.place, most), []).append((number, step))
        if not self.split.set_calls(sorted(self._steps)):
            self._restart()
        for widget in self.widgets:
            self._show_steps(widget)

    def _show_steps(self, widget: BlockWidget) -> None:
        if isinstance(widget, CallsBlock):
            widget.set_steps(self._steps.get(widget.place, ()), not self._complete)

    def _restart(self) -> None:
        first = self.sections[0].pieces[:1]
        for piece in self._pieces():
            if piece not in first:
                _discard(piece)
        self.split.restart()
        self.sections[0].pieces, self._final = first, 0
        for piece in first:
            piece.section = self.sections[0]
        self._near = self.sections[:]
        self._unfolded.clear()
        self._counted, self._chosen = 0, None

    def _take_text(self, text: str) -> None:
        """Split the beginning of what is new; the blocks of what it only adds to are kept."""
        if not text.startswith(self.text):
            self._restart()
        self.split.text = text
        if len(text) - self.split.fed <= _FED:
            self.split.read(_FED)
        else:
            self._feeder.start()

    def _end_section(self, last: Section, blocks: list[Block], skipped: bool) -> None:
        """Move the pieces that the ended section has no blocks for to the one that begins.

        Args:
            skipped: True if some of its text was skipped, so that its pieces are dropped.
        """
        final, self._final = self._final, 0
        if skipped:
            _drop(last.pieces, 0)
        if last.pieces:
            after = self.sections[-1]
            after.pieces = last.pieces[len(blocks) :]
            del last.pieces[len(blocks) :]
            for piece in after.pieces:
                piece.section = after
            self._near.append(after)
            self._give(last, blocks, final)
            self._tell_height()  # before anything is painted

    @Slot()
    def _feed(self) -> None:
        """Split some more of the text."""
        begun = perf_counter()
        while not self.split.whole and (perf_counter() - begun) * 1000 < _SLICE_MS:
            self.split.read_on()
        if self.split.whole:
            self._feeder.stop()
            self.refresh()

    def _refresh_soon(self) -> None:
        waited_ms = (perf_counter() - self._refreshed_at) * 1000
        pause_ms = max(_REFRESH_MS, 3 * self._cost_ms)
        if waited_ms >= pause_ms:
            self.refresh()
        elif not self._timer.isActive():
            self._timer.start(int(pause_ms - waited_ms))

    def set_complete(self, complete: bool) -> None:
        """Say whether the text has ended; at its end an open code fence counts as closed."""
        if complete != self._complete:
            self._complete = complete
            self._least_height = 0
            for widget in self.widgets:
                self._show_steps(widget)
            self.refresh()

    def set_caret(self, lit: bool | None) -> None:
        """Show a caret at the end, lit or dark; None removes it."""
        changed = (lit is None) != (self._caret is None)
        self._caret = lit
        if changed and not self.text:
            self.refresh()
        else:
            self._show_caret()

    def show_unconfirmed(self, text: str) -> None:
        """Show a guess of what follows after the text, in place of the last; it is no part of the text."""
        if text != self._guess or self._guessed_at != len(self.text):
            self._guess, self._guessed_at = text, len(self.text)
            self._refresh_soon()

    @property
    def unconfirmed(self) -> str:
        """The guess that is shown; empty when none is."""
        hidden = self._unconfirmed is None or self._unconfirmed.isHidden()
        return "" if hidden or self._unconfirmed is None else self._unconfirmed.text

    def _show_guess(self) -> None:
        """Show the guess if it goes on from the text that is shown, or take it away."""
        guess = self._guess if self._guessed_at == len(self.text) and not self._complete else ""
        if guess and self._unconfirmed is None:
            self._unconfirmed = UnconfirmedText(self.theme, self)
        if self._unconfirmed is not None:
            if guess:
                self._unconfirmed.set_text(guess)
            self._unconfirmed.setVisible(bool(guess))

    def set_drafted(self, stretches: Stretches) -> None:
        """Mark the parts of a finished text that came from accepted drafts; none takes the marks away."""
        if not stretches and not self._drafted:
            return  # asked four times a second while a reply is written
        self._drafted = list(stretches)
        for section in self._near:
            self._show_drafted(section)
        self._forget_heights()

    def _show_drafted(self, section: Section) -> None:
        start, end = self.split.range_of(section)
        first = max(0, bisect_left(self._drafted, (start, start)) - 1)
        parts = clipped(takewhile(lambda stretch: stretch[0] < end, islice(self._drafted, first, None)), start, end)
        texts = [piece.block.text for piece in section.pieces]
        for piece, part in zip(section.pieces, stretches_of_blocks(self.text[start:end], texts, parts), strict=True):
            if piece.widget is not None and not isinstance(piece.widget, (RuleBlock, CallsBlock)):
                piece.widget.set_drafted(part)

    # --- search -----------------------------------------------------------------------------------------------

    @property
    def found(self) -> int:
        """Number of places that a search found in the sections that are counted."""
        return sum(map(self._found_in, islice(self.sections, self._counted)))

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds, now and in text that follows, which `count_more` counts; None ends it."""
        self._pattern = pattern
        self._counted = 0
        for section in self.sections:
            section.found = -1
        for piece in self._pieces():
            piece.found = -1
            if isinstance(piece.widget, SearchedWidget):
                piece.widget.search(pattern)

    def count_more(self) -> int:
        """Count the places in one more section; return the work in characters, or 0 if all are counted."""
        if self._pattern is None or self._counted == len(self.sections):
            return 0
        if not self.split.whole and self._counted == len(self.sections) - 1:
            return SECTION  # comes as soon as it is split
        section = self.sections[self._counted]
        self._found_in(section)
        self._counted += 1
        start, end = self.split.range_of(section)
        return max(end - start, 1)

    def _found_in(self, section: Section) -> int:
        """Count the places in a section: those that it shows, else those in its Markdown."""
        if section.pieces:
            return sum(map(self._found_at, section.pieces))
        if section.found < 0:
            section.found = self._places_in("<think>" * section.splitter.in_thought + self.split.markdown(section))
        return section.found

    def _found_at(self, piece: Piece) -> int:
        if piece.widget is not None:
            return piece.widget.found if isinstance(piece.widget, SearchedWidget) else 0
        if piece.found < 0:
            piece.found = self._places_in(piece.block.text)
        return 0 if piece.block.kind is BlockKind.THINK else piece.found

    def _places_in(self, markdown: str) -> int:
        return 0 if self._pattern is None else len(places(self._pattern, visible_text(markdown)))

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one; return where it is."""
        if self._chosen is not None and isinstance(self._chosen.widget, SearchedWidget):
            self._chosen.widget.choose_found(None)
        self._chosen = None
        for section in islice(self.sections, 0 if number is None else self._counted):
            count = self._found_in(section)
            if number is not None and number < count:
                return self._choose_in(section, number)
            number = None if number is None else number - count
        return QRect()

    def _choose_in(self, section: Section, number: int) -> QRect:
        if not section.pieces:
            self._parse(section)
            number = min(number, max(0, self._found_in(section) - 1))
        for piece in section.pieces:
            count = self._found_at(piece)
            if number < count:
                self._build(piece)
                self._chosen = piece
                self._tell_height()
                if self._width > 0:
                    self.fit(self._width)
                if not isinstance(piece.widget, SearchedWidget) or not piece.widget.found:
                    break
                place = piece.widget.choose_found(min(number, piece.widget.found - 1))
                return place.translated(piece.widget.pos())
            number -= count
        return QRect()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        for piece in self._pieces():
            if piece.widget is not None:
                piece.widget.restyle()
        self._forget_widths()
        self._least_height = 0

    # --- texts ------------------------------------------------------------------------------------------------

    def selectables(self) -> list[Selectable]:
        """Parts that a selection can reach."""
        return [part for part, _ in self.parts(seen=True) if not isinstance(part, str)]

    def parts(self, seen: bool = False) -> Iterator[tuple[Selectable | str, str | None]]:
        """Yield the parts that a selection can reach, each with the text before it.

        Args:
            seen: True without the texts between them that are no widgets.
        """
        for section in self._near if seen else self.sections:
            if not section.pieces and (text := self.split.markdown(section)):
                yield text, section.splitter.joined
            for piece in section.pieces:
                if piece.widget is not None:
                    yield from ((one, piece.block.joined) for one in piece.widget.selectables() if not one.isHidden())
                elif not seen and piece.block.kind is not BlockKind.CALLS:
                    yield piece.block.source, piece.block.joined

    # --- what is seen -----------------------------------------------------------------------------------------

    def see(self, top: int, bottom: int) -> None:
        """Make widgets of what is from here to there or near it, in px, and give up those that are far away."""
        self._seen = (top, bottom)
        self._build_seen()

    def place_of(self, character: int) -> int:
        """Return where a block begins that a character of the text is in, in px."""
        section = self.sections[bisect_right(self.sections, character, key=attrgetter("begin")) - 1]
        end, top = section.begin, section.top
        for piece in section.pieces:
            if end > character:
                break
            end = max(end, self.text.find(piece.block.source, end) + len(piece.block.source))
            top = piece.top
        return top

    def anchor(self, y: int) -> tuple[Piece | Section, int]:
        """Return what stands at a place in px, and how far below its top that is."""
        section = self.sections[max(0, bisect_right(self.sections, y, key=attrgetter("top")) - 1)]
        at = bisect_right(section.pieces, y, key=attrgetter("top")) - 1
        found = section.pieces[at] if at >= 0 else section
        return found, y - found.top

    def _spend(self, work: int) -> None:
        """Count work done in this turn of the event loop, and go on in the next one."""
        self._spent += work
        self._builder.start()

    @Slot()
    def _build_more(self) -> None:
        self._spent = 0
        self._build_seen()

    def _build_seen(self) -> None:
        if self._seen is None or not self.split.whole:
            return
        top, bottom = self._seen
        room = bottom - top
        self._drop_far(_KEPT * room)
        first = max(0, bisect_right(self.sections, top - room, key=attrgetter("top")) - 1)
        sections = list(takewhile(lambda one: one.top <= bottom + room, islice(self.sections, first, None)))
        unparsed = [one for one in sections if not (one.pieces or one is self.sections[-1] or self._hides(one.thought))]
        changed = False
        while unparsed and self._spent < _WORK:
            self._parse(unparsed.pop())
            changed = True
        missing = [
            piece
            for section in sections
            for piece in section.pieces
            if piece.widget is None and not self._folds(piece) and piece.width == self._width
            if piece.top + piece.height >= top - room and piece.top <= bottom + room
        ]
        missing.sort(key=lambda piece: max(top - piece.top - piece.height, piece.top - bottom, 0))
        while missing and self._spent < _WORK:
            self._build(missing.pop(0))
            changed = True
        if missing or unparsed:
            self._builder.start()
        if changed:
            self._show_caret()
            self._tell_height()  # which may differ from what was estimated

    def _drop_far(self, room: float) -> None:
        """Give up the widgets that are further from the view than that in px, and the pieces of whole sections."""
        if self._seen is None:
            return
        top, bottom = self._seen[0] - room, self._seen[1] + room
        near = []
        for section in self._near:
            for piece in section.pieces:
                far = piece.top > bottom or piece.top + piece.height < top
                if far and self._can_drop(piece):
                    _discard(piece)
            far = section.top > bottom or section.top + section.height < top
            if far and section is not self.sections[-1] and all(piece.widget is None for piece in section.pieces):
                section.pieces = []
            else:
                near.append(section)
        self._near = near

    def _can_drop(self, piece: Piece) -> bool:
        """Return True if it has a widget and nothing is lost with that: no place found, no keyboard, no selection."""
        widget, focus = piece.widget, QApplication.focusWidget()
        if widget is None or piece is self._chosen or widget is focus:
            return False
        kept = focus is not None and widget.isAncestorOf(focus)
        return not kept and all(part.copies is None for part in widget.selectables())

    @Slot()
    def _drop_widgets(self) -> None:
        """Give up the widgets, now and not in the next turn: making others costs less than another style of these."""
        for piece in self._pieces():
            if self._can_drop(piece):
                _discard(piece)
        self._drop_far(0)
        self._builder.start()
        for child in self.children():
            QApplication.sendPostedEvents(child, QEvent.Type.DeferredDelete.value)

    def _pieces(self) -> Iterator[Piece]:
        return (piece for section in self._near for piece in section.pieces)

    def _parse(self, section: Section) -> None:
        """Make the pieces of a section that has none."""
        blocks = self.split.blocks_of(section)
        self._spend(_WIDGET + _PARSED * len(blocks))
        self._give(section, blocks or [_EMPTY], 0)

    def _give(self, section: Section, blocks: list[Block], first: int) -> None:
        """Let a section have these blocks; what is before the first of them has not changed."""
        if section not in self._near[-2:]:
            at = bisect_right(self._near, section.fed, key=attrgetter("fed"))
            if not at or self._near[at - 1] is not section:
                self._near.insert(at, section)
        pieces = section.pieces
        for piece, block in zip(islice(pieces, first, None), islice(blocks, first, None), strict=False):
            piece.block = block
            piece.found = -1
            piece.forget_height()
            if piece.widget is not None:
                self._spend(_work(block))
                if not show_in_place(piece.widget, block, self._complete):
                    _discard(piece)
                    self._build(piece)
        _drop(pieces, len(blocks))
        pieces += [Piece(section, block) for block in islice(blocks, len(pieces), None)]
        section.width = -1
        thought = section.thoughts
        for piece in pieces:
            thinks = piece.block.kind is BlockKind.THINK
            thought += thinks and piece.block.joined is None
            piece.thought = thought if thinks else -1

    def _folds(self, piece: Piece) -> bool:
        """Return True if a piece is hidden: it belongs to a folded thought."""
        return piece.block.joined is not None and self._hides(piece.thought)

    def _hides(self, thought: int) -> bool:
        return thought >= 0 and thought not in self._unfolded

    @Slot(bool)
    def _unfold(self, shown: bool) -> None:
        number = next(piece.thought for piece in self._pieces() if piece.widget is self.sender())
        (self._unfolded.add if shown else self._unfolded.discard)(number)
        for piece in self._pieces():
            if piece.thought == number and isinstance(piece.widget, ThoughtBlock):
                piece.widget.set_unfolded(shown)
        self._forget_widths()
        self.unfolding = True
        self._tell_height()
        self.unfolding = False

    # --- places -----------------------------------------------------------------------------------------------

    def fit(self, width: int) -> int:
        """Place the blocks at a width and return the height, in px."""
        if self._fitted is not None and self._fitted[0] == width:
            return self._fitted[1]
        if self._width not in (-1, width):
            self._drop_far(0)
            self._least_height = 0
        self._width = width
        far, estimate = 0, self._estimates(width)
        for section in self.sections:
            if not section.pieces:
                if section.width != width:
                    section.height = 0 if self._hides(section.thought) else estimate(section.size)
                    section.width = width
                far += section.height
        squeezed = min(1.0, _TALLEST_PX / max(far, 1))
        top, before = 0, None  # type: int, BlockKind | None
        for section in self.sections:
            if section.pieces and (section.width != width or section.top != top):
                section.top = top
                top, section.last = self._place(section, top, before, width)
                section.height, section.width = top - section.top, width
            else:
                section.top = top
                top += section.height if section.pieces else round(section.height * squeezed)
            before = section.last
        if self._unconfirmed is not None and not self._complete:
            if self.unconfirmed:
                top = self._fit_unconfirmed(self._unconfirmed, width, top)
            top = self._least_height = max(top, self._least_height)
        self._fitted = (width, top)
        return top

    def _place(self, section: Section, top: int, before: BlockKind | None, width: int) -> tuple[int, BlockKind | None]:
        """Place a section's pieces; return where they end, and the kind of the last one."""
        estimate = self._estimates(width)
        for piece in section.pieces:
            hidden = self._folds(piece)
            if not hidden:
                top += 0 if piece.block.joined is not None else gap_px(before, piece.block.kind)
                before = piece.block.kind
            moved = piece.top != top
            piece.top = top
            if piece.width != width:
                block = piece.block
                if hidden:
                    piece.height = 0
                elif piece.widget is not None:
                    piece.height = piece.widget.fit(width)
                else:
                    piece.height = estimate(size_of(block))
            if piece.widget is not None and (moved or piece.width != width):
                piece.widget.setGeometry(0, top, width, piece.height)
            piece.width = width
            top += piece.height
        return top, before

    def _estimates(self, width: int) -> Callable[[Size], int]:
        """Return a function that estimates the height in px, at a width, of blocks that were never laid out."""
        scale, line = self.theme.type.px(1000) / 1000, self.theme.type.line_height(TextStyle.READING)
        wraps = _LETTER_PX * scale / max(width, 1)
        return lambda size: round(size[0] * scale + (size[1] + size[2] * wraps) * line)

    def _fit_unconfirmed(self, unconfirmed: UnconfirmedText, width: int, bottom: int) -> int:
        """Place the guess from where the text ends, or on a line of its own below; return where it ends."""
        pieces = self.sections[-1].pieces
        last = pieces[-1].widget if pieces else None
        line = QRect(0, bottom, 0, 0)
        if isinstance(last, ProseBlock) and not self.text.endswith("\n"):
            line = last.last_line().translated(last.pos())
        height = unconfirmed.fit(line.width(), width - line.left())
        unconfirmed.setGeometry(line.left(), line.top(), width - line.left(), height)
        unconfirmed.raise_()
        return max(bottom, line.top() + height)

    # --- blocks -----------------------------------------------------------------------------------------------

    @Slot()
    def refresh(self) -> None:
        """Show what has come since the last time."""
        begun = perf_counter()
        self._timer.stop()
        self._show_guess()
        last = self.sections[-1]
        whole, splitter = self.split.whole, self.split.splitter
        blocks = [*splitter.frozen, *(splitter.tail() if whole else ())]
        called = whole and blocks[-1:] and blocks[-1].kind is BlockKind.CALLS
        if self._caret is not None and (called or (not blocks and len(self.sections) == 1)):
            blocks.append(_EMPTY)  # for the caret to stand in
        self._give(last, blocks, self._final)
        self._final = len(splitter.frozen)
        unseen = self._seen is None
        most = _AT_ONCE if unseen and len(self.sections) <= 2 else _WORK
        if whole and (self._seen is None or self.height() <= 2 * self._seen[1] - self._seen[0]):
            for piece in reversed(last.pieces if unseen else last.pieces[-2:]):  # before the reader's eyes
                if self._spent < most:
                    self._build(piece)
        self._show_caret()
        self._tell_height()
        self._refreshed_at = perf_counter()
        self._cost_ms = (self._refreshed_at - begun) * 1000

    def _build(self, piece: Piece) -> None:
        """Make a piece's widget if it has none."""
        if piece.widget is not None or self._folds(piece):
            return
        block = piece.block
        self._spend(_work(block))
        before = self._code_before(piece) if block.kind is BlockKind.CODE and block.joined == "\n" else ""
        piece.widget = widget = make_block_widget(self.theme, block, self, before)
        piece.forget_height()
        if isinstance(widget, (ProseBlock, ThoughtBlock)):
            widget.link_activated.connect(self.link_activated)
        if isinstance(widget, CallsBlock):
            widget.answered.connect(self.tool_answered)
            self._show_steps(widget)
        if not isinstance(widget, RuleBlock):
            widget.height_changed.connect(self._forget_heights)
        if isinstance(widget, ThoughtBlock):
            widget.set_unfolded(piece.thought in self._unfolded)
            widget.unfolded.connect(self._unfold)
        for part in widget.selectables():
            part.joined = block.joined
        if isinstance(widget, CodeBlock):
            widget.copy_requested.connect(self._copy_code)
        if self._pattern is not None and isinstance(widget, SearchedWidget):
            widget.search(self._pattern)
        if self._complete:
            show_in_place(widget, block, True)
        if self._drafted:
            self._show_drafted(piece.section)
        widgets = self.widgets
        following = widgets[widgets.index(widget) + 1 :]
        if following:
            widget.stackUnder(following[0])  # a screen reader reads them in this order
        widget.show()

    def _code_before(self, piece: Piece) -> str:
        """Return the end of the code that a piece goes on with: the highlighter begins there."""
        section = piece.section
        words: list[str] = []
        for one in reversed(section.pieces[: section.pieces.index(piece)]):
            words.append(f"{one.block.text}\n")
            if one.block.joined is None or sum(map(len, words)) > _READ_BEFORE:
                return "".join(reversed(words))
        start = self.text.find("\n", max(0, section.begin - _READ_BEFORE)) + 1
        fence = [match.end() for match in FENCE.finditer(self.text, start, section.begin)]
        return "".join((self.text[fence[-1] if fence else start : section.begin], *reversed(words)))

    @Slot()
    def _copy_code(self) -> None:
        code = self.split.code_above(self.sender().y() + 1)  # type: ignore[attr-defined]
        QGuiApplication.clipboard().setText(code or "")

    def _show_caret(self) -> None:
        pieces = self.sections[-1].pieces
        last = pieces[-1].widget if pieces else None
        if self._caret_in is not last and self._caret_in is not None and isValid(self._caret_in):
            self._caret_in.set_caret(False)  # several blocks may have come since
        self._caret_in = last if isinstance(last, (ProseBlock, CodeBlock)) else None
        if self._caret_in is not None:
            self._caret_in.set_caret(bool(self._caret))

    @Slot()
    def _forget_heights(self) -> None:
        """Forget the heights of blocks that are widgets: one changed its height."""
        for piece in self._pieces():
            piece.forget_height()
        self._tell_height()

    def _forget_widths(self) -> None:
        for section in self.sections:
            section.width = -1
        for piece in self._pieces():
            piece.width = -1
        self._fitted = None

    def _tell_height(self) -> None:
        self._fitted = None
        self.height_changed.emit()


def _work(block: Block) -> int:
    return _WIDGET + len(block.text) * (_CELL if block.kind is BlockKind.TABLE else 1)


def _drop(pieces: list[Piece], first: int) -> None:
    """Take away the pieces from one on."""
    for piece in pieces[first:]:
        _discard(piece)
    del pieces[first:]


def _discard(piece: Piece) -> None:
    if piece.widget is not None:
        piece.widget.hide()
        piece.widget.deleteLater()
        piece.widget = None
