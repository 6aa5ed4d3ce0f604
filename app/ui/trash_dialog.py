"""The trash: chats that were deleted, to be brought back or erased for good."""

from __future__ import annotations

import time

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.bridge.workspace import Workspace
from app.chat.library import TRASH_DAYS
from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.inert_text import PlainLabel
from app.ui.theme.ringed_dialog import RingedDialog
from app.ui.theme.theme import Theme
from app.words import tr

_SIZE = QSize(480, 420)
_DAY_S = 86_400


class TrashDialog(RingedDialog):
    """Lists what is in the trash, the latest first; several can be chosen at once."""

    def __init__(self, theme: Theme, workspace: Workspace, parent: QWidget) -> None:
        super().__init__(theme, tr("Trash"), parent)
        self._workspace = workspace
        told = PlainLabel(
            tr("Deleted chats stay here for {days} days, then they are erased.", days=TRASH_DAYS),
            self,
            kind="sub",
            wrap=True,
        )
        self.list = QListWidget(self)
        self.list.setProperty("kind", "pages")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setAccessibleName(tr("Deleted chats"))
        self.list.itemSelectionChanged.connect(self._enable)
        self.list.itemActivated.connect(self._bring_back)
        self._empty = PlainLabel(tr("The trash is empty."), self, kind="sub")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.erase_button = push_button(tr("Erase for good"), self, self._erase, kind="danger", default=False)
        self.back_button = push_button(tr("Bring back"), self, self._bring_back, kind="primary", default=True)
        close = push_button(tr("Close"), self, self.reject)
        buttons = filled(QHBoxLayout(), self.erase_button, STRETCH, close, self.back_button, spacing=8)
        filled(
            QVBoxLayout(self),
            *(told, (self.list, 1), (self._empty, 1), buttons),
            margins=(20, 16, 20, 16),
            spacing=12,
        )
        workspace.shelf.changed.connect(self._show)
        self._show()
        self.resize(_SIZE.boundedTo(parent.window().size() - QSize(40, 40)))

    @Slot()
    def _show(self) -> None:
        trash, now = self._workspace.library.trash(), time.time()
        self.list.clear()
        for conversation, deleted_at in trash:
            left = max(0, TRASH_DAYS - int((now - deleted_at) / _DAY_S))
            item = QListWidgetItem(f"{conversation.title}  ·  {tr('%n day(s) left', left)}", self.list)
            item.setData(Qt.ItemDataRole.UserRole, conversation.id)
        self.list.setVisible(bool(trash))
        self._empty.setVisible(not trash)
        if trash:
            self.list.setCurrentRow(0)
        self._enable()

    def _chosen(self) -> list[int]:
        return [item.data(Qt.ItemDataRole.UserRole) for item in self.list.selectedItems()]

    @Slot()
    def _enable(self) -> None:
        for button in (self.erase_button, self.back_button):
            button.setEnabled(bool(self._chosen()))

    @Slot()
    def _bring_back(self) -> None:
        for conversation_id in self._chosen():
            self._workspace.shelf.bring_back(conversation_id)

    @Slot()
    def _erase(self) -> None:
        for conversation_id in self._chosen():
            self._workspace.shelf.erase(conversation_id)
