"""Field for a setting, made from the setting's own description."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.ui.boxes import filled


class Field(QWidget):
    """One control, or several that belong together.

    It has no focus proxy: with one, Tab comes back to the proxy and never leaves the page.

    Attributes:
        controls: In the order of the Tab key.
        wide: True if it needs the row's whole width.
    """

    edited = Signal()  # by the user; not when a value is shown
    wide = False

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.controls: list[QWidget] = []
        self._line = filled(QHBoxLayout(self), margins=0, spacing=12)

    def add(self, control: QWidget, name: str, help_text: str, stretch: int = 0) -> None:
        """Take in a control, and say what it is to those who hear the window."""
        control.setAccessibleName(name)
        control.setAccessibleDescription(help_text)
        self._line.addWidget(control, stretch)
        self.controls.append(control)

    def fit(self) -> None:
        """Take the sizes of another theme."""

    def wanted_height(self) -> int:
        """Height to take, in px."""
        return min(self.sizeHint().height(), self.maximumHeight())

    def value(self) -> Any:
        """Value that it shows."""
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        """Let it say something else."""
        raise NotImplementedError

    def notice(self) -> str:
        """Remark on what was typed; empty for none."""
        return ""

    def show_in_use(self, value: Any) -> None:
        """Mark the value that is in use, where there is a place for that; None for none."""
