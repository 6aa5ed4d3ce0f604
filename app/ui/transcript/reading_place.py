"""Place of the view before a message was deleted, to return to when that is undone."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.ui.transcript.message_column import MessageColumn


class ReadingPlace(QObject):
    """Remembers one place: the message at the top of the view and where it begins, or that the end is followed."""

    def __init__(self, column: MessageColumn) -> None:
        super().__init__(column)
        self._column = column
        self._top: tuple[int, int] | None = None
        self._follows = False

    @Slot()
    def remember(self) -> None:
        """A message is about to be deleted."""
        top = self._column.top_view()
        self._top = None if top is None else (top[0].message.id, top[1])
        self._follows = self._column.follows

    def forget(self) -> None:
        """Something else is to be read now."""
        self._top = None

    def go_back(self) -> None:
        """The message is there again."""
        if self._top is None:
            return
        if self._follows:
            self._column.jump_to_latest()
        else:
            self._column.show_message(*self._top)
        self._top = None
