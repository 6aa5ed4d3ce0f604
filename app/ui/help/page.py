"""The page of the help: its contents, what a search finds, or one article."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QAction, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.help.library import Article, HelpLibrary
from app.ui.help.article_text import ARTICLE, ArticleText, article_link
from app.ui.painting import place
from app.ui.parts import PlainLabel, push_button
from app.ui.place_page import PlacePage
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.ui.transcript.prose import ProseBlock
from app.words import tr

_COLUMN_PX = 720
_MOST_FOUND = 12


_CONTENTS_COLUMN_PX = 290
_GAP_PX = 24


class Contents(QWidget):
    """Columns of links, as high as the longest."""

    link_activated = Signal(QUrl)

    def __init__(self, theme: Theme, library: HelpLibrary, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.sections = []  # a text of links each
        for section, articles in groupby(library.articles, lambda article: article.section):
            links = "\n\n".join(map(article_link, articles))
            block = ProseBlock(theme, f"### {section}\n\n{links}", parent=self)
            block.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            block.setAccessibleName(section)
            block.link_activated.connect(self.link_activated)
            self.sections.append(block)

    def resizeEvent(self, event: QResizeEvent) -> None:
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
        columns = max(1, (self.width() + _GAP_PX) // (self._theme.type.px(_CONTENTS_COLUMN_PX) + _GAP_PX))
        width = (self.width() - (columns - 1) * _GAP_PX) // columns
        ends = [0] * columns
        for block in self.sections:
            column = ends.index(min(ends))
            height = block.fit(width)
            block.setFixedSize(width, height)
            place(block, column * (width + _GAP_PX), ends[column], width, height)
            ends[column] += height + _GAP_PX
        self.setFixedHeight(max(ends))


class HelpPage(PlacePage):
    """The contents or one text, whose links lead to articles, commands and settings."""

    link_followed = Signal(QUrl)  # to what is not of this page
    looked_at = Signal()  # what is known of this computer is going to be shown

    def __init__(self, theme: Theme, library: HelpLibrary, text: ArticleText) -> None:
        super().__init__(theme, tr("Help"))
        self._library = library
        self._text = text
        self._article: Article | None = None
        self.search = QLineEdit(self)  # field for words to find
        self.search.setPlaceholderText(tr("Search the help"))
        self.search.setAccessibleName(tr("Search the help"))
        self.search.setClearButtonEnabled(True)
        self.search.addAction(
            QAction(themed_icon(theme, "search"), "", self.search), QLineEdit.ActionPosition.LeadingPosition
        )
        self.search.textEdited.connect(self._searched)
        self.search.returnPressed.connect(self._open_best)
        # The way from an article to the contents
        self.back = push_button(tr("All articles"), self, self.show_contents, kind="link")
        self.back.setIcon(themed_icon(theme, "chevron-left", "acc"))
        self._heading = PlainLabel(self, kind="display", wrap=True)
        self.body = ProseBlock(theme, "", parent=self)  # an article, or the results of a search
        self.body.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.contents = Contents(theme, library, self)  # every article's title
        self.contents.link_activated.connect(self._follow)
        self.body.link_activated.connect(self._follow)
        for part in (self.search, self._heading, self.contents, self.body):
            self.column.addWidget(part)
        self.head.addWidget(self.back)
        self.column.addStretch(1)
        theme.changed.connect(self._restyle)
        self.show_contents()

    @property
    def article(self) -> str:
        """The article that is shown; empty where it is the contents or what a search found."""
        return "" if self._article is None else self._article.name

    @Slot()
    def show_contents(self) -> None:
        """Show every article's title."""
        self.search.clear()
        self._show(None, "", "")

    def show_article(self, name: str) -> None:
        """Show an article, filled in as things are now."""
        article = self._library[name]
        self.search.clear()
        self._show(article, article.title, self._text.of(article))
        self.looked_at.emit()

    def show_found(self, text: str) -> None:
        """Show what a search finds."""
        self.search.setText(text)
        self._searched(text)

    @Slot()
    def refresh(self) -> None:
        """More is known of this computer: an article that is shown says it."""
        if self._article is not None and self.isVisible():
            self.body.set_text(self._text.of(self._article))
            self._fit_body()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()
        self.looked_at.emit()
        self.search.setFocus(Qt.FocusReason.OtherFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self.show_contents()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_body()

    def _show(self, article: Article | None, heading: str, markdown: str) -> None:
        self._article = article
        self._heading.setText(heading)
        for part in (self._heading, self.back, self.body):
            part.setVisible(bool(heading))
        self.contents.setVisible(not heading)
        self.body.setAccessibleName(heading or self.title.text())
        self.body.set_text(markdown)
        self._fit_body()
        self.area.verticalScrollBar().setValue(0)

    @Slot(str)
    def _searched(self, typed: str) -> None:
        if not typed.strip():
            self.show_contents()
            return
        found = self._library.search(typed, _MOST_FOUND)
        rows = "\n".join(f"- {article_link(article)} · {article.section}" for article in found)
        about = tr("Articles about {words}", words=typed.strip())
        heading = about if found else tr("Nothing found: try other words.")
        self._show(None, heading, rows)

    @Slot()
    def _open_best(self) -> None:
        found = self._library.search(self.search.text(), 1)
        if found:
            self.show_article(found[0].name)

    @Slot(QUrl)
    def _follow(self, url: QUrl) -> None:
        if url.scheme() == ARTICLE:
            self.show_article(url.path())
        else:
            self.link_followed.emit(url)

    @Slot()
    def _restyle(self) -> None:
        self.body.restyle()
        self.contents.restyle()
        self._fit_body()

    def _fit_body(self) -> None:
        margins = self.column.contentsMargins()
        room = self.width() - 2 * margins.left()  # the scroll bar stands in the right margin
        width = max(200, min(self._theme.type.px(_COLUMN_PX), room))
        for part in (self.search, self._heading):
            part.setFixedWidth(width)
        self.body.content_changed()
        self.body.setFixedSize(width, self.body.fit(width))
