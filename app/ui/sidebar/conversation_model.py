"""The rows of the conversation list: group heads and conversations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.chat import clock
from app.chat.conversation import Conversation, MessageState
from app.chat.search import SearchHit
from app.words import mark, tr

PINNED = mark("Pinned")
HITS = mark("In messages")
ARCHIVED = mark("Archived")

# Names of groups that fold: a folder's has its name after this, so that it is never that of the archive.
_FOLDER = "folder/"
ARCHIVE_GROUP = "archive"


GROUPS = (mark("Today"), mark("Yesterday"), mark("Previous 7 days"), mark("Older"))
ID_ROLE = int(Qt.ItemDataRole.UserRole) + 1
BUSY_ROLE = ID_ROLE + 1
PINNED_ROLE = BUSY_ROLE + 1
HIT_ROLE = PINNED_ROLE + 1
ROW_ROLE = HIT_ROLE + 1

_QUEUED, _RUNNING = "queued", "running"


def age_group(updated_at: float, today: date) -> str:
    """Return the group's name."""
    day = datetime.fromtimestamp(updated_at).date()
    if day >= today:
        return tr(GROUPS[0])
    if day == today - timedelta(days=1):
        return tr(GROUPS[1])
    if day >= today - timedelta(days=7):
        return tr(GROUPS[2])
    return tr(GROUPS[3])


@dataclass(frozen=True)
class Row:
    """A group's head (without id), a chat, or a message that was found."""

    title: str
    conversation_id: int | None = None  # the chat; None for a head
    pinned: bool = False  # True if the chat stands above the others
    hit: SearchHit | None = None  # the message that was found
    folder: str = ""  # the folder that it is in, or is the head of
    archived: bool = False  # True if the chat is archived
    group: str = ""  # name by which a folding head is remembered
    folded: bool = False
    count: int = 0  # number of chats in a folding head


def folder_group(folder: str) -> str:
    """Return the name of a folder's group."""
    return _FOLDER + folder


def is_folded(group: str, remembered: Collection[str]) -> bool:
    """Return True if a group is folded: the archive is until that is changed, a folder is not."""
    return (group in remembered) != (group == ARCHIVE_GROUP)


def list_rows(
    conversations: Iterable[Conversation],
    archived: Sequence[Conversation] = (),
    today: date | None = None,
    changed: Collection[str] = (),
    searching: bool = False,
) -> list[Row]:
    """Return all rows but those of messages that a search found.

    Args:
        conversations: In their order, without the archived ones.
        changed: Groups that are not as they are by themselves.
        searching: Nothing is folded then.
    """
    loose: list[Conversation] = []
    folders: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        if conversation.folder:
            folders.setdefault(conversation.folder, []).append(conversation)
        else:
            loose.append(conversation)
    rows: list[Row] = []
    pinned = [one for one in loose if one.pinned]
    if pinned:
        rows += [Row(tr(PINNED)), *(_row(one) for one in pinned)]
    for folder in sorted(folders, key=str.casefold):
        group = folder_group(folder)
        folded = is_folded(group, changed) and not searching
        inside = folders[folder]
        rows.append(Row(folder, folder=folder, group=group, folded=folded, count=len(inside)))
        rows += [] if folded else [_row(one) for one in inside]
    day = ""
    for conversation in loose[len(pinned) :]:
        name = age_group(conversation.updated_at, today or clock.today())
        if name != day:
            rows.append(Row(name))
            day = name
        rows.append(_row(conversation))
    if archived:
        folded = is_folded(ARCHIVE_GROUP, changed) and not searching
        rows.append(Row(tr(ARCHIVED), group=ARCHIVE_GROUP, folded=folded, count=len(archived)))
        rows += [] if folded else [_row(one) for one in archived]
    return rows


def _row(conversation: Conversation) -> Row:
    return Row(
        conversation.title,
        conversation.id,
        conversation.pinned,
        folder="" if conversation.archived else conversation.folder,
        archived=conversation.archived,
    )


