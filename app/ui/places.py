"""The middle of the window: the chat, or one of the pages that the sidebar's foot leads to."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

CHAT = "chat"
MODELS = "models"
MACHINE = "machine"
SERVER = "server"
HELP = "help"


class PlaceStack(QStackedWidget):
    """One page at a time; each but the chat is made when it is shown first."""

    changed = Signal(str)  # the place that is shown
    made = Signal(object)  # a page, before it is shown first

    def __init__(self, chat: QWidget) -> None:
        super().__init__()
        self._makers: dict[str, Callable[[], QWidget]] = {}
        self._pages = {CHAT: chat}
        self.addWidget(chat)

    @property
    def current(self) -> str:
        """The place that is shown."""
        return next(name for name, page in self._pages.items() if page is self.currentWidget())

    def register(self, name: str, make: Callable[[], QWidget]) -> None:
        """Say how a page is made."""
        self._makers[name] = make

    def page(self, name: str) -> QWidget:
        """Return a place's page, and make it if needed."""
        if name not in self._pages:
            self._pages[name] = self._makers[name]()
            self.addWidget(self._pages[name])
            self.made.emit(self._pages[name])
        return self._pages[name]

    def go(self, name: str) -> None:
        """Show a place."""
        page = self.page(name)
        if page is not self.currentWidget():
            self.setCurrentWidget(page)
            self.changed.emit(name)
