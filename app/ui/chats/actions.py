"""Actions on whole chats: begin, open, rename, delete with undo, the trash, folders, the archive, erasing all."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QObject, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from app.bridge.workspace import Workspace
from app.chat import clock
from app.chat.conversation import Conversation, Message
from app.chat.library import TRASH_DAYS, Deleted
from app.chat.search import SearchHit
from app.ui.chat_page.page import ChatPage
from app.ui.chats.files import ChatFiles
from app.ui.commands import CommandGroup, Commands
from app.ui.form_fields import TickBox
from app.ui.notices import Toast
from app.ui.parts import STRETCH, IconLabel, PlainLabel, PlainQuestion, filled, push_button
from app.ui.sheet import NameDialog, Sheet
from app.ui.sidebar.conversation_model import folder_group, list_rows
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import Theme, apply_appearance
from app.words import tr

_SIZE = QSize(480, 420)
_DAY_S = 86_400
_LONGEST_TITLE = 40
_ICON_PX = 20


class TrashDialog(RingedDialog):
    """Lists what is in the trash, the latest first; several can be chosen at once."""

    def __init__(self, theme: Theme, workspace: Workspace, parent: QWidget) -> None:
        super().__init__(theme, tr("Trash"), parent)
        self._workspace = workspace
        told = PlainLabel(
            tr(
                "Deleted chats and messages stay here for {days} days, then they are erased. Backups of the days "
                "before still have them until newer ones take their place.",
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
        self.list.setAccessibleName(tr("Deleted chats and messages"))
        self.list.itemSelectionChanged.connect(self._enable)
        self.list.itemActivated.connect(self._bring_back)
        self._empty = PlainLabel(tr("The trash is empty."), self, kind="sub")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.erase_button = push_button(tr("Erase for good..."), self, self._ask, kind="danger", default=False)
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
        self._asked: list[Deleted] = []
        self._theme = theme
        self._show()
        self.resize(_SIZE.boundedTo(self.room(40)))

    @Slot()
    def _show(self) -> None:
        library = self._workspace.library
        trash = library.trash()
        self.list.clear()
        for entry in trash:
            left = max(0, TRASH_DAYS - int(clock.passed_since(entry.deleted_at) / _DAY_S))
            chat = library.conversation(entry.conversation_id)  # none where the whole is in the trash
            title = entry.title if chat is None else tr("“{words}” in {chat}", words=entry.title, chat=chat.title)
            item = QListWidgetItem(f"{title}  ·  {tr('%n day(s) left', left)}", self.list)
            item.setData(Qt.ItemDataRole.UserRole, entry)
        self.list.setVisible(bool(trash))
        self._empty.setVisible(not trash)
        if trash:
            self.list.setCurrentRow(0)
        self._enable()

    def _chosen(self) -> list[Deleted]:
        return [item.data(Qt.ItemDataRole.UserRole) for item in self.list.selectedItems()]

    @Slot()
    def _enable(self) -> None:
        for button in (self.erase_button, self.back_button):
            button.setEnabled(bool(self._chosen()))

    @Slot()
    def _bring_back(self) -> None:
        for entry in self._chosen():
            self._workspace.shelf.bring_back(entry)

    @Slot()
    def _ask(self) -> None:
        """Ask once it is known which backups have them."""
        self._asked = self._chosen()
        self._workspace.archive.find_copies(self._asked)

    @Slot(object, bool)
    def _ask_about(self, backups: list[str], damaged: bool) -> None:
        if self._asked:
            question = ErasingQuestion(self._theme, self._asked, backups, damaged, self)
            question.accepted.connect(lambda: self._erase(question.in_copies.isChecked()))
            question.open()

    def _erase(self, in_copies: bool) -> None:
        shelf, settings, library = self._workspace.shelf, self._workspace.settings, self._workspace.library
        chats = filter(None, (library.conversation(entry.conversation_id, in_trash=True) for entry in self._asked))
        folders = {chat.folder for chat in chats}
        for entry in self._asked:
            shelf.erase(entry)
        gone = {folder_group(folder) for folder in folders.difference(shelf.folders())}
        settings.folded_groups = tuple(group for group in settings.folded_groups if group not in gone)
        if gone:
            self._workspace.saved_settings.erase_aside()  # which may have the folder's name
        if in_copies:
            self._workspace.archive.erase_in_copies(self._asked)
        self._asked = []


class ErasingQuestion(Sheet):
    """Says where something of the trash is erased and where it stays.

    Args:
        entries: To be erased.
        backups: Days of those that have one of them, the newest first.
        damaged: True if a damaged database is kept aside, which may have them.
    """

    def __init__(
        self, theme: Theme, entries: list[Deleted], backups: list[str], damaged: bool, parent: QWidget
    ) -> None:
        asked = tr("Erase “{title}” for good?", title=entries[0].title)
        asked = asked if len(entries) == 1 else tr("Erase %n item(s) for good?", len(entries))
        said = [tr("The text is taken out of Tenon's database and its log at once, and nothing brings it back.")]
        if backups:
            said.append(
                tr(
                    "%n backup(s) still have it, the oldest of {day}: importing one brings it back.",
                    len(backups),
                    day=backups[-1],
                )
            )
        if damaged:
            said.append(tr("A damaged database that was kept aside may have it, too: it is deleted as a whole."))
        if not backups and not damaged:
            said.append(tr("No backup has it."))
        title = tr("Erase for good")
        super().__init__(theme, title, title, parent, *said, heading=asked, danger=True)
        self.in_copies = TickBox(theme, tr("Erase it there, too"), self)  # True if the copies are erased too
        self.in_copies.setChecked(bool(backups) or damaged)
        self.in_copies.setVisible(bool(backups) or damaged)
        self.column.addWidget(self.in_copies)
        self.fit()


class ChatShelf(QObject):
    """Stands between the sidebar, the page of the chat and the workspace."""

    chat_wanted = Signal()  # the chat's page is to be in view
    sidebar_wanted = Signal()

    def __init__(
        self,
        theme: Theme,
        workspace: Workspace,
        sidebar: Sidebar,
        page: ChatPage,
        toast: Toast,
        files: ChatFiles,
    ) -> None:
        super().__init__(page)
        self._theme = theme
        self._workspace = workspace
        self._sidebar = sidebar
        self._page = page
        self._toast = toast
        self._files = files
        workspace.shelf.changed.connect(self._conversations_changed)
        workspace.turns.message_added.connect(self._mark_busy)
        workspace.replies.message_changed.connect(self._mark_busy)
        sidebar.new_requested.connect(self.new_chat)
        sidebar.list.chosen.connect(self.open)
        sidebar.model.renamed.connect(workspace.shelf.rename)
        sidebar.list.delete_requested.connect(self.delete)
        sidebar.list.delete_asked.connect(self.ask_to_delete)
        sidebar.list.pin_requested.connect(workspace.shelf.pin)
        sidebar.list.clicked_on.connect(page.composer.setFocus)
        sidebar.list.hit_chosen.connect(self._open_hit)
        sidebar.list.fold_toggled.connect(self._toggle_fold)
        sidebar.list.move_requested.connect(self.move)
        sidebar.list.new_folder_requested.connect(self.ask_for_folder)
        sidebar.list.folder_delete_requested.connect(self.delete_folder)
        sidebar.list.archive_requested.connect(self.archive)
        sidebar.list.export_requested.connect(files.export_chat)
        sidebar.model.folder_renamed.connect(self.rename_folder)
        sidebar.search_changed.connect(self.show_conversations)
        sidebar.search_paused.connect(self._search_messages)
        page.message_deleted.connect(self._offer_back)
        workspace.archive.erased.connect(self._tell_erased)
        workspace.archive.copies_erased.connect(self._tell_of_copies)

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done with chats."""
        chats = CommandGroup.CHAT
        commands.add("new-chat", tr("New chat"), self.new_chat, chats, ("Ctrl+N",))
        commands.add("search-chats", tr("Search chats"), self._search, chats, ("Ctrl+K",))
        commands.add("rename-chat", tr("Rename chat"), self._rename_current, chats, ("F2",))
        commands.add("delete-chat", tr("Delete chat"), self._delete_current, chats)
        commands.add("undo-delete", tr("Bring back what was deleted last"), self._undo_delete, chats, ("Ctrl+Z",))
        commands.add("trash", tr("Trash..."), self.open_trash, chats)
        commands.add("export-chat", tr("Export chat..."), self._export_current, chats, ("Ctrl+S",))
        commands.add("export-all", tr("Export all chats..."), self._files.export_all, chats)
        told = tr("Chats exported as JSON, conversations.json of ChatGPT's data export, or a backup of Tenon's")
        commands.add("import-chats", tr("Import chats..."), self._files.import_chats, chats, tip=told)
        commands.add("move-chat", tr("Move chat to folder..."), self._move_current, chats)
        commands.add("archive-chat", tr("Archive chat"), self._archive_current, chats)
        commands.add("erase-everything", tr("Erase everything..."), self.ask_to_erase_everything, chats)
        self._commands = commands
        self._page.conversation_shown.connect(self._conversation_shown)
        self._conversation_shown(self._page.current)

    @Slot()
    def new_chat(self) -> None:
        """Show a blank chat, ready for typing."""
        self._page.open(None)
        self.chat_wanted.emit()
        self._page.composer.prompt.setFocus()

    @Slot(str)
    def chat_with(self, ref: str) -> None:
        """Show a blank chat that a model answers, and load the model."""
        self.new_chat()
        self._workspace.choose_model(ref)

    @Slot(int)
    def open(self, conversation_id: int) -> None:
        """Show a chat."""
        if conversation_id != self._page.current:
            self._page.open(conversation_id)
        self.chat_wanted.emit()

    @Slot(int)
    def delete(self, conversation_id: int) -> None:
        """Delete a chat and offer to bring it back."""
        chat = self._workspace.library.conversation(conversation_id)
        title = "" if chat is None else chat.title
        self._workspace.shelf.delete(conversation_id)
        self._page.forget(conversation_id)
        self.show_conversations()
        self._offer_back(tr("“{title}” is in the trash for {days} days.", title=_short(title), days=TRASH_DAYS))

    @Slot(int)
    def ask_to_delete(self, conversation_id: int) -> None:
        """Delete a chat if the user says so."""
        chat = self._workspace.library.conversation(conversation_id)
        if chat is None:
            return
        asked = tr("Delete “{title}”?", title=_short(chat.title))
        question = PlainQuestion(tr("Delete chat"), asked, self._page.window())
        question.setInformativeText(tr("It stays in the trash for {days} days.", days=TRASH_DAYS))
        deleting = question.addButton(tr("Delete"), QMessageBox.ButtonRole.AcceptRole)
        question.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        question.setDefaultButton(deleting)
        question.exec()
        if question.clickedButton() is deleting:
            self.delete(conversation_id)

    @Slot()
    def open_trash(self) -> None:
        """Show the chats and messages that were deleted."""
        TrashDialog(self._theme, self._workspace, self._page.window()).open()

    @Slot()
    def show_conversations(self) -> None:
        """Fill the list with the chats that the search field asks for."""
        workspace, typed = self._workspace, self._sidebar.search.text().strip()
        found, archived = (
            workspace.library.conversations(typed),
            workspace.library.conversations(typed, archived=True),
        )
        folded = workspace.settings.folded_groups
        rows = list_rows(found, archived, clock.today(), folded, searching=bool(typed))
        self._sidebar.show_rows(rows, workspace.shelf.folders())
        self._sidebar.select(self._page.current)

    @Slot(str)
    def _offer_back(self, sentence: str) -> None:
        """Say what was deleted just now, until it is back or gone."""
        trash = self._workspace.library.trash
        entry = trash()[0]
        self._toast.say(sentence, tr("Undo"), self._undo_delete, holds=lambda: entry in trash())

    def _undo_delete(self) -> None:
        entry = self._workspace.shelf.undo_delete()
        if entry is None:
            return
        self.chat_wanted.emit()
        if entry.conversation_id != self._page.current:
            self._page.open(entry.conversation_id)
        self._page.transcript.place.go_back()

    @Slot(object)
    def _open_hit(self, hit: SearchHit) -> None:
        if self._workspace.library.conversation(hit.conversation_id) is None:
            return
        self.open(hit.conversation_id)
        self._page.show_message(hit.message_id)

    @Slot()
    def _search(self) -> None:
        self.sidebar_wanted.emit()
        self._sidebar.focus_search()

    @Slot(str)
    def _search_messages(self, typed: str) -> None:
        self._sidebar.show_results(self._workspace.search(typed))

    @Slot()
    def _conversations_changed(self) -> None:
        self.show_conversations()
        self._page.refresh_title()

    @Slot(object)
    def _conversation_shown(self, conversation_id: int | None) -> None:
        self._sidebar.select(conversation_id)
        for name in ("rename-chat", "delete-chat", "export-chat", "move-chat", "archive-chat"):
            self._commands[name].setEnabled(conversation_id is not None)  # a blank chat has nothing of it
        archived = self._page.chat is not None and self._page.chat.archived
        self._commands["archive-chat"].setText(tr("Restore from the archive") if archived else tr("Archive chat"))

    @Slot(object)
    def _mark_busy(self, message: Message) -> None:
        if message.role == "assistant":
            self._sidebar.model.set_state(message.conversation_id, message.state)

    @Slot()
    def _rename_current(self) -> None:
        if self._page.current is not None:
            self.sidebar_wanted.emit()
            self._sidebar.list.rename(self._page.current)

    @Slot()
    def _delete_current(self) -> None:
        if self._page.current is not None:
            self.delete(self._page.current)

    @Slot()
    def _export_current(self) -> None:
        if self._page.current is not None:
            self._files.export_chat(self._page.current)

    # --- folders and the archive ------------------------------------------------------------------------------
    @Slot(int, str)
    def move(self, conversation_id: int, folder: str) -> None:
        """Put a chat into a folder, or with a blank name out of its own; one that is archived comes back."""
        chat = self._workspace.library.conversation(conversation_id)
        if chat is not None and chat.archived:
            self._workspace.shelf.archive(conversation_id, False)
        if folder:
            self._set_changed(folder_group(folder), False)  # it is to be seen where it went
        self._workspace.shelf.move_to_folder(conversation_id, folder)

    @Slot(int)
    def ask_for_folder(self, conversation_id: int) -> None:
        """Make a folder for a chat."""
        then = partial(self.move, conversation_id)
        NameDialog(self._theme, tr("Name of the new folder"), tr("Make folder"), "", then, self._page.window()).open()

    @Slot(str, str)
    def rename_folder(self, folder: str, name: str) -> None:
        """Rename a folder; it stays folded if it was."""
        if name in self._workspace.shelf.folders():
            self._toast.say(tr("“{name}” was there already: its chats and these are together now.", name=name))
        elif folder_group(folder) in self._workspace.settings.folded_groups:
            self._set_changed(folder_group(name), True)
        self._set_changed(folder_group(folder), False)
        self._workspace.shelf.rename_folder(folder, name)

    @Slot(str)
    def delete_folder(self, folder: str) -> None:
        """Take a folder away; its chats stay, and undo puts them back."""
        inside = [chat.id for chat in self._workspace.library.all_conversations() if chat.folder == folder]
        self._workspace.shelf.rename_folder(folder, "")
        self._set_changed(folder_group(folder), False)
        said = tr("The folder “{name}” is deleted, its chats are kept.", name=folder)
        undo = partial(self._put_back, inside, folder)
        self._toast.say(said, tr("Undo"), undo, holds=lambda: any(not chat.folder for chat in self._chats(inside)))

    @Slot(int, bool)
    def archive(self, conversation_id: int, archived: bool) -> None:
        """Take a chat out of the list, or put it back."""
        chat = self._workspace.library.conversation(conversation_id)
        if chat is None or chat.archived == archived:
            return
        self._workspace.shelf.archive(conversation_id, archived)
        if archived:
            undo = partial(self._workspace.shelf.archive, conversation_id, False)
            said, chats = tr("The chat is archived. Search still finds it."), [conversation_id]
            self._toast.say(said, tr("Undo"), undo, holds=lambda: any(chat.archived for chat in self._chats(chats)))
        if conversation_id == self._page.current:
            self._conversation_shown(conversation_id)

    def _chats(self, conversation_ids: list[int]) -> Iterator[Conversation]:
        return filter(None, map(self._workspace.library.conversation, conversation_ids))

    def _put_back(self, conversation_ids: list[int], folder: str) -> None:
        for conversation_id in conversation_ids:
            self._workspace.shelf.move_to_folder(conversation_id, folder)

    @Slot(str)
    def _toggle_fold(self, group: str) -> None:
        self._set_changed(group, group not in self._workspace.settings.folded_groups)
        self.show_conversations()

    def _set_changed(self, group: str, changed: bool) -> None:
        """Remember that a group is folded or unfolded by the user, or forget that."""
        others = tuple(known for known in self._workspace.settings.folded_groups if known != group)
        self._workspace.settings.folded_groups = (*others, group) if changed else others

    @Slot()
    def _move_current(self) -> None:
        if self._page.current is not None:
            menu = self._sidebar.list.folder_menu(self._page.current)
            title = self._page.header.title
            menu.popup(title.mapToGlobal(QPoint(0, title.height())))

    @Slot()
    def _archive_current(self) -> None:
        chat = self._page.chat
        if chat is not None:
            self.archive(chat.id, not chat.archived)

    # --- erasing everything -----------------------------------------------------------------------------------
    @Slot()
    def ask_to_erase_everything(self) -> None:
        """Ask whether it is to be done."""
        chats = len(self._workspace.library.all_conversations())
        dialog = EraseDialog(self._theme, chats, self._page.window())
        dialog.confirmed.connect(self.erase_everything)
        dialog.open()

    @Slot(bool)
    def erase_everything(self, with_settings: bool) -> None:
        """Do it."""
        self._sidebar.search.clear()
        self._toast.dismiss()  # its Undo would find nothing
        self._workspace.erase_everything(with_settings)
        self._page.open(None)
        if with_settings:
            apply_appearance(self._theme, self._workspace.settings)

    @Slot()
    def _tell_erased(self) -> None:
        self._toast.say(tr("Everything is erased."))

    @Slot(int)
    def _tell_of_copies(self, count: int) -> None:
        self._toast.say(tr("It is erased in %n backup(s), too.", count))


