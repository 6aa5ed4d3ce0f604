"""The bar above the messages in which words are looked for."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QWidget

from app.ui.boxes import filled
from app.ui.buttons import icon_button
from app.ui.inert_text import PlainLabel
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr

_BUTTON_PX = 28
_FIELD_PX = 320


class FindBar(QFrame):
    """A field, how much was found, and the ways to the places before and after."""

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
        self.previous_button, self.next_button, self._close = (
            icon_button(theme, icon, name, self, pressed, side_px=_BUTTON_PX)
            for icon, name, pressed in (
                ("chevron-up", tr("Previous place"), self.previous_requested),
                ("chevron-down", tr("Next place"), self.next_requested),
                ("x", tr("Close"), self.left),
            )
        )
        row = filled(QHBoxLayout(self), (self.field, 1), 8, self._said, margins=(16, 7, 12, 7), spacing=4)
        row.addStretch(0)
        filled(row, 4, self.previous_button, self.next_button, self._close)
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

    def _fit(self) -> None:
        self.field.setMaximumWidth(self._theme.type.px(_FIELD_PX))
