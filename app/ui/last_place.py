"""The window as it was left: the chat that was open, and whether the inspector was."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.bridge.workspace import Workspace
from app.ui.chat_page.page import ChatPage
from app.ui.inspector.dock import InspectorDock


class LastPlace(QObject):
    """Opens the chat at once and remembers what is opened from then on."""

    def __init__(self, workspace: Workspace, page: ChatPage, inspector: InspectorDock) -> None:
        super().__init__(page)
        self._settings = workspace.settings
        self._inspector = inspector
        last = self._settings.last_chat
        if last == workspace.shown_chat.brought_down:
            self._settings.last_chat = 0
        elif workspace.library.conversation(last) is not None:
            page.open(last)
        page.conversation_shown.connect(self._chat_shown)
        inspector.shown_changed.connect(self._inspector_shown)

    def open_inspector(self) -> None:
        """Open the inspector if it was open. It takes a moment, so the window is painted first."""
        if self._settings.inspector_shown:
            self._inspector.show_again()

    @Slot(object)
    def _chat_shown(self, conversation_id: int | None) -> None:
        self._settings.last_chat = conversation_id or 0

    @Slot(bool)
    def _inspector_shown(self, shown: bool) -> None:
        self._settings.inspector_shown = shown
