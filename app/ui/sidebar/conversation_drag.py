"""Dragging a chat into a folder, out of it, or into the archive."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QDrag, QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from app.ui.sidebar.list_rows import ARCHIVE_GROUP, Row

CHAT_TYPE = "application/x-tenon-chat"


def carried(conversation_id: int) -> QMimeData:
    """Return the data of a drag, which no other program takes."""
    data = QMimeData()
    data.setData(CHAT_TYPE, str(conversation_id).encode())
    return data


def chat_of(data: QMimeData) -> int | None:
    """Return the chat that is dragged, or None."""
    number = bytes(data.data(CHAT_TYPE).data()).decode("ascii", "ignore") if data.hasFormat(CHAT_TYPE) else ""
    return int(number) if number.isdigit() else None


class ChatDrag(QListView):
    """The part of the list that carries chats; a head and the chats under it both stand for their folder."""

    archive_requested = Signal(int, bool)
    move_requested = Signal(int, str)  # the folder; empty for none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDropIndicatorShown(False)

    def row_at(self, index: QModelIndex | QPersistentModelIndex) -> Row | None:
        """Row of an index; None for no row."""
        raise NotImplementedError

    def mark_drop(self, at: int) -> None:
        """Show where what is dragged would land; -1 for nowhere."""
        raise NotImplementedError

    def startDrag(self, actions: Qt.DropAction) -> None:
        """Carry a chat."""
        row = self.row_at(self.currentIndex())
        if row is not None and row.conversation_id is not None and row.hit is None:
            drag = QDrag(self)
            drag.setMimeData(carried(row.conversation_id))
            drag.exec(Qt.DropAction.MoveAction)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Only chats are taken."""
        if chat_of(event.mimeData()) is not None:
            event.acceptProposedAction()
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Show where the chat would land."""
        if chat_of(event.mimeData()) is None:
            event.ignore()
            return
        index = self.indexAt(event.position().toPoint())
        row = self.row_at(index)
        into = row is not None and bool(row.folder or _is_archive(row))
        self.mark_drop(index.row() if into else -1)
        event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Forget the target of a drag that left."""
        self.mark_drop(-1)

    def dropEvent(self, event: QDropEvent) -> None:
        """Put the chat into the folder under it, into the archive, or out of its folder."""
        self.mark_drop(-1)
        conversation_id = chat_of(event.mimeData())
        if conversation_id is None:
            event.ignore()
            return
        event.acceptProposedAction()
        row = self.row_at(self.indexAt(event.position().toPoint()))
        if _is_archive(row):
            self.archive_requested.emit(conversation_id, True)
        else:
            self.move_requested.emit(conversation_id, "" if row is None else row.folder)


def _is_archive(row: Row | None) -> bool:
    return row is not None and (row.group == ARCHIVE_GROUP or row.archived)
