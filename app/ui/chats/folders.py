"""Actions on where chats are kept: folders, the archive, and what is folded in the list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QObject, QPoint, Slot

from app.bridge.workspace import Workspace
from app.chat.conversation import Conversation
from app.ui.chat_page.page import ChatPage
from app.ui.chats.actions import ChatShelf
from app.ui.chats.files import ChatFiles
from app.ui.commands import CommandGroup, Commands
from app.ui.notices import Toast
from app.ui.sheet import NameDialog
from app.ui.sidebar.conversation_model import folder_group
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.theme import Theme
from app.words import tr


class ChatFolders(QObject):
    """Stands between the list of chats and the workspace, as `ChatShelf` does for the rest."""

    def __init__(
        self,
        theme: Theme,
        workspace: Workspace,
        sidebar: Sidebar,
        page: ChatPage,
        toast: Toast,
        files: ChatFiles,
        shelf: ChatShelf,
    ) -> None:
        super().__init__(page)
        self._theme = theme
        self._workspace = workspace
        self._sidebar = sidebar
        self._page = page
        self._toast = toast
        self._shelf = shelf
        rows = sidebar.list
        rows.fold_toggled.connect(self._toggle_fold)
        rows.move_requested.connect(self.move)
        rows.new_folder_requested.connect(self.ask_for_folder)
        rows.folder_delete_requested.connect(self.delete_folder)
        rows.archive_requested.connect(self.archive)
        rows.export_requested.connect(files.export_chat)
        sidebar.model.folder_renamed.connect(self.rename_folder)

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done with the chat that is shown."""
        chats = CommandGroup.CHAT
        move = commands.add("move-chat", tr("Move chat to folder..."), self._move_current, chats)
        archive = commands.add("archive-chat", tr("Archive chat"), self._archive_current, chats)
        self._of_stored = (move, archive)
        self._page.conversation_shown.connect(self._conversation_shown)
        self._conversation_shown(self._page.current)

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
        self._shelf.show_conversations()

    def _set_changed(self, group: str, changed: bool) -> None:
        """Remember whether a group is otherwise than it is by itself."""
        others = tuple(known for known in self._workspace.settings.folded_groups if known != group)
        self._workspace.settings.folded_groups = (*others, group) if changed else others

    @Slot(object)
    def _conversation_shown(self, conversation_id: int | None) -> None:
        for action in self._of_stored:
            action.setEnabled(conversation_id is not None)
        archived = self._page.chat is not None and self._page.chat.archived
        self._of_stored[1].setText(tr("Restore from the archive") if archived else tr("Archive chat"))

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
