"""Commands of the keyboard for the chat that is shown and its messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication

from app.chat.conversation import Message
from app.ui.chat_page import ChatPage
from app.ui.chat_shelf import ChatShelf
from app.ui.commands import CommandGroup, Commands
from app.ui.sidebar.conversation_model import HIT_ROLE, ID_ROLE
from app.ui.sidebar.sidebar import Sidebar
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.message_actions import Action
from app.ui.transcript.message_in_hand import has_focus, messages_in_hand
from app.ui.transcript.message_views import MessageView
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.reply_actions import reply_actions
from app.words import tr

if TYPE_CHECKING:
    from app.bridge.workspace import Workspace


class MessageCommands(QObject):
    """Presses the buttons of the message in hand, and steps through the chats; keeps up which of it is possible.

    Whatever makes the model write is about the last reply; the rest is about what the reader sees.
    """

    def __init__(self, workspace: Workspace, page: ChatPage, sidebar: Sidebar, shelf: ChatShelf) -> None:
        super().__init__(page)
        self._workspace = workspace
        self._page = page
        self._sidebar = sidebar
        self._shelf = shelf
        self._unfinished = False
        self._stepped: tuple[
            int, ...
        ] = ()  # the versions stepped through last: going on and back stays with them

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done."""
        self._commands = commands
        chats, messages, models = CommandGroup.CHAT, CommandGroup.MESSAGE, CommandGroup.MODEL
        commands.add("next-chat", tr("Next chat"), self._next_chat, chats, ("Alt+Down",))
        commands.add("previous-chat", tr("Previous chat"), self._previous_chat, chats, ("Alt+Up",))
        commands.add("attach", tr("Attach files..."), self._attach, messages, ("Ctrl+Shift+A",), "paperclip")
        commands.add("stop", tr("Stop the reply"), self._page.stop, messages, ("Ctrl+.",))
        commands.add("regenerate", tr("Answer again"), self._regenerate, messages, ("Ctrl+R",), "refresh-cw")
        commands.add(
            "continue", tr("Continue the reply"), self._continue, messages, ("Ctrl+Shift+Return",), "play"
        )
        commands.add("edit", tr("Edit message"), self._edit, messages, ("Ctrl+E",), "pencil")
        commands.add("copy-reply", tr("Copy reply"), self._copy, messages, ("Ctrl+Shift+C",), "copy")
        commands.add("copy-plain", tr("Copy reply as plain text"), self._copy_plain, messages, icon="copy")
        commands.add("copy-code", tr("Copy code block"), self._copy_code, messages, ("Ctrl+Shift+B",), "copy")
        commands.add("previous-version", tr("Previous version"), self._previous, messages, ("Alt+Left",))
        commands.add("next-version", tr("Next version"), self._next, messages, ("Alt+Right",))
        commands.add(
            "choose-model", tr("Choose a model"), self._choose_model, models, ("Ctrl+M",), "sparkles"
        )
        commands.add("choose-mode", tr("Choose a mode"), self._choose_mode, models, ("Ctrl+J",), "zap")
        self._page.conversation_shown.connect(self.refresh)
        self._page.conversation_shown.connect(self.refresh_chats)
        self._workspace.turns.message_added.connect(self._forget_stepped)
        self._workspace.turns.message_added.connect(self.refresh)
        self._workspace.replies.message_changed.connect(self.refresh)
        self._workspace.turns.conversation_replaced.connect(self.refresh)
        self._workspace.shelf.changed.connect(self.refresh_chats)
        bar = self._page.transcript.verticalScrollBar()
        bar.valueChanged.connect(self.refresh_in_hand)
        bar.rangeChanged.connect(self.refresh_in_hand)
        self.refresh()
        self.refresh_chats()

    @Slot()
    def refresh(self) -> None:
        """See what can be done with the messages now; often while a reply is written."""
        reply = self._last_reply()
        possible = set() if reply is None else reply_actions(reply, self._page.transcript.is_last(reply.id))
        self._unfinished = reply is not None and reply.state.unfinished
        self._commands["stop"].setEnabled(self._unfinished)
        self._commands["regenerate"].setEnabled(bool(possible & {Action.REGENERATE, Action.RETRY}))
        self._commands["continue"].setEnabled(bool(possible & {Action.CONTINUE, Action.GO_ON}))
        self.refresh_in_hand()

    @Slot()
    def refresh_in_hand(self) -> None:
        """See what can be done with the messages that are in view now; often while it is scrolled."""
        # Whatever has the focus: that changes while windows are taken apart, when none of this can be asked any more.
        buttons = [view.buttons for view in messages_in_hand(self._page.transcript)]
        possible = {
            "edit": self._to_edit() is not None and not self._unfinished,
            "copy-reply": self._in_hand(_can_copy) is not None,
            "copy-plain": self._in_hand(_can_copy) is not None,
            "copy-code": self._in_hand(_has_code) is not None,
            "previous-version": any(row.can_press(Action.PREVIOUS) for row in buttons),
            "next-version": any(row.can_press(Action.NEXT) for row in buttons),
        }
        for name, enabled in possible.items():
            self._commands[name].setEnabled(enabled)

    @Slot()
    def refresh_chats(self) -> None:
        """See whether there are chats to step to."""
        self._commands["next-chat"].setEnabled(self._beside(1) is not None)
        self._commands["previous-chat"].setEnabled(self._beside(-1) is not None)

    # --- messages ---------------------------------------------------------------------------------------------

    def _last_reply(self) -> Message | None:
        messages = reversed(self._page.transcript.messages)
        return next((message for message in messages if message.role == "assistant"), None)

    def _in_hand(self, suits: Callable[[MessageView], bool]) -> MessageView | None:
        return next((view for view in messages_in_hand(self._page.transcript) if suits(view)), None)

    def _press_last(self, *actions: Action) -> None:
        """Press the first of these buttons that the last reply has."""
        reply, transcript = self._last_reply(), self._page.transcript
        if reply is None:
            return
        self._shelf.chat_wanted.emit()
        if transcript.view_of(reply.id) is None:
            transcript.jump_to_latest()  # the reader is far above, where the end is no widget
        view = transcript.view_of(reply.id)
        if view is not None:
            action = next((action for action in actions if action in view.buttons.shown), actions[-1])
            view.buttons.press(action)

    @Slot()
    def _regenerate(self) -> None:
        self._press_last(Action.REGENERATE, Action.RETRY)

    @Slot()
    def _continue(self) -> None:
        self._press_last(Action.CONTINUE, Action.GO_ON)

    def _press_copy(self, action: Action) -> None:
        view = self._in_hand(_can_copy)
        if view is not None:
            self._shelf.chat_wanted.emit()
            view.buttons.press(action)

    @Slot()
    def _copy(self) -> None:
        self._press_copy(Action.COPY)

    @Slot()
    def _copy_plain(self) -> None:
        self._press_copy(Action.COPY_PLAIN)

    def _to_edit(self) -> int | None:
        """The id of one's own message in hand; where none is in view that which the reply in view answers."""
        own = self._in_hand(_is_own)
        if own is not None:
            return own.message.id
        reply = self._in_hand(lambda view: True)
        return None if reply is None else reply.message.parent_id

    @Slot()
    def _edit(self) -> None:
        message_id = self._to_edit()
        if message_id is None:
            return
        self._shelf.chat_wanted.emit()
        self._page.transcript.show_message(message_id)
        own = self._page.transcript.view_of(message_id)
        if isinstance(own, OwnMessage) and own.editor is None:
            own.edit()

    @Slot()
    def _copy_code(self) -> None:
        reply = self._in_hand(_has_code)
        if isinstance(reply, ReplyView):
            viewport = self._page.transcript.viewport()
            code = reply.blocks.code_above(reply.blocks.mapFrom(viewport, viewport.rect().bottomLeft()).y())
            QGuiApplication.clipboard().setText(code or "")
            self._page.said.emit(tr("The code is copied."), False)

    def _versions(self) -> MessageView | None:
        """The message whose versions are stepped through."""
        views = [view for view in messages_in_hand(self._page.transcript) if view.buttons.alternatives]
        again = [view for view in views if view.buttons.alternatives == self._stepped]
        return next((view for view in (*filter(has_focus, views), *again, *views)), None)

    def _step(self, action: Action) -> None:
        view = self._versions()
        if view is None:
            return
        focused = has_focus(view)
        self._shelf.chat_wanted.emit()
        if focused:
            view.buttons.focus(action)  # hands the keyboard on to the version that takes its place
        self._stepped = view.buttons.alternatives
        view.buttons.press(action)

    @Slot()
    def _previous(self) -> None:
        self._step(Action.PREVIOUS)

    @Slot()
    def _next(self) -> None:
        self._step(Action.NEXT)

    @Slot()
    def _forget_stepped(self) -> None:
        self._stepped = ()

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

    def _step_chat(self, step: int) -> None:
        chat = self._beside(step)
        if chat is not None:
            self._shelf.open(chat)

    @Slot()
    def _next_chat(self) -> None:
        self._step_chat(1)

    @Slot()
    def _previous_chat(self) -> None:
        self._step_chat(-1)


def _is_own(view: MessageView) -> bool:
    return isinstance(view, OwnMessage)


def _can_copy(view: MessageView) -> bool:
    return isinstance(view, ReplyView) and Action.COPY in view.buttons.shown


def _has_code(view: MessageView) -> bool:
    return isinstance(view, ReplyView) and view.blocks.has_code
