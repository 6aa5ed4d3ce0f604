"""Words for a screen reader: roles of painted widgets, and announcements of replies and notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

from app.bridge.workspace import Workspace
from app.chat.conversation import Message, MessageState
from app.words import tr

if TYPE_CHECKING:
    from app.ui.chat_page.page import ChatPage

_Role = QAccessible.Role
# By the names of their classes, as Qt asks for them.
ROLES = {
    "AcceptancePlot": _Role.Chart,
    "Bars": _Role.Chart,
    "DraftTree": _Role.Graphic,
    "FormulaBlock": _Role.Equation,
    "LinePlot": _Role.Chart,
    "MemoryBar": _Role.Chart,
    "PaneEdge": _Role.Grip,
    "PlanTable": _Role.Graphic,
    "PlanView": _Role.Graphic,
    "ShortageBar": _Role.Chart,
    "TokenView": _Role.Graphic,
}
_installed: list[object] = []


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


def _make(name: str, widget: QObject) -> QAccessibleInterface | None:
    role = ROLES.get(name)
    if role is None or not isinstance(widget, QWidget):
        return None
    return QAccessibleWidget(widget, role)


def install_roles() -> None:
    """Tell Qt, once in a process."""
    if not _installed:
        QAccessible.installFactory(_make)
        _installed.append(_make)
