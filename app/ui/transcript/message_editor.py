"""Editor of a person's own message: its text in a field, with Cancel and Send."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

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
        self._cancel = QPushButton(tr("Cancel"), self)
        self._cancel.clicked.connect(self.cancelled)
        self._send = QPushButton(tr("Send"), self)
        self._send.setProperty("kind", "primary")
        self._send.setToolTip(tr("Send it as a version of its own; the message before stays"))
        self._send.clicked.connect(self._submit)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch()
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._send)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 10)
        column.setSpacing(6)
        column.addWidget(self.prompt)
        column.addLayout(buttons)

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
