"""Everything that the window can do, as one list: menus, the palette and the table of shortcuts are made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import mark, tr


class CommandGroup(Enum):
    """Subjects of commands; also the heads of the table of shortcuts, in this order."""

    CHAT = mark("Chats")
    MESSAGE = mark("Messages")
    MODEL = mark("Models and speed")
    VIEW = mark("View")
    HELP = mark("Help")


@dataclass(frozen=True)
class Command:
    """One thing to do.

    Attributes:
        name: Name in code: ``new-chat``.
        action: Title, shortcuts, icon, and whether it can be done now.
    """

    name: str
    group: CommandGroup
    action: QAction


class Commands(QObject):
    """The commands of a window, by name; their keys work wherever the focus is."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._commands: dict[str, Command] = {}

    def add(
        self,
        name: str,
        title: str,
        slot: Callable[..., object],
        group: CommandGroup,
        keys: tuple[str, ...] = (),
        icon: str = "",
        tip: str = "",
        checkable: bool = False,
    ) -> QAction:
        """Declare a command.

        Args:
            name: A name of its own.
            title: Name in menus and in the palette, translated.
            slot: Called when it is triggered; when it is switched, with the new state, where it is checkable.
            group: The group that it belongs to.
            keys: Shortcuts, the one to show first.
            icon: A file of assets/icons without its ending.
            tip: One sentence more.
            checkable: True if it is a switch.
        """
        if name in self._commands:
            raise ValueError(f"two commands are named {name}")
        action = QAction(title, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setCheckable(checkable)
        if icon:
            action.setIcon(themed_icon(self._theme, icon))
        if tip:
            action.setToolTip(tip)
        if checkable:
            action.toggled.connect(slot)
        else:
            action.triggered.connect(slot)
        self._window.addAction(action)
        self._commands[name] = Command(name, group, action)
        return action

    def __getitem__(self, name: str) -> QAction:
        return self._commands[name].action

    def __iter__(self) -> Iterator[Command]:
        """Commands by group, each in the order of declaration."""
        for group in CommandGroup:
            yield from (command for command in self._commands.values() if command.group is group)

    @staticmethod
    def group_title(group: CommandGroup) -> str:
        """Return a group's name in the window's language."""
        return tr(group.value)
