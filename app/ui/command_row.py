"""Painter of the command palette's rows: icon, title with the typed letters in bold, section, shortcut."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QIcon, QKeySequence, QPainter, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.ui.commands import Command, Commands
from app.ui.painting import RIGHT, paint_box, paint_words
from app.ui.placing import in_row
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle

COMMAND_ROLE = int(Qt.ItemDataRole.UserRole) + 1
_ROW_PX = 36
_PADDING_PX = 10
_ICON_PX = 16
_GAP_PX = 10
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
        """Every row is as high."""
        return QSize(100, self._theme.type.px(_ROW_PX))

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
        elif not action.icon().isNull():
            mode = QIcon.Mode.Normal if possible else QIcon.Mode.Disabled
            action.icon().paint(painter, place, Qt.AlignmentFlag.AlignCenter, mode)
        quiet = "sub" if chosen else "mute"  # what can be read on the fill of the chosen row
        box.setLeft(icon.right() + _GAP_PX)
        box.setRight(self._paint_keys(painter, option, box, action.shortcut(), quiet))
        role = quiet if not possible else "acct" if chosen else "text"
        box.setLeft(self._paint_title(painter, option, box, action.text(), row.places, role) + _GAP_PX)
        self._paint_section(painter, option, box, Commands.group_title(row.command.group), quiet)
        painter.restore()

    def _paint_keys(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRect, keys: QKeySequence, role: str
    ) -> int:
        """Paint the shortcut at the right; return where the room before it ends."""
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
        """Paint the title; return where it ends."""
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

    def _paint_section(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRect, section: str, role: str
    ) -> None:
        """Paint the section after the title if there is room."""
        width = QFontMetrics(self._theme.font(TextStyle.SMALL)).horizontalAdvance(section)
        if width <= box.width():
            paint_words(painter, self._theme, in_row(option, box), section, TextStyle.SMALL, role)
