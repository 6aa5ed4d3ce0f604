"""The composer's content, which stays with its chat until it is sent."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.workspace import Workspace
from app.chat.attachment import Unsent
from app.ui.composer.composer import Composer
from engine.messages import Attachment

_SHORT = 50_000  # characters that are read from the field at each key
_CHARACTERS_PER_MS = 2_500  # more are read when no key was pressed for so long


class UnsentText(QObject):
    """Tells the workspace of each change in the composer, and fills it with what a chat had."""

    def __init__(self, workspace: Workspace, composer: Composer) -> None:
        super().__init__(composer)
        self._kept = workspace.unsent
        self._composer = composer
        self._shown: int | None = None
        self._filling = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._keep)
        composer.prompt.textChanged.connect(self._keep_soon)
        composer.attachments.changed.connect(self._keep_soon)
        self._kept.writing.connect(self._catch_up)

    @property
    def shown(self) -> int | None:
        """The chat whose content the composer has."""
        return self._shown

    def add_file(self, conversation_id: int | None, attachment: Attachment) -> None:
        """Put a file beside the message of a chat, shown or not; one that is there already stays as it is."""
        if conversation_id == self._shown:
            row = self._composer.attachments
            if attachment not in row.attachments:
                row.set_attachments((*row.attachments, attachment))
            return
        unsent = self._kept.of(conversation_id)
        if attachment not in unsent.attachments:
            self._kept.keep(conversation_id, Unsent(unsent.text, (*unsent.attachments, attachment)))

    def show(self, conversation_id: int | None) -> None:
        """Another chat is shown, None for a blank one."""
        self._catch_up()
        self._shown = conversation_id
        unsent = self._kept.of(conversation_id)
        self._filling = True
        self.put_back(unsent.text, unsent.attachments)
        self._filling = False

    def put_back(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Fill the composer, with what it has given away and could not be sent for one."""
        self._composer.set_text(text)
        self._composer.attachments.set_attachments(attachments)

    def go_along(self, conversation_id: int) -> None:
        """Give the blank chat's unsent text to the chat that it became."""
        self._kept.keep(None, Unsent())
        self._shown = conversation_id
        self._keep()

    @Slot()
    def _keep_soon(self) -> None:
        length = self._composer.prompt.document().characterCount()
        if self._filling:
            return
        if length <= _SHORT:
            self._keep()
        else:
            self._timer.start(length // _CHARACTERS_PER_MS)

    @Slot()
    def _keep(self) -> None:
        self._timer.stop()
        content = Unsent(self._composer.text, self._composer.attachments.attachments)
        self._kept.keep(self._shown, content)

    @Slot()
    def _catch_up(self) -> None:
        if self._timer.isActive():
            self._keep()
