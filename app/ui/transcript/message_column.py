"""A column of messages that scrolls: widgets are made for what comes into view, and given up when it is far away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from time import perf_counter

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from app.chat.conversation import Message
from app.chat.engine_state import EngineState
from app.ui.parts import LabelledButton
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.message_views import MessageView, MessageViews, TranscriptSelection
from app.ui.transcript.sections import Piece, Section
from app.words import tr

_MARGIN_PX = 12
COLUMN_PX = 744
NARROW_PX = 720
_TOP_PX = 24
_BOTTOM_PX = 14
_GAP_PX = 14
_SLICE_MS = 8.0
# In heights of the view: what is built ahead of the reader, and what stays built behind.
_AHEAD = 1.5
ENOUGH = 2.0
_KEPT = 8.0
_TRIM_MS = 400


class JumpButton(LabelledButton):
    """Floats above the lower edge of its parent."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._host = parent
        self.setProperty("kind", "labelled")
        self.setText(" " + tr("Jump to latest"))
        self.setAccessibleName(tr("Jump to latest"))
        self.setToolTip(tr("Jump to latest (Ctrl+End)"))
        self.setIcon(themed_icon(theme, "arrow-down"))
        scale_icon(theme, self, 16)
        self.hide()

    def offer(self, wanted: bool) -> None:
        """Show it in the middle of the lower edge, or hide it and hand its focus on."""
        if wanted:
            size, host = self.sizeHint(), self._host.size()
            left, top = (host.width() - size.width()) // 2, host.height() - size.height() - _MARGIN_PX
            self.setGeometry(left, top, size.width(), size.height())
            self.raise_()
        elif self.hasFocus():
            self._host.setFocus()
        self.setVisible(wanted)


class MessageSpan:
    """Grows and shrinks at both ends; where widgets stand is the transcript's business."""

    def __init__(self, views: MessageViews) -> None:
        self._views = views
        self.older: list[Message] = []  # the messages above those that are widgets, oldest first
        self.newer: list[Message] = []  # the messages below them, oldest first

    @property
    def messages(self) -> list[Message]:
        """Every message, oldest first."""
        return [*self.older, *(view.message for view in self._views.all), *self.newer]

    def reset(self, messages: list[Message], at: int | None = None, keep_used: bool = False) -> None:
        """Take all widgets away, but perhaps those in use.

        Args:
            at: Widgets are built up from here, and down from here; the end by default.
            keep_used: See `MessageViews.drop`.
        """
        if keep_used:
            self._views.drop(0, keep_used)
        else:
            self._views.clear()
        at = len(messages) if at is None else at
        self.older, self.newer = messages[:at], messages[at:]

    def build_older(self) -> MessageView:
        """Make a widget of the newest of the older messages."""
        view = self._views.make(self.older.pop())
        self._views.all.insert(0, view)
        return view

    def build_newer(self) -> MessageView:
        """Make a widget of the oldest of the newer messages."""
        view = self._views.make(self.newer.pop(0))
        self._views.all.append(view)
        return view

    def drop_above(self, count: int) -> None:
        """Take away the first widgets."""
        self.older += self._views.drop_first(count)

    def drop_below(self, first: int) -> None:
        """Take away the widgets from one on; the last one stays alive while its reply is written."""
        self.newer[:0] = self._views.drop(first, keep_used=True)

    def shared_with(self, messages: list[Message]) -> int:
        """Return how many messages, from the first on, can stay as they are."""
        return sum(1 for _ in takewhile(_is_same, zip(self.messages, messages, strict=False)))

    def change(self, message: Message) -> None:
        """Take the new state of a message that has no widget."""
        self.older = [message if old.id == message.id else old for old in self.older]
        self.newer = [message if old.id == message.id else old for old in self.newer]


def _is_same(pair: tuple[Message, Message]) -> bool:
    """Return True if a view of the first message can show the second: not where a finished reply goes on."""
    before, after = pair
    return before.id == after.id and (before.state.unfinished or not after.state.unfinished)


