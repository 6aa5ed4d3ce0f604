"""Editor of a user's own message: its text in a field, with Cancel and Send."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.composer.prompt_edit import PromptEdit
from app.ui.theme.theme import Theme
from app.words import tr


class MessageEditor(QFrame):
    """Enter sends, Escape cancels, as in the composer."""

    submitted = Signal(str)
    cancelled = Signal()
    height_changed = Signal()

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._before = text
        self.setProperty("kind", "card")
        self.prompt = PromptEdit(theme, self)
        self.prompt.setAccessibleName(tr("Edit message"))
        self.prompt.submitted.connect(self._submit)
        self.prompt.cancelled.connect(self.cancelled)
        self.prompt.height_changed.connect(self.height_changed)
        self._cancel = push_button(tr("Cancel"), self, self.cancelled)
        self._send = push_button(tr("Send"), self, self._submit, kind="primary")
        self._send.setToolTip(tr("Send it as a version of its own; the message before stays"))
        buttons = filled(QHBoxLayout(), STRETCH, self._cancel, self._send, spacing=8)
        filled(QVBoxLayout(self), self.prompt, buttons, margins=(10, 8, 10, 10), spacing=6)

    def begin(self) -> None:
        """Put the text in. A field that is shown and placed knows how many lines that takes."""
        self.prompt.setPlainText(self._before)
        self.prompt.moveCursor(self.prompt.textCursor().MoveOperation.End)
        self.prompt.setFocus(Qt.FocusReason.OtherFocusReason)

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        self.resize(width, self.height())
        layout = self.layout()
        assert layout is not None
        layout.activate()
        return layout.minimumSize().height()

    @Slot()
    def _submit(self) -> None:
        text = self.prompt.toPlainText().strip()
        if text == self._before:
            self.cancelled.emit()
        else:
            self.submitted.emit(text)
