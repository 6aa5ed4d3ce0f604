"""Asks for a name: of a folder, of a preset."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.ui.parts import STRETCH, PlainLabel, filled, push_button
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import Theme
from app.words import tr

_WIDTH_PX = 360
_LONGEST = 60


class NameDialog(RingedDialog):
    """A field and two buttons. Accepting calls back with a name that is not blank.

    Args:
        title: The dialog's title, and the field's label.
        button: Text of the button that accepts.
        name: Text in the field at first.
        then: Called with the name.
    """

    def __init__(
        self,
        theme: Theme,
        title: str,
        button: str,
        name: str,
        then: Callable[[str], object],
        parent: QWidget,
    ) -> None:
        super().__init__(theme, title, parent)
        self._then = then
        label = PlainLabel(title, self, kind="label")
        self.field = QLineEdit(name, self)
        self.field.setAccessibleName(title)
        self.field.setMaxLength(_LONGEST)
        self.field.selectAll()
        self.field.textChanged.connect(self._changed)
        label.setBuddy(self.field)
        self.accept_button = push_button(button, self, self.accept, kind="primary", default=True)
        cancel = push_button(tr("Cancel"), self, self.reject)
        buttons = filled(QHBoxLayout(), STRETCH, cancel, self.accept_button, spacing=8)
        filled(QVBoxLayout(self), label, self.field, 8, buttons, margins=(20, 18, 20, 16), spacing=8)
        self.setFixedWidth(min(theme.type.px(_WIDTH_PX), max(280, parent.window().width() - 40)))
        self._changed()
        self.accepted.connect(self._tell)

    @Slot()
    def _changed(self) -> None:
        self.accept_button.setEnabled(bool(self.field.text().strip()))

    @Slot()
    def _tell(self) -> None:
        self._then(self.field.text().strip())
