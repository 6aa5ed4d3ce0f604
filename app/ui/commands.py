"""Everything that the window can do, as one list: the menu and the table of shortcuts are made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from app.ui.parts import STRETCH, PlainLabel, filled, push_button, scrolled
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import Theme
from app.words import mark, tr

_WIDTH_PX = 520
_HEIGHT_PX = 640
_SIDE_PX = 24
_ROW_GAP_PX = 6
_SECTION_GAP_PX = 18


class CommandGroup(Enum):
    """Subjects of commands; also the heads of the table of shortcuts, in this order."""

    CHAT = mark("Chats")
    MESSAGE = mark("Messages")
    MODEL = mark("Models and speed")
    VIEW = mark("View")
    HELP = mark("Help")


@dataclass(frozen=True)
class Command:
    """One thing to do."""

    name: str  # name in code: ``new-chat``
    group: CommandGroup
    action: QAction  # title, shortcuts, and whether it can be done now


class Commands(QObject):
    """The commands of a window, by name; their keys work wherever the focus is."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._commands: dict[str, Command] = {}

    def add(
        self,
        name: str,
        title: str,
        slot: Callable[..., object],
        group: CommandGroup,
        keys: tuple[str, ...] = (),
        tip: str = "",
        checkable: bool = False,
    ) -> QAction:
        """Declare a command.

        Args:
            name: A name of its own.
            slot: Called when it is triggered; when it is switched, with the new state, where it is checkable.
            keys: Shortcuts, the one to show first.
        """
        if name in self._commands:
            raise ValueError(f"two commands are named {name}")
        action = QAction(title, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setCheckable(checkable)
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


# By the names of commands: a title and what is behind it, or a command of its own; a line where there is none.
_Entry = tuple[str, tuple[str, ...]] | str | None
ENTRIES: tuple[_Entry, ...] = (
    (
        mark("This chat"),
        ("chat-settings", "rename-chat", "move-chat", "archive-chat", "export-chat", "delete-chat"),
    ),
    (mark("All chats"), ("export-all", "import-chats", "trash")),
    (mark("Panels and marks"), ("show-chats", "inspector", "mark-drafts", "show-guesses")),
    (mark("Text and colours"), ("larger-text", "smaller-text", "usual-text", "light", "dark", "as-system")),
    None,
    "compare-modes",
    "settings",
    "palette",
    None,
    (mark("Help"), ("help", "shortcuts", "log-folder", "copy-installation", "about")),
)


class AppMenu(QMenu):
    """The groups open beside it; models and the machine have their rows in the sidebar."""

    def __init__(self, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self.setAccessibleName(tr("Menu"))
        self.setToolTipsVisible(True)
        self.groups: list[QMenu] = []
        for entry in ENTRIES:
            if entry is None:
                self.addSeparator()
            elif isinstance(entry, str):
                self.addAction(commands[entry])
            else:
                self._add_group(commands, *entry)

    def _add_group(self, commands: Commands, title: str, names: tuple[str, ...]) -> None:
        group = QMenu(tr(title), self)
        group.setToolTipsVisible(True)
        group.addActions([commands[name] for name in names])
        self.addMenu(group)
        self.groups.append(group)


KeyRow = tuple[str, tuple[str, ...]]


# Places whose keys fields and lists handle themselves: the effect of each key there, and the keys.
FIELD_KEYS: tuple[tuple[str, tuple[KeyRow, ...]], ...] = (
    (
        mark("Where you type a message"),
        (
            (mark("Send"), ("Return",)),
            (mark("Begin a new line"), ("Shift+Return",)),
            (mark("Leave another page, stop the reply or close a notice"), ("Esc",)),
            (mark("Scroll the messages by a page"), ("PgUp", "PgDown")),
        ),
    ),
    (
        mark("In the messages"),
        (
            (mark("Go to the beginning"), ("Home",)),
            (mark("Go to the end"), ("End",)),
            (mark("Scroll by a page"), ("Space", "Shift+Space")),
            (mark("Copy what is selected"), ("Ctrl+C",)),
            (mark("Select the whole message"), ("Ctrl+A",)),
        ),
    ),
    (
        mark("Where you search for words in a chat"),
        (
            (mark("Next place"), ("Return",)),
            (mark("Previous place"), ("Shift+Return",)),
            (mark("Close the search"), ("Esc",)),
        ),
    ),
    (
        mark("In the list of chats"),
        (
            (mark("Open the chat or the message"), ("Return",)),
            (mark("Fold a folder, or unfold it"), ("Left", "Right")),
            (mark("Delete the chat, or a folder without its chats"), ("Del",)),
        ),
    ),
    (
        mark("Everywhere"),
        (
            (mark("Go to the next field or button"), ("Tab",)),
            (mark("Go to the one before"), ("Shift+Tab",)),
            (mark("Press the button"), ("Space",)),
        ),
    ),
)


def key_sections(commands: Commands) -> Iterator[tuple[str, list[KeyRow]]]:
    """Yield the table's sections with their rows: the deed, and its keys by the system's names."""
    for group in CommandGroup:
        rows = [
            (command.action.text(), tuple(map(_native, command.action.shortcuts())))
            for command in commands
            if command.group is group and command.action.shortcuts()
        ]
        if rows:
            yield Commands.group_title(group), rows
    for title, of_field in FIELD_KEYS:
        yield (
            tr(title),
            [(tr(done), tuple(_native(QKeySequence(key)) for key in keys)) for done, keys in of_field],
        )


def _native(keys: QKeySequence) -> str:
    return keys.toString(QKeySequence.SequenceFormat.NativeText)


class ShortcutTable(RingedDialog):
    """Made anew each time it is opened."""

    def __init__(self, theme: Theme, commands: Commands, parent: QWidget) -> None:
        super().__init__(theme, tr("Keyboard shortcuts"), parent)
        self._theme = theme
        # Two keys for the same stand one below the other where the words beside them would have no room.
        self._narrow = self.sizeHint().width() < theme.type.px(_WIDTH_PX)
        rows = QWidget()
        rows.setProperty("kind", "column")
        grid = QGridLayout(rows)
        grid.setContentsMargins(_SIDE_PX, 8, _SIDE_PX, 16)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(_ROW_GAP_PX)
        grid.setColumnStretch(0, 1)
        for title, keys in key_sections(commands):
            self._add_section(grid, title, keys)
        grid.setRowStretch(grid.rowCount(), 1)
        self._scroll = scrolled(rows, self, tr("Keyboard shortcuts"))
        close = push_button(tr("Close"), self, self.accept, default=True)
        foot = filled(QHBoxLayout(), STRETCH, close, margins=(_SIDE_PX, 12, _SIDE_PX, 14))
        filled(QVBoxLayout(self), (self._scroll, 1), foot, margins=(0, 12, 0, 0), spacing=0)
        self.resize(self.sizeHint())

    def sizeHint(self) -> QSize:
        px = self._theme.type.px
        return QSize(px(_WIDTH_PX), px(_HEIGHT_PX)).boundedTo(self.room(40))

    def _add_section(self, grid: QGridLayout, title: str, rows: list[KeyRow]) -> None:
        at = grid.rowCount()
        head = PlainLabel(title, kind="section", wrap=True)
        head.setContentsMargins(0, _SECTION_GAP_PX if at > 1 else 0, 0, 2)
        grid.addWidget(head, at, 0, 1, 2)
        for number, (done, keys) in enumerate(rows, at + 1):
            words = PlainLabel(done, wrap=True)
            words.setAccessibleDescription(", ".join(keys))
            grid.addWidget(words, number, 0)
            grid.addWidget(self._key_caps(keys), number, 1, Qt.AlignmentFlag.AlignRight)

    def _key_caps(self, keys: tuple[str, ...]) -> QWidget:
        caps = QWidget()
        row = filled(QVBoxLayout(caps) if self._narrow else QHBoxLayout(caps), margins=0, spacing=6)
        for key in keys:
            cap = PlainLabel(key, kind="key")
            row.addWidget(cap, 0, Qt.AlignmentFlag.AlignRight)
        return caps
