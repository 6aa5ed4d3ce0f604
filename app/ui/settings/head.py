"""The head of the dialog: the search, how much is shown, and whether it is for all models or for one."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from app.settings.pending import EVERY_MODEL
from app.ui.boxes import filled
from app.ui.settings.segments import Segments
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_NAME_PX = 240
_SIDE_PX = 20
_HEAD_BESIDE_PX = 60  # the edges of the switch, and what its words keep from them


class Head(QWidget):
    """Search and switches.

    Args:
        model: Reference of the chosen model.
        model_name: Name in the window.
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
        self.scope.add(EVERY_MODEL, tr("For all models"))
        self.scope.add(model, tr("For {model}", model=model_name), model_name)
        self._model, self._model_name = model, model_name
        self.scope.choose(EVERY_MODEL)
        self._column = filled(QVBoxLayout(self), margins=(_SIDE_PX, 14, _SIDE_PX, 6), spacing=10)
        self._search_line, self._level_line, scope_line = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for line in (self._search_line, self._level_line, scope_line):
            self._column.addLayout(line)  # before it is filled, or PySide keeps the items of what moves
        self._search_line.setSpacing(12)
        self._search_line.addWidget(self.search, 1)
        self._search_line.addWidget(self.level)
        scope_line.addWidget(self.scope)
        for line in (self._level_line, scope_line):
            line.addStretch(1)
        self._pages: QWidget | None = None

    def put_pages(self, box: QWidget) -> None:
        """Take in the pages as a field, for a narrow dialog."""
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._column.insertWidget(0, box)
        self._pages = box

    def fit(self, width: int, narrow: bool) -> None:
        """In a narrow dialog the pages are a field, and everything is below one another."""
        assert self._pages is not None, "the head has no pages"
        self._pages.setVisible(narrow)
        if narrow:
            self._level_line.insertWidget(0, self.level)
        else:
            self._search_line.addWidget(self.level)
        metrics = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM))
        all_models = metrics.horizontalAdvance(self.scope.buttons[EVERY_MODEL].text())
        room = max(width - 2 * _SIDE_PX - all_models - _HEAD_BESIDE_PX, 60)
        words = tr("For {model}", model=self._model_name)
        words = metrics.elidedText(
            words, Qt.TextElideMode.ElideRight, min(room, self._theme.type.px(_NAME_PX))
        )
        self.scope.buttons[self._model].setText(words)
