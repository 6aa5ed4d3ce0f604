"""The command palette: type some letters of what is wanted, Enter does it or opens the article about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
    Slot,
)
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QListView, QVBoxLayout, QWidget

from app.ui.boxes import filled
from app.ui.command_row import COMMAND_ROLE, CommandRow, CommandRowDelegate
from app.ui.commands import Command, Commands
from app.ui.fuzzy import fuzzy_match
from app.ui.inert_text import PlainLabel
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr

_WIDTH_PX = 560
_TOP_PX = 72
_MARGIN_PX = 16
_MOST_ROWS = 9
_Index = QModelIndex | QPersistentModelIndex


class _Rows(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.rows: list[CommandRow] = []

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        action = row.command.action
        if role == COMMAND_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return action.text()
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            return keys if action.isEnabled() else tr("Not possible now")
        return None

    def show(self, rows: list[CommandRow]) -> None:
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()


class CommandPalette(QWidget):
    """Lies over the whole window while it is open; a click beside it, Escape and a choice close it."""

    def __init__(
        self, theme: Theme, commands: Commands, articles: Callable[[str], list[Command]], window: QWidget
    ) -> None:
        super().__init__(window)
        self._theme = theme
        self._commands = commands
        self._articles = articles
        self._before: QWidget | None = None
        self._box = QFrame(self)
        self._box.setProperty("kind", "toast")
        self._box.setAccessibleName(tr("Commands"))
        self.field = QLineEdit(self._box)
        self.field.setPlaceholderText(tr("What do you want to do?"))
        self.field.setAccessibleName(tr("Search commands"))
        self.field.addAction(
            QAction(themed_icon(theme, "command"), "", self.field), QLineEdit.ActionPosition.LeadingPosition
        )
        self.field.textEdited.connect(self._search)
        self.field.installEventFilter(self)
        self._rows = _Rows(self)
        self.list = QListView(self._box)
        self.list.setProperty("kind", "choices")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.list.setModel(self._rows)
        self.list.setItemDelegate(CommandRowDelegate(theme, self))
        self.list.setAccessibleName(tr("Commands"))
        self.list.clicked.connect(self._clicked)
        self._nothing = PlainLabel(tr("No command and no article has these letters."), self._box, kind="sub")
        self._nothing.setContentsMargins(12, 8, 12, 8)
        filled(QVBoxLayout(self._box), self.field, self._nothing, self.list, margins=8, spacing=8)
        window.installEventFilter(self)
        self.hide()

    @property
    def titles(self) -> list[str]:
        """The titles that are listed, the best first."""
        return [row.command.action.text() for row in self._rows.rows]

    @Slot()
    def open(self) -> None:
        """Show every command and wait for letters."""
        if self.isVisible():
            self.close()
            return
        self._before = QApplication.focusWidget()
        self.field.clear()
        self._search("")
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the field move through the list; the window's size is followed, while it is open."""
        if self.isHidden():
            return False  # nothing to follow; at the end of the process not even a field
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        if watched is self.field and event.type() == QEvent.Type.FocusOut:
            if QApplication.activePopupWidget() is None and self.window().isActiveWindow():
                self.hide()
        elif watched is self.parent() and event.type() == QEvent.Type.Resize:
            self._place()
        return False

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Close the palette at a click beside the box."""
        self._close()

    def _key(self, event: QKeyEvent) -> bool:
        steps = {
            Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _MOST_ROWS, Qt.Key.Key_PageUp: -_MOST_ROWS,
        }  # fmt: skip
        if event.key() in steps and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            row = self.list.currentIndex().row() + steps[Qt.Key(event.key())]
            self.list.setCurrentIndex(self._rows.index(min(max(row, 0), self._rows.rowCount() - 1)))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._clicked(self.list.currentIndex())
        elif event.key() == Qt.Key.Key_Escape:
            self._close()
        elif event.key() not in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            return False
        return True

    def _close(self) -> None:
        before, self._before = self._before, None
        self.hide()
        if before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(QModelIndex)
    def _clicked(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        action = self._rows.rows[index.row()].command.action
        if action.isEnabled():
            self._close()
            action.trigger()

    @Slot(str)
    def _search(self, typed: str) -> None:
        scored = []
        for order, command in enumerate(self._commands):
            match = fuzzy_match(typed, command.action.text())
            if match is not None:
                impossible = not command.action.isEnabled()
                scored.append((impossible, -match[0], order, CommandRow(command, tuple(match[1]))))
        scored.sort(key=lambda entry: entry[:3])
        rows = [row for *_, row in scored] + [CommandRow(article) for article in self._articles(typed)]
        self._rows.show(rows)
        self._nothing.setVisible(not rows)
        self.list.setVisible(bool(rows))
        self.list.setCurrentIndex(self._rows.index(0))
        self._place()

    def _place(self) -> None:
        window = self.window()
        self.setGeometry(window.rect())
        row = self.list.sizeHintForRow(0) if self._rows.rowCount() else 0
        top = min(_TOP_PX, window.height() // 8)
        most = max(2, min(_MOST_ROWS, (window.height() - 2 * top - 80) // max(row, 1)))
        self.list.setFixedHeight(row * min(self._rows.rowCount(), most))
        width = min(self._theme.type.px(_WIDTH_PX), window.width() - 2 * _MARGIN_PX)
        self._box.setFixedWidth(width)
        self._box.ensurePolished()
        layout = self._box.layout()
        assert layout is not None
        layout.activate()
        size = QSize(width, self._box.sizeHint().height())
        self._box.resize(size)
        self._box.move((window.width() - width) // 2, top)
