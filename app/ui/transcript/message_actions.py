"""The row of small buttons under a message: what can be done with it, and the arrows between its alternatives."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum
from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QWidget

from app.chat.conversation import Message, MessageState
from app.chat.reply import can_continue, trouble_of
from app.ui.parts import LabelledButton, PlainLabel, filled, order_tabs
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme
from app.words import mark, tr

_SIDE_PX = 28
_ICON_PX = 16
_COPIED_MS = 1_500


_CUT = (MessageState.STOPPED, MessageState.INTERRUPTED)


class Action(Enum):
    """Look of a button: icon, name, and words beside the icon."""

    COPY = ("copy", mark("Copy message"), "")
    COPY_PLAIN = ("copy", mark("Copy as plain text"), "")
    EDIT = ("pencil", mark("Edit message"), "")
    REGENERATE = ("refresh-cw", mark("Answer again"), "")
    CONTINUE = ("play", mark("Continue"), mark("Continue"))
    RETRY = ("rotate-ccw", mark("Try again"), mark("Try again"))
    BRANCH = ("git-branch", mark("Branch into a new chat"), "")
    COMPARE = ("columns-2", mark("Compare on this prompt..."), "")
    DELETE = ("trash-2", mark("Delete message"), "")
    PREVIOUS = ("chevron-left", mark("Previous version"), "")
    NEXT = ("chevron-right", mark("Next version"), "")
    MORE = ("ellipsis", mark("More for this message"), "")


# Under a reply these have other names.
_OF_REPLY = {
    Action.COPY: mark("Copy reply"),
    Action.EDIT: mark("Edit reply"),
    Action.DELETE: mark("Delete reply"),
    Action.MORE: mark("More for this reply"),
}


_ARROWS = (Action.PREVIOUS, Action.NEXT)


class RowButton(LabelledButton):
    """A button that can be there without being seen: Tab reaches it, and then it is."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        self.seen = True

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.seen or self.hasFocus():
            super().paintEvent(event)