class ConversationModel(QAbstractListModel):
    """Conversations in their groups, then messages found, with a head above each group."""

    renamed = Signal(int, str)
    folder_renamed = Signal(str, str)  # its name, and the new one

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._conversations: list[Row] = []
        self._hits: list[Row] = []
        self._rows: list[Row] = []
        self._busy: dict[int, str] = {}

    def show_rows(self, rows: list[Row]) -> None:
        """Replace the rows of conversations."""
        self._conversations = rows
        self._show()

    def show_hits(self, hits: Sequence[SearchHit]) -> None:
        """Replace the rows of messages found."""
        rows = [Row(hit.title, hit.conversation_id, hit=hit) for hit in hits]
        self._hits = [Row(tr(HITS)), *rows] if rows else []
        self._show()

    def row(self, at: int) -> Row:
        """Row at a place of the list."""
        return self._rows[at]

    def head_of(self, folder: str) -> int | None:
        """Return the row of a folder's head."""
        return next((at for at, row in enumerate(self._rows) if row.group and row.folder == folder), None)

    def _show(self) -> None:
        rows = self._conversations + self._hits
        if rows == self._rows:
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def set_state(self, conversation_id: int, state: MessageState) -> None:
        """Mark a conversation whose reply runs or waits in the queue, or take its mark away."""
        busy = ""
        if state is MessageState.QUEUED:
            busy = _QUEUED
        elif state.unfinished:
            busy = _RUNNING
        if self._busy.get(conversation_id, "") == busy:
            return
        self._busy[conversation_id] = busy
        row = self.row_of(conversation_id)
        if row is not None:
            index = self.index(row)
            self.dataChanged.emit(index, index, [BUSY_ROLE])

    def row_of(self, conversation_id: int | None) -> int | None:
        """Return the row of a conversation, or None if it is not shown."""
        if conversation_id is None:
            return None
        ids = (row.conversation_id for row in self._conversations)
        return next((at for at, known in enumerate(ids) if known == conversation_id), None)

    def first_row(self) -> int | None:
        """Return the first row that the keyboard can be on."""
        return next((at for at, row in enumerate(self._rows) if row.conversation_id is not None or row.group), None)

    # --- QAbstractListModel -----------------------------------------------------------------------------------

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Title, id and mark of a row."""
        row = self._rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.title
        if role == Qt.ItemDataRole.ToolTipRole and row.conversation_id is not None:
            return row.title
        if role == ID_ROLE:
            return row.conversation_id
        if role == PINNED_ROLE:
            return row.pinned
        if role == HIT_ROLE:
            return row.hit
        if role == ROW_ROLE:
            return row
        busy = self._busy.get(row.conversation_id, "") if row.conversation_id is not None else ""
        if role == BUSY_ROLE:
            return busy
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if row.hit is not None:
                return f"{row.title}: {row.hit.snippet}"
            return self._spoken(row, busy)
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Heads are not chosen, and only a folder's can be edited; messages that were found cannot be edited."""
        row = self._rows[index.row()]
        if row.conversation_id is None:
            editable = Qt.ItemFlag.ItemIsEditable if row.folder else Qt.ItemFlag.NoItemFlags
            return Qt.ItemFlag.ItemIsEnabled | editable if row.group else Qt.ItemFlag.NoItemFlags
        if row.hit is not None:
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        chosen = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return chosen | Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDragEnabled

    def setData(
        self,
        index: QModelIndex | QPersistentModelIndex,
        value: Any,
        role: int = Qt.ItemDataRole.EditRole,
    ) -> bool:
        title = str(value).strip()
        row = self._rows[index.row()]
        if not title or title == row.title:
            return False
        if row.conversation_id is None:
            self.folder_renamed.emit(row.folder, title)
            return True
        self.renamed.emit(row.conversation_id, title)
        return True

    @staticmethod
    def _spoken(row: Row, busy: str) -> str:
        if row.group and row.folded:
            return tr("{title}, folded, %n chat(s)", n=row.count, title=row.title)
        if row.group:
            return tr("{title}, unfolded, %n chat(s)", n=row.count, title=row.title)
        words = [row.title]
        if row.pinned:
            words.append(tr("pinned"))
        if row.archived:
            words.append(tr("archived"))
        if busy:
            words.append(tr("reply running") if busy == _RUNNING else tr("waiting for the other reply"))
        return ", ".join(words)
