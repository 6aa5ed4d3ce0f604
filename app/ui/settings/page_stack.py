"""The scrolling middle of the dialog: one page, or what was found on all of them."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.settings.pages import PAGES
from app.ui.inert_text import PlainLabel
from app.ui.settings.action_rows import TokenRow
from app.ui.settings.fields import Fields
from app.ui.settings.page_view import PageView
from app.ui.settings.row import SettingRow
from app.ui.theme.theme import Theme
from app.words import tr

_STACK_SIDE_PX = 20


class PageStack(QScrollArea):
    """Pages are made when they are shown first, so that the dialog opens at once."""

    made = Signal(object)  # PageView

    def __init__(self, theme: Theme, fields: Fields, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._fields = fields
        self._pages: dict[int, PageView] = {}
        self._head: QWidget | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._column = QWidget(self)
        self._column.setProperty("kind", "column")
        self.nothing = PlainLabel(self._column, kind="sub", wrap=True)
        self.nothing.setText(tr("No setting was found: try another word, or choose another page."))
        self.setWidget(self._column)

    def show_page(self, number: int, typed: str, advanced: bool, per_model: bool) -> None:
        """Show a page, or where something was typed what is found of it on all of them; see `PageView.show_items`."""
        found = False
        for other in range(len(PAGES)):
            wanted = bool(typed) or other == number
            if wanted or other in self._pages:
                page = self.page(other)
                shown = wanted and page.show_items(typed, advanced, per_model)
                page.setVisible(shown)
                found = found or shown
        self.nothing.setVisible(not found)
        self.arrange()
        self.verticalScrollBar().setValue(0)

    def put_head(self, head: QWidget | None) -> None:
        """Take in what scrolls away above the pages; None gives it back to whoever asks for it."""
        self._head = head
        if head is not None:
            head.setParent(self._column)
            head.show()

    def page(self, number: int) -> PageView:
        """Return a page, and make it if needed."""
        if number not in self._pages:
            page = PageView(self._theme, PAGES[number], self._fields, self._column)
            self._pages[number] = page
            self.made.emit(page)
        return self._pages[number]

    def pages(self) -> Iterator[PageView]:
        """Pages that were made, in their order."""
        for number in sorted(self._pages):
            yield self._pages[number]

    def rows(self) -> Iterator[tuple[str, SettingRow]]:
        """Yield the rows of settings that were made."""
        for page in self.pages():
            yield from page.rows.items()

    def controls(self) -> Iterator[QWidget]:
        """Widgets that take the focus, from top to bottom."""
        for page in self.pages():
            for view in page.item_views():
                if isinstance(view, SettingRow):
                    yield from (*view.field.controls, view.reset_button)
                elif isinstance(view, TokenRow):
                    yield from (view.edit, view.keep_button, view.forget_button)
                elif view.button is not None:
                    yield view.button

    def arrange(self) -> None:
        """Lay the shown pages out below one another."""
        width = self.width() - 2 * _STACK_SIDE_PX  # the scroll bar stands in the margin
        top = 0
        if self._head is not None:
            height = self._head.sizeHint().height()
            self._head.setGeometry(0, 0, self.width(), height)
            top = height
        for page in self.pages():
            if not page.isHidden():
                height = page.fit(width)
                page.setGeometry(_STACK_SIDE_PX, top, width, height)
                top += height
        if not self.nothing.isHidden():
            height = self.nothing.heightForWidth(width - 24)
            self.nothing.setGeometry(_STACK_SIDE_PX + 12, top + 16, width - 24, height)
            top += height + 32
        self._column.resize(self.viewport().width(), top + 16)

    def viewportEvent(self, event: QEvent) -> bool:
        """Words wrap elsewhere in another width, which a scroll bar that comes or goes changes too."""
        if event.type() == QEvent.Type.Resize:
            self.arrange()
        return super().viewportEvent(event)
