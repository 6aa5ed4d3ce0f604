"""Base of the dialogs of the page of models: words, then buttons, the first one of which does it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.inert_text import PlainLabel
from app.ui.theme.ringed_dialog import RingedDialog
from app.ui.theme.theme import Theme
from app.words import tr

_WIDTH_PX = 460
_EDGE_PX = 20


class ModelDialog(RingedDialog):
    """Sheet above the window.

    Attributes:
        column: The layout to fill.
        accept_button: Does what the dialog is about.
    """

    def __init__(self, theme: Theme, title: str, accept: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._theme = theme
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        content = QWidget(self)
        self.column = filled(QVBoxLayout(content), margins=(_EDGE_PX, 18, _EDGE_PX, 8), spacing=10)
        self._heading = PlainLabel(title, content, kind="section", wrap=True)
        self.column.addWidget(self._heading)
        self.area = QScrollArea(self)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(content)
        self.area.setAccessibleName(title)
        self.cancel_button = push_button(tr("Cancel"), self, self.reject)
        self.accept_button = push_button(accept, self, self.accept, kind="primary", default=True)
        buttons = filled(
            QHBoxLayout(),
            *(STRETCH, self.cancel_button, self.accept_button),
            margins=(_EDGE_PX, 12, _EDGE_PX, 16),
            spacing=8,
        )
        filled(QVBoxLayout(self), (self.area, 1), buttons, margins=0, spacing=0)

    def add_words(self, words: str, kind: str = "sub") -> QLabel:
        """A paragraph."""
        label = PlainLabel(words, self, kind=kind, wrap=True)
        self.column.addWidget(label)
        return label

    def fit(self) -> None:
        """As high as its words, as far as the window around it lets it."""
        parent = self.parentWidget()
        room = parent.window().size() if parent is not None else None
        width = self._theme.type.px(_WIDTH_PX)
        if room is not None:
            width = min(width, room.width() - 32)
        for label in self.findChildren(QLabel):  # its font decides on how high it is
            label.ensurePolished()
        self.column.activate()
        height = self.column.totalHeightForWidth(width) + self._theme.type.px(32) + 32
        if room is not None:
            height = min(height, max(260, room.height() - 40))
        self.resize(width, height)
