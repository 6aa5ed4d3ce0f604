"""Base of the dialogs of the page of models: words, then buttons, the first one of which does it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

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
        self.column = QVBoxLayout(content)
        self.column.setContentsMargins(_EDGE_PX, 18, _EDGE_PX, 8)
        self.column.setSpacing(10)
        self._heading = PlainLabel(title, content)
        self._heading.setProperty("kind", "section")
        self._heading.setWordWrap(True)
        self.column.addWidget(self._heading)
        self.area = QScrollArea(self)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(content)
        self.area.setAccessibleName(title)
        self.cancel_button = QPushButton(tr("Cancel"), self)
        self.cancel_button.clicked.connect(self.reject)
        self.accept_button = QPushButton(accept, self)
        self.accept_button.setProperty("kind", "primary")
        self.accept_button.setDefault(True)
        self.accept_button.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(_EDGE_PX, 12, _EDGE_PX, 16)
        buttons.setSpacing(8)
        buttons.addStretch(1)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.accept_button)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.area, 1)
        whole.addLayout(buttons)

    def add_words(self, words: str, kind: str = "sub") -> QLabel:
        """A paragraph."""
        label = PlainLabel(words, self)
        label.setProperty("kind", kind)
        label.setWordWrap(True)
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
