"""The middle of the window: the chat, or one of the pages beside it, each declared here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.bridge.workspace import Workspace
from app.ui.place_page import PlacePage
from app.ui.theme.theme import Theme
from app.words import mark

CHAT = "chat"
MODELS = "models"
MACHINE = "machine"
SERVER = "server"
TOOLS = "tools"
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


# The pages are imported when they are shown first, so that the window is there sooner.


def _models_page(theme: Theme, workspace: Workspace) -> PlacePage:
    from app.ui.models.models_page import ModelsPage

    return ModelsPage(theme, workspace)


def _machine_page(theme: Theme, workspace: Workspace) -> PlacePage:
    from app.ui.machine.page import MachinePage

    return MachinePage(theme, workspace)


def _server_page(theme: Theme, workspace: Workspace) -> PlacePage:
    from app.ui.server_page import ServerPage

    return ServerPage(theme, workspace)


def _tools_page(theme: Theme, workspace: Workspace) -> PlacePage:
    from app.ui.tools_page import ToolsPage

    return ToolsPage(theme, workspace)


@dataclass(frozen=True)
class Place:
    """A page beside the chat, with a row in the sidebar's foot and a command."""

    name: str  # name in code, of the page and of its command
    icon: str
    title: str
    make: Callable[[Theme, Workspace], PlacePage]  # makes the page
    keys: tuple[str, ...] = ()
    command: str = ""  # title of the command where the row's title would say too little


PLACES = (
    Place(MODELS, "package", mark("Models"), _models_page, ("Ctrl+Shift+M",)),
    Place(MACHINE, "gauge", mark("This machine"), _machine_page, ("Ctrl+Shift+H",)),
    Place(TOOLS, "wrench", mark("Tools"), _tools_page),
    Place(SERVER, "server", mark("Other programs"), _server_page, command=mark("Server for other programs")),
)
