"""Announcements to a screen reader: a reply is finished, something went wrong, a notice came up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from app.bridge.workspace import Workspace
from app.chat.conversation import Message, MessageState
from app.words import tr

if TYPE_CHECKING:
    from app.ui.chat_page.page import ChatPage


def announce(widget: QWidget, sentence: str, urgent: bool = False) -> None:
    """Have a sentence said; an urgent one interrupts what is being said."""
    event = QAccessibleAnnouncementEvent(widget, sentence)
    politeness = QAccessible.AnnouncementPoliteness
    event.setPoliteness(politeness.Assertive if urgent else politeness.Polite)
    QAccessible.updateAccessibility(event)


class ReplyAnnouncements(QObject):
    """Tells how the replies of the open chat end. Their text is not said: it may be long, and can be gone to."""

    def __init__(self, workspace: Workspace, page: ChatPage) -> None:
        super().__init__(page)
        self._page = page
        self._begun: set[int] = set()  # replies that are being written
        workspace.turns.message_added.connect(self._message_changed)
        workspace.replies.message_changed.connect(self._message_changed)

    @Slot(object)
    def _message_changed(self, message: Message) -> None:
        if message.state.unfinished:
            self._begun.add(message.id)
            return
        if message.id not in self._begun:
            return
        self._begun.remove(message.id)
        if message.conversation_id != self._page.current:
            return
        if message.state is MessageState.COMPLETE:
            announce(self._page.transcript, tr("The reply is finished."))
        elif message.state is MessageState.STOPPED:
            announce(self._page.transcript, tr("The reply was stopped."))
        else:
            announce(self._page.transcript, message.error or tr("The reply was cut off."), urgent=True)
