"""The menu behind the three dots: the commands of the window that have no button of their own."""

from __future__ import annotations

from PySide6.QtWidgets import QMenu, QWidget

from app.ui.commands import Commands
from app.words import mark, tr

# By the names of commands: a title and what is behind it, or a command of its own; a line where there is none.
_Entry = tuple[str, tuple[str, ...]] | str | None
ENTRIES: tuple[_Entry, ...] = (
    (
        mark("This chat"),
        ("chat-settings", "rename-chat", "move-chat", "archive-chat", "export-chat", "delete-chat"),
    ),
    (mark("All chats"), ("export-all", "import-chats", "trash")),
    (mark("Panels and marks"), ("show-chats", "inspector", "mark-drafts", "show-guesses")),
    (mark("Text and colours"), ("larger-text", "smaller-text", "usual-text", "light", "dark", "as-system")),
    None,
    "compare-modes",
    "settings",
    "palette",
    None,
    (mark("Help"), ("help", "shortcuts", "log-folder", "copy-installation", "about")),
)


class AppMenu(QMenu):
    """The groups open beside it; models and the machine have their rows in the sidebar."""

    def __init__(self, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self.setAccessibleName(tr("Menu"))
        self.setToolTipsVisible(True)
        self.groups: list[QMenu] = []
        for entry in ENTRIES:
            if entry is None:
                self.addSeparator()
            elif isinstance(entry, str):
                self.addAction(commands[entry])
            else:
                self._add_group(commands, *entry)

    def _add_group(self, commands: Commands, title: str, names: tuple[str, ...]) -> None:
        group = QMenu(tr(title), self)
        group.setToolTipsVisible(True)
        group.addActions([commands[name] for name in names])
        self.addMenu(group)
        self.groups.append(group)
