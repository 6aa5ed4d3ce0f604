"""The composer: the field, attached files, the mode, the context meter, Send and Stop."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QEnterEvent, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.ui.boxes import STRETCH, filled
from app.ui.buttons import icon_button
from app.ui.composer.attachment_row import AttachmentRow
from app.ui.composer.context_meter import ContextMeter
from app.ui.composer.mode_button import ModeButton
from app.ui.composer.prompt_edit import PromptEdit
from app.ui.composer.send_button import SendButton
from app.ui.painting import smooth
from app.ui.theme.theme import Theme
from app.words import tr


class Composer(QWidget):
    """Emits what the user wants; it decides nothing."""

    send_requested = Signal(str, object)  # text, tuple of Attachment
    attach_requested = Signal()
    files_offered = Signal(object)  # list of Path
    stop_requested = Signal()
    cancelled = Signal()  # by Escape, while there is no reply to stop
    busy_send_refused = Signal()
    reading_send_refused = Signal(str)  # name of a file that is still being read
    resized = Signal()

    def __init__(self, theme: Theme, mode: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.prompt = PromptEdit(theme, self)
        self.attachments = AttachmentRow(theme, self)
        self.attach_button = icon_button(
            theme, "paperclip", tr("Attach files"), self, self.attach_requested, side_px=28
        )
        self.mode_button = ModeButton(theme, mode, self)
        self.meter = ContextMeter(theme, self)
        self.send_button = SendButton(theme, self)
        self.prompt.submitted.connect(self._submit)
        self.prompt.cancelled.connect(self._cancel)
        self.prompt.textChanged.connect(self._enable)
        self.prompt.focus_changed.connect(self.update)
        self.prompt.files_offered.connect(self.files_offered)
        self.attachments.changed.connect(self._enable)
        self.send_button.clicked.connect(self._clicked)
        row = filled(
            QHBoxLayout(),
            *(self.attach_button, -10, self.mode_button, STRETCH, self.meter, self.send_button),
            margins=0,
            spacing=16,
        )
        filled(QVBoxLayout(self), self.attachments, self.prompt, row, margins=(10, 11, 10, 9), spacing=6)
        self._enable()

    @property
    def text(self) -> str:
        """Typed text."""
        return self.prompt.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace what is typed and put the cursor at its end."""
        self.prompt.setPlainText(text)
        self.prompt.moveCursor(self.prompt.textCursor().MoveOperation.End)

    def setFocus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """Go to the field. A focus proxy would do so too, and Tab would never leave the composer."""
        self.prompt.setFocus(reason)

    def set_busy(self, busy: bool) -> None:
        """Show whether this conversation's reply is under way or queued."""
        if busy != self.send_button.stops:
            self.send_button.set_stops(busy)
            self._enable()

    def set_narrow(self, narrow: bool) -> None:
        """Below 720 px."""
        self.send_button.set_narrow(narrow)
        self.meter.set_narrow(narrow)

    def set_placeholder(self, text: str) -> None:
        """Set the placeholder of the empty field."""
        self.prompt.setPlaceholderText(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More lines, or files: what stands above it moves."""
        super().resizeEvent(event)
        self.resized.emit()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Repaint the edge for the pointer."""
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Repaint the edge for the pointer."""
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint fill and edge; the edge is 2 px in the accent while the field has the focus."""
        painter = smooth(self)
        focused = self.prompt.hasFocus()
        edge = "acc" if focused else "sub" if self.underMouse() else "ctl"
        width = 2 if focused else 1
        painter.setPen(QPen(self._theme.color(edge), width))
        painter.setBrush(self._theme.color("raised"))
        inset = width / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), 10, 10)

    @Slot()
    def _clicked(self) -> None:
        if self.send_button.stops:
            self.stop_requested.emit()
        else:
            self._submit()
        self.prompt.setFocus()  # the button may be of no use now, and the next thing is to write

    @Slot()
    def _submit(self) -> None:
        text, attachments = self.text.strip(), self.attachments.attachments
        if not text and not attachments and not self.attachments.pending:
            return
        if self.send_button.stops:
            self.busy_send_refused.emit()
            return
        if self.attachments.pending:
            self.reading_send_refused.emit(next(iter(self.attachments.pending.values())))
            return
        self.prompt.clear()
        self.attachments.set_attachments(())
        self.send_requested.emit(text, attachments)

    @Slot()
    def _cancel(self) -> None:
        (self.stop_requested if self.send_button.stops else self.cancelled).emit()

    @Slot()
    def _enable(self) -> None:
        reading = list(self.attachments.pending.values())
        ready = (self.prompt.has_words() or bool(self.attachments.attachments)) and not reading
        self.send_button.setEnabled(self.send_button.stops or ready)
        if not self.send_button.stops:
            first = tr("{name} is being read", name=reading[0]) if reading else tr("Type a message first")
            self.send_button.setToolTip(tr("Send (Enter)") if ready else first)
