"""The transcript: the messages of one conversation in a reading column, built from the end upwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from time import perf_counter

from PySide6.QtCore import QEvent, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from app.chat.conversation import Message, MessageState
from app.chat.engine_state import EngineState
from app.ui.theme.theme import Theme, animation_ms
from app.ui.theme.typography import TextStyle
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.jump_button import JumpButton
from app.ui.transcript.reply import ReplyView

COLUMN_PX = 744
NARROW_PX = 720
_TOP_PX = 24
_BOTTOM_PX = 14
_GAP_PX = 14
_SLICE_MS = 8.0
_BLINK_MS = 530

MessageView = OwnMessage | ReplyView


class Transcript(QScrollArea):
    """Messages, oldest on top.

    Only the messages near the end become widgets at once; older ones follow in short slices when the person scrolls
    up to them. The view follows the end while it is within one line of it.

    Args:
        theme: Colours and sizes.
        engine: The engine's state.
        alternatives: Ids of the versions of a message, itself included, oldest first.
    """

    action_requested = Signal(int, object)  # message id, Action
    alternative_chosen = Signal(int)  # message id
    edited = Signal(int, str)  # message id, the other wording
    inspect_requested = Signal(int)  # a reply's id
    link_activated = Signal(QUrl)

    def __init__(
        self,
        theme: Theme,
        engine: EngineState,
        alternatives: Callable[[int], Sequence[int]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._alternatives = alternatives
        self._engine = engine
        self._older: list[Message] = []
        self._views: list[MessageView] = []
        self._by_id: dict[int, MessageView] = {}
        self._follow = True
        self._arranging = False
        self._lit = True
        self._drafted_shown = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Transcript")
        self._column = QWidget()
        self._column.setProperty("kind", "column")
        self.setWidget(self._column)
        self._jump = JumpButton(theme, self)
        self._jump.clicked.connect(self.jump_to_latest)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._builder = QTimer(self, interval=0)
        self._builder.timeout.connect(self._build_slice)
        self._blinker = QTimer(self, interval=_BLINK_MS)
        self._blinker.timeout.connect(self._blink)
        theme.changed.connect(self._restyle)

    @property
    def views(self) -> list[MessageView]:
        """The messages that are widgets now, oldest first."""
        return self._views

    @property
    def unbuilt(self) -> int:
        """How many older messages are not widgets yet."""
        return len(self._older)

    @property
    def follows(self) -> bool:
        """Whether the view sticks to the end."""
        return self._follow

    def is_last(self, message_id: int) -> bool:
        """Whether a message is the last one."""
        return bool(self._views) and self._views[-1].message.id == message_id

    # --- messages ---------------------------------------------------------------------------------------------

    def show_messages(self, messages: list[Message]) -> None:
        """Replace everything by these messages and go to the end."""
        self._builder.stop()
        self._drop(0)
        self._older = list(messages)
        self._follow = True
        width = self._column_width()
        height = 0
        while self._older and height < 2 * max(self.viewport().height(), 200):
            height += self._build_oldest().fit(width) + _GAP_PX
        self._mark_last()
        self._arrange()

    def replace_messages(self, messages: list[Message]) -> None:
        """Show another path: what it shares with the shown one stays, and stays where it is.

        A reply that begins is followed. Else the buttons under the first other message stay where they were, so that
        an arrow can be pressed again, and the keyboard goes on from the same button.
        """
        shown = [*self._older, *(view.message for view in self._views)]
        shared = sum(1 for _ in takewhile(_is_same, zip(shown, messages, strict=False)))
        if shared < len(self._older):
            self.show_messages(messages)
            return
        starts = len(messages) > shared and messages[-1].state.unfinished
        at = shared - len(self._older)
        before = self._views[at] if at < len(self._views) else None
        focused = before.buttons.focused() if before is not None else None
        top = self.verticalScrollBar().value()
        place = (before.y() - top, before.y() + before.buttons.y() - top) if before is not None else (0, 0)
        keep = self._top_view()
        self._arranging = True
        self._older = messages[: len(self._older)]
        for view, message in zip(self._views[:at], messages[len(self._older) :], strict=False):
            view.set_message(message)
            view.set_alternatives(self._alternatives(message.id))
        fresh = [self._make(message) for message in messages[shared:]]
        if focused is not None and fresh:
            fresh[0].buttons.focus(focused)
        self._drop(at)
        self._views += fresh
        self._mark_last()
        if before is not None and fresh:
            swapped = before.message.role == fresh[0].message.role
            fresh[0].fit(self._column_width())
            keep = (fresh[0], place[1] - fresh[0].buttons.y() if swapped else place[0])
        self._follow = starts
        self._arranging = False
        self._arrange(keep)
        if not starts:
            self._scrolled(self.verticalScrollBar().value())

    def show_message(self, message_id: int) -> None:
        """Scroll to a message."""
        while self._older and message_id not in self._by_id:
            self._build_oldest()
        view = self._by_id.get(message_id)
        if view is not None:
            self._follow = False
            self._arrange(keep=(view, _TOP_PX))
            self._scrolled(self.verticalScrollBar().value())

    def add_message(self, message: Message) -> None:
        """A new message at the end; one's own is always scrolled to."""
        if message.id in self._by_id:
            self.change_message(message)
            return
        if message.role == "user":
            self._follow = True
        view = self._make(message)
        self._views.append(view)
        self._mark_last()
        self._arrange()

    def change_message(self, message: Message) -> None:
        """A message's state, figures, notices or text changed."""
        view = self._by_id.get(message.id)
        if isinstance(view, ReplyView):
            view.set_message(message)
            self._choose_blinking()
        elif view is None:
            self._older = [message if old.id == message.id else old for old in self._older]

    def append_text(self, message_id: int, text: str) -> None:
        """More of a reply has come."""
        view = self._by_id.get(message_id)
        if isinstance(view, ReplyView):
            view.append_text(text)

    def show_unconfirmed(self, message_id: int, text: str) -> None:
        """Show a guess of what a reply goes on with, in place of the last."""
        view = self._by_id.get(message_id)
        if isinstance(view, ReplyView):
            view.show_unconfirmed(text)

    def set_prefill(self, message_id: int, fraction: float) -> None:
        """Share of the prompt that is read."""
        view = self._by_id.get(message_id)
        if isinstance(view, ReplyView):
            view.set_prefill(fraction)

    def set_drafted_shown(self, shown: bool) -> None:
        """Colour what came from accepted drafts in finished replies."""
        self._drafted_shown = shown
        for view in self._views:
            if isinstance(view, ReplyView):
                view.set_drafted_shown(shown)

    def set_engine(self, engine: EngineState) -> None:
        """The engine's state changed."""
        self._engine = engine
        for view in self._views:
            if isinstance(view, ReplyView):
                view.set_engine(engine)

    # --- scrolling --------------------------------------------------------------------------------------------

    @Slot()
    def jump_to_latest(self) -> None:
        """Go to the end and follow it."""
        self._follow = True
        self._to_end()

    def scroll_page(self, direction: int) -> None:
        """Scroll by a page: -1 up, 1 down."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + direction * bar.pageStep())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Home and End besides what a scroll area knows."""
        bar = self.verticalScrollBar()
        if event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        elif event.key() == Qt.Key.Key_End:
            self.jump_to_latest()
        elif event.key() == Qt.Key.Key_Space:
            self.scroll_page(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again; what was at the top stays there, or the end stays in view."""
        super().resizeEvent(event)
        self._arrange(keep=self._top_view())

    def viewportEvent(self, event: QEvent) -> bool:
        """Keep the floating button above the column."""
        if event.type() == QEvent.Type.Resize:
            self._place_jump()
        return super().viewportEvent(event)

    @Slot(int)
    def _scrolled(self, value: int) -> None:
        if self._arranging:
            return
        bar = self.verticalScrollBar()
        line = self._theme.type.line_height(TextStyle.READING)
        self._follow = bar.maximum() - value <= line
        self._place_jump()
        if self._older and value < 1.5 * self.viewport().height():
            self._builder.start()

    def _to_end(self) -> None:
        self._arranging = True
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
        self._arranging = False
        self._place_jump()

    def _top_view(self) -> tuple[MessageView, int] | None:
        value = self.verticalScrollBar().value()
        for view in self._views:
            if view.y() + view.height() > value:
                return view, view.y() - value
        return None

    def _place_jump(self) -> None:
        self._jump.offer(not self._follow and self.verticalScrollBar().maximum() > 0)

    # --- building ---------------------------------------------------------------------------------------------

    def _make(self, message: Message) -> MessageView:
        view: MessageView
        if message.role == "assistant":
            view = ReplyView(self._theme, message, self._engine, self._column)
            view.set_drafted_shown(self._drafted_shown)
            view.height_changed.connect(self._height_changed)
            view.inspect_requested.connect(self.inspect_requested)
            view.link_activated.connect(self.link_activated)
        else:
            view = OwnMessage(self._theme, message, self._column)
            view.height_changed.connect(self._height_changed)
            view.edited.connect(self.edited)
        view.set_alternatives(self._alternatives(message.id))
        view.action_requested.connect(self.action_requested)
        view.alternative_chosen.connect(self.alternative_chosen)
        self._by_id[message.id] = view
        view.show()
        return view

    def _drop(self, first: int) -> None:
        """Take away the views from one on; what the keyboard was in goes to the transcript."""
        focus = QApplication.focusWidget()
        if focus is not None and any(view.isAncestorOf(focus) for view in self._views[first:]):
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        for view in self._views[first:]:
            view.hide()
            view.deleteLater()
            if self._by_id.get(view.message.id) is view:
                del self._by_id[view.message.id]
        del self._views[first:]

    def _build_oldest(self) -> MessageView:
        view = self._make(self._older.pop())
        self._views.insert(0, view)
        return view

    @Slot()
    def _build_slice(self) -> None:
        keep = self._top_view()
        begun = perf_counter()
        self._arranging = True
        while self._older and (perf_counter() - begun) * 1000 < _SLICE_MS:
            self._build_oldest().fit(self._column_width())
        self._arranging = False
        self._arrange(keep)
        if not self._older or self.verticalScrollBar().value() > 2 * self.viewport().height():
            self._builder.stop()

    def _mark_last(self) -> None:
        for view in self._views:
            if isinstance(view, ReplyView):
                view.set_last(view is self._views[-1])
        self._choose_blinking()

    # --- layout -----------------------------------------------------------------------------------------------

    def _column_width(self) -> int:
        margin = 16 if self.width() < NARROW_PX else 32
        return max(160, min(self._theme.type.px(COLUMN_PX), self.width() - 2 * margin))

    @Slot()
    def _height_changed(self) -> None:
        if not self._arranging and self.sender() in self._views:
            self._arrange()

    def _arrange(self, keep: tuple[MessageView, int] | None = None) -> None:
        """Place every view; then follow the end, or hold ``keep`` (a view and its distance from the top) still."""
        if self._arranging:
            return
        self._arranging = True
        width = self._column_width()
        left = (self.width() - width) // 2
        top = _TOP_PX
        for view in self._views:
            height = view.fit(width)
            view.setGeometry(left, top, width, height)
            top += height + _GAP_PX
        self._column.resize(self.viewport().width(), max(top - _GAP_PX + _BOTTOM_PX, 0))
        bar = self.verticalScrollBar()
        if self._follow:
            bar.setValue(bar.maximum())
        elif keep is not None:
            bar.setValue(keep[0].y() - keep[1])
        self._arranging = False
        self._place_jump()

    @Slot()
    def _restyle(self) -> None:
        keep = self._top_view()
        self._arranging = True
        for view in self._views:
            view.restyle()
        self._arranging = False
        self._arrange(keep)

    # --- caret ------------------------------------------------------------------------------------------------

    def _choose_blinking(self) -> None:
        """The caret blinks while a reply waits, and stays lit while text comes."""
        last = self._views[-1] if self._views else None
        waits = isinstance(last, ReplyView) and last.message.state is MessageState.WAITING
        if waits and not self._blinker.isActive() and animation_ms(_BLINK_MS):
            self._blinker.start()
        elif not waits and self._blinker.isActive():
            self._blinker.stop()
            self._lit = True
            if isinstance(last, ReplyView):
                last.set_caret_lit(True)

    @Slot()
    def _blink(self) -> None:
        self._lit = not self._lit
        if self._views and isinstance(self._views[-1], ReplyView):
            self._views[-1].set_caret_lit(self._lit)


def _is_same(pair: tuple[Message, Message]) -> bool:
    """Whether a view of the first message can show the second: not where a finished reply goes on."""
    before, after = pair
    return before.id == after.id and (before.state.unfinished or not after.state.unfinished)
