"""Finding words in the chat that is shown: by its bar, and those of a search in all chats when a hit is opened."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QBoxLayout

from app.chat.search import SearchHit, phrase_pattern, search_terms, terms_pattern
from app.ui.chat_page import ChatPage
from app.ui.chat_shelf import ChatShelf
from app.ui.commands import CommandGroup, Commands
from app.ui.find_bar import FindBar
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.theme import Theme
from app.ui.transcript.finder import Finder
from app.words import tr


class FindInChat(QObject):
    """Stands between the bar, the transcript and the sidebar's search."""

    def __init__(self, theme: Theme, page: ChatPage, sidebar: Sidebar, shelf: ChatShelf) -> None:
        super().__init__(page)
        self._page = page
        self._sidebar = sidebar
        self._shelf = shelf
        self.finder = Finder(page.transcript)
        self.bar = FindBar(theme)
        column = page.layout()
        assert isinstance(column, QBoxLayout)
        column.insertWidget(1, self.bar)
        self.bar.typed.connect(self._search)
        self.bar.next_requested.connect(self.finder.next)
        self.bar.previous_requested.connect(self.finder.previous)
        self.bar.left.connect(self.close)
        self.finder.changed.connect(self._show_count)
        sidebar.list.hit_chosen.connect(self._show_hit)  # after the shelf, which opens the chat
        sidebar.search_changed.connect(self._search_changed)
        page.conversation_shown.connect(self._conversation_shown)

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done."""
        messages = CommandGroup.MESSAGE
        commands.add("find", tr("Find in this chat"), self.open, messages, ("Ctrl+F",), "search")
        self._steps = (
            commands.add("find-next", tr("Next place found"), self.finder.next, messages, ("F3", "Ctrl+G")),
            commands.add("find-previous", tr("Previous place found"), self.finder.previous, messages,
                         ("Shift+F3", "Ctrl+Shift+G")),
        )  # fmt: skip
        self._show_count()

    @Slot()
    def open(self) -> None:
        """Show the bar; what is selected in a message is what is looked for."""
        self._shelf.chat_wanted.emit()
        selected = self._page.transcript.selected_phrase()
        if selected:
            self.bar.field.setText(selected)
        self.bar.open()
        self._search(self.bar.field.text())

    @Slot()
    def close(self) -> None:
        """Put the bar and the marks away."""
        self.bar.hide()
        self.finder.search(None)
        self._page.composer.setFocus()

    @Slot(str)
    def _search(self, typed: str) -> None:
        self.finder.search(phrase_pattern(typed))

    @Slot(object)
    def _show_hit(self, hit: SearchHit) -> None:
        """Mark the words that led to a message in it, and go to the first."""
        if hit.conversation_id == self._page.current:
            self.bar.hide()
            self.finder.search(terms_pattern(search_terms(self._sidebar.search.text())), hit.message_id)

    @Slot(str)
    def _search_changed(self, typed: str) -> None:
        if not typed.strip() and self.bar.isHidden() and self.finder.active:
            self.finder.search(None)

    @Slot(object)
    def _conversation_shown(self, conversation_id: int | None) -> None:
        """Another chat: the words in the bar are looked for there; those of another chat's hit are not."""
        if self.bar.isHidden():
            self.finder.search(None)
        elif self.finder.active:
            self._search(self.bar.field.text())

    @Slot()
    def _show_count(self) -> None:
        total = self.finder.total
        self.bar.show_count(self.finder.number, total)
        for action in self._steps:
            action.setEnabled(total > 0)
