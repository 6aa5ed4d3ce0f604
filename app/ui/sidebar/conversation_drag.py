"""Dragging a chat into a folder: what is carried, and where it would land."""

from __future__ import annotations

from PySide6.QtCore import QMimeData

from app.ui.sidebar.list_rows import ARCHIVE_GROUP, Row

CHAT_TYPE = "application/x-tenon-chat"


def carried(conversation_id: int) -> QMimeData:
    """What is dragged: nothing that another program would take."""
    data = QMimeData()
    data.setData(CHAT_TYPE, str(conversation_id).encode())
    return data


def chat_of(data: QMimeData) -> int | None:
    """The chat that is dragged; None where it is something else."""
    number = bytes(data.data(CHAT_TYPE).data()).decode("ascii", "ignore") if data.hasFormat(CHAT_TYPE) else ""
    return int(number) if number.isdigit() else None


def lands_in_archive(row: Row | None) -> bool:
    """Whether a chat that is dropped on a row would be archived."""
    return row is not None and (row.group == ARCHIVE_GROUP or row.archived)


def folder_at(row: Row | None) -> str:
    """The folder of a row, of which both the head and the chats take what is dropped; empty for none."""
    return "" if row is None else row.folder
