"""The blocks of one reply while it streams in and after: parsed once, widgets near the view, heights elsewhere."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import islice, takewhile
from time import perf_counter

from PySide6.QtCore import QRect, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.chat.conversation import NO_STRETCHES, Stretches
from app.chat.markdown_blocks import Block, BlockKind, BlockSplitter, joined_text
from app.chat.search import places, visible_text
from app.ui.theme.theme import Theme
from app.ui.transcript.block_widgets import (
    PROSE,
    BlockWidget,
    RuleBlock,
    SearchedWidget,
    UnconfirmedText,
    gap_px,
    make_block_widget,
    show_in_place,
)
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.prose import SHOWN, ProseBlock, ThoughtBlock
from app.ui.transcript.text_marks import Stretch, stretches_of_blocks

_REFRESH_MS = 33
_EMPTY = Block(BlockKind.PARAGRAPH, "")
# Work is counted in characters; a widget costs as much as so many of them, some 2 ms.
_WIDGET = 250
_CELL = 12  # a character in a table
_SECTION = 1_500
_WORK = 2_500  # in one turn of the event loop
_AT_ONCE = 8  # sections of a short reply, which are widgets before it is seen, so that its height is right
_FED, _FED_EACH = 8_000, 1_000  # characters that are parsed at once, and in pieces after these
_SLICE_MS = 8.0
_KEPT = 2.0  # heights of the view from it, within which widgets are kept
_LINE_PX, _LETTER_PX = 24, 7.4  # of an estimate


class Section:
    """Some blocks that are widgets together, or a height: what is far from the view costs no widgets."""

    __slots__ = ("blocks", "fixed", "found", "height", "parts", "size", "top", "widgets", "width")

    def __init__(self, blocks: list[Block], widgets: list[BlockWidget]) -> None:
        self.blocks = blocks
        self.widgets = widgets  # of the first blocks; all of them, or none, unless the last one is written
        self.fixed = 0  # number of blocks that no more text changes
        self.size = (0, 0)  # lines, in tenths of px at the usual size, and characters that may need more lines
        self.width = -1  # that the height is of; -1 where it is to be found again
        self.height = 0
        self.top = 0  # below the gap above it
        self.found = -1  # places that a search found in the text; -1 where it is not counted
        self.parts: list[list[Stretch]] = []  # drafted, by block

    @property
    def built(self) -> bool:
        """True if all its blocks are widgets."""
        return len(self.widgets) == len(self.blocks)

    @property
    def joined(self) -> str | None:
        """Text between it and the section before, if it goes on with that."""
        return self.blocks[0].joined

    def text(self) -> str:
        """Return its Markdown."""
        return joined_text((block.source, block.joined) for block in self.blocks)


class ReplyBlocks(QWidget):
    """Finished blocks are parsed once; only the tail is parsed again.

    That happens at most every 33 ms, and less often when one pass takes long, so that the window stays free for
    the user. Nothing else on the way of a text holds it back. A long text is parsed in pieces, and only what is near
    the view (`see`) is made of widgets, a few at a time; the rest is sections with estimated heights.
    """

    height_changed = Signal()
    link_activated = Signal(QUrl)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)  # growing leaves what is painted as it is
        self.sections: list[Section] = [Section([], [])]  # the last one is still written
        self._splitter = BlockSplitter()
        self.text: str = ""  # the Markdown so far
        self.has_code: bool = False  # True if a block is code
        self._fed = 0  # characters of it that are parsed
        self._complete = False
        self._caret: bool | None = None
        self._caret_in: ProseBlock | CodeBlock | None = None
        self._fitted: tuple[int, int] | None = None
        self._width = -1
        self._held: list[Section] = []  # those that have widgets
        self._placed = 0  # number of sections that stand where they belong
        self._seen: tuple[int, int] | None = None  # from where to where it is in view, in px
        self._spent = 0  # work of this turn of the event loop
        self._refreshed_at = 0.0
        self._cost_ms = 0.0
        self._drafted: Stretches = NO_STRETCHES
        self._pattern: re.Pattern[str] | None = None
        self._chosen: Section | None = None  # the section of the current place of the search
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
    def widgets(self) -> list[BlockWidget]:
        """The blocks that are widgets now, in their order."""
        return [widget for section in self.sections for widget in section.widgets]

    @property
    def settled(self) -> bool:
        """True if all of the text is parsed and what is near the view is made of widgets."""
        return self._fed == len(self.text) and not self._builder.isActive()

    def code_above(self, bottom: int) -> str | None:
        """Return the last code that begins above a place in px, else the first, or None without any."""
        codes: list[tuple[int, list[str]]] = []
        for section in self.sections:
            for at, block in enumerate(section.blocks):
                if block.kind is BlockKind.CODE and block.joined is None:
                    y = section.widgets[at].y() if at < len(section.widgets) else section.top
                    if codes and y >= bottom:
                        return "".join(codes[-1][1])
                    codes.append((y, [block.text]))
                elif block.kind is BlockKind.CODE and codes:
                    codes[-1][1].extend((block.joined or "", block.text))
        return "".join(codes[-1][1] if codes[-1][0] < bottom else codes[0][1]) if codes else None

    def change_text(self, text: str) -> None:
        """More has come: shown at once when the last time is long enough ago."""
        self._take_text(text)
        self._refresh_soon()

    def set_text(self, text: str) -> None:
        """Show a whole text now; a long one comes piece by piece."""
        self._take_text(text)
        self.refresh()

    def _take_text(self, text: str) -> None:
        """Split the beginning of what is new; the blocks of what it only adds to are kept."""
        if not text.startswith(self.text):
            self._splitter = BlockSplitter()
            self._fed = 0
            first = self.sections[0]
            for widget in self.widgets[min(1, len(first.widgets)) :]:
                _discard(widget)
            self.sections = [Section(first.blocks[:1], first.widgets[:1])]
            self._held = self.sections[:]
            self._placed = 0
            self.has_code = False
        self.text = text
        if len(text) - self._fed <= _FED:
            self._splitter.feed(text[self._fed :])
            self._fed = len(text)
        else:
            self._feeder.start()

    @Slot()
    def _feed(self) -> None:
        """Split some more of the text."""
        begun = perf_counter()
        while self._fed < len(self.text) and (perf_counter() - begun) * 1000 < _SLICE_MS:
            self._splitter.feed(self.text[self._fed : self._fed + _FED_EACH])
            self._fed = min(len(self.text), self._fed + _FED_EACH)
        if self._fed == len(self.text):
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
        """Nothing follows any more: an open code fence counts as closed."""
        if complete != self._complete:
            self._complete = complete
            self._least_height = 0
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
        self._drafted = stretches
        self._share_drafted()
        for section in self.sections:
            for widget, part in zip(section.widgets, section.parts, strict=False):
                if not isinstance(widget, RuleBlock):
                    widget.set_drafted(part)
        self._forget_heights()

    def _share_drafted(self) -> None:
        texts = [block.text for section in self.sections for block in section.blocks]
        parts = iter(stretches_of_blocks(self.text, texts, self._drafted))
        for section in self.sections:
            section.parts = [next(parts) for _ in section.blocks]

    @property
    def found(self) -> int:
        """Number of places that a search found."""
        return sum(map(self._found_in, self.sections)) if self._pattern is not None else 0

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds, now and in text that follows; None ends it."""
        self._pattern = pattern
        for section in self.sections:
            section.found = -1
        for widget in _searched(self.widgets):
            widget.search(pattern)

    def _found_in(self, section: Section) -> int:
        """Count the places in a section: those that it shows, else those in its Markdown."""
        if section.widgets:
            return sum(widget.found for widget in _searched(section.widgets))
        if section.found < 0 and self._pattern is not None:
            section.found = len(places(self._pattern, visible_text(section.text())))
        return max(section.found, 0)

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one; return where it is."""
        chosen, self._chosen = QRect(), None
        for section in self.sections:
            count = self._found_in(section) if number is not None else 0
            if number is not None and 0 <= number < count:
                self._chosen = section
                if not section.built:
                    self._build(section)
                    self._tell_height()
                    number = min(number, max(0, self._found_in(section) - 1))
                if self._width > 0:
                    self.fit(self._width)
                for widget in _searched(section.widgets):
                    inside = number is not None and 0 <= number < widget.found
                    place = widget.choose_found(number if inside else None)
                    if inside:
                        chosen = place.translated(widget.pos())
                    number = None if number is None or inside else number - widget.found
                number = None
            else:
                for widget in _searched(section.widgets):
                    widget.choose_found(None)
                number = None if number is None else number - count
        return chosen

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self._drop_far(0)
        for held in self._held:
            for widget in held.widgets:
                widget.restyle()
        for section in self.sections:
            section.width = -1
        self._fitted = None
        self._placed = 0
        self._least_height = 0

    # --- what is seen -----------------------------------------------------------------------------------------

    def see(self, top: int, bottom: int) -> None:
        """Make widgets of what is from here to there or near it, in px, and give up those that are far away."""
        self._seen = (top, bottom)
        if not self._builder.isActive():
            self._build_seen()

    def anchor(self, y: int) -> tuple[Section, int]:
        """Return the section at a place in px, and how far below its top that is."""
        section = self._section_at(y)
        return section, y - section.top

    def _section_at(self, y: int) -> Section:
        return self.sections[max(0, bisect_right(self.sections, y, hi=self._placed, key=_top) - 1)]

    @Slot()
    def _build_more(self) -> None:
        self._spent = 0
        self._build_seen()

    def _build_seen(self) -> None:
        if self._seen is None or self._fed < len(self.text):
            return
        top, bottom = self._seen
        room = bottom - top
        self._drop_far(_KEPT * room)
        missing = [section for section in self._sections_in(top - room, bottom + room) if not section.built]
        missing.sort(key=lambda section: max(top - section.top - section.height, section.top - bottom, 0))
        changed = False
        while missing and self._spent < _WORK:
            self._build(missing.pop(0))
            changed = True
        if missing or changed:
            self._builder.start()  # heights may differ from what was estimated
        if changed:
            self._show_caret()
            self._tell_height()

    def _sections_in(self, top: int, bottom: int) -> list[Section]:
        first = max(0, bisect_right(self.sections, top, key=_top) - 1)
        return list(takewhile(lambda section: section.top <= bottom, islice(self.sections, first, None)))

    def _drop_far(self, room: float) -> None:
        """Give up the widgets that are further from the view than that, in px."""
        if self._seen is None:
            return
        top, bottom = self._seen
        for section in self._held:
            far = section.top > bottom + room or section.top + section.height < top - room
            if section.widgets and far and section is not self._chosen and _can_drop(section):
                for widget in section.widgets:
                    _discard(widget)
                section.widgets = []
        self._held = [section for section in self._held if section.widgets]

    def _build(self, section: Section) -> None:
        """Make the widgets that a section lacks."""
        if section.blocks and not section.widgets:
            self._held.append(section)
        for at in range(len(section.widgets), len(section.blocks)):
            section.widgets.append(self._make(section.blocks[at]))
            if section.parts and at < len(section.parts) and not isinstance(section.widgets[at], RuleBlock):
                section.widgets[at].set_drafted(section.parts[at])  # type: ignore[union-attr]
            self._spent += _work(section.blocks[at])
        section.width = -1
        self._placed = min(self._placed, self.sections.index(section))

    def fit(self, width: int) -> int:
        """Place the blocks at a width and return the height, in px."""
        if self._fitted is not None and self._fitted[0] == width:
            return self._fitted[1]
        if self._width != width:
            self._placed = 0
            self._drop_far(0)
        self._placed = min(self._placed, len(self.sections) - 1)
        last = self.sections[self._placed - 1] if self._placed else None
        top = last.top + last.height if last is not None else 0
        for section in islice(self.sections, self._placed, None):
            if section.blocks:
                top += _gap(last.blocks[-1] if last is not None else None, section.blocks[0])
                last = section
            moved = section.top != top
            section.top = top
            if section.widgets and section.built:
                if section.width != width or moved:
                    section.height = self._place(section, width)
            elif section.width != width:
                section.height = self._estimate(section, width)
            section.width = width
            top += section.height
        self._placed = len(self.sections)
        if self._unconfirmed is not None and not self._complete:
            if self._width not in (-1, width):
                self._least_height = 0
            if self.unconfirmed:
                top = self._fit_unconfirmed(self._unconfirmed, width, top)
            top = self._least_height = max(top, self._least_height)
        self._width = width
        self._fitted = (width, top)
        return top

    def _place(self, section: Section, width: int) -> int:
        """Place a section's widgets and return its height."""
        top, before = section.top, None  # type: int, Block | None
        for block, widget in zip(section.blocks, section.widgets, strict=True):
            top += _gap(before, block)
            height = widget.fit(width)
            widget.setGeometry(0, top, width, height)
            top += height
            before = block
        return top - section.top

    def _estimate(self, section: Section, width: int) -> int:
        """Height of a section that has never been laid out at a width."""
        px, characters = section.size
        scale = self.theme.type.px(1000) / 1000
        lines = characters * _LETTER_PX * scale / max(width, 1)
        return round((px + lines * _LINE_PX) * scale)

    def _fit_unconfirmed(self, unconfirmed: UnconfirmedText, width: int, bottom: int) -> int:
        """Place the guess from where the text ends, or on a line of its own below; return where it ends."""
        widgets = self.sections[-1].widgets
        last = widgets[-1] if widgets else None
        line = QRect(0, bottom, 0, 0)
        if isinstance(last, ProseBlock) and not self.text.endswith("\n"):
            line = last.last_line().translated(last.pos())
        height = unconfirmed.fit(line.width(), width - line.left())
        unconfirmed.setGeometry(line.left(), line.top(), width - line.left(), height)
        unconfirmed.raise_()
        return max(bottom, line.top() + height)

    @Slot()
    def refresh(self) -> None:
        """Show what has come since the last time."""
        begun = perf_counter()
        self._timer.stop()
        self._show_guess()
        section = self.sections[-1]
        frozen, self._splitter.frozen = self._splitter.frozen, []
        whole = self._fed == len(self.text)
        blocks = [*section.blocks[: section.fixed], *map(_as_text, frozen)]
        fixed = len(blocks)
        blocks += map(_as_text, self._splitter.tail()) if whole else ()
        if not blocks and self._caret is not None:
            blocks = [_EMPTY]  # for the caret to stand in
        first, section.blocks = section.fixed, blocks
        self._update(section, first)
        self._placed = min(self._placed, len(self.sections) - 1)
        self._part(section, fixed)
        if self._seen is None and whole and len(self.sections) <= _AT_ONCE:
            for short in self.sections:
                self._build(short)
        elif self._seen is not None and whole and section.top <= self._seen[1]:
            self._build(self.sections[-1])
        self._show_caret()
        self._tell_height()
        self._refreshed_at = perf_counter()
        self._cost_ms = (self._refreshed_at - begun) * 1000

    def _update(self, section: Section, first: int) -> None:
        """Give the widgets from one on the blocks that they have now."""
        for at in range(first, min(len(section.widgets), len(section.blocks))):
            if not show_in_place(section.widgets[at], section.blocks[at], self._complete):
                _discard(section.widgets[at])
                section.widgets[at] = self._make(section.blocks[at])
        for widget in section.widgets[len(section.blocks) :]:
            _discard(widget)
        del section.widgets[len(section.blocks) :]

    def _part(self, section: Section, fixed: int) -> None:
        """Make sections of the finished blocks of the last one; what is left is the last one."""
        blocks, widgets = section.blocks, section.widgets
        self.sections.pop()
        section.widgets = []  # others have them now
        self._held = [one for one in self._held if one is not section]
        begin, size = 0, 0
        for at, block in enumerate(islice(blocks, fixed)):
            size += _work(block)
            if size >= _SECTION:
                self._seal(blocks[begin : at + 1], widgets[begin : at + 1])
                begin, size = at + 1, 0
        self._seal(blocks[begin:], widgets[begin:])
        self.sections[-1].fixed = fixed - begin

    def _seal(self, blocks: list[Block], widgets: list[BlockWidget]) -> None:
        section = Section(blocks, widgets)
        section.size = (
            sum(_height(block) for block in blocks),
            sum(len(block.text) for block in blocks if block.kind in PROSE),
        )
        self.sections.append(section)
        self.has_code = self.has_code or any(block.kind is BlockKind.CODE for block in blocks)
        if widgets:
            self._held.append(section)
            self._build(section)

    def _make(self, block: Block) -> BlockWidget:
        widget = make_block_widget(self.theme, block, self)
        if isinstance(widget, (ProseBlock, ThoughtBlock)):
            widget.link_activated.connect(self.link_activated)
        if not isinstance(widget, RuleBlock):
            widget.height_changed.connect(self._forget_heights)
        for part in widget.selectables():
            part.joined = block.joined
        if isinstance(widget, CodeBlock):
            widget.copy_requested.connect(self._copy_code)
        if self._pattern is not None and isinstance(widget, SearchedWidget):
            widget.search(self._pattern)
        if self._complete:
            show_in_place(widget, block, True)
        widget.show()
        return widget

    @Slot()
    def _copy_code(self) -> None:
        code = self.code_above(self.sender().y() + 1)  # type: ignore[attr-defined]
        QGuiApplication.clipboard().setText(code or "")

    def _show_caret(self) -> None:
        section = self.sections[-1]
        last = section.widgets[-1] if section.widgets and section.built else None
        if self._caret_in is not last and self._caret_in is not None and isValid(self._caret_in):
            self._caret_in.set_caret(False)  # several blocks may have come since
        self._caret_in = last if isinstance(last, (ProseBlock, CodeBlock)) else None
        if self._caret_in is not None:
            self._caret_in.set_caret(bool(self._caret))

    @Slot()
    def _forget_heights(self) -> None:
        """Forget the heights of blocks that are widgets: one changed its height."""
        for section in self._held:
            section.width = -1
        self._placed = 0
        self._tell_height()

    def _tell_height(self) -> None:
        self._fitted = None
        self.height_changed.emit()