class Ground(QWidget):
    """Filled with the window's colour.

    Qt paints everything in view again, at every line that comes, unless it is told two things: that what is
    painted stays where it is when the widget grows, and that nothing shines through, so that scrolling can move it.
    A style sheet's background counts as one that something shines through, so this one is painted here.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), self._theme.color("bg"))


def _blocks_y(view: MessageView) -> int:
    return view.blocks.mapTo(view, QPoint(0, 0)).y()


def _anchor(view: MessageView, y: int) -> tuple[Piece | Section, int] | None:
    """Return what stands at a place of a view, and how far below its top that is; None beside its blocks."""
    inside = y - _blocks_y(view)
    return view.blocks.anchor(inside) if 0 < inside < view.blocks.height() else None


class MessageColumn(QScrollArea):
    """Lays out, scrolls and builds; which messages there are is `Transcript`'s business.

    The view follows the end while it is within one line of it. Otherwise what is read stays where it is, whatever
    comes or goes above and below.
    """

    def __init__(
        self,
        theme: Theme,
        engine: EngineState,
        alternatives: Callable[[int], Sequence[int]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.follows = True  # True if the view sticks to the end
        self._arranging = False
        # The message that was asked for, and its distance from the top, while others get their height and nobody
        # scrolls; or None
        self._shown: tuple[MessageView, int] | None = None
        self._jump = JumpButton(theme, self)  # first: the viewport is resized by what comes next
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._column = Ground(theme)
        self.setWidget(self._column)
        # The messages that are widgets now, and their requests
        self.message_views = MessageViews(theme, engine, alternatives, self._column, self)
        self.message_views.height_changed.connect(self._height_changed)
        self._span = MessageSpan(self.message_views)
        self._jump.clicked.connect(self.jump_to_latest)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.verticalScrollBar().rangeChanged.connect(self._range_changed)
        self._builder = QTimer(self, interval=0)
        self._builder.timeout.connect(self._build_slice)
        self._trimmer = QTimer(self, singleShot=True, interval=_TRIM_MS)
        self._trimmer.timeout.connect(self._trim)
        self.selection = TranscriptSelection(self, self.message_views)  # the selection over several blocks
        theme.changed.connect(self._restyle)

    @property
    def views(self) -> list[MessageView]:
        """The messages that are widgets now, oldest first."""
        return self.message_views.all

    @property
    def unbuilt(self) -> int:
        """Number of messages that are not widgets now."""
        return len(self._span.older) + len(self._span.newer)

    def view_of(self, message_id: int) -> MessageView | None:
        """Return a message's widget, or None if it has none now."""
        view = self.message_views.of(message_id)
        return None if view is None or view.isHidden() else view

    def reading(self) -> int:
        """Index of the message at the top of the view, counted from the first one."""
        top = self.top_view()
        return len(self._span.older) + (self.message_views.all.index(top[0]) if top is not None else 0)

    def reveal(self, view: MessageView, place: QRect) -> None:
        """Scroll to a place of a message's widget unless it is in view."""
        if isinstance(view, OwnMessage):
            view.unfold_to(place)
        bar = self.verticalScrollBar()
        top = view.y() + place.top()
        if top < bar.value() + _TOP_PX or top + place.height() > bar.value() + self.viewport().height() - _TOP_PX:
            bar.setValue(top - self.viewport().height() // 3)

    def show_message(self, message_id: int, distance: int = _TOP_PX) -> None:
        """Scroll to a message, so that it begins so many px below the top of the view."""
        if not any(view.message.id == message_id for view in self.message_views.all):
            messages = self._span.messages
            at = next((at for at, message in enumerate(messages) if message.id == message_id), None)
            if at is None:
                return
            self._span.reset(messages, at, keep_used=True)
            self._build_below(ENOUGH - min(distance, 0) / self._view_height())
            self._build_above(1.0)
            self._mark_last()
        view = self.message_views.of(message_id)
        if view is not None:
            self.follows = False
            self._arrange(keep=(view, distance))
            self._scrolled(self.verticalScrollBar().value())
            self._shown = view, distance

    # --- scrolling --------------------------------------------------------------------------------------------

    @Slot()
    def jump_to_latest(self) -> None:
        """Go to the end and follow it."""
        if self._span.newer:
            messages = self._span.messages
            self._span.reset(messages, keep_used=True)
            self._build_above(ENOUGH)
            self._mark_last()
            self.follows = True
            self._arrange()
            return
        self.follows = True
        self._to_end()

    def scroll_page(self, direction: int) -> None:
        """Scroll by a page: -1 up, 1 down."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + direction * bar.pageStep())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Home:
            if self._span.older:
                self.show_message(self._span.older[0].id)
            self.verticalScrollBar().setValue(0)
        elif event.key() == Qt.Key.Key_End:
            self.jump_to_latest()
        elif event.key() == Qt.Key.Key_Space:
            self.scroll_page(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again; what was at the top stays there, or the end stays in view."""
        super().resizeEvent(event)
        self._arrange(keep=self.top_view())

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._place_jump()
        return super().viewportEvent(event)

    @Slot(int)
    def _scrolled(self, value: int) -> None:
        if self._arranging:
            return
        self._shown = None
        bar = self.verticalScrollBar()
        line = self._theme.type.line_height(TextStyle.READING)
        self.follows = bar.maximum() - value <= line and not self._span.newer
        self._place_jump()
        self._show_seen()
        if self._wanting_above(_AHEAD) or self._wanting_below(_AHEAD):
            self._builder.start()
        self._trimmer.start()

    @Slot()
    def _range_changed(self) -> None:
        if self.follows and not self._arranging:  # Qt tells it later where the column was not shown yet
            self._to_end()

    def _to_end(self) -> None:
        self._arranging = True
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
        self._arranging = False
        self._place_jump()
        self._show_seen()

    def top_view(self) -> tuple[MessageView, int] | None:
        """Return the message at the top of the view, and how far below the edge it begins (negative: above)."""
        value = self.verticalScrollBar().value()
        for view in self.message_views.all:
            if view.y() + view.height() > value:
                return view, view.y() - value
        return None

    def first_beginning(self) -> tuple[MessageView, int] | None:
        """Return the first message that begins in view, and how far below the edge."""
        value = self.verticalScrollBar().value()
        inside = (view for view in self.message_views.all if 0 <= view.y() - value < self.viewport().height())
        return next(((view, view.y() - value) for view in inside), None)

    def _place_jump(self) -> None:
        self._jump.offer(not self.follows and self.verticalScrollBar().maximum() > 0)

    # --- building ---------------------------------------------------------------------------------------------

    def _mark_last(self) -> None:
        self.message_views.mark_last(end_built=not self._span.newer)

    def _build_above(self, heights: float) -> None:
        """Build older messages for so many heights of the view."""
        width, height = self._column_width(), 0
        while self._span.older and height < heights * self._view_height():
            height += self._span.build_older().fit(width) + self._gap()

    def _build_below(self, heights: float) -> None:
        width, height = self._column_width(), 0
        while self._span.newer and height < heights * self._view_height():
            height += self._span.build_newer().fit(width) + self._gap()

    def _made(self, messages: list[Message], everything: bool) -> list[MessageView]:
        """Widgets of the first of these messages: enough to go on reading, or all."""
        width, height, made = self._column_width(), 0, []
        for message in messages:
            if height > ENOUGH * self._view_height() and not everything:
                break
            made.append(self.message_views.make(message))
            height += made[-1].fit(width) + self._gap()
        return made

    def _view_height(self) -> int:
        return max(self.viewport().height(), 200)

    def _wanting_above(self, heights: float) -> bool:
        return bool(self._span.older) and self.verticalScrollBar().value() < heights * self._view_height()

    def _wanting_below(self, heights: float) -> bool:
        bar = self.verticalScrollBar()
        return bool(self._span.newer) and bar.maximum() - bar.value() < heights * self._view_height()

    @Slot()
    def _build_slice(self) -> None:
        keep = self.top_view()
        begun = perf_counter()
        above = self._wanting_above(ENOUGH)
        left = self._span.older if above else self._span.newer
        self._arranging = True
        while left and (perf_counter() - begun) * 1000 < _SLICE_MS:
            view = self._span.build_older() if above else self._span.build_newer()
            view.fit(self._column_width())
        self._mark_last()
        self._arranging = False
        self._arrange(keep)
        if not self._wanting_above(ENOUGH) and not self._wanting_below(ENOUGH):
            self._builder.stop()
            self._trimmer.start()

    @Slot()
    def _trim(self) -> None:
        """Give up the widgets that are far from what is read, but none that has the keyboard."""
        if self._builder.isActive() or self.selection.active:
            return
        keep, top = self.top_view(), self.verticalScrollBar().value()
        room = _KEPT * self._view_height()
        views, focus = self.message_views.all, QApplication.focusWidget()
        used = [at for at, view in enumerate(views) if focus is not None and view.isAncestorOf(focus)]
        first = next((at for at, view in enumerate(views) if view.y() + view.height() > top - room), 0)
        last = next((at for at, view in enumerate(views) if view.y() > top + room), len(views))
        first, last = min([first, *used]), max([last, *(at + 1 for at in used)])
        if first == 0 and last == len(views):
            return
        self._span.drop_below(last)
        self._span.drop_above(first)
        self._mark_last()
        self._arrange(keep)

    def _gap(self) -> int:
        return round(self._theme.spaced(_GAP_PX))

    def _column_width(self) -> int:
        margin = 16 if self.width() < NARROW_PX else 32
        return max(160, min(self._theme.type.px(COLUMN_PX), self.width() - 2 * margin))

    @Slot(object)
    def _height_changed(self, view: MessageView) -> None:
        if not self._arranging and view in self.message_views.all:
            self.follows = self.follows and not view.blocks.unfolding  # which leaves the button where it is
            shown = self._shown if self._shown is not None and self._shown[0] in self.message_views.all else None
            self._arrange(keep=shown or self.top_view())
            if view.blocks.unfolding:
                self._scrolled(self.verticalScrollBar().value())

    def _arrange(self, keep: tuple[MessageView, int] | None = None) -> None:
        """Place every view; then follow the end, or hold ``keep`` (a view and its distance from the top) still."""
        if self._arranging:
            return
        self._arranging = True
        width = self._column_width()
        left = (self.width() - width) // 2
        top = _TOP_PX
        anchor = None if keep is None else _anchor(keep[0], -keep[1])
        for view in self.message_views.all:
            height = view.fit(width)
            view.setGeometry(left, top, width, height)
            top += height + (0 if view.joined else self._gap())
        self._column.resize(self.viewport().width(), max(top - self._gap() + _BOTTOM_PX, 0))
        bar = self.verticalScrollBar()
        if self.follows:
            bar.setValue(bar.maximum())
        elif keep is not None:
            bar.setValue(keep[0].y() + (-keep[1] if anchor is None else _blocks_y(keep[0]) + anchor[0].top + anchor[1]))
        self._arranging = False
        self._place_jump()
        self._show_seen()

    def _show_seen(self) -> None:
        """Let messages make widgets of what is in view."""
        for view in self.message_views.all:
            top = self.verticalScrollBar().value() - view.y() - _blocks_y(view)
            view.blocks.see(top, top + self._view_height())

    @Slot()
    def _restyle(self) -> None:
        keep = self.top_view()
        self._arranging = True
        for view in self.message_views.all:
            view.restyle()
        self._arranging = False
        self._arrange(keep)
