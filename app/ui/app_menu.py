"""The menu behind the three dots: this chat, the view, and how the engine works."""

from __future__ import annotations

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme


class AppMenu(QMenu):
    """Holds the window's actions; their keys work while the menu is closed."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setAccessibleName("Menu")
        self.rename = self._add("Rename chat", "F2")
        self.rename.setIcon(themed_icon(theme, "pencil"))
        self.delete_chat = self._add("Delete chat")
        self.delete_chat.setIcon(themed_icon(theme, "trash-2"))
        self.export_chat = self._add("Export chat...", "Ctrl+S")
        self.addSeparator()
        self.export_all = self._add("Export all chats...")
        self.import_chats = self._add("Import chats...")
        self.import_chats.setToolTip(
            "Chats that were exported as JSON, or conversations.json of ChatGPT's data export"
        )
        self.addSeparator()
        self.chats = self._add("Show or hide the chats", "Ctrl+B")
        self.inspector = self._add("Inspector", "F12", "Ctrl+I", checkable=True)
        self.drafted = self._add("Mark accepted drafts", "Ctrl+D", checkable=True)
        self.drafted.setToolTip("Marks what a draft guessed and the model accepted, in finished replies")
        self.guesses = self._add("Show guesses while they are unconfirmed", checkable=True)
        self.guesses.setToolTip("For models that are read from the disk: what the draft expects, in grey")
        self.addSeparator()
        self.larger = self._add("Larger text", "Ctrl++", "Ctrl+=")
        self.smaller = self._add("Smaller text", "Ctrl+-")
        self.usual_size = self._add("Usual size of text", "Ctrl+0")
        self.addSeparator()
        self.speed = self._add("Speed and memory...", "Ctrl+,")
        self.setToolTipsVisible(True)

    def set_stored(self, stored: bool) -> None:
        """A blank chat has nothing to rename, delete or export."""
        self.rename.setEnabled(stored)
        self.export_chat.setEnabled(stored)
        self.delete_chat.setEnabled(stored)

    def _add(self, title: str, *keys: str, checkable: bool = False) -> QAction:
        action = QAction(title, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setCheckable(checkable)
        self.addAction(action)
        self._window.addAction(action)
        return action
