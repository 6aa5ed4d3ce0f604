"""Opens and closes the inspector: closed, nothing of it listens; never opened, nothing of it exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.chat.conversation import Message
from app.chat.engine_state import EngineState
from app.ui.chat_page import ChatPage
from app.ui.shell import Shell
from app.ui.theme.theme import Theme

if TYPE_CHECKING:
    from app.bridge.workspace import Workspace
    from app.ui.inspector.inspector import Inspector


class InspectorDock(QObject):
    """Makes the panel when it is opened first, and says which reply it shows: the last one, or the one asked for.

    Attributes:
        panel: The panel; None before it was opened.
        open: Whether it is to be seen.
    """

    shown_changed = Signal(bool)

    def __init__(self, theme: Theme, workspace: Workspace, shell: Shell, page: ChatPage) -> None:
        super().__init__(shell)
        self._theme = theme
        self._workspace = workspace
        self._shell = shell
        self._page = page
        self.panel: Inspector | None = None
        self.open = False
        shell.inspector_closed.connect(self.close)

    @Slot()
    def toggle(self) -> None:
        """Open or close it."""
        if self.open:
            self.close()
        else:
            self.show()

    @Slot(int)
    def show_reply(self, reply_id: int) -> None:
        """Open it on a reply."""
        self.show()
        if self.panel is not None:
            self.panel.show_reply(reply_id)

    def show(self) -> None:
        """Open it on the last reply."""
        if self.open:
            return
        self.open = True
        panel = self.panel or self._made()
        self._show_last(self._page.current)
        panel.start()
        self._workspace.message_added.connect(self._message_added)
        self._workspace.engine_changed.connect(self._engine_changed)
        self._page.conversation_shown.connect(self._show_last)
        self._shell.show_inspector(panel, self._workspace.settings.inspector_width)
        self.shown_changed.emit(True)

    @Slot()
    def close(self) -> None:
        """Close it; what it gathered stays."""
        if not self.open or self.panel is None:
            return
        self.open = False
        self.panel.stop()
        self._workspace.message_added.disconnect(self._message_added)
        self._workspace.engine_changed.disconnect(self._engine_changed)
        self._page.conversation_shown.disconnect(self._show_last)
        self._shell.hide_inspector()
        self.shown_changed.emit(False)

    def _made(self) -> Inspector:
        # Here and not above: plots bring numpy, which a window without the inspector does without.
        from app.ui.inspector.inspector import Inspector

        self.panel = Inspector(self._theme, self._workspace.inspection())
        self.panel.close_requested.connect(self.close)
        self.panel.width_wanted.connect(self._set_width)
        return self.panel

    @Slot(object)
    def _show_last(self, conversation_id: int | None) -> None:
        messages = [] if conversation_id is None else self._workspace.messages(conversation_id)
        replies = [message.id for message in messages if message.role == "assistant"]
        if self.panel is not None:
            self.panel.show_reply(replies[-1] if replies else None)

    @Slot(object)
    def _message_added(self, message: Message) -> None:
        here = message.conversation_id == self._page.current
        if self.panel is not None and here and message.role == "assistant":
            self.panel.show_reply(message.id)

    @Slot(object)
    def _engine_changed(self, state: EngineState) -> None:
        if self.panel is not None:
            self.panel.update_soon()

    @Slot(int)
    def _set_width(self, width: int) -> None:
        self._workspace.settings.inspector_width = self._shell.set_inspector_width(width)
