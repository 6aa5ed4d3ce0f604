"""The ways to a comparison: a command, and a message's menu."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.bridge.workspace import Workspace
from app.ui.chat_page import ChatPage
from app.ui.commands import CommandGroup, Commands
from app.ui.comparison.dialog import ComparisonDialog
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import ChatMessage


class Comparisons(QObject):
    """Opens the dialog with what is typed, or with the prompt of a message."""

    def __init__(self, theme: Theme, workspace: Workspace, page: ChatPage) -> None:
        super().__init__(page)
        self._theme = theme
        self._workspace = workspace
        self._page = page
        page.compare_requested.connect(self.open_on)

    def add_commands(self, commands: Commands) -> None:
        """Declare the command."""
        title = tr("Compare two modes...")
        commands.add("compare-modes", title, self.open, CommandGroup.MODEL, (), "columns-2")

    @Slot()
    def open(self) -> None:
        """With what is typed as the prompt, or with the last question of the chat that is shown."""
        typed, messages = self._page.composer.text, self._page.messages
        if messages and not typed.strip():
            self.open_on(messages[-1].id)
        else:
            self._open(ChatMessage("user", typed, self._page.composer.attachments.attachments), None)

    @Slot(int)
    def open_on(self, message_id: int) -> None:
        """With a message of the chat that is shown, and what was said before it."""
        if self._page.current is not None:
            before, prompt = self._workspace.comparison.prompt_of(self._page.current, message_id)
            self._open(prompt, before)

    def _open(self, prompt: ChatMessage, before: tuple[ChatMessage, ...] | None) -> None:
        dialog = ComparisonDialog(self._theme, self._workspace, prompt, before, self._page.window())
        dialog.open()
