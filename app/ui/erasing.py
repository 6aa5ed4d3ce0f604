"""The way to erasing everything, and the window without what was erased."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.bridge.workspace import Workspace
from app.ui.chat_page import ChatPage
from app.ui.commands import CommandGroup, Commands
from app.ui.erase_dialog import EraseDialog
from app.ui.notices import Toast
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.theme import Theme, apply_appearance
from app.words import tr


class Erasing(QObject):
    """Asks, has it done, and empties what the window holds itself."""

    def __init__(
        self, theme: Theme, workspace: Workspace, sidebar: Sidebar, page: ChatPage, toast: Toast
    ) -> None:
        super().__init__(page)
        self._theme = theme
        self._workspace = workspace
        self._sidebar = sidebar
        self._page = page
        self._toast = toast
        workspace.archive.erased.connect(self._tell)
        workspace.archive.copies_erased.connect(self._tell_of_copies)

    def add_commands(self, commands: Commands) -> None:
        """Declare the command."""
        title = tr("Erase everything...")
        commands.add("erase-everything", title, self.ask, CommandGroup.CHAT, (), "trash-2")

    @Slot()
    def ask(self) -> None:
        """Ask whether it is to be done."""
        chats = len(self._workspace.library.all_conversations())
        dialog = EraseDialog(self._theme, chats, self._page.window())
        dialog.confirmed.connect(self.erase)
        dialog.open()

    @Slot(bool)
    def erase(self, with_settings: bool) -> None:
        """Do it."""
        self._sidebar.search.clear()
        self._toast.dismiss()  # its Undo would find nothing
        self._workspace.erase_everything(with_settings)
        self._page.open(None)
        if with_settings:
            apply_appearance(self._theme, self._workspace.settings)

    @Slot()
    def _tell(self) -> None:
        self._toast.say(tr("Everything is erased."))

    @Slot(int)
    def _tell_of_copies(self, count: int) -> None:
        self._toast.say(tr("It is erased in %n backup(s), too.", count))
