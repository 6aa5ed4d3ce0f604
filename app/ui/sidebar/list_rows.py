"""Rows of the list of chats: pinned ones, folders that fold, days, and what is archived. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from app.chat.conversation import Conversation
from app.chat.search import SearchHit
from app.words import mark, tr

PINNED = mark("Pinned")
HITS = mark("In messages")
ARCHIVED = mark("Archived")

# Names of groups that fold: a folder's has its name after this, so that it is never that of the archive.
_FOLDER = "folder/"
ARCHIVE_GROUP = "archive"


GROUPS = (mark("Today"), mark("Yesterday"), mark("Previous 7 days"), mark("Older"))


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
    """All rows but those of messages that were found.

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
        name = age_group(conversation.updated_at, today or date.today())
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
