"""The menus of the list's rows: what can be done with a chat, and with a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.ui.sidebar.list_rows import Row
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr

if TYPE_CHECKING:
    from app.ui.sidebar.conversation_list import ConversationList


class RowMenu(QMenu):
    """Runs what is chosen after it has closed, so that a field or a dialog can have the keyboard."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.triggered.connect(self._run)

    def offer(self, title: str, icon: str, slot: Callable[[], object], keys: str = "") -> QAction:
        """Add an entry."""
        action = QAction(f"{title}\t{keys}" if keys else title, self)
        if icon:
            action.setIcon(themed_icon(self._theme, icon))
        action.setData(slot)
        self.addAction(action)
        return action

    def _run(self, action: QAction) -> None:
        slot = action.data()
        if slot is not None:
            slot()


def folder_menu(theme: Theme, rows: ConversationList, row: Row, folders: Sequence[str]) -> RowMenu:
    """Menu of the folders that a chat can be moved to."""
    menu = RowMenu(theme, rows)
    menu.setTitle(tr("Move to folder"))
    menu.setIcon(themed_icon(theme, "folder"))
    number = row.conversation_id
    menu.offer(tr("New folder..."), "folder-plus", partial(rows.new_folder_requested.emit, number))
    if row.folder:
        menu.offer(tr("Out of the folder"), "log-out", partial(rows.move_requested.emit, number, ""))
    if folders:
        menu.addSeparator()
    for folder in folders:
        # An ampersand would be taken for the mark of a key.
        entry = menu.offer(
            folder.replace("&", "&&"), "folder", partial(rows.move_requested.emit, number, folder)
        )
        entry.setCheckable(folder == row.folder)
        entry.setChecked(folder == row.folder)
    return menu


def chat_menu(theme: Theme, rows: ConversationList, row: Row, folders: Sequence[str]) -> RowMenu:
    """Menu of a chat."""
    menu = RowMenu(theme, rows)
    number = row.conversation_id
    assert number is not None
    menu.offer(tr("Rename"), "pencil", partial(rows.rename, number), "F2")
    pin = tr("Unpin") if row.pinned else tr("Pin")
    menu.offer(pin, "pin", partial(rows.pin_requested.emit, number, not row.pinned))
    menu.addMenu(folder_menu(theme, rows, row, folders))
    menu.offer(tr("Chat settings..."), "sliders-horizontal", partial(rows.options_requested.emit, number))
    menu.addSeparator()
    menu.offer(tr("Export..."), "share", partial(rows.export_requested.emit, number))
    archive = tr("Restore from the archive") if row.archived else tr("Archive")
    menu.offer(archive, "archive", partial(rows.archive_requested.emit, number, not row.archived))
    menu.offer(tr("Delete"), "trash-2", partial(rows.delete_requested.emit, number), "Del")
    return menu


def head_menu(theme: Theme, rows: ConversationList, row: Row) -> RowMenu:
    """Menu of a folder."""
    menu = RowMenu(theme, rows)
    fold = tr("Unfold") if row.folded else tr("Fold")
    menu.offer(
        fold, "chevron-down" if row.folded else "chevron-up", partial(rows.fold_toggled.emit, row.group)
    )
    menu.offer(tr("Rename folder"), "pencil", partial(rows.rename_folder, row.folder), "F2")
    menu.offer(
        tr("Delete folder, keep its chats"),
        "trash-2",
        partial(rows.folder_delete_requested.emit, row.folder),
        "Del",
    )
    return menu
