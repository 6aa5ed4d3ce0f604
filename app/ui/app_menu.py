"""The menu behind the three dots: the commands of the window that have no button of their own."""

from __future__ import annotations

from PySide6.QtWidgets import QMenu, QWidget

from app.ui.commands import Commands
from app.words import tr

# By the names of commands; a line between the groups.
GROUPS = (
    ("chat-settings", "rename-chat", "move-chat", "archive-chat", "delete-chat", "export-chat"),
    ("export-all", "import-chats", "erase-everything"),
    ("show-chats", "inspector", "mark-drafts", "show-guesses"),
    ("larger-text", "smaller-text", "usual-text"),
    ("compare-modes", "models", "machine", "settings"),
    ("help", "palette", "shortcuts"),
    ("log-folder", "copy-installation", "about"),
)


class AppMenu(QMenu):
    """Made anew from the commands each time that it opens."""

    def __init__(self, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self.setAccessibleName(tr("Menu"))
        self.setToolTipsVisible(True)
        for number, group in enumerate(GROUPS):
            if number:
                self.addSeparator()
            for name in group:
                self.addAction(commands[name])
