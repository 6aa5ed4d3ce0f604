"""The ways to a chat's settings: the mark in the header, a row's menu, a command."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.bridge.workspace import Workspace
from app.chat.conversation import ConversationOptions
from app.ui.chat_page import ChatPage
from app.ui.chat_settings.dialog import ChatSettingsDialog
from app.ui.commands import CommandGroup, Commands
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.theme import Theme
from app.words import tr


class ChatSettings(QObject):
    """Opens the dialog for the chat that is shown, or for another one of the list."""

    def __init__(self, theme: Theme, workspace: Workspace, sidebar: Sidebar, page: ChatPage) -> None:
        super().__init__(page)
        self._theme = theme
        self._workspace = workspace
        self._page = page
        page.header.options_requested.connect(self.open_shown)
        sidebar.list.options_requested.connect(self.open)
        workspace.shelf.changed.connect(page.refresh_options)
        workspace.shelf.presets_changed.connect(page.refresh_options)

    def add_commands(self, commands: Commands) -> None:
        """Declare the command."""
        icon = "sliders-horizontal"
        commands.add(
            "chat-settings",
            tr("Chat settings..."),
            self.open_shown,
            CommandGroup.CHAT,
            ("Ctrl+Shift+S",),
            icon,
        )

    @Slot()
    def open_shown(self) -> None:
        """For the chat that is shown, or the one to come."""
        title = "" if self._page.chat is None else self._page.chat.title
        dialog = self._make(self._workspace.open_chat.options(), title)
        dialog.applied.connect(self._apply_to_shown)
        dialog.open()

    @Slot(int)
    def open(self, conversation_id: int) -> None:
        """For a chat of the list, which is not opened for it."""
        chat = self._workspace.library.conversation(conversation_id)
        if chat is None or conversation_id == self._page.current:
            self.open_shown()
            return
        dialog = self._make(chat.options, chat.title)
        dialog.applied.connect(lambda options: self._workspace.shelf.set_options(conversation_id, options))
        dialog.open()

    def _make(self, options: ConversationOptions, title: str) -> ChatSettingsDialog:
        if self._workspace.advice() is None:  # a model that was never loaded: the next time it is known
            self._workspace.plans.ask_for_chosen()
        return ChatSettingsDialog(self._theme, self._workspace, options, title, self._page.window())

    @Slot(object)
    def _apply_to_shown(self, options: ConversationOptions) -> None:
        self._workspace.open_chat.set_options(options)
        self._page.refresh_options()
