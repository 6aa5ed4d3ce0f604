"""Tells through the system that a long reply is done, when the user looks at something else."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from app.bridge.workspace import Workspace
from app.chat.conversation import Message, MessageState
from app.ui.theme.icons import app_icon
from app.words import tr

# A reply that takes less is waited for.
_LONG_S = 20.0
_STAYS_MS = 10_000
_DONE = (MessageState.COMPLETE, MessageState.FAILED, MessageState.INTERRUPTED)


class DoneNotice(QObject):
    """Watches how long replies take. No word of a chat is in what the system shows: it may stand on a locked screen.

    Args:
        window: Nothing is said while it is active.
        clock: Seconds.
    """

    chat_wanted = Signal(int)  # the user has clicked the notification

    def __init__(
        self, workspace: Workspace, window: QWidget, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(window)
        self._settings = workspace.settings
        self._window = window
        self._clock = clock
        self._began: dict[int, float] = {}  # replies that are being written
        self._chat = 0
        self._tray: QSystemTrayIcon | None = None
        workspace.replies.message_changed.connect(self._message_changed)
        workspace.turns.message_added.connect(self._message_changed)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Back in the window, the icon in the tray has no use any more."""
        if event.type() == QEvent.Type.WindowActivate and self._tray is not None:
            self._tray.hide()
        return False

    @Slot(object)
    def _message_changed(self, message: Message) -> None:
        if message.state in (MessageState.WAITING, MessageState.STREAMING):
            self._began.setdefault(message.id, self._clock())
            return
        began = self._began.pop(message.id, None)
        if began is None or message.state not in _DONE:
            return
        long = self._clock() - began >= _LONG_S
        if long and self._settings.notify_when_done and not self._window.isActiveWindow():
            self._chat = message.conversation_id
            done = message.state is MessageState.COMPLETE
            self._tell(tr("A reply is done.") if done else tr("A reply could not be completed."))

    def _tell(self, sentence: str) -> None:
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            QApplication.alert(self._window)
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(app_icon(), self)
            self._tray.setToolTip("Tenon")
            self._tray.messageClicked.connect(self._clicked)
            self._tray.activated.connect(self._clicked)
        self._tray.show()
        self._tray.showMessage("Tenon", sentence, app_icon(), _STAYS_MS)

    @Slot()
    def _clicked(self) -> None:
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowMinimized)
        self._window.show()
        self._window.raise_()
        self._window.activateWindow()
        self.chat_wanted.emit(self._chat)
