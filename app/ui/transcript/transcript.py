"""The transcript: the messages of one conversation in a reading column, built from the end upwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from time import perf_counter

from PySide6.QtCore import QEvent, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.chat.conversation import Message
from app.chat.engine_state import EngineState
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.ui.transcript.jump_button import JumpButton
from app.ui.transcript.message_views import MessageView, MessageViews

COLUMN_PX = 744
NARROW_PX = 720
_TOP_PX = 24
_BOTTOM_PX = 14
_GAP_PX = 14
_SLICE_MS = 8.0


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
    trouble_requested = Signal(int, object, object)  # message id, ErrorReport, Remedy
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
        self._older: list[Message] = []
        self._follow = True
        self._arranging = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Transcript")
        self._column = QWidget()
        self._column.setProperty("kind", "column")
        self.setWidget(self._column)
        self._views = MessageViews(theme, engine, alternatives, self._column, self)
        self._views.height_changed.connect(self._height_changed)
        self._views.action_requested.connect(self.action_requested)
        self._views.alternative_chosen.connect(self.alternative_chosen)
        self._views.edited.connect(self.edited)
        self._views.inspect_requested.connect(self.inspect_requested)
        self._views.link_activated.connect(self.link_activated)
        self._views.trouble_requested.connect(self.trouble_requested)
        self._jump = JumpButton(theme, self)
        self._jump.clicked.connect(self.jump_to_latest)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._builder = QTimer(self, interval=0)
        self._builder.timeout.connect(self._build_slice)
        theme.changed.connect(self._restyle)

    @property
    def views(self) -> list[MessageView]:
        """The messages that are widgets now, oldest first."""
        return self._views.all

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
        return bool(self._views.all) and self._views.all[-1].message.id == message_id

    # --- messages ---------------------------------------------------------------------------------------------

    def show_messages(self, messages: list[Message]) -> None:
        """Replace everything by these messages and go to the end."""
        self._builder.stop()
        self._views.drop(0)
        self._older = list(messages)
        self._follow = True
        width = self._column_width()
        height = 0
        while self._older and height < 2 * max(self.viewport().height(), 200):
            height += self._build_oldest().fit(width) + self._gap()
        self._views.mark_last()
        self._arrange()

    def replace_messages(self, messages: list[Message]) -> None:
        """Show another path: what it shares with the shown one stays, and stays where it is.

        A reply that begins is followed. Else the buttons under the first other message stay where they were, so that
        an arrow can be pressed again, and the keyboard goes on from the same button.
        """
        shown = [*self._older, *(view.message for view in self._views.all)]
        shared = sum(1 for _ in takewhile(_is_same, zip(shown, messages, strict=False)))
        if shared < len(self._older):
            self.show_messages(messages)
            return
        starts = len(messages) > shared and messages[-1].state.unfinished
        at = shared - len(self._older)
        before = self._views.all[at] if at < len(self._views.all) else None
        focused = before.buttons.focused() if before is not None else None
        top = self.verticalScrollBar().value()
        place = (before.y() - top, before.y() + before.buttons.y() - top) if before is not None else (0, 0)
        keep = self._top_view()
        self._arranging = True
        self._older = messages[: len(self._older)]
        for view, message in zip(self._views.all[:at], messages[len(self._older) :], strict=False):
            self._views.set_message(view, message)
        fresh = [self._views.make(message) for message in messages[shared:]]
        if focused is not None and fresh:
            fresh[0].buttons.focus(focused)
        self._views.drop(at)
        self._views.all += fresh
        self._views.mark_last()
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
        while self._older and message_id not in self._views:
            self._build_oldest()
        view = self._views.of(message_id)
        if view is not None:
            self._follow = False
            self._arrange(keep=(view, _TOP_PX))
            self._scrolled(self.verticalScrollBar().value())

    def add_message(self, message: Message) -> None:
        """A new message at the end; one's own is always scrolled to."""
        if message.id in self._views:
            self.change_message(message)
            return
        if message.role == "user":
            self._follow = True
        self._views.all.append(self._views.make(message))
        self._views.mark_last()
        self._arrange()

    def change_message(self, message: Message) -> None:
        """A message's state, figures, notices or text changed."""
        reply = self._views.reply(message.id)
        if reply is not None:
            reply.set_message(message)
            self._views.choose_blinking()
        elif message.id not in self._views:
            self._older = [message if old.id == message.id else old for old in self._older]

    def append_text(self, message_id: int, text: str) -> None:
        """More of a reply has come."""
        reply = self._views.reply(message_id)
        if reply is not None:
            reply.append_text(text)

    def show_unconfirmed(self, message_id: int, text: str) -> None:
        """Show a guess of what a reply goes on with, in place of the last."""
        reply = self._views.reply(message_id)
        if reply is not None:
            reply.show_unconfirmed(text)

    def set_prefill(self, message_id: int, fraction: float) -> None:
        """Share of the prompt that is read."""
        reply = self._views.reply(message_id)
        if reply is not None:
            reply.set_prefill(fraction)

    def set_drafted_shown(self, shown: bool) -> None:
        """Colour what came from accepted drafts in finished replies."""
        self._views.set_drafted_shown(shown)

    def set_engine(self, engine: EngineState) -> None:
        """The engine's state changed."""
        self._views.set_engine(engine)

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
        for view in self._views.all:
            if view.y() + view.height() > value:
                return view, view.y() - value
        return None

    def _place_jump(self) -> None:
        self._jump.offer(not self._follow and self.verticalScrollBar().maximum() > 0)

    # --- building ---------------------------------------------------------------------------------------------

    def _build_oldest(self) -> MessageView:
        view = self._views.make(self._older.pop())
        self._views.all.insert(0, view)
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

    # --- layout -----------------------------------------------------------------------------------------------

    def _gap(self) -> int:
        return round(self._theme.spaced(_GAP_PX))

    def _column_width(self) -> int:
        margin = 16 if self.width() < NARROW_PX else 32
        return max(160, min(self._theme.type.px(COLUMN_PX), self.width() - 2 * margin))

    @Slot(object)
    def _height_changed(self, view: MessageView) -> None:
        if not self._arranging and view in self._views.all:
            self._arrange()

    def _arrange(self, keep: tuple[MessageView, int] | None = None) -> None:
        """Place every view; then follow the end, or hold ``keep`` (a view and its distance from the top) still."""
        if self._arranging:
            return
        self._arranging = True
        width = self._column_width()
        left = (self.width() - width) // 2
        top = _TOP_PX
        for view in self._views.all:
            height = view.fit(width)
            view.setGeometry(left, top, width, height)
            top += height + self._gap()
        self._column.resize(self.viewport().width(), max(top - self._gap() + _BOTTOM_PX, 0))
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
        for view in self._views.all:
            view.restyle()
        self._arranging = False
        self._arrange(keep)


def _is_same(pair: tuple[Message, Message]) -> bool:
    """Whether a view of the first message can show the second: not where a finished reply goes on."""
    before, after = pair
    return before.id == after.id and (before.state.unfinished or not after.state.unfinished)
