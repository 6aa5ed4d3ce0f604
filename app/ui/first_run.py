"""The welcome in an empty chat: when it is shown, and where its buttons lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.bridge.workspace import Workspace
from app.ui.chat_page.page import ChatPage
from app.ui.chats.actions import ChatShelf
from app.ui.commands import CommandGroup, Commands
from app.ui.settings.opening import SettingsOpening
from app.ui.theme.theme import Theme
from app.words import tr

if TYPE_CHECKING:
    from app.ui.welcome import WelcomePanel

_NETWORK_PAGE = "downloads"


class FirstRun(QObject):
    """Shows the welcome by a command, and at each start until a chat or a download was begun, or a chat opened."""

    def __init__(
        self, theme: Theme, workspace: Workspace, page: ChatPage, shelf: ChatShelf, settings: SettingsOpening
    ) -> None:
        super().__init__(page)
        self._theme = theme
        self._workspace = workspace
        self._page = page
        self._shelf = shelf
        self._settings = settings
        self._commands: Commands | None = None
        self.panel: WelcomePanel | None = None  # the panel on show; None before the first
        page.conversation_shown.connect(self._chat_shown)

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done from anywhere."""
        self._commands = commands
        commands.add("welcome", tr("Welcome"), self.show, CommandGroup.HELP)

    def begin(self) -> None:
        """Show it if nobody has used Tenon here yet."""
        workspace = self._workspace
        used = workspace.library.all_conversations()
        if not (workspace.settings.first_run_done or used or workspace.settings.recent_models):
            self._page.greet_with(self._made())

    @Slot()
    def show(self) -> None:
        """Show it in a blank chat."""
        self._shelf.new_chat()
        self._page.greet_with(self._made())

    def _made(self) -> WelcomePanel:
        if self.panel is None:
            from app.ui.welcome import WelcomePanel  # most starts are no first ones

            assert self._commands is not None
            panel = self.panel = WelcomePanel(self._theme, self._workspace)
            panel.chat_requested.connect(self._shelf.chat_with)
            panel.file_requested.connect(self._commands["open-model-file"].trigger)
            panel.models_requested.connect(self._commands["models"].trigger)
            panel.network_requested.connect(self._open_network)
            panel.download_begun.connect(self._done)
        return self.panel

    @Slot(object)
    def _chat_shown(self, conversation_id: int | None) -> None:
        if conversation_id is not None:
            self._page.greet_with(None)
            self._done()

    @Slot()
    def _done(self) -> None:
        self._workspace.settings.first_run_done = True

    @Slot()
    def _open_network(self) -> None:
        self._workspace.settings.settings_level = "advanced"  # or neither of them would be shown
        self._settings.open_page(_NETWORK_PAGE)
