"""One line above the composer: the help has an answer to what was asked."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from app.help.article import Article
from app.help.library import help_library
from app.help.question import about_tenon
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr


class HelpLine(QPushButton):
    """Hidden but for questions that are plainly about Tenon.

    Attributes:
        article: The article that it leads to; None while it is hidden.
    """

    opened = Signal(str)  # an article's name

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Help"), parent)
        self.setProperty("kind", "link")
        self.setIcon(themed_icon(theme, "info", "acc"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.article: Article | None = None
        self.clicked.connect(self._open)
        self.hide()

    def answer(self, question: str) -> None:
        """Offer an article where the question is plainly about Tenon; hide elsewhere."""
        found = help_library().search(question, 1) if about_tenon(question) else []
        self.article = found[0] if found else None
        if self.article is not None:
            self.setText(tr("Help has an answer: {title}", title=self.article.title))
        self.setVisible(self.article is not None)

    @Slot()
    def _open(self) -> None:
        if self.article is not None:
            self.opened.emit(self.article.name)
