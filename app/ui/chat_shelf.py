"""Actions on whole chats: begin, open, find, rename, delete with undo, and the list that shows them."""

from __future__ import annotations

from datetime import date

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMessageBox

from app.bridge.workspace import Workspace
from app.chat.conversation import Message
from app.chat.library import TRASH_DAYS
from app.chat.search import SearchHit
from app.ui.chat_files import ChatFiles
from app.ui.chat_page import ChatPage
from app.ui.commands import CommandGroup, Commands
from app.ui.inert_text import PlainQuestion
from app.ui.notices import Toast
from app.ui.sidebar.list_rows import list_rows
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.theme import Theme
from app.ui.trash_dialog import TrashDialog
from app.words import tr

_LONGEST_TITLE = 40


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
        sidebar.search_changed.connect(self.show_conversations)
        sidebar.search_paused.connect(self._search_messages)
        page.message_deleted.connect(self._offer_message_back)

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done with chats."""
        chats = CommandGroup.CHAT
        commands.add("new-chat", tr("New chat"), self.new_chat, chats, ("Ctrl+N",), "square-pen")
        commands.add("search-chats", tr("Search chats"), self._search, chats, ("Ctrl+K",), "search")
        commands.add("rename-chat", tr("Rename chat"), self._rename_current, chats, ("F2",), "pencil")
        commands.add("delete-chat", tr("Delete chat"), self._delete_current, chats, icon="trash-2")
        commands.add(
            "undo-delete", tr("Bring back the chat deleted last"), self._undo_delete, chats, ("Ctrl+Z",)
        )
        commands.add("trash", tr("Trash..."), self.open_trash, chats, (), "trash-2")
        commands.add("export-chat", tr("Export chat..."), self._export_current, chats, ("Ctrl+S",))
        commands.add("export-all", tr("Export all chats..."), self._files.export_all, chats)
        told = tr(
            "Chats exported as JSON, conversations.json of ChatGPT's data export, or a backup of Tenon's"
        )
        commands.add("import-chats", tr("Import chats..."), self._files.import_chats, chats, tip=told)
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
        said = tr("“{title}” is in the trash for {days} days.", title=_short(title), days=TRASH_DAYS)
        self._toast.say(said, tr("Undo"), self._undo_delete)

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
        """Show the chats that were deleted."""
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
        rows = list_rows(found, archived, date.today(), folded, searching=bool(typed))
        self._sidebar.show_rows(rows, workspace.shelf.folders())
        self._sidebar.select(self._page.current)

    @Slot(str)
    def _offer_message_back(self, sentence: str) -> None:
        self._toast.say(sentence, tr("Undo"), self._undo_delete_message)

    def _undo_delete(self) -> None:
        conversation_id = self._workspace.shelf.undo_delete()
        if conversation_id is not None:
            self.show_conversations()
            self._page.open(conversation_id)

    def _undo_delete_message(self) -> None:
        conversation_id = self._workspace.turns.undo_delete()
        if conversation_id is None:
            return
        if conversation_id != self._page.current:
            self._page.open(conversation_id)
        self._page.transcript.place.go_back()

    @Slot(object)
    def _open_hit(self, hit: SearchHit) -> None:
        """Show a message that was found, in its chat."""
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
        for name in ("rename-chat", "delete-chat", "export-chat"):  # a blank chat has nothing of it
            self._commands[name].setEnabled(conversation_id is not None)

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


def _short(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1] + "…"
