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
from app.chat.conversation import Conversation
from app.chat.library import TRASH_DAYS
from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.form_fields import TickBox
from app.ui.inert_text import PlainLabel
from app.ui.sidebar.list_rows import folder_group
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import Theme
from app.words import tr

_SIZE = QSize(480, 420)
_ASKING_PX = 420
_DAY_S = 86_400


class TrashDialog(RingedDialog):
    """Lists what is in the trash, the latest first; several can be chosen at once."""

    def __init__(self, theme: Theme, workspace: Workspace, parent: QWidget) -> None:
        super().__init__(theme, tr("Trash"), parent)
        self._workspace = workspace
        told = PlainLabel(
            tr(
                "Deleted chats stay here for {days} days, then they are erased. Backups of the days before still have "
                "them until newer ones take their place.",
                days=TRASH_DAYS,
            ),
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
        self.erase_button = push_button(
            tr("Erase for good..."), self, self._ask, kind="danger", default=False
        )
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
        workspace.archive.copies_found.connect(self._ask_about)
        self._asked: list[Conversation] = []
        self._theme = theme
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
    def _ask(self) -> None:
        """Ask once it is known which backups have them."""
        chosen = self._chosen()
        self._asked = [chat for chat, _ in self._workspace.library.trash() if chat.id in chosen]
        self._workspace.archive.find_copies(self._asked)

    @Slot(object, bool)
    def _ask_about(self, backups: list[str], damaged: bool) -> None:
        if self._asked:
            question = ErasingQuestion(self._theme, self._asked, backups, damaged, self)
            question.accepted.connect(lambda: self._erase(question.in_copies.isChecked()))
            question.open()

    def _erase(self, in_copies: bool) -> None:
        shelf, settings = self._workspace.shelf, self._workspace.settings
        for chat in self._asked:
            shelf.erase(chat.id)
        gone = {folder_group(chat.folder) for chat in self._asked if chat.folder not in shelf.folders()}
        settings.folded_groups = tuple(group for group in settings.folded_groups if group not in gone)
        if gone:
            self._workspace.saved_settings.erase_aside()  # which may have the folder's name
        if in_copies:
            self._workspace.archive.erase_in_copies(self._asked)
        self._asked = []


class ErasingQuestion(RingedDialog):
    """Says where chats are erased and where they stay.

    Args:
        chats: To be erased.
        backups: Days of those that have one of them, the newest first.
        damaged: True if a damaged database is kept aside, which may have them.

    Attributes:
        in_copies: True if the copies are erased too.
    """

    def __init__(
        self, theme: Theme, chats: list[Conversation], backups: list[str], damaged: bool, parent: QWidget
    ) -> None:
        super().__init__(theme, tr("Erase for good"), parent)
        asked = tr("Erase “{title}” for good?", title=chats[0].title)
        asked = asked if len(chats) == 1 else tr("Erase %n chat(s) for good?", len(chats))
        said = [
            tr("The text is taken out of Tenon's database and its log at once, and nothing brings it back.")
        ]
        if backups:
            said.append(
                tr(
                    "%n backup(s) still have it, the oldest of {day}: importing one brings it back.",
                    len(backups),
                    day=backups[-1],
                )
            )
        if damaged:
            said.append(
                tr("A damaged database that was kept aside may have it, too: it is deleted as a whole.")
            )
        if not backups and not damaged:
            said.append(tr("No backup has it."))
        self.in_copies = TickBox(theme, tr("Erase it there, too"), self)
        self.in_copies.setChecked(bool(backups) or damaged)
        self.in_copies.setVisible(bool(backups) or damaged)
        erase = push_button(tr("Erase for good"), self, self.accept, kind="danger", default=False)
        cancel = push_button(tr("Cancel"), self, self.reject, default=True)
        filled(
            QVBoxLayout(self),
            PlainLabel(asked, self, kind="title", wrap=True),
            *(PlainLabel(sentence, self, kind="sub", wrap=True) for sentence in said),
            self.in_copies,
            6,
            filled(QHBoxLayout(), STRETCH, cancel, erase, spacing=8),
            margins=(20, 18, 20, 16),
            spacing=10,
        )
        self.setFixedWidth(min(theme.type.px(_ASKING_PX), max(280, parent.width() - 20)))
