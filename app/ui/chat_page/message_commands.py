"""Commands of the keyboard for the chat that is shown and its messages."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton

from app.bridge.workspace import Workspace
from app.chat.conversation import Message
from app.ui.chat_page.page import ChatPage
from app.ui.chats.actions import ChatShelf
from app.ui.commands import CommandGroup, Commands
from app.ui.sidebar.conversation_model import HIT_ROLE, ID_ROLE
from app.ui.sidebar.sidebar import Sidebar
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.message_actions import Action, reply_actions
from app.ui.transcript.message_column import MessageColumn
from app.ui.transcript.message_views import MessageView
from app.ui.transcript.reply import ReplyView
from app.words import tr


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
        self._stepped: tuple[int, ...] = ()  # the versions stepped through last: going on and back stays with them

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done."""
        self._commands = commands
        chats, messages, models = CommandGroup.CHAT, CommandGroup.MESSAGE, CommandGroup.MODEL
        press, in_hand, click = self._press_last, self._press_in_hand, self._click
        composer, header = self._page.composer, self._page.header
        attach = composer.attach_button
        again, go_on = (Action.REGENERATE, Action.RETRY), (Action.CONTINUE,)
        for group, name, title, slot, keys in (
            (chats, "next-chat", tr("Next chat"), lambda: self._step_chat(1), "Alt+Down"),
            (chats, "previous-chat", tr("Previous chat"), lambda: self._step_chat(-1), "Alt+Up"),
            (messages, "attach", tr("Attach files..."), lambda: click(attach), "Ctrl+Shift+A"),
            (messages, "stop", tr("Stop the reply"), self._page.stop, "Ctrl+."),
            (messages, "regenerate", tr("Answer again"), lambda: press(*again), "Ctrl+R"),
            (messages, "continue", tr("Continue the reply"), lambda: press(*go_on), "Ctrl+Shift+Return"),
            (messages, "edit", tr("Edit message"), self._edit, "Ctrl+E"),
            (messages, "edit-reply", tr("Edit reply"), lambda: in_hand(Action.EDIT), ""),
            (messages, "branch", tr("Branch into a new chat"), lambda: in_hand(Action.BRANCH), ""),
            (messages, "copy-reply", tr("Copy reply"), lambda: in_hand(Action.COPY), "Ctrl+Shift+C"),
            (messages, "copy-plain", tr("Copy reply as plain text"), lambda: in_hand(Action.COPY_PLAIN), ""),
            (messages, "copy-code", tr("Copy code block"), self._copy_code, "Ctrl+Shift+B"),
            (messages, "previous-version", tr("Previous version"), lambda: self._step(Action.PREVIOUS), "Alt+Left"),
            (messages, "next-version", tr("Next version"), lambda: self._step(Action.NEXT), "Alt+Right"),
            (models, "choose-model", tr("Choose a model"), lambda: click(header.model_button), "Ctrl+M"),
            (models, "choose-draft", tr("Choose a draft"), lambda: click(composer.draft_button), "Ctrl+J"),
        ):  # fmt: skip
            commands.add(name, title, slot, group, (keys,) if keys else ())
        self._page.conversation_shown.connect(self.refresh)
        self._page.conversation_shown.connect(self.refresh_chats)
        self._workspace.turns.message_added.connect(self._forget_stepped)
        self._workspace.turns.message_added.connect(self.refresh)
        self._workspace.replies.message_changed.connect(self.refresh)
        self._workspace.turns.conversation_replaced.connect(self.refresh)
        self._sidebar.model.modelReset.connect(self.refresh_chats)
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
        self._commands["continue"].setEnabled(Action.CONTINUE in possible)
        self.refresh_in_hand()

    @Slot()
    def refresh_in_hand(self) -> None:
        """See what can be done with the messages that are in view now; often while it is scrolled."""
        # The focus is not asked: it changes while windows are taken apart, when nothing here can be asked any more.
        buttons = [view.buttons for view in messages_in_hand(self._page.transcript)]
        possible = {
            "edit": self._to_edit() is not None and not self._unfinished,
            "edit-reply": self._in_hand(_can_copy) is not None,
            "branch": self._in_hand(_can_copy) is not None,
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

    def _press_in_hand(self, action: Action) -> None:
        view = self._in_hand(_can_copy)
        if view is not None:
            self._shelf.chat_wanted.emit()
            view.buttons.press(action)

    def _to_edit(self) -> int | None:
        """Return the id of the user's message in hand, or of the one that the reply in view answers."""
        own = self._in_hand(lambda view: isinstance(view, OwnMessage))
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
            code = reply.blocks.split.code_above(reply.blocks.mapFrom(viewport, viewport.rect().bottomLeft()).y())
            QGuiApplication.clipboard().setText(code or "")
            self._page.said.emit(tr("The code is copied."), False)

    def _versions(self) -> MessageView | None:
        """Return the message whose versions are stepped through."""
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
    def _forget_stepped(self) -> None:
        self._stepped = ()

    def _click(self, button: QAbstractButton) -> None:
        self._shelf.chat_wanted.emit()
        button.click()

    # --- chats ------------------------------------------------------------------------------------------------

    def _beside(self, step: int) -> int | None:
        """Return the chat so many rows from the shown one in the list; from a blank chat the first one."""
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


def _can_copy(view: MessageView) -> bool:
    return isinstance(view, ReplyView) and Action.COPY in view.buttons.shown


def _has_code(view: MessageView) -> bool:
    return isinstance(view, ReplyView) and view.blocks.split.has_code


def messages_in_hand(column: MessageColumn) -> list[MessageView]:
    """Return the messages in view in the order to try them: the one with the focus, then the lowest."""
    line = column.fontMetrics().lineSpacing()
    seen = [view for view in column.views if _seen_px(column, view) >= min(line, view.height()) > 0]
    focused = [view for view in seen if has_focus(view)]
    return [*focused, *(view for view in reversed(seen) if view not in focused)]


def has_focus(view: MessageView) -> bool:
    """Return True if the keyboard is in a message, or was there before a menu opened."""
    focus = view.window().focusWidget()
    return focus is not None and view.isAncestorOf(focus)


def _seen_px(column: MessageColumn, view: MessageView) -> int:
    """Height of the part of a message that is in view, in px."""
    top = column.verticalScrollBar().value()
    bottom = top + column.viewport().height()
    return min(bottom, view.y() + view.height()) - max(top, view.y())
