"""Asking the guide at once: a field and a button."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr

_SIDE_PX = 21
_NARROW_PX = 620  # of panel: the button stands below the field


class GuidePanel(QFrame):
    """Tinted, for it is what to do first.

    Attributes:
        field: The question; may stay empty.
        button: Asks it, or opens an empty chat.
    """

    asked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "result")
        title = QLabel(tr("Start talking now"), self)
        title.setProperty("kind", "section")
        words = QLabel(
            tr(
                "The small guide is built in and needs no download. It knows Tenon well and the world a little."
            ),
            self,
        )
        words.setWordWrap(True)
        self.field = QLineEdit(self)
        self.field.setProperty("large", True)
        self.field.setPlaceholderText(tr("Ask the guide anything, for example “how big a model can I run?”"))
        self.field.setAccessibleName(tr("Ask the guide"))
        self.field.returnPressed.connect(self._ask)
        self.button = QPushButton(self)
        self.button.setAccessibleName(tr("Chat with the small guide now"))
        self.button.setProperty("kind", "primary")
        self.button.setProperty("large", True)
        self.button.setIcon(themed_icon(theme, "message-square", "onacc"))
        self.button.setIconSize(QSize(18, 18))
        self._name_button(long=True)
        self.button.clicked.connect(self._ask)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(8)
        self._row.addWidget(self.field, 1)
        self._row.addWidget(self.button)
        column = QVBoxLayout(self)
        column.setContentsMargins(_SIDE_PX, 18, _SIDE_PX, 19)
        column.setSpacing(4)
        column.addWidget(title)
        column.addWidget(words)
        column.addSpacing(8)
        column.addLayout(self._row)

    def minimumSizeHint(self) -> QSize:
        """As narrow as the window may be: the button goes below the field."""
        return QSize(self._theme.type.px(200), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Beside each other, or not."""
        super().resizeEvent(event)
        narrow = self.width() < self._theme.type.px(_NARROW_PX)
        below, beside = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(below if narrow else beside)
        # Measured in its long form, or it would change to and fro.
        room = self.width() - 2 * _SIDE_PX
        self._name_button(long=True)
        if self.button.sizeHint().width() > room:
            self._name_button(long=False)

    def _name_button(self, long: bool) -> None:
        words = tr("Chat with the small guide now") if long else tr("Chat now")
        if self.button.text().strip() != words:
            self.button.setText(f"  {words}")

    @Slot()
    def _ask(self) -> None:
        text = self.field.text().strip()
        self.field.clear()
        self.asked.emit(text)
