"""The contents of the help: the titles of all articles, section by section, in as many columns as there is room for."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.help.library import HelpLibrary
from app.ui.help.article_text import article_link
from app.ui.placing import place
from app.ui.theme.theme import Theme
from app.ui.transcript.prose import ProseBlock

_COLUMN_PX = 290
_GAP_PX = 24


class Contents(QWidget):
    """As high as its longest column.

    Attributes:
        sections: A text of links each.
    """

    link_activated = Signal(QUrl)

    def __init__(self, theme: Theme, library: HelpLibrary, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.sections = []
        for section, articles in groupby(library.articles, lambda article: article.section):
            links = "\n\n".join(map(article_link, articles))
            block = ProseBlock(theme, f"### {section}\n\n{links}", parent=self)
            block.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            block.setAccessibleName(section)
            block.link_activated.connect(self.link_activated)
            self.sections.append(block)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out for another width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        for block in self.sections:
            block.restyle()
            block.content_changed()
        self._arrange()

    def _arrange(self) -> None:
        """Each section goes below the shortest column so far."""
        columns = max(1, (self.width() + _GAP_PX) // (self._theme.type.px(_COLUMN_PX) + _GAP_PX))
        width = (self.width() - (columns - 1) * _GAP_PX) // columns
        ends = [0] * columns
        for block in self.sections:
            column = ends.index(min(ends))
            height = block.fit(width)
            block.setFixedSize(width, height)
            place(block, column * (width + _GAP_PX), ends[column], width, height)
            ends[column] += height + _GAP_PX
        self.setFixedHeight(max(ends))
