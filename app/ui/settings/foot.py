"""The foot of the dialog: what would change and what that causes, and the two buttons."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.inert_text import PlainLabel
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr
from engine.sentences import paragraph

_FOOT_NARROW_PX = 560
_ICON_PX = 16


class Foot(QFrame):
    """Says how many changes there are; the buttons work while there is one."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "dialog-foot")
        self._icon = PlainLabel(self)
        self.words = PlainLabel(self, wrap=True)
        self.words.setMinimumWidth(40)
        self.undo_button = QPushButton(tr("Undo changes"), self)
        self.apply_button = push_button(tr("Apply"), self, kind="primary")
        for button in (self.undo_button, self.apply_button):
            button.setAutoDefault(False)
        said = filled(QHBoxLayout(), self._icon, (self.words, 1), spacing=8)
        buttons = filled(QHBoxLayout(), STRETCH, self.undo_button, self.apply_button, spacing=8)
        self._box = filled(QHBoxLayout(), (said, 1), buttons, spacing=12)
        filled(QVBoxLayout(self), self._box, margins=(20, 12, 20, 12))
        theme.changed.connect(self.restyle)
        self.restyle()

    def show_changes(self, count: int, sentences: list[str]) -> None:
        """Say what Apply would do, and whatever else there is to say."""
        said = tr("Changes to apply: {count}.", count=count) if count else ""
        self.words.setText(paragraph(said, *sentences))
        for part in (self._icon, self.words):
            part.setVisible(bool(self.words.text()))
        self.undo_button.setEnabled(count > 0)
        self.apply_button.setEnabled(count > 0)

    def fit(self, width: int) -> None:
        """In a narrow dialog the words stand above the buttons."""
        narrow = width < self._theme.type.px(_FOOT_NARROW_PX)
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._box.setDirection(direction)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        icon = themed_icon(self._theme, "info", "acc")
        self._icon.setPixmap(icon.pixmap(QSize(_ICON_PX, _ICON_PX), self.devicePixelRatioF()))
