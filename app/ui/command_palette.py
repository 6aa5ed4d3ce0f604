"""The command palette: type some letters of what is wanted, Enter does it or opens the article about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QTextCharFormat,
    QTextLayout,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.ui.commands import Command, Commands
from app.ui.painting import RIGHT, in_row, paint_box, paint_words
from app.ui.parts import PlainLabel, filled
from app.ui.theme.icons import themed_icon, tinted_pixmap
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr

COMMAND_ROLE = int(Qt.ItemDataRole.UserRole) + 1
_ROW_PX = 36
_PADDING_PX = 10
_ICON_PX = 16
_GAP_PX = 10
_START = 8  # a letter that begins a word
_RUN = 9  # one that follows the letter found before it
_GAP = 1  # taken off for each letter stepped over, up to a few
_LONGEST_GAP = 3
_WIDTH_PX = 560
_TOP_PX = 72
_MARGIN_PX = 16
_MOST_ROWS = 9
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class CommandRow:
    """A command that fits what was typed, and where in its title the typed letters stand."""

    command: Command
    places: tuple[int, ...] = ()


class CommandRowDelegate(QStyledItemDelegate):
    """Commands that are not possible now are greyed."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    @property
    def _icon_px(self) -> int:
        return self._theme.type.px(_ICON_PX)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(100, self._theme.type.side(_ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one row."""
        row: CommandRow = index.data(COMMAND_ROLE)
        action = row.command.action
        possible = action.isEnabled()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen or option.state & QStyle.StateFlag.State_MouseOver:
            paint_box(painter, self._theme, option.rect, 6, "accs" if chosen and possible else "hover")
        box = option.rect.adjusted(_PADDING_PX, 0, -_PADDING_PX, 0)
        icon = QRect(box.left(), box.center().y() - self._icon_px // 2 + 1, self._icon_px, self._icon_px)
        place = in_row(option, icon)
        if action.isCheckable() and action.isChecked():
            color, ratio = self._theme.palette.acc, painter.device().devicePixelRatioF()
            painter.drawPixmap(place.topLeft(), tinted_pixmap("check", color, self._icon_px, ratio))
        quiet = "sub" if chosen else "mute"  # what can be read on the fill of the chosen row
        box.setLeft(icon.right() + _GAP_PX)
        box.setRight(self._paint_keys(painter, option, box, action.shortcut(), quiet))
        role = quiet if not possible else "acct" if chosen else "text"
        box.setLeft(self._paint_title(painter, option, box, action.text(), row.places, role) + _GAP_PX)
        section = Commands.group_title(row.command.group)
        if QFontMetrics(self._theme.font(TextStyle.SMALL)).horizontalAdvance(section) <= box.width():
            paint_words(painter, self._theme, in_row(option, box), section, TextStyle.SMALL, quiet)
        painter.restore()

    def _paint_keys(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRect, keys: QKeySequence, role: str
    ) -> int:
        text = keys.toString(QKeySequence.SequenceFormat.NativeText)
        if not text:
            return box.right()
        paint_words(painter, self._theme, in_row(option, box), text, TextStyle.SMALL, role, RIGHT)
        return box.right() - QFontMetrics(painter.font()).horizontalAdvance(text) - 2 * _GAP_PX

    def _paint_title(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        box: QRect,
        title: str,
        places: tuple[int, ...],
        role: str,
    ) -> int:
        font = self._theme.font(TextStyle.UI)
        shown = QFontMetrics(font).elidedText(title, Qt.TextElideMode.ElideRight, box.width())
        layout = QTextLayout(shown, font)
        bold = QTextCharFormat()
        bold.setFontWeight(QFont.Weight.Bold)
        ranges = []
        for place in places:
            span = QTextLayout.FormatRange()
            span.start, span.length, span.format = place, 1, bold
            ranges.append(span)
        layout.setFormats(ranges)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(box.width() + 100)
        layout.endLayout()
        painter.setPen(self._theme.color(role))
        width = round(line.naturalTextWidth())
        left = in_row(option, QRect(box.left(), box.top(), width, box.height())).left()
        layout.draw(painter, QPointF(left, box.top() + (box.height() - line.height()) / 2))
        return box.left() + width


def fuzzy_match(typed: str, title: str) -> tuple[int, list[int]] | None:
    """Return the score of a title against what was typed, more is better, and the places of the letters in the title.

    Spaces and case make no difference. None where a letter is missing.
    """
    wanted = [character for character in typed.casefold() if not character.isspace()]
    letters = [character.casefold()[:1] for character in title]
    # Best score and path that end at each place, for the letters so far.
    best: dict[int, tuple[int, list[int]]] = {-1: (0, [])}
    for character in wanted:
        after: dict[int, tuple[int, list[int]]] = {}
        for at, letter in enumerate(letters):
            if letter != character:
                continue
            reached = [
                (score + _worth(title, before, at), [*path, at])
                for before, (score, path) in best.items()
                if before < at
            ]
            if reached:
                after[at] = max(reached)
        if not after:
            return None
        best = after
    score, path = max(best.values())
    return score, path


def _worth(title: str, before: int, at: int) -> int:
    if at == 0 or not title[at - 1].isalnum():
        return _START + (_START if at == 0 else 0)
    if before == at - 1:
        return _RUN
    return -_GAP * min(at - before - 1, _LONGEST_GAP)


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
        self._box.setProperty("kind", "palette")
        self._box.setAccessibleName(tr("Commands"))
        self.field = QLineEdit(self._box)
        self.field.setPlaceholderText(tr("What do you want to do?"))
        self.field.setAccessibleName(tr("Search commands"))
        self.field.addAction(
            QAction(themed_icon(theme, "command"), "", self.field), QLineEdit.ActionPosition.LeadingPosition
        )
        self.field.textEdited.connect(self._search)
        self.field.installEventFilter(self)
        self.list = QListWidget(self._box)
        self.list.setProperty("kind", "choices")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.list.setItemDelegate(CommandRowDelegate(theme, self))
        self.list.setAccessibleName(tr("Commands"))
        self.list.clicked.connect(self._clicked)
        self._nothing = PlainLabel(tr("No command and no article matches."), self._box, kind="sub")
        self._nothing.setContentsMargins(12, 8, 12, 8)
        filled(QVBoxLayout(self._box), self.field, self._nothing, self.list, margins=8, spacing=8)
        window.installEventFilter(self)
        self.hide()

    @property
    def titles(self) -> list[str]:
        """The titles that are listed, the best first."""
        return [self.list.item(row).text() for row in range(self.list.count())]

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
        self._close()

    def _key(self, event: QKeyEvent) -> bool:
        steps = {
            Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _MOST_ROWS, Qt.Key.Key_PageUp: -_MOST_ROWS,
        }  # fmt: skip
        if event.key() in steps and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            row = self.list.currentRow() + steps[Qt.Key(event.key())]
            self.list.setCurrentRow(min(max(row, 0), self.list.count() - 1))
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
        action = index.data(COMMAND_ROLE).command.action
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
        self.list.clear()
        for row in rows:
            item, action = QListWidgetItem(row.command.action.text(), self.list), row.command.action
            item.setData(COMMAND_ROLE, row)
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            described = keys if action.isEnabled() else tr("Not possible now")
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, described)
        self._nothing.setVisible(not rows)
        self.list.setVisible(bool(rows))
        self.list.setCurrentRow(0)
        self._place()

    def _place(self) -> None:
        window = self.window()
        self.setGeometry(window.rect())
        row = self.list.sizeHintForRow(0) if self.list.count() else 0
        top = min(_TOP_PX, window.height() // 8)
        most = max(2, min(_MOST_ROWS, (window.height() - 2 * top - 80) // max(row, 1)))
        self.list.setFixedHeight(row * min(self.list.count(), most))
        width = min(self._theme.type.px(_WIDTH_PX), window.width() - 2 * _MARGIN_PX)
        self._box.setFixedWidth(width)
        self._box.ensurePolished()
        layout = self._box.layout()
        assert layout is not None
        layout.activate()
        size = QSize(width, self._box.sizeHint().height())
        self._box.resize(size)
        self._box.move((window.width() - width) // 2, top)
