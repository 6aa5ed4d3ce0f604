"""What can be done with the chat that is shown and its messages without touching the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication

from app.ui.chat_page import ChatPage
from app.ui.chat_shelf import ChatShelf
from app.ui.commands import Commands, Section
from app.ui.sidebar.conversation_model import HIT_ROLE, ID_ROLE
from app.ui.sidebar.sidebar import Sidebar
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.message_actions import Action
from app.ui.transcript.reply import ReplyView
from app.words import tr

if TYPE_CHECKING:
    from app.bridge.workspace import Workspace


class MessageCommands(QObject):
    """Presses the buttons of the last messages, and steps through the chats; keeps up which of it is possible."""

    def __init__(self, workspace: Workspace, page: ChatPage, sidebar: Sidebar, shelf: ChatShelf) -> None:
        super().__init__(page)
        self._workspace = workspace
        self._page = page
        self._sidebar = sidebar
        self._shelf = shelf

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done."""
        self._commands = commands
        chats, messages, models = Section.CHAT, Section.MESSAGE, Section.MODEL
        commands.add("next-chat", tr("Next chat"), self._next_chat, chats, ("Alt+Down",))
        commands.add("previous-chat", tr("Previous chat"), self._previous_chat, chats, ("Alt+Up",))
        commands.add("attach", tr("Attach files..."), self._attach, messages, ("Ctrl+Shift+A",), "paperclip")
        commands.add("stop", tr("Stop the reply"), self._page.stop, messages, ("Ctrl+.",))
        commands.add("regenerate", tr("Answer again"), self._regenerate, messages, ("Ctrl+R",), "refresh-cw")
        commands.add(
            "continue", tr("Continue the reply"), self._continue, messages, ("Ctrl+Shift+Return",), "play"
        )
        commands.add("edit", tr("Edit the last message"), self._edit, messages, ("Ctrl+E",), "pencil")
        commands.add("copy-reply", tr("Copy the last reply"), self._copy, messages, ("Ctrl+Shift+C",), "copy")
        commands.add(
            "copy-plain", tr("Copy the last reply as plain text"), self._copy_plain, messages, icon="copy"
        )
        commands.add(
            "copy-code", tr("Copy the last code block"), self._copy_code, messages, ("Ctrl+Shift+B",), "copy"
        )
        commands.add(
            "previous-version", tr("Previous version of the reply"), self._previous, messages, ("Alt+Left",)
        )
        commands.add("next-version", tr("Next version of the reply"), self._next, messages, ("Alt+Right",))
        commands.add(
            "choose-model", tr("Choose a model"), self._choose_model, models, ("Ctrl+M",), "sparkles"
        )
        commands.add("choose-mode", tr("Choose a mode"), self._choose_mode, models, ("Ctrl+J",), "zap")
        self._page.conversation_shown.connect(self.refresh)
        self._page.conversation_shown.connect(self.refresh_chats)
        self._workspace.message_added.connect(self.refresh)
        self._workspace.message_changed.connect(self.refresh)
        self._workspace.conversation_replaced.connect(self.refresh)
        self._workspace.conversations_changed.connect(self.refresh_chats)
        self.refresh()
        self.refresh_chats()

    @Slot()
    def refresh(self) -> None:
        """See what can be done with the messages now; often while a reply is written."""
        reply, own = self._reply(), self._own()
        shown = frozenset() if reply is None else reply.buttons.shown
        unfinished = reply is not None and reply.message.state.unfinished
        possible = {
            "stop": unfinished,
            "regenerate": Action.REGENERATE in shown or Action.RETRY in shown,
            "continue": Action.CONTINUE in shown,
            "edit": own is not None and not unfinished,
            "copy-reply": Action.COPY in shown,
            "copy-plain": Action.COPY_PLAIN in shown,
            "copy-code": reply is not None and bool(reply.blocks.codes),
            "previous-version": reply is not None and reply.buttons.can_press(Action.PREVIOUS),
            "next-version": reply is not None and reply.buttons.can_press(Action.NEXT),
        }
        for name, enabled in possible.items():
            self._commands[name].setEnabled(enabled)

    @Slot()
    def refresh_chats(self) -> None:
        """See whether there are chats to step to."""
        self._commands["next-chat"].setEnabled(self._beside(1) is not None)
        self._commands["previous-chat"].setEnabled(self._beside(-1) is not None)

    # --- messages ---------------------------------------------------------------------------------------------

    def _reply(self) -> ReplyView | None:
        views = self._page.transcript.views
        return next((view for view in reversed(views) if isinstance(view, ReplyView)), None)

    def _own(self) -> OwnMessage | None:
        views = self._page.transcript.views
        return next((view for view in reversed(views) if isinstance(view, OwnMessage)), None)

    def _press(self, action: Action) -> None:
        reply = self._reply()
        if reply is not None:
            self._shelf.chat_wanted.emit()
            reply.buttons.press(action)

    @Slot()
    def _regenerate(self) -> None:
        reply = self._reply()
        if reply is not None:
            self._press(Action.REGENERATE if Action.REGENERATE in reply.buttons.shown else Action.RETRY)

    @Slot()
    def _continue(self) -> None:
        self._press(Action.CONTINUE)

    @Slot()
    def _copy(self) -> None:
        self._press(Action.COPY)

    @Slot()
    def _copy_plain(self) -> None:
        self._press(Action.COPY_PLAIN)

    @Slot()
    def _previous(self) -> None:
        self._press(Action.PREVIOUS)

    @Slot()
    def _next(self) -> None:
        self._press(Action.NEXT)

    @Slot()
    def _edit(self) -> None:
        own = self._own()
        if own is not None and own.editor is None:
            self._shelf.chat_wanted.emit()
            self._page.transcript.show_message(own.message.id)
            own.edit()

    @Slot()
    def _copy_code(self) -> None:
        reply = self._reply()
        if reply is not None and reply.blocks.codes:
            QGuiApplication.clipboard().setText(reply.blocks.codes[-1])
            self._page.said.emit(tr("The code is copied."), False)

    @Slot()
    def _attach(self) -> None:
        self._shelf.chat_wanted.emit()
        self._page.composer.attach_button.click()

    # --- menus ------------------------------------------------------------------------------------------------

    @Slot()
    def _choose_model(self) -> None:
        self._shelf.chat_wanted.emit()
        self._page.header.model_button.click()

    @Slot()
    def _choose_mode(self) -> None:
        self._shelf.chat_wanted.emit()
        self._page.composer.mode_button.click()

    # --- chats ------------------------------------------------------------------------------------------------

    def _beside(self, step: int) -> int | None:
        """The chat that stands so many rows from the shown one in the list; from a blank chat the first one."""
        model = self._sidebar.model
        rows = [model.index(row) for row in range(model.rowCount())]
        chats = [row.data(ID_ROLE) for row in rows if row.data(HIT_ROLE) is None]
        chats = [chat for chat in chats if chat is not None]
        if self._page.current not in chats:
            return chats[0] if chats and step > 0 else None
        at = chats.index(self._page.current) + step
        return chats[at] if 0 <= at < len(chats) else None

    def _step(self, step: int) -> None:
        chat = self._beside(step)
        if chat is not None:
            self._shelf.open(chat)

    @Slot()
    def _next_chat(self) -> None:
        self._step(1)

    @Slot()
    def _previous_chat(self) -> None:
        self._step(-1)