class MessageActions(QWidget):
    """Emits what the user wants; it decides nothing. A button is made when it is shown first.

    Args:
        noun: The user's word for the message: ``reply`` or ``message``.
        order: The buttons from the left to the right, the arrows among them.
        more: Actions of a menu after a last button; none for no menu.
    """

    triggered = Signal(object)  # Action
    alternative_chosen = Signal(int)  # id of a message

    def __init__(
        self, theme: Theme, noun: str, order: Sequence[Action], more: Sequence[Action], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._noun = noun
        self._order = (*order, Action.MORE) if more else tuple(order)
        self._more = tuple(more)
        self.shown: frozenset[Action] = frozenset()  # actions on offer now, the arrows aside
        self._seen = True
        self.alternatives: tuple[int, ...] = ()
        self._at = 0
        self._buttons: dict[Action, RowButton] = {}
        self._count: QLabel | None = None
        self._row = filled(QHBoxLayout(self), margins=0, spacing=2)

    def button(self, action: Action) -> RowButton:
        """Return the button of an action that is shown in the row."""
        return self._buttons[action]

    def can_press(self, action: Action) -> bool:
        """Return True if the action's button is there and leads somewhere."""
        button = self._buttons.get(action)
        return button is not None and not button.isHidden() and button.isEnabled()

    def press(self, action: Action) -> None:
        """Do what the action's button does, or its entry of the menu."""
        if action in self._more and action in self.shown:
            self.triggered.emit(action)
        elif self.can_press(action):
            self._buttons[action].click()

    def focus(self, action: Action) -> None:
        """Give the keyboard to an action's button, or to the other arrow where it leads nowhere."""
        button = self._buttons.get(action)
        if button is not None and not button.isEnabled():
            button = self._buttons[Action.NEXT if action is Action.PREVIOUS else Action.PREVIOUS]
        if button is not None:
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def focused(self) -> Action | None:
        """Return the action whose button has the keyboard."""
        return next((action for action, button in self._buttons.items() if button.hasFocus()), None)

    def natural_size(self) -> QSize:
        """Size of the row in px; empty where no button is shown."""
        if all(button.isHidden() for button in self._buttons.values()):
            return QSize(0, 0)
        self._row.invalidate()
        return self._row.sizeHint()

    def show_actions(self, shown: Collection[Action]) -> None:
        """Show these of the row's and the menu's actions; the arrows follow the alternatives."""
        self.shown = frozenset(shown)
        for action in self._order:
            if action is Action.MORE:
                self._show(action, any(one in self.shown for one in self._more))
            elif action not in _ARROWS:
                self._show(action, action in self.shown)

    def set_alternatives(self, ids: Sequence[int], message_id: int) -> bool:
        """Set the versions of the message, oldest first (fewer than two need no arrows); return True if that is new."""
        known = tuple(ids) if len(ids) > 1 and message_id in ids else ()
        if known == self.alternatives:
            return False
        self.alternatives = known
        self._at = known.index(message_id) if known else 0
        for action in _ARROWS:
            self._show(action, bool(known))
        if self._count is not None:
            self._count.setText(f"{self._at + 1} / {len(known)}")
            self._count.setAccessibleName(tr("Version {number} of {all}", number=self._at + 1, all=len(known)))
            self._count.setVisible(bool(known))
        if known:
            self._buttons[Action.PREVIOUS].setEnabled(self._at > 0)
            self._buttons[Action.NEXT].setEnabled(self._at + 1 < len(known))
        return True

    def set_seen(self, seen: bool) -> None:
        """Show the buttons, or leave them to the keyboard; arrows are seen where there are versions."""
        self._seen = seen = seen or self._theme.touch
        for action, button in self._buttons.items():
            button.seen = seen or action in _ARROWS
            button.update()

    def say_copied(self) -> None:
        """Show a tick in place of the copy icon for a moment."""
        self._buttons[Action.COPY].setIcon(themed_icon(self._theme, "check", "acc"))
        QTimer.singleShot(_COPIED_MS, self, self._forget_copied)

    def menu(self) -> QMenu:
        """Menu of the message's other actions."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in self._more:
            if action in self.shown:
                menu.addAction(self._name(action)).setData(action)
        menu.triggered.connect(self._chosen)
        return menu

    def restyle(self) -> None:
        """Take the theme's sizes again."""
        for button in self._buttons.values():
            self._size(button)

    def _show(self, action: Action, shown: bool) -> None:
        if action not in self._buttons:
            if not shown:
                return
            self._make(action)
        self._buttons[action].setVisible(shown)

    def _make(self, action: Action) -> None:
        icon, _, words = action.value
        button = RowButton(self)
        button.seen = self._seen or action in _ARROWS
        button.setIcon(themed_icon(self._theme, icon))
        scale_icon(self._theme, button, _ICON_PX)
        button.setAccessibleName(self._name(action))
        button.setToolTip(self._name(action))
        if words:
            button.setText(f" {tr(words)}")
            button.setProperty("kind", "quiet")
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.clicked.connect(partial(self._clicked, action))
        self._size(button)
        self._buttons[action] = button
        before = self._order[: self._order.index(action)]
        at = sum(one in self._buttons for one in before)
        at += self._count is not None and Action.PREVIOUS in before
        self._row.insertWidget(at, button)
        if action is Action.PREVIOUS:
            self._count = PlainLabel(self, kind="meter")
            self._row.insertWidget(at + 1, self._count)
        order_tabs(self._buttons[one] for one in self._order if one in self._buttons)

    def _name(self, action: Action) -> str:
        name: str = action.value[1]
        return tr(_OF_REPLY.get(action, name) if self._noun == "reply" else name)

    def _size(self, button: RowButton) -> None:
        side = self._theme.type.side(_SIDE_PX)
        if button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly:
            button.setFixedSize(side, side)
        else:
            button.setFixedHeight(side)

    def _clicked(self, action: Action) -> None:
        if action in _ARROWS:
            step = 1 if action is Action.NEXT else -1
            self.alternative_chosen.emit(self.alternatives[self._at + step])
        elif action is Action.MORE:
            button = self._buttons[action]
            self.menu().popup(button.mapToGlobal(QPoint(0, button.height() + 4)))
        else:
            self.triggered.emit(action)

    @Slot(QAction)
    def _chosen(self, entry: QAction) -> None:
        self.triggered.emit(entry.data())

    @Slot()
    def _forget_copied(self) -> None:
        self._buttons[Action.COPY].setIcon(themed_icon(self._theme, Action.COPY.value[0]))


def reply_actions(reply: Message, last: bool) -> set[Action]:
    """Return the actions that make sense, without the arrows; an error has its own button to try again."""
    if reply.state.unfinished:
        return set()
    possible = {Action.DELETE, Action.COMPARE, Action.BRANCH}
    if reply.content:
        possible |= {Action.COPY, Action.COPY_PLAIN, Action.REGENERATE, Action.EDIT}
    if last and can_continue(reply):
        possible.add(Action.CONTINUE)
    if last and not reply.content and reply.state in _CUT and trouble_of(reply) is None:
        possible.add(Action.RETRY)
    return possible
