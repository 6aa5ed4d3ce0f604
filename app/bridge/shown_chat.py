"""Record of the chat that is being shown: one that ended the window is not opened by itself again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot

# Laid out, painted, and the window has answered since.
_SHOWN_MS = 500


class ShownChat(QObject):
    """Writes the chat's number before anything of it is laid out; a crash or a hang leaves it there.

    Attributes:
        brought_down: The chat that the run before was showing when it ended; None where it was done with that.
    """

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = folder / "chat-being-shown"
        self.brought_down = self._left_behind()
        self._timer = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._timer.timeout.connect(self.end)

    def begin(self, conversation_id: int | None) -> None:
        """Note the chat that is about to be shown; None is a blank one."""
        self.end()
        if conversation_id is not None:
            with suppress(OSError):
                self._path.write_text(str(conversation_id), encoding="ascii")
            self._timer.start()

    @Slot()
    def end(self) -> None:
        """Note that the chat is shown, or the window closed."""
        self._timer.stop()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _left_behind(self) -> int | None:
        try:
            return int(self._path.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None
