"""Requests on the turns of the chat that is shown, handed to the workspace."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.workspace import Workspace
from app.ui.transcript.message_actions import Action
from app.words import tr
from engine.errors import TenonError


class TurnRequests(QObject):
    """The buttons under messages, the arrows between versions, and edited messages.

    Attributes:
        conversation_id: The conversation that is shown; None for a blank one, which has no turns.
    """

    said = Signal(str, bool)  # a sentence for the user, and whether it stays
    message_deleted = Signal(str)  # a sentence that says so
    compare_requested = Signal(int)  # a message's id
    deleting = Signal()  # a message is about to go
    left = Signal()  # the message that had the keyboard is no longer there

    def __init__(self, workspace: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.conversation_id: int | None = None

    @Slot(int, object)
    def act(self, message_id: int, action: Action) -> None:
        """Do what a button under a message says."""
        current, workspace = self.conversation_id, self._workspace
        if current is None:
            return
        try:
            if action is Action.COMPARE:
                self.compare_requested.emit(message_id)
            elif action is Action.CONTINUE:
                workspace.turns.continue_last(current)
            elif action is Action.DELETE:
                self._delete(current, message_id)
            elif action is Action.REGENERATE or self._has_text(current, message_id):
                # The written text stays as a version of its own.
                workspace.turns.regenerate(current, message_id)
            else:
                workspace.turns.retry(current)
        except TenonError as error:
            self.said.emit(error.message, True)

    @Slot(int)
    def choose_alternative(self, message_id: int) -> None:
        """Show another version of a message, and what follows it."""
        if self.conversation_id is not None:
            self._workspace.turns.choose(self.conversation_id, message_id)

    @Slot(int, str)
    def edit(self, message_id: int, text: str) -> None:
        """Send another wording of a message."""
        if self.conversation_id is None:
            return
        try:
            self._workspace.turns.edit(self.conversation_id, message_id, text)
        except TenonError as error:
            self.said.emit(error.message, True)
            return
        self.left.emit()

    def _has_text(self, conversation_id: int, message_id: int) -> bool:
        messages = self._workspace.library.messages(conversation_id)
        return any(message.id == message_id and message.content.strip() for message in messages)

    def _delete(self, conversation_id: int, message_id: int) -> None:
        several = len(self._workspace.library.alternatives(conversation_id, message_id)) > 1
        self.deleting.emit()
        if self._workspace.turns.delete(conversation_id, message_id):
            self.left.emit()
            self.message_deleted.emit(
                tr("This version and what follows it are deleted. Backups may have them for some days.")
                if several
                else tr("The message is deleted. Backups may have it for some days.")
            )
