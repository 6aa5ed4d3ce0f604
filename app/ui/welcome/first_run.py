"""When the welcome page is shown, and where it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.ui.chat_page import ChatPage
from app.ui.chat_shelf import ChatShelf
from app.ui.commands import Commands, Section
from app.ui.places import CHAT, WELCOME, Places
from app.ui.settings.opening import SettingsOpening
from app.ui.shell import Shell
from app.ui.theme.theme import Theme
from app.ui.welcome.page import WelcomePage
from app.words import tr
from engine.messages import DEFAULT_MODEL

if TYPE_CHECKING:
    from app.bridge.workspace import Workspace

_NETWORK_PAGE = "downloads"


class FirstRun(QObject):
    """Opens the page at the first start, and by a command.

    It is the first start until a chat was opened from the page or a download was begun on it.
    """

    def __init__(
        self,
        theme: Theme,
        workspace: Workspace,
        shell: Shell,
        places: Places,
        page: ChatPage,
        shelf: ChatShelf,
        settings: SettingsOpening,
    ) -> None:
        super().__init__(places)
        self._workspace = workspace
        self._shell = shell
        self._places = places
        self._page = page
        self._shelf = shelf
        self._settings = settings
        self._commands: Commands | None = None
        places.register(WELCOME, lambda: WelcomePage(theme, workspace))
        places.made.connect(self._made)
        places.changed.connect(self._place_changed)

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done from anywhere."""
        self._commands = commands
        commands.add("welcome", tr("Welcome page"), self.show, Section.HELP, icon="sparkles")

    def begin(self) -> None:
        """Show the page if nobody has used Tenon here yet."""
        workspace = self._workspace
        used = workspace.conversations() or workspace.conversations(archived=True)
        if not (workspace.settings.first_run_done or used or workspace.settings.recent_models):
            self.show()

    @Slot()
    def show(self) -> None:
        """Show the page."""
        self._places.go(WELCOME)

    @Slot(object)
    def _made(self, page: object) -> None:
        if not isinstance(page, WelcomePage):
            return
        page.asked.connect(self._ask)
        page.skipped.connect(self._shelf.chat_wanted)
        page.chat_requested.connect(self._chat)
        page.file_requested.connect(self._add_file)
        page.network_requested.connect(self._open_network)
        page.download_begun.connect(self._done)

    @Slot(str)
    def _place_changed(self, place: str) -> None:
        self._shell.set_bare(place == WELCOME)
        if place != WELCOME:
            page = self._places.page(WELCOME) if self._places.is_made(WELCOME) else None
            if isinstance(page, WelcomePage):
                page.look.stop()
                if place == CHAT:
                    self._done()

    @Slot()
    def _done(self) -> None:
        self._workspace.settings.first_run_done = True

    @Slot(str)
    def _ask(self, text: str) -> None:
        """Ask the bundled model in a chat of its own, whatever model was chosen meanwhile."""
        self._shelf.new_chat()
        if self._workspace.settings.model != DEFAULT_MODEL:
            self._workspace.choose_model(DEFAULT_MODEL)
        if text:
            self._page.ask(text)

    @Slot(str)
    def _chat(self, ref: str) -> None:
        self._shelf.new_chat()
        self._workspace.choose_model(ref)

    @Slot()
    def _add_file(self) -> None:
        assert self._commands is not None
        self._commands["add-model-file"].trigger()

    @Slot()
    def _open_network(self) -> None:
        self._workspace.settings.settings_level = "advanced"  # or neither of them would be shown
        self._settings.open_page(_NETWORK_PAGE)
