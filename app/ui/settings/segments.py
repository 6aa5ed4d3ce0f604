"""A switch between a few words that are all seen."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from app.ui.boxes import filled


class Segments(QFrame):
    """One of them is always chosen.

    Args:
        name: Subject of the switch, for those who hear the window.
    """

    chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "segments")
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.buttons: dict[str, QToolButton] = {}
        self._name = name
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._clicked)
        self._line = filled(QHBoxLayout(self), margins=2, spacing=2)

    def add(self, key: str, words: str, tip: str = "") -> None:
        """One more at the right end."""
        button = QToolButton(self)
        button.setProperty("kind", "segment")
        button.setText(words)
        button.setToolTip(tip)
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(f"{self._name}: {words}")
        self._group.addButton(button)
        self._line.addWidget(button)
        self.buttons[key] = button

    def choose(self, key: str) -> None:
        """Show another one as chosen, without saying so."""
        self.buttons[key].setChecked(True)

    @property
    def current(self) -> str:
        """The chosen one."""
        return next((key for key, button in self.buttons.items() if button.isChecked()), "")

    @Slot(QAbstractButton)
    def _clicked(self, button: QAbstractButton) -> None:
        self.chosen.emit(self.current)
