"""Asks for a name: of a folder, of a preset."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.ui.inert_text import PlainLabel
from app.ui.theme.ringed_dialog import RingedDialog
from app.ui.theme.theme import Theme
from app.words import tr

_WIDTH_PX = 360
_LONGEST = 60


class NameDialog(RingedDialog):
    """A field and two buttons. Accepting calls back with a name that is not blank.

    Args:
        theme: Sizes.
        title: The dialog's title, and the field's label.
        button: What accepting is called.
        name: What stands in the field at first.
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
        super().__init__(theme, parent)
        self._then = then
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        label = PlainLabel(title, self)
        label.setProperty("kind", "label")
        self.field = QLineEdit(name, self)
        self.field.setAccessibleName(title)
        self.field.setMaxLength(_LONGEST)
        self.field.selectAll()
        self.field.textChanged.connect(self._changed)
        label.setBuddy(self.field)
        self.accept_button = QPushButton(button, self)
        self.accept_button.setProperty("kind", "primary")
        self.accept_button.setDefault(True)
        self.accept_button.clicked.connect(self.accept)
        cancel = QPushButton(tr("Cancel"), self)
        cancel.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch()
        buttons.addWidget(cancel)
        buttons.addWidget(self.accept_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        column.addWidget(label)
        column.addWidget(self.field)
        column.addSpacing(8)
        column.addLayout(buttons)
        self.setFixedWidth(min(theme.type.px(_WIDTH_PX), max(280, parent.window().width() - 40)))
        self._changed()
        self.accepted.connect(self._tell)

    @Slot()
    def _changed(self) -> None:
        self.accept_button.setEnabled(bool(self.field.text().strip()))

    @Slot()
    def _tell(self) -> None:
        self._then(self.field.text().strip())
