"""The head of the dialog: the search, how much is shown, and whether it is for all models or for one."""

from __future__ import annotations

from PySide6.QtGui import QFontMetrics
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from app.settings.pending import EVERY_MODEL
from app.ui.settings.segments import Segments
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_NAME_PX = 180
_STACKED_PX = 480


class Head(QWidget):
    """Search and switches.

    Args:
        theme: Sizes and colours.
        model: Reference of the chosen model.
        model_name: What to show for it.
        parent: The dialog.
    """

    def __init__(self, theme: Theme, model: str, model_name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "page")
        self.search = QLineEdit(self)
        self.search.addAction(themed_icon(theme, "search", "mute"), QLineEdit.ActionPosition.LeadingPosition)
        self.search.setPlaceholderText(tr("Search all settings"))
        self.search.setAccessibleName(tr("Search all settings"))
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(80)
        self.level = Segments(tr("Settings shown"), self)
        self.level.add("simple", tr("Simple"))
        self.level.add("advanced", tr("Advanced"))
        self.scope = Segments(tr("Chosen for"), self)
        metrics = QFontMetrics(theme.font(TextStyle.UI))
        name = metrics.elidedText(model_name, Qt.TextElideMode.ElideMiddle, theme.type.px(_NAME_PX))
        self.scope.add(EVERY_MODEL, tr("For all models"))
        self.scope.add(model, tr("For {model}", model=name), model_name)
        self.scope.choose(EVERY_MODEL)
        self._first = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._first.setSpacing(12)
        self._first.addWidget(self.search, 1)
        self._first.addWidget(self.level)
        second = QHBoxLayout()
        second.addWidget(self.scope)
        second.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(20, 14, 20, 6)
        self._column.setSpacing(10)
        self._column.addLayout(self._first)
        self._column.addLayout(second)

    def put_pages(self, box: QWidget) -> None:
        """Take in the pages as a field, for a narrow dialog."""
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._column.insertWidget(0, box)
        self._pages = box

    def fit(self, width: int, narrow: bool) -> None:
        """Show the pages as a field in a narrow dialog, and stack what does not fit beside one another."""
        self._pages.setVisible(narrow)
        stacked = width < self._theme.type.px(_STACKED_PX)
        direction = QBoxLayout.Direction.TopToBottom if stacked else QBoxLayout.Direction.LeftToRight
        self._first.setDirection(direction)
