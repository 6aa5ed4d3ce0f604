"""A box to tick with words that wrap."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.ui.settings.plain_fields import SwitchBox
from app.ui.theme.theme import Theme


class CheckRow(QWidget):
    """A click on the words ticks the box as well."""

    toggled = Signal(bool)

    def __init__(self, theme: Theme, words: str, checked: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.box = SwitchBox(theme, self)
        self.box.setFixedSize(26, theme.type.px(24))
        self.box.setAccessibleName(words)
        self.box.setChecked(checked)
        self.box.toggled.connect(self.toggled)
        label = QLabel(words, self)
        label.setWordWrap(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.box, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(label, 1)

    @property
    def checked(self) -> bool:
        """Whether it is ticked."""
        return self.box.isChecked()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tick it."""
        self.box.toggle()
