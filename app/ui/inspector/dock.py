"""Opens and closes the inspector: closed, nothing of it listens; never opened, nothing of it exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.workspace import Workspace
from app.chat.conversation import Message
from app.chat.engine_state import EngineState
from app.ui.chat_page.page import ChatPage
from app.ui.shell import Shell
from app.ui.theme.theme import Theme

if TYPE_CHECKING:
    from app.ui.inspector.inspector import Inspector


class InspectorDock(QObject):
    """Makes the panel when it is opened first, and says which reply it shows.

    That is the one asked for, until another is being written: that one is followed then.
    """

    shown_changed = Signal(bool)

    def __init__(self, theme: Theme, workspace: Workspace, shell: Shell, page: ChatPage) -> None:
        super().__init__(shell)
        self._theme = theme
        self._workspace = workspace
        self._shell = shell
        self._page = page
        self.panel: Inspector | None = None  # the panel; None before it was opened
        self.open = False  # True if it is to be seen
        self._written: int | None = None  # the reply that was followed last
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
        reply = next((reply for reply in self._replies() if reply.id == reply_id), None)
        if self.panel is not None and reply is not None:
            self.panel.show_reply(reply)

    def show(self) -> None:
        """Open it on the last reply."""
        if self.open:
            return
        self.open = True
        panel = self.panel or self._made()
        self._show_last()
        panel.start()
        self._workspace.turns.message_added.connect(self._follow)
        self._workspace.replies.message_changed.connect(self._follow)
        self._workspace.turns.conversation_replaced.connect(self._path_changed)
        self._workspace.model.changed.connect(self._engine_changed)
        self._page.conversation_shown.connect(self._show_last)
        self._shell.show_inspector(panel, self._workspace.settings.inspector_width)
        self.shown_changed.emit(True)

    def show_again(self) -> None:
        """Open it as it was open before, where it does not cover the chat: nobody has asked for that now."""
        if not self._shell.inspector_covers:
            self.show()

    @Slot()
    def close(self) -> None:
        """Close it; what it gathered stays."""
        if not self.open or self.panel is None:
            return
        self.open = False
        self.panel.stop()
        self._workspace.turns.message_added.disconnect(self._follow)
        self._workspace.replies.message_changed.disconnect(self._follow)
        self._workspace.turns.conversation_replaced.disconnect(self._path_changed)
        self._workspace.model.changed.disconnect(self._engine_changed)
        self._page.conversation_shown.disconnect(self._show_last)
        self._shell.hide_inspector()
        self.shown_changed.emit(False)

    def _made(self) -> Inspector:
        # Here and not above: plots bring numpy, which a window without the inspector does without.
        from app.ui.inspector.inspector import Inspector

        self.panel = Inspector(self._theme, self._workspace.inspection)
        self.panel.close_requested.connect(self.close)
        self.panel.width_wanted.connect(self._set_width)
        return self.panel

    def _replies(self) -> list[Message]:
        return [message for message in self._page.messages if message.role == "assistant"]

    @Slot()
    def _show_last(self) -> None:
        if self.panel is not None:
            self.panel.show_reply(next(reversed(self._replies()), None))

    @Slot(object)
    def _follow(self, message: Message) -> None:
        """Keep up with the reply that is shown, and go over to one that begins."""
        if self.panel is None or message.role != "assistant" or message.conversation_id != self._page.current:
            return
        begins = message.state.unfinished and message.id != self._written
        if begins:
            self._written = message.id
        if begins or message.id == self.panel.reply_id:
            self.panel.show_reply(message)

    @Slot(int)
    def _path_changed(self, conversation_id: int) -> None:
        """Follow a reply that begins, else stay with one that is on the other path too."""
        if self.panel is None or conversation_id != self._page.current:
            return
        replies = self._replies()
        for reply in replies:
            self._follow(reply)
        if self.panel.reply_id not in {reply.id for reply in replies}:
            self._show_last()

    @Slot(object)
    def _engine_changed(self, state: EngineState) -> None:
        if self.panel is not None:
            self.panel.update_soon()

    @Slot(int)
    def _set_width(self, width: int) -> None:
        self._workspace.settings.inspector_width = self._shell.set_inspector_width(width)
