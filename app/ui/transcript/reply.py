"""One reply: its blocks, what went wrong, and the strip under it."""

from __future__ import annotations

from time import perf_counter

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from app.chat.conversation import Message, MessageState
from app.chat.engine_state import EngineState
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.ui.transcript.block_widgets import BlockWidget, gap_px, make_block_widget, show_in_place
from app.ui.transcript.blocks import Block, BlockKind, BlockSplitter
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.error_notice import ErrorNotice
from app.ui.transcript.prose import ProseBlock
from app.ui.transcript.reply_status import reply_status
from app.ui.transcript.strip import StatusStrip
from app.ui.transcript.thought import ThoughtBlock

_REFRESH_MS = 33
_STRIP_GAP_PX = 10
_FOOTER_PX = 28
_EMPTY = Block(BlockKind.PARAGRAPH, "")
_WRITING = (MessageState.WAITING, MessageState.STREAMING)
_BESIDE = Qt.ToolButtonStyle.ToolButtonTextBesideIcon


class ReplyView(QWidget):
    """Shows a reply while it is written and after.

    Finished blocks are made once; only the tail is made again, at most every 33 ms and less often when one pass
    takes long, so that the window stays free for the person.
    """

    height_changed = Signal()
    retry_requested = Signal()
    link_activated = Signal(QUrl)

    def __init__(
        self, theme: Theme, message: Message, engine: EngineState, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.theme = theme
        self.message = message
        self._engine = engine
        self._prefill: float | None = None
        self._last = False
        self._caret_lit = True
        self._splitter = BlockSplitter()
        self._text = ""
        self._blocks: list[Block] = []
        self._widgets: list[BlockWidget] = []
        self._frozen = 0
        self._notices: list[QLabel] = []
        self._error: ErrorNotice | None = None
        self._copy: QToolButton | None = None
        self._retry: QToolButton | None = None
        self._strip = StatusStrip(theme, reply_status(message, engine, None), self)
        self._fitted: tuple[int, int] | None = None
        self._refreshed_at = 0.0
        self._cost_ms = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._refresh)
        self.setAccessibleName("Reply")
        self._take_text(message.content)
        self._show_state()

    # --- content ----------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The reply's Markdown so far."""
        return self._text

    def append_text(self, text: str) -> None:
        """More of the reply has come."""
        self._text += text
        self._splitter.feed(text)
        waited_ms = (perf_counter() - self._refreshed_at) * 1000
        pause_ms = max(_REFRESH_MS, 3 * self._cost_ms)
        if waited_ms >= pause_ms:
            self._refresh()
        elif not self._timer.isActive():
            self._timer.start(int(pause_ms - waited_ms))

    def set_message(self, message: Message) -> None:
        """The reply's state, figures, notices or whole text changed."""
        self.message = message
        if message.content != self._text and (not message.state.unfinished or not self._text):
            self._take_text(message.content)
        elif not message.state.unfinished or not self._text:
            self._refresh()
        self._show_state()

    def set_engine(self, engine: EngineState) -> None:
        """The engine's state changed; only a waiting reply shows it."""
        self._engine = engine
        if self.message.state is MessageState.WAITING:
            self._show_strip()

    def set_prefill(self, fraction: float) -> None:
        """Share of the prompt that is read."""
        self._prefill = fraction
        self._show_strip()

    def set_last(self, last: bool) -> None:
        """Only the last reply of a conversation can be tried again."""
        if last != self._last:
            self._last = last
            self._show_state()

    def set_caret_lit(self, lit: bool) -> None:
        """Blink: called by the transcript's one timer while the reply waits."""
        self._caret_lit = lit
        self._show_caret()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        for widget in self._widgets:
            widget.restyle()
        if self._error is not None:
            self._error.restyle()
        self._changed()

    # --- layout -----------------------------------------------------------------------------------------------

    def fit(self, width: int) -> int:
        """Place everything at a width and return the height, in px."""
        if self._fitted is not None and self._fitted[0] == width:
            return self._fitted[1]
        top, before = 0, None
        for block, widget in zip(self._blocks, self._widgets, strict=True):
            top += gap_px(before, block.kind)
            height = widget.fit(width)
            widget.setGeometry(0, top, width, height)
            top += height
            before = block.kind
        for notice in self._notices:
            height = notice.heightForWidth(width)
            notice.setGeometry(0, top + 8, width, height)
            top += height + 8
        if self._error is not None and not self._error.isHidden():
            height = self._error.fit(width)
            top += 12 if top else 0
            self._error.setGeometry(0, top, width, height)
            top += height
        top = self._fit_foot(width, top)
        self._fitted = (width, top)
        return top

    def sizeHint(self) -> QSize:
        """Size as laid out last."""
        width, height = self._fitted or (0, 0)
        return QSize(width, height)

    def _fit_foot(self, width: int, top: int) -> int:
        if self.message.state.unfinished:
            top += _STRIP_GAP_PX if top else 0
            height = self._strip.fit(width)
            self._strip.setGeometry(0, top, width, height)
            return top + height
        left = 0
        footer = self.theme.type.px(_FOOTER_PX)
        top += 7
        for button in (self._copy, self._retry):
            if button is not None and not button.isHidden():
                size = button.sizeHint()
                button_width = footer if button is self._copy else size.width()
                button.setGeometry(left - (6 if button is self._copy else 0), top, button_width, footer)
                left += button_width + 4
        natural = self._strip.natural_width()
        room = width - left - 8
        strip_width = min(natural, room)
        height = self._strip.fit(strip_width)
        self._strip.setGeometry(width - strip_width, top, strip_width, height)
        return top + max(height, footer)

    def _changed(self) -> None:
        self._fitted = None
        self.height_changed.emit()

    # --- blocks -----------------------------------------------------------------------------------------------

    def _take_text(self, text: str) -> None:
        if not text.startswith(self._text) or not self._text:
            self._splitter = BlockSplitter()
            self._frozen = 0
            self._text = ""
        self._splitter.feed(text[len(self._text) :])
        self._text = text
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        begun = perf_counter()
        self._timer.stop()
        final = not self.message.state.unfinished
        tail = self._splitter.tail()
        blocks = self._splitter.frozen[self._frozen :] + tail
        if not blocks and not self._frozen and self.message.state in _WRITING:
            blocks = [_EMPTY]  # for the caret to stand in
        first = self._frozen
        for offset, block in enumerate(blocks):
            self._show_block(first + offset, block, final)
        for widget in self._widgets[first + len(blocks) :]:
            widget.hide()
            widget.deleteLater()
        del self._widgets[first + len(blocks) :]
        del self._blocks[first + len(blocks) :]
        self._frozen = len(self._splitter.frozen)
        self._show_caret()
        self._changed()
        self._refreshed_at = perf_counter()
        self._cost_ms = (self._refreshed_at - begun) * 1000

    def _show_block(self, index: int, block: Block, final: bool) -> None:
        if index < len(self._widgets):
            self._blocks[index] = block
            if show_in_place(self._widgets[index], block, final):
                return
            self._widgets[index].hide()
            self._widgets[index].deleteLater()
            self._widgets[index] = self._make(block, final)
        else:
            self._blocks.append(block)
            self._widgets.append(self._make(block, final))

    def _make(self, block: Block, final: bool) -> BlockWidget:
        widget = make_block_widget(self.theme, block, self)
        if isinstance(widget, ProseBlock):
            widget.link_activated.connect(self.link_activated)
        elif isinstance(widget, ThoughtBlock):
            widget.height_changed.connect(self._changed)
            widget.link_activated.connect(self.link_activated)
        if final:
            show_in_place(widget, block, final)
        widget.show()
        return widget

    # --- state ------------------------------------------------------------------------------------------------

    def _show_state(self) -> None:
        self._show_notices()
        state = self.message.state
        # A reply that failed or was cut off with a reason says it in red; a plain stop needs no alarm.
        sentence = self.message.error if state in (MessageState.FAILED, MessageState.INTERRUPTED) else ""
        if state is MessageState.FAILED and not sentence:
            sentence = "The reply failed."
        if sentence:
            if self._error is None:
                self._error = ErrorNotice(self.theme, self)
                self._error.retry_requested.connect(self.retry_requested)
            self._error.set_error(sentence, bool(self._text), self._last)
        if self._error is not None:
            self._error.setVisible(bool(sentence))
        self._show_buttons(retry=self._last and not sentence)
        self._show_strip()
        self._show_caret()
        self._changed()

    def _show_notices(self) -> None:
        texts = [label.text() for label in self._notices]
        if texts == list(self.message.notices):
            return
        for label in self._notices:
            label.hide()
            label.deleteLater()
        self._notices = []
        for text in self.message.notices:
            label = QLabel(text, self)
            label.setProperty("kind", "notice")
            label.setWordWrap(True)
            label.show()
            self._notices.append(label)

    def _show_buttons(self, retry: bool) -> None:
        finished = not self.message.state.unfinished
        if finished and self._text and self._copy is None:
            self._copy = self._footer_button("copy", "Copy reply")
            self._copy.clicked.connect(self._copy_reply)
        if self._copy is not None:
            self._copy.setVisible(finished and bool(self._text))
        retry = retry and self.message.state in (MessageState.STOPPED, MessageState.INTERRUPTED)
        if retry and self._retry is None:
            self._retry = self._footer_button("rotate-ccw", "Try again")
            self._retry.setText(" Try again")
            self._retry.setProperty("kind", "quiet")
            self._retry.clicked.connect(self.retry_requested)
        if self._retry is not None:
            self._retry.setVisible(retry)

    def _footer_button(self, icon: str, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(themed_icon(self.theme, icon))
        button.setIconSize(QSize(16, 16))
        button.setAccessibleName(name)
        button.setToolTip(name)
        if icon != "copy":
            button.setToolButtonStyle(_BESIDE)
        return button

    def _show_strip(self) -> None:
        if self._strip.set_status(reply_status(self.message, self._engine, self._prefill)):
            self._changed()

    def _show_caret(self) -> None:
        waiting = self.message.state in _WRITING
        for widget in self._widgets[:-1]:
            if isinstance(widget, (ProseBlock, CodeBlock)):
                widget.set_caret(False)
        if self._widgets and isinstance(self._widgets[-1], (ProseBlock, CodeBlock)):
            self._widgets[-1].set_caret(waiting and self._caret_lit)

    @Slot()
    def _copy_reply(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        if self._copy is not None:
            self._copy.setIcon(themed_icon(self.theme, "check", "acc"))
            QTimer.singleShot(1_500, self, self._forget_copied)

    @Slot()
    def _forget_copied(self) -> None:
        if self._copy is not None:
            self._copy.setIcon(themed_icon(self.theme, "copy"))
