"""One reply: its blocks, what went wrong, and the strip under it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from app.chat.conversation import Message, MessageState
from app.chat.engine_state import EngineState
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.ui.transcript.error_notice import ErrorNotice
from app.ui.transcript.reply_blocks import ReplyBlocks
from app.ui.transcript.reply_status import reply_status
from app.ui.transcript.strip import StatusStrip

_STRIP_GAP_PX = 10
_FOOTER_GAP_PX = 7
_FOOTER_PX = 28
_COPIED_MS = 1_500
_WRITING = (MessageState.WAITING, MessageState.STREAMING)
_CUT = (MessageState.STOPPED, MessageState.INTERRUPTED)


class ReplyView(QWidget):
    """Shows a reply while it is written and after."""

    height_changed = Signal()
    retry_requested = Signal()
    link_activated = Signal(QUrl)

    def __init__(
        self, theme: Theme, message: Message, engine: EngineState, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.theme = theme
        self.message = message
        self.error: ErrorNotice | None = None
        self._engine = engine
        self._prefill: float | None = None
        self._last = False
        self._drafted_shown = False
        self._caret_lit = True
        self._notices: list[QLabel] = []
        self._copy: QToolButton | None = None
        self._retry: QToolButton | None = None
        self._fitted: tuple[int, int] | None = None
        self.setAccessibleName("Reply")
        self.blocks = ReplyBlocks(theme, self)
        self.blocks.set_text(message.content)
        self.blocks.height_changed.connect(self._changed)
        self.blocks.link_activated.connect(self.link_activated)
        self.strip = StatusStrip(theme, reply_status(message, engine, None), self)
        self._show_state()

    # --- content ----------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The reply's Markdown so far."""
        return self.blocks.text

    @property
    def status_text(self) -> str:
        """What the strip says."""
        return self.strip.status.text

    @property
    def notice_texts(self) -> list[str]:
        """The sentences beside the reply."""
        return [label.text() for label in self._notices]

    def append_text(self, text: str) -> None:
        """More of the reply has come."""
        self.blocks.append_text(text)

    def show_unconfirmed(self, text: str) -> None:
        """Show a guess of what follows, in place of the last."""
        if self.message.state in _WRITING:
            self.blocks.show_unconfirmed(text)

    def set_message(self, message: Message) -> None:
        """The reply's state, figures, notices or whole text changed."""
        self.message = message
        # While it is written the text comes by `append_text`; the whole of it is taken once, at the end.
        if message.content != self.text and not message.state.unfinished:
            self.blocks.set_text(message.content)
        self._show_state()

    def set_engine(self, engine: EngineState) -> None:
        """The engine's state changed; only a reply that is still to come shows it."""
        self._engine = engine
        if self.message.state in (MessageState.QUEUED, MessageState.WAITING):
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

    def set_drafted_shown(self, shown: bool) -> None:
        """Colour what came from accepted drafts, once the reply is finished."""
        if shown != self._drafted_shown:
            self._drafted_shown = shown
            self._show_drafted()

    def set_caret_lit(self, lit: bool) -> None:
        """Blink: called by the transcript's one timer while the reply waits."""
        self._caret_lit = lit
        self._show_caret()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self.blocks.restyle()
        if self.error is not None:
            self.error.restyle()
        self._changed()

    # --- layout -----------------------------------------------------------------------------------------------

    def fit(self, width: int) -> int:
        """Place everything at a width and return the height, in px."""
        if self._fitted is not None and self._fitted[0] == width:
            return self._fitted[1]
        top = self.blocks.fit(width)
        self.blocks.setGeometry(0, 0, width, top)
        for notice in self._notices:
            height = notice.heightForWidth(width)
            notice.setGeometry(0, top + 8, width, height)
            top += height + 8
        if self.error is not None and not self.error.isHidden():
            height = self.error.fit(width)
            top += 12 if top else 0
            self.error.setGeometry(0, top, width, height)
            top += height
        top = self._fit_strip(width, top) if self.message.state.unfinished else self._fit_footer(width, top)
        self._fitted = (width, top)
        return top

    def _fit_strip(self, width: int, top: int) -> int:
        top += _STRIP_GAP_PX if top else 0
        height = self.strip.fit(width)
        self.strip.setGeometry(0, top, width, height)
        return top + height

    def _fit_footer(self, width: int, top: int) -> int:
        buttons = [
            button for button in (self._copy, self._retry) if button is not None and not button.isHidden()
        ]
        if not buttons and not self.status_text:
            return top
        top += _FOOTER_GAP_PX
        height = self.theme.type.px(_FOOTER_PX)
        left = 0
        for button in buttons:
            button_width = height if button is self._copy else button.sizeHint().width()
            # The icon, not the button's edge, stands in line with the text.
            button.setGeometry(left - (6 if button is self._copy else 0), top, button_width, height)
            left += button_width + 4
        strip_width = min(self.strip.natural_width(), width - left - 8)
        strip_height = self.strip.fit(strip_width)
        self.strip.setGeometry(width - strip_width, top, strip_width, strip_height)
        return top + max(height, strip_height)

    @Slot()
    def _changed(self) -> None:
        self._fitted = None
        self.height_changed.emit()

    # --- state ------------------------------------------------------------------------------------------------

    def _show_state(self) -> None:
        state = self.message.state
        self.blocks.set_complete(not state.unfinished)
        self._show_drafted()
        self._show_notices()
        # A reply that failed or was cut off with a reason says it in red; a plain stop needs no alarm.
        sentence = self.message.error if state in (MessageState.FAILED, MessageState.INTERRUPTED) else ""
        if state is MessageState.FAILED and not sentence:
            sentence = "The reply failed."
        self._show_error(sentence)
        self._show_buttons(retry=self._last and not sentence and state in _CUT)
        self._show_strip()
        self._show_caret()
        self._changed()

    def _show_drafted(self) -> None:
        shown = self._drafted_shown and not self.message.state.unfinished
        self.blocks.set_drafted(self.message.drafted if shown else ())

    def _show_error(self, sentence: str) -> None:
        if sentence and self.error is None:
            self.error = ErrorNotice(self.theme, self)
            self.error.retry_requested.connect(self.retry_requested)
        if self.error is not None:
            self.error.set_error(sentence, bool(self.text), self._last)
            self.error.setVisible(bool(sentence))

    def _show_notices(self) -> None:
        if self.notice_texts == list(self.message.notices):
            return
        for label in self._notices:
            label.hide()
            label.deleteLater()
        self._notices = []
        for text in self.message.notices:
            label = QLabel(text, self)
            label.setProperty("kind", "notice")
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.show()
            self._notices.append(label)

    def _show_buttons(self, retry: bool) -> None:
        copies = bool(self.text) and not self.message.state.unfinished
        if copies and self._copy is None:
            self._copy = self._footer_button("copy", "Copy reply")
            self._copy.clicked.connect(self._copy_reply)
        if self._copy is not None:
            self._copy.setVisible(copies)
        if retry and self._retry is None:
            self._retry = self._footer_button("rotate-ccw", "Try again")
            self._retry.setText(" Try again")
            self._retry.setProperty("kind", "quiet")
            self._retry.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            self._retry.clicked.connect(self.retry_requested)
        if self._retry is not None:
            self._retry.setVisible(retry)

    def _footer_button(self, icon: str, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(themed_icon(self.theme, icon))
        button.setIconSize(QSize(16, 16))
        button.setAccessibleName(name)
        button.setToolTip(name)
        return button

    def _show_strip(self) -> None:
        if self.strip.set_status(reply_status(self.message, self._engine, self._prefill)):
            self._changed()

    def _show_caret(self) -> None:
        self.blocks.set_caret(self._caret_lit if self.message.state in _WRITING else None)

    @Slot()
    def _copy_reply(self) -> None:
        QGuiApplication.clipboard().setText(self.text)
        if self._copy is not None:
            self._copy.setIcon(themed_icon(self.theme, "check", "acc"))
            QTimer.singleShot(_COPIED_MS, self, self._forget_copied)

    @Slot()
    def _forget_copied(self) -> None:
        if self._copy is not None:
            self._copy.setIcon(themed_icon(self.theme, "copy"))