def _short(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1] + "…"


class EraseDialog(Sheet):
    """A dialog whose button erases everything once the word above it was typed.

    Args:
        chats: Number of them, archived ones too.
    """

    confirmed = Signal(bool)  # whether the settings go along

    def __init__(self, theme: Theme, chats: int, parent: QWidget) -> None:
        title = tr("Erase everything")
        super().__init__(
            theme,
            title,
            title,
            parent,
            tr(
                "All chats with their attachments, what is typed and not sent, folders, presets, the system "
                "prompt, the search index and every backup are erased from this computer. "
                "This cannot be undone."
            ),
            tr("Models stay. Files that you have exported stay where you saved them."),
            heading=tr("Erase %n chat(s) for good?", n=chats),
            danger=True,
        )
        self._word = tr("erase")
        icon = IconLabel(theme, "circle-alert", "red", _ICON_PX, self)
        self.head.insertWidget(0, icon, 0, Qt.AlignmentFlag.AlignTop)
        self.with_settings = TickBox(theme, tr("Put all settings back to their defaults, too"), self)
        self.column.addWidget(self.with_settings)
        asked = self.add_words(tr("Type “{word}” to go on:", word=self._word), "label")
        self.field = QLineEdit(self)
        self.field.setAccessibleName(asked.text())
        self.field.textChanged.connect(self._typed)
        self.field.returnPressed.connect(self.accept)
        asked.setBuddy(self.field)
        self.column.addWidget(self.field)
        self._typed()
        self.fit()
        self.field.setFocus()

    @Slot()
    def _typed(self) -> None:
        self.accept_button.setEnabled(self.field.text().strip().casefold() == self._word.casefold())

    def accept(self) -> None:
        """Erase if the word stands there."""
        if self.accept_button.isEnabled():
            super().accept()
            self.confirmed.emit(self.with_settings.isChecked())
