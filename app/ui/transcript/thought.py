"""Block of a model's thoughts, the text between <think> and </think>: folded until asked for."""

from __future__ import annotations

import re

from PySide6.QtCore import QRect, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton, QWidget

from app.chat.markdown_blocks import Block
from app.ui.painting import place
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme
from app.ui.transcript.drafted_text import Stretch
from app.ui.transcript.prose import ProseBlock
from app.ui.transcript.selectable import Selectable
from app.words import tr

_INDENT_PX = 16
_GAP_PX = 6


class ThoughtBlock(QWidget):
    """A button that unfolds the thoughts below it."""

    height_changed = Signal()
    link_activated = Signal(QUrl)

    def __init__(self, theme: Theme, block: Block, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._text = block.text
        self._body: ProseBlock | None = None
        self._drafted: list[Stretch] = []
        self._pattern: re.Pattern[str] | None = None
        self._button = QToolButton(self)
        self._button.setProperty("kind", "thought")
        self._button.setCheckable(True)
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        scale_icon(theme, self._button, 14)
        self._button.toggled.connect(self._fold)
        self.set_block(block)
        self._fold(False)

    def set_block(self, block: Block, final: bool = False) -> None:
        """Show more of the same thoughts."""
        self._text = block.text
        self._button.setText(tr("Thought") if block.closed or final else tr("Thinking"))
        self._button.setAccessibleName(tr("Thoughts of the model"))
        if self._body is not None:
            self._body.set_text(block.text)

    def set_drafted(self, stretches: list[Stretch]) -> None:
        """Mark the parts of the thoughts that came from accepted drafts."""
        self._drafted = stretches
        if self._body is not None:
            self._body.set_drafted(stretches)

    def selectables(self) -> list[Selectable]:
        """Parts that a selection can reach: the thoughts, where they are unfolded."""
        return [] if self._body is None else [self._body]

    @property
    def found(self) -> int:
        """Number of places that a search found in thoughts that are unfolded."""
        return self._body.found if self._body is not None and self._button.isChecked() else 0

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds; None ends it."""
        self._pattern = pattern
        if self._body is not None:
            self._body.search(pattern)

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one; return where it is."""
        return QRect() if self._body is None else self._body.choose_found(number).translated(self._body.pos())

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        size = self._button.sizeHint()
        place(self._button, 0, 0, size.width(), size.height(), width)
        if self._body is None or not self._button.isChecked():
            return size.height()
        height = self._body.fit(width - _INDENT_PX)
        place(self._body, _INDENT_PX, size.height() + _GAP_PX, width - _INDENT_PX, height, width)
        return size.height() + _GAP_PX + height

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        if self._body is not None:
            self._body.restyle()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line left of the thoughts."""
        if self._body is not None and self._button.isChecked():
            top = self._body.y()
            QPainter(self).fillRect(3, top, 2, self.height() - top, self.theme.color("line"))

    @Slot(bool)
    def _fold(self, shown: bool) -> None:
        self._button.setIcon(themed_icon(self.theme, "chevron-down" if shown else "chevron-right"))
        self._button.setToolTip(tr("Hide the thoughts") if shown else tr("Show the thoughts"))
        if shown and self._body is None:
            self._body = ProseBlock(self.theme, self._text, muted=True, parent=self)
            self._body.link_activated.connect(self.link_activated)
            self._body.height_changed.connect(self.height_changed)
            self._body.set_drafted(self._drafted)
            self._body.search(self._pattern)
        if self._body is not None:
            self._body.setVisible(shown)
            self.height_changed.emit()