def _can_drop(section: Section) -> bool:
    """Return True if nothing is lost with the widgets: no keyboard, no selection, no unfolded thoughts."""
    focus = QApplication.focusWidget()
    if focus is not None and any(widget is focus or widget.isAncestorOf(focus) for widget in section.widgets):
        return False
    if any(isinstance(widget, ThoughtBlock) and widget.selectables() for widget in section.widgets):
        return False
    return all(part.copies is None for widget in section.widgets for part in widget.selectables())


def _searched(widgets: Iterable[BlockWidget]) -> list[SearchedWidget]:
    return [widget for widget in widgets if isinstance(widget, SearchedWidget)]


def _gap(before: Block | None, block: Block) -> int:
    return 0 if before is None or block.joined is not None else gap_px(before.kind, block.kind)


def _top(section: Section) -> int:
    return section.top


def _work(block: Block) -> int:
    return _WIDGET + len(block.text) * (_CELL if block.kind is BlockKind.TABLE else 1)


def _height(block: Block) -> int:
    """Height of a block in px at the usual size, less what its lines take that are wrapped."""
    lines = block.text.count("\n") + 1
    if block.kind is BlockKind.CODE:
        return 20 * lines + 56
    if block.kind is BlockKind.TABLE:
        return 31 * lines
    return 30 if block.kind in (BlockKind.RULE, BlockKind.THINK) else _LINE_PX * lines


def _as_text(block: Block) -> Block:
    """Return a formula's block as text if it is too long to draw."""
    long = block.kind is BlockKind.FORMULA and len(block.text) > SHOWN
    return Block(BlockKind.PARAGRAPH, block.source) if long else block


def _discard(widget: QWidget) -> None:
    widget.hide()
    widget.deleteLater()
