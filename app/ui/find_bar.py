"""The bar above the messages in which words are looked for."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QToolButton, QWidget

from app.ui.boxes import filled
from app.ui.inert_text import PlainLabel
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme
from app.words import tr

_BUTTON_PX = 28
_FIELD_PX = 320


class FindBar(QFrame):
    """A field, how much was found, and the ways to the places before and behind."""

    typed = Signal(str)
    next_requested = Signal()
    previous_requested = Signal()
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "find")
        self.setAccessibleName(tr("Find in this chat"))
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(tr("Find in this chat"))
        self.field.setAccessibleName(tr("Find in this chat"))
        self.field.addAction(
            QAction(themed_icon(theme, "search"), "", self.field), QLineEdit.ActionPosition.LeadingPosition
        )
        self.field.textEdited.connect(self.typed)
        self.field.installEventFilter(self)
        self._said = PlainLabel(self, kind="meter")
        self.previous_button = self._button("chevron-up", tr("Previous place"))
        self.previous_button.clicked.connect(self.previous_requested)
        self.next_button = self._button("chevron-down", tr("Next place"))
        self.next_button.clicked.connect(self.next_requested)
        self._close = self._button("x", tr("Close"))
        self._close.clicked.connect(self.left)
        row = filled(QHBoxLayout(self), (self.field, 1), 8, self._said, margins=(16, 7, 12, 7), spacing=4)
        row.addStretch(0)
        row.addSpacing(4)
        row.addWidget(self.previous_button)
        row.addWidget(self.next_button)
        row.addWidget(self._close)
        theme.changed.connect(self._fit)
        self._fit()
        self.show_count(0, 0)
        self.hide()

    @property
    def said(self) -> str:
        """Text on what was found."""
        return self._said.text()

    def open(self) -> None:
        """Show the bar, ready for typing; what stood in it is there to be replaced."""
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def show_count(self, number: int, total: int) -> None:
        """Say which of how many places is shown."""
        words = tr("{number} of {total}", number=number, total=total) if total else tr("Nothing found")
        self._said.setText(words if self.field.text().strip() else "")
        self.previous_button.setEnabled(total > 0)
        self.next_button.setEnabled(total > 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter goes on, Shift+Enter back, Escape closes."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                (self.previous_requested if back else self.next_requested).emit()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.left.emit()
                return True
        return False

    def _button(self, icon: str, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(themed_icon(self._theme, icon))
        scale_icon(self._theme, button, 16, _BUTTON_PX)
        button.setAccessibleName(name)
        button.setToolTip(name)
        return button

    def _fit(self) -> None:
        self.field.setMaximumWidth(self._theme.type.px(_FIELD_PX))
